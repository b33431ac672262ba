"""What a browser session knows: the settings, their past and future, the query, the assembly, and the address that says so.

The settings live in one record, `session.now`: a widget is seeded from it when it is drawn, and writes to it in its callback. So
a widget that is not drawn loses nothing, and the address is written from the record alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Protocol

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ctxasm.app.ui.frame.jobs import asked_to_end
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.typed_questions import asked_choice, summary_model, zones_key, zones_stamp
from ctxasm.assembly.expand import known_obstacle
from ctxasm.model.errors import InvalidSetting
from ctxasm.model.events import NoNeighbours
from ctxasm.model.ports import Fetched, KnowsLanguage, Window
from ctxasm.model.records import CorpusLanguage, Query
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, check_value, spec_of

HISTORY = 100
"""Undo steps that are kept."""


def reject(sentence: str) -> None:
    """Add a sentence to the one notice about the URL."""
    session.rejected = [*(session.rejected or ()), sentence]


def apply(settings: AssemblySettings) -> None:
    """Make these the settings, as a step that can be undone. Widgets drawn before this in the same run still show the old ones."""
    session.problems = {}
    if settings != session.now:
        session.past = [*session.past, session.now][-HISTORY:]
        session.future = []
        session.now = settings


def change(name: str, value: Any) -> None:
    """Change one setting (a callback); one that cannot be used is said beside its widget, and the setting stays."""
    spec = spec_of(name)
    value = float(value) if spec.kind == "float" and isinstance(value, int) else value
    value = None if spec.optional and value == "" else value  # a text box that was emptied
    try:
        check_value(spec, value)
    except InvalidSetting as error:
        session.problems = {**session.problems, name: (value, str(error))}
    else:
        apply(session.now.replace(**{name: value}))


def undo() -> None:
    """Back to the settings before the last change (a callback)."""
    if session.past:
        *session.past, settings = session.past
        session.future = [*session.future, session.now]
        session.now = settings


def redo() -> None:
    """Forward again (a callback)."""
    if session.future:
        *session.future, settings = session.future
        session.past = [*session.past, session.now]
        session.now = settings


def live_limit() -> int | None:
    """The limit under the dragging hand, None when nothing is dragged."""
    return None if session.live == session.released_at else session.live


def with_dragged_limit(settings: AssemblySettings) -> AssemblySettings:
    """The settings with the limit that is being dragged."""
    live = live_limit()
    return (
        settings
        if live is None
        else settings.replace(max_tokens=int(min(max(live, spec_of("max_tokens").low or 0), spec_of("max_tokens").high or live)))
    )


def assemble_scene(workbench: Any, scene: Scene) -> Assembly:
    """The assembly of a scene; the last one of this session is kept, so that fragments and views share it."""
    key = (scene.dataset, unlabelled(scene.query), scene.settings, session.loads, zones_key(scene.settings))
    kept = session.assembly
    if kept is None or kept[0] != key:
        ended, asks_a_model = asked_to_end(), scene.settings.enabled and scene.settings.compression == "model"
        with st.spinner("A model shortens chunks…", show_time=True) if asks_a_model else nullcontext():
            kept = (key, assemble_anew(workbench, scene, ended))
        if not (asks_a_model and ended()):
            # What was stopped half-way is no answer for the next run.
            session.assembly = kept
    if (labelled := of_query(kept[1], scene.query)) is not kept[1]:
        kept = session.assembly = (key, labelled)
    return kept[1]


def unlabelled(query: Query) -> Query:
    """The query without what it expects: no context depends on that."""
    return replace(query, gold=(), spans=(), answer=None)


def of_query(assembly: Assembly, query: Query) -> Assembly:
    """The assembly with the labels that its query has now: the same one where they are the same."""
    before = assembly.query
    same = before is query or (before.gold, before.spans, before.answer) == (query.gold, query.spans, query.answer)
    return assembly if same else replace(assembly, query=replace(before, gold=query.gold, spans=query.spans, answer=query.answer))


def assemble_anew(workbench: Any, scene: Scene, ended: Callable[[], bool] = lambda: False) -> Assembly:
    """The assembly of a scene, whatever was kept; for trying other settings. `ended` stops a model that compresses."""
    version = (scene.dataset, session.info.dataset_id if session.info else None, session.loads)
    source = KeptChunks(workbench.dataset(scene.dataset), version, session)
    told = {"told_by": summary_model(), "cancelled": ended}
    assembly: Assembly = workbench.assemble(scene.query, scene.settings, scene.dataset, asked_choice(), source=source, **told)
    return assembly


class KeepsChunks(Protocol):
    """What keeps the chunks that were read last, and of what they were read: the session."""

    chunks: tuple[object, Fetched] | None


class KeptChunks:
    """A source of chunks that keeps what it read last: a setting that asks for the same chunks again does not touch the store."""

    def __init__(self, source: KnowsLanguage, version: object, kept: KeepsChunks) -> None:
        self._source, self._version, self._kept = source, version, kept

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All stored chunks inside the windows; no statements and no time where they were kept."""
        key = (self._version, encoding, tuple(windows))
        last = self._kept.chunks
        if last is not None and last[0] == key:
            return replace(last[1], statements=0, document_statements=0, elapsed_ms=0.0)
        fetched = self._source.fetch(windows, encoding)
        self._kept.chunks = (key, fetched)
        return fetched

    def corpus_language(self) -> CorpusLanguage | None:
        """That of the source."""
        return self._source.corpus_language()

    def no_neighbours(self) -> NoNeighbours | None:
        """That of the source."""
        return known_obstacle(self._source)


def send_again(key: str, labels: Iterable[str]) -> None:
    """Before a select box is drawn: send its value with new labels, else the browser keeps the label that it had; and on another page,
    where the browser may begin the box anew, and then says its first choice.

    Of a value that is only the default nothing is sent either, so the key must hold it.
    """
    drawn = (getattr(get_script_run_ctx(), "page_script_hash", ""), *labels)
    if session.drawn_labels.get(key) != drawn:
        session.drawn_labels = {**session.drawn_labels, key: drawn}
        st.session_state[key] = st.session_state.get(key)


def stamp_of(scene: Scene) -> str:
    """A text that names what is drawn, so that a test can wait until every part shows it."""
    changed = ",".join(f"{spec_of(name).url}={value}" for name, value in scene.settings.changed().items())
    return f"{scene.dataset}/{scene.query.query_id}?{changed}{zones_stamp(scene.query, scene.settings)}"


def pick_chunk(key: Key) -> None:
    """Choose the chunk whose life is shown."""
    session.picked = key


def picked_chunk() -> Key | None:
    """The chunk whose life is shown."""
    return session.picked
