"""The contexts of a question under A and B: B is the one that all pages share, that of A is kept as long as it is wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.zones_state import zones_key
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings


class Sides(NamedTuple):
    """Two contexts of one question."""

    a: Assembly
    b: Assembly


def sides_of(scene: Scene, pinned: AssemblySettings) -> Sides:
    """Both. Raises CtxasmError where one cannot be assembled."""
    workbench = server.workbench()
    b = state.assemble_scene(workbench, scene)
    key = (scene.dataset, state.unlabelled(scene.query), pinned, session.loads, zones_key(pinned))
    kept = session.versus
    if kept is None or kept[0] != key:
        kept = (key, state.assemble_anew(workbench, replace(scene, settings=pinned)))
        session.versus = kept
    return Sides(state.of_query(kept[1], scene.query), b)
