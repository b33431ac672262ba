"""Ask: send the assembled context to a model and read the answer beside what each citation stands on."""

from ctxasm.ui.scenes import current_assembly, current_scene
from ctxasm.ui.state import stamp_of
from ctxasm.ui.views.ask import show_ask
from ctxasm.ui.views.title import show_query_title

scene = current_scene("Ask")
if scene is not None:
    assembly = current_assembly(scene, explain=True)
    show_query_title("Ask", scene, assembly, stamp_of(scene))
    if assembly is not None:
        show_ask(scene, assembly)
