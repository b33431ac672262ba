"""Inspect: what every stage did to every chunk, live."""

from ctxasm.app.ui.frame.scenes import current_scene
from ctxasm.app.ui.frame.show_me_link import offer_show_me
from ctxasm.app.ui.inspect.page import show_inspect

scene = current_scene("Inspect")
if scene is not None:
    offer_show_me()
    show_inspect(scene)
