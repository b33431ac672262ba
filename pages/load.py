"""Load: every way to bring data in, and the datasets that are there."""

from ctxasm.app.ui.frame.scenes import show_page_trouble
from ctxasm.app.ui.frame.title import show_title
from ctxasm.app.ui.load.datasets import show_datasets
from ctxasm.app.ui.load.ways import show_ways

show_title("Load", "Data", "Documents, or what a search returned. A dataset holds pages cut into pieces (chunks), and questions (queries).")
if not show_page_trouble():
    show_ways()
    show_datasets()
