"""Show me: what assembly is worth, in five steps on the sample."""

from ctxasm.app.ui.frame.sidebar import show_page_trouble
from ctxasm.app.ui.show_me import show_steps

if not show_page_trouble():
    show_steps()
