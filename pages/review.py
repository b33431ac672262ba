"""Review: one answer at a time, judged claim by claim beside its sources; the history of kept answers; how reviewers agree."""

from ctxasm.app.ui.frame.sidebar import show_page_trouble
from ctxasm.app.ui.review.page import show_review

if not show_page_trouble():
    show_review()
