"""Load: every way to bring data in, and the datasets that are there."""

from ctxasm.app.ui.frame.scenes import show_page_trouble
from ctxasm.app.ui.frame.title import show_title
from ctxasm.app.ui.load.datasets import show_datasets
from ctxasm.app.ui.load.ways import show_ways

show_title("Load", "Load data", "Documents cut into pieces (chunks), or questions (queries) with what a search returned.")
if not show_page_trouble():
    show_ways()
    show_datasets()
