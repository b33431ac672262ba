"""Compare: A pinned, B as now: what differs for one question, who wins over all of them, and which of the two people prefer."""

from ctxasm.app.ui.compare.page import show_compare
from ctxasm.app.ui.frame.sidebar import show_page_trouble

if not show_page_trouble():
    show_compare()
