"""Inspect: what every stage did to every chunk, live."""

from ctxasm.app.ui.frame.sidebar import current_scene
from ctxasm.app.ui.inspect.page import show_inspect

scene = current_scene("Inspect")
if scene is not None:
    show_inspect(scene)
