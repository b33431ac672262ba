"""Load: every way to bring data in, and the datasets that are there."""

from ctxasm.app.ui.frame.layout import show_title
from ctxasm.app.ui.frame.sidebar import show_page_trouble
from ctxasm.app.ui.load.page import show_datasets, show_ways

show_title("Load", "Load data", "Documents cut into pieces (chunks), or questions (queries) with what a search returned.")
if not show_page_trouble():
    show_ways()
    show_datasets()
