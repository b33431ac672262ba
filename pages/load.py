"""Load: every way to bring data in, and the datasets that are there."""

from ctxasm.ui.scenes import show_page_trouble
from ctxasm.ui.views.loading.datasets import show_datasets
from ctxasm.ui.views.loading.ways import show_ways
from ctxasm.ui.views.title import show_title

show_title("Load", "Data", "A dataset is a named set of documents and chunks, with queries and what retrieval returned for them.")
if not show_page_trouble():
    show_ways()
    show_datasets()
