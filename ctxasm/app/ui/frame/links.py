"""Links to another state of the workbench: one that is clicked plainly is taken by this session, and opens in this tab."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from ctxasm.app.ui.frame import state, typed_questions
from ctxasm.app.ui.frame.clicks import listen
from ctxasm.app.ui.frame.compare_view import COMPARE, view_address
from ctxasm.app.ui.frame.gold import INSPECT, go_to
from ctxasm.app.ui.frame.pinned import pinned_address
from ctxasm.app.ui.frame.session import Session, Widget, session
from ctxasm.app.ui.frame.sharing import query_address
from ctxasm.app.ui.widgets.chunk_clicks import picked_text
from ctxasm.model.settings_text import to_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxasm.app.ui.frame.compare_view import View
    from ctxasm.app.ui.frame.session_records import Pinned
    from ctxasm.app.ui.widgets.chunk_clicks import ClickState
    from ctxasm.model.settings import AssemblySettings


def inspect_address(settings: AssemblySettings) -> str:
    """Of Inspect, with the query that is shown, under these settings."""
    return f"./?{urlencode({**_shown(), **to_url(settings), **pinned_address(session.pinned)})}"


def compare_address(a: Pinned, b: AssemblySettings, query_id: str | None = None, view: View = "question", only: str = "all") -> str:
    """Of Compare, of A and B: on one query (default: that which is shown), or on all of them, those that are `only`."""
    where = _shown() if query_id is None else {**_dataset(), Session.query_id.key: query_id}
    return f"./{COMPARE}?{urlencode({**where, **to_url(b), **pinned_address(a), **view_address(view, only)})}"


def _dataset() -> dict[str, str]:
    return {Session.dataset_name.key: session.info.name} if session.info is not None else {}


def _shown() -> dict[str, str]:
    scene, own = session.scene, _dataset()
    return own | query_address(scene) if scene is not None and own.get(Session.dataset_name.key) == scene.dataset else own


def hear_clicks(clicks: Widget[ClickState | None], on_picked: Callable[[str], bool] = lambda _: False) -> None:
    """Listen to what the page draws as HTML: a link that is clicked opens, `on_picked` is called with anything else."""
    listen(clicks, partial(_heard, on_picked))


def _heard(on_picked: Callable[[str], bool], said: str) -> bool:
    path, _, query = (picked_text(said) or "").partition("?")
    if not query or not path.startswith("./"):
        return on_picked(said)
    wanted = dict(parse_qsl(query, keep_blank_values=True))
    scene = session.scene
    if scene is not None and wanted.get(typed_questions.ASK) == scene.query.query:
        del wanted[typed_questions.ASK]  # it is shown: there is nothing to search for again
    page = path.removeprefix("./")
    state.take_address(page, wanted)
    go_to(page or INSPECT)
    return True
