"""Load: the sample or a bundle of one's own, and the datasets that are there."""

from ctxasm.ui.scenes import show_page_trouble
from ctxasm.ui.views.load import show_datasets, show_load
from ctxasm.ui.views.title import show_title

show_title("Load", "Data", "A dataset is a named bundle of documents, chunks, queries and what retrieval returned for them.")
if not show_page_trouble():
    show_load()
    show_datasets()
