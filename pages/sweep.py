"""Sweep: many settings on all questions, which of them to take, and how sure that is."""

from ctxasm.app.ui.frame.sidebar import show_page_trouble
from ctxasm.app.ui.sweep.page import show_sweep

if not show_page_trouble():
    show_sweep()
