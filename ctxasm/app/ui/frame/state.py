"""What a browser session knows: the settings in the bound widgets, their past and future, the query, the assembly.

Keys of bound widgets are the short URL keys of the settings, `data`, `q`, and those of the search options; see `session`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Protocol

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import get_session_state

from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.stopping import asked_to_end
from ctxasm.app.ui.frame.typed_questions import ASK
from ctxasm.app.ui.frame.zones_state import asked_choice, edited_windows, summary_model, zones_key, zones_stamp
from ctxasm.model.errors import InvalidSetting
from ctxasm.model.ports import Fetched, KnowsLanguage, Window
from ctxasm.model.records import CorpusLanguage
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.settings_text import from_url
from ctxasm.model.specs import check_value

HISTORY = 100
"""Undo steps that are kept."""


def has_read_url() -> bool:
    """Whether this session has begun."""
    return session.rejected is not None


def read_url_once(parameters: Mapping[str, str]) -> None:
    """On the first run of a session, before any widget binds: keep what the URL says, and name what it says wrongly."""
    if has_read_url():
        return
    settings, rejected = from_url(parameters)
    session.rejected = [str(error) for error in rejected]
    session.asked_for = {key: parameters[key] for key in (Session.dataset_name.key, Session.query_id.key, ASK) if key in parameters}
    apply(settings, only_changed=True)
    if rejected:
        _forget(spec_of(error.name).url for error in rejected)


def _forget(keys: Iterable[str]) -> None:
    """Take parameters out of the URL before widgets bind: a number box would read 2500.7 as 2500, and fail on an infinity."""
    for key in keys:
        st.query_params.pop(key, None)
    with get_session_state().query_params() as parameters:
        parameters.set_initial_query_params_from_current()


def reject(sentence: str) -> None:
    """Add a sentence to the one notice about the URL."""
    session.rejected = [*(session.rejected or ()), sentence]


def apply(settings: AssemblySettings, only_changed: bool = False) -> None:
    """Put settings into the bound widgets. Only before the widgets are drawn, or in a callback."""
    for spec in specs():
        value = getattr(settings, spec.name)
        if not only_changed or value != spec.default:
            session.put(spec.url, value)


def settings_in_widgets() -> tuple[AssemblySettings, list[InvalidSetting]]:
    """The settings as the widgets say; a value that cannot be used is left at its default and returned as an error."""
    changes: dict[str, Any] = {}
    problems: list[InvalidSetting] = []
    for spec in specs():
        value = session.value_of(spec.url, spec.default)
        value = float(value) if spec.kind == "float" and isinstance(value, int) else value
        value = None if spec.optional and value == "" else value  # a text box that was emptied
        try:
            check_value(spec, value)
            changes[spec.name] = value
        except InvalidSetting as error:
            problems.append(error)
    return AssemblySettings(**changes), problems


def settings_about_to_be_drawn() -> AssemblySettings:
    """The settings as the widgets will show them: with the back button they take their values from the URL when drawn."""
    if getattr(get_script_run_ctx(), "is_history_navigation", False):
        return from_url({key: st.query_params[key] for key in st.query_params})[0]
    return settings_in_widgets()[0]


def remember(settings: AssemblySettings) -> None:
    """Make a step of history when the settings changed by anything but undo and redo."""
    now = session.now
    if now is None or now == settings:
        session.now = settings
        return
    session.past = [*session.past, now][-HISTORY:]
    session.future = []
    session.now = settings


def can_undo() -> bool:
    """Whether there is a step to undo."""
    return bool(session.past)


def can_redo() -> bool:
    """Whether there is a step to redo."""
    return bool(session.future)


def undo() -> None:
    """Back to the settings before the last change (a callback)."""
    if session.past and session.now is not None:
        *session.past, settings = session.past
        session.future = [*session.future, session.now]
        _go_to(settings)


def redo() -> None:
    """Forward again (a callback)."""
    if session.future and session.now is not None:
        *session.future, settings = session.future
        session.past = [*session.past, session.now]
        _go_to(settings)


def _go_to(settings: AssemblySettings) -> None:
    session.now = settings
    apply(settings)


def live_limit() -> int | None:
    """The limit under the dragging hand, None when nothing is dragged."""
    return None if session.live == session.released_at else session.live


def take_settled_limit() -> None:
    """Put the limit that the hand let go of into its number box; again in the next run where one ends before the box is drawn."""
    if session.settled is not None:
        session.put(spec_of("max_tokens").url, session.settled)


def under_the_hand(settings: AssemblySettings) -> AssemblySettings:
    """The settings with the limit that is being dragged."""
    live = live_limit()
    return (
        settings
        if live is None
        else settings.replace(max_tokens=int(min(max(live, spec_of("max_tokens").low or 0), spec_of("max_tokens").high or live)))
    )


def assemble_scene(workbench: Any, scene: Scene) -> Assembly:
    """The assembly of a scene; the last one of this session is kept, so that fragments and views share it."""
    key = (scene.dataset, scene.query, scene.settings, session.loads, zones_key(scene.settings))
    kept = session.assembly
    if kept is None or kept[0] != key:
        ended, asks_a_model = asked_to_end(), scene.settings.enabled and scene.settings.compression == "model"
        with st.spinner("A model shortens chunks…", show_time=True) if asks_a_model else nullcontext():
            kept = (key, assemble_anew(workbench, scene, ended))
        if not (asks_a_model and ended()):
            # What was stopped half-way is no answer for the next run.
            session.assembly = kept
    return kept[1]


def assemble_anew(workbench: Any, scene: Scene, ended: Callable[[], bool] = lambda: False) -> Assembly:
    """The assembly of a scene, whatever was kept; for trying other settings. `ended` stops a model that compresses."""
    version = (scene.dataset, session.info.dataset_id if session.info else None, session.loads)
    source = KeptChunks(workbench.dataset(scene.dataset), version, session)
    told = {"told_by": summary_model(), "windows": edited_windows(), "cancelled": ended}
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

    def corpus_language(self) -> CorpusLanguage:
        """That of the source."""
        return self._source.corpus_language()


def send_again(key: str, labels: Iterable[str]) -> None:
    """Before a select box is drawn: send its value with new labels, else the browser keeps the label that it had.

    Of a value that is only the default nothing is sent either, so the key must hold it.
    """
    drawn = tuple(labels)
    if session.drawn_labels.get(key) != drawn:
        session.drawn_labels = {**session.drawn_labels, key: drawn}
        session.put(key, session.value_of(key))


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
