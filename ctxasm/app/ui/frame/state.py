"""What a browser session knows: the settings in the bound widgets, their past and future, the query, the assembly.

Keys of bound widgets are the short URL keys of the settings, `data`, `q`, and those of the search options; all else starts with `_`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import get_session_state

from ctxasm.model.errors import InvalidSetting
from ctxasm.model.ports import ChunkSource, Fetched, Window
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.settings_text import from_url
from ctxasm.model.specs import check_value
from ctxasm.ui.stopping import asked_to_end
from ctxasm.ui.typed import ASK
from ctxasm.ui.zones_state import asked_choice, edited_windows, told_by, zones_key, zones_stamp

HISTORY = 100
"""Undo steps that are kept."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the pages are about: a query of a dataset under some settings."""

    dataset: str
    query: Query
    settings: AssemblySettings


def read_url_once(parameters: Mapping[str, str]) -> None:
    """On the first run of a session, before any widget binds: keep what the URL says, and name what it says wrongly."""
    if "_rejected" in st.session_state:
        return
    settings, rejected = from_url(parameters)
    st.session_state["_rejected"] = [str(error) for error in rejected]
    st.session_state["_asked_for"] = {key: parameters[key] for key in ("data", "q", ASK) if key in parameters}
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
    st.session_state["_rejected"] = [*st.session_state.get("_rejected", []), sentence]


def apply(settings: AssemblySettings, only_changed: bool = False) -> None:
    """Put settings into the bound widgets. Only before the widgets are drawn, or in a callback."""
    for spec in specs():
        value = getattr(settings, spec.name)
        if not only_changed or value != spec.default:
            st.session_state[spec.url] = value


def settings_in_widgets() -> tuple[AssemblySettings, list[InvalidSetting]]:
    """The settings as the widgets say; a value that cannot be used is left at its default and returned as an error."""
    changes: dict[str, Any] = {}
    problems: list[InvalidSetting] = []
    for spec in specs():
        value = st.session_state.get(spec.url, spec.default)
        value = float(value) if spec.kind == "float" and isinstance(value, int) else value
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
    now = st.session_state.get("_now")
    if now is None or now == settings:
        st.session_state["_now"] = settings
        return
    st.session_state["_past"] = [*st.session_state.get("_past", []), now][-HISTORY:]
    st.session_state["_future"] = []
    st.session_state["_now"] = settings


def can_undo() -> bool:
    """Whether there is a step to undo."""
    return bool(st.session_state.get("_past"))


def can_redo() -> bool:
    """Whether there is a step to redo."""
    return bool(st.session_state.get("_future"))


def undo() -> None:
    """Back to the settings before the last change (a callback)."""
    _step("_past", "_future")


def redo() -> None:
    """Forward again (a callback)."""
    _step("_future", "_past")


def _step(source: str, target: str) -> None:
    steps = list(st.session_state.get(source, []))
    if steps:
        settings = steps.pop()
        st.session_state[target] = [*st.session_state.get(target, []), st.session_state["_now"]]
        st.session_state[source], st.session_state["_now"] = steps, settings
        apply(settings)


def live_limit() -> int | None:
    """The limit under the dragging hand, None when nothing is dragged."""
    value = st.session_state.get("_live")
    return None if value is None or value == st.session_state.get("_released_at") else int(value)


def take_settled_limit() -> None:
    """Put the limit that the hand let go of into its number box; again in the next run where one ends before the box is drawn."""
    settled = st.session_state.get("_settled")
    if settled is not None:
        st.session_state[spec_of("max_tokens").url] = settled


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
    key = (scene.dataset, scene.query, scene.settings, st.session_state.get("_loads", 0), zones_key(scene.settings))
    kept = st.session_state.get("_assembly")
    if kept is None or kept[0] != key:
        ended, asks_a_model = asked_to_end(), scene.settings.enabled and scene.settings.compression == "model"
        with st.spinner("A model shortens chunks…", show_time=True) if asks_a_model else nullcontext():
            kept = (key, assemble_anew(workbench, scene, ended))
        if not (asks_a_model and ended()):
            # What was stopped half-way is no answer for the next run.
            st.session_state["_assembly"] = kept
    assembly: Assembly = kept[1]
    return assembly


def assemble_anew(workbench: Any, scene: Scene, ended: Callable[[], bool] = lambda: False) -> Assembly:
    """The assembly of a scene, whatever was kept; for trying other settings. `ended` stops a model that compresses."""
    from ctxasm.equipping import equipment
    from ctxasm.pipeline import assemble

    version = (scene.dataset, getattr(st.session_state.get("_info"), "dataset_id", None), st.session_state.get("_loads", 0))
    source = KeptChunks(workbench.dataset(scene.dataset), version, st.session_state)
    counter = workbench.counter(scene.settings.encoding)
    plan = workbench.zones.plan(scene.query, scene.settings, counter, asked_choice(), told_by=told_by(), windows=edited_windows())
    tools = equipment(scene.settings, workbench.config, workbench.store)
    assembly: Assembly = plan.on(assemble(scene.query, source, scene.settings, counter, limit=plan.limit, cancelled=ended, **tools))
    return assembly


class KeptChunks:
    """A source of chunks that keeps what it read last: a setting that asks for the same chunks again does not touch the store."""

    def __init__(self, source: ChunkSource, version: object, kept: MutableMapping[Any, Any]) -> None:
        self._source, self._version, self._kept = source, version, kept

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All stored chunks inside the windows; no statements and no time where they were kept."""
        key = (self._version, encoding, tuple(windows))
        last = self._kept.get("_chunks")
        if last is not None and last[0] == key:
            again: Fetched = last[1]
            return replace(again, statements=0, document_statements=0, elapsed_ms=0.0)
        fetched = self._source.fetch(windows, encoding)
        self._kept["_chunks"] = (key, fetched)
        return fetched


def send_again(key: str, labels: Iterable[str]) -> None:
    """Before a select box is drawn: send its value with new labels, else the browser keeps the label that it had.

    Of a value that is only the default nothing is sent either, so the key must hold it.
    """
    drawn = tuple(labels)
    if st.session_state.get(f"_labels_of_{key}") != drawn:
        st.session_state[f"_labels_of_{key}"] = drawn
        st.session_state[key] = st.session_state[key]


def stamp_of(scene: Scene) -> str:
    """A text that names what is drawn, so that a test can wait until every part shows it."""
    changed = ",".join(f"{spec_of(name).url}={value}" for name, value in scene.settings.changed().items())
    return f"{scene.dataset}/{scene.query.query_id}?{changed}{zones_stamp(scene.query, scene.settings)}"


def pick_chunk(key: Key) -> None:
    """Choose the chunk whose life is shown."""
    st.session_state["_picked"] = key


def picked_chunk() -> Key | None:
    """The chunk whose life is shown."""
    picked: Key | None = st.session_state.get("_picked")
    return picked
