"""The address of a page, which is a link to what is shown: the one place that reads it and writes it.

It says the settings, A, dataset and question, how questions are searched for, the model, and what one page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypedDict, get_args
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ctxasm.app.integrations.settings_forms import written_as
from ctxasm.app.ui.frame import server, state, typed_questions
from ctxasm.app.ui.frame.browser import component, listen
from ctxasm.app.ui.frame.gold import INSPECT, go_to
from ctxasm.app.ui.frame.session import ASK, DATASET, QUERY_ID, SENT, Pinned, Scene, Session, session
from ctxasm.app.ui.markup import picked_text
from ctxasm.llm.embedding.local import EMBEDDERS
from ctxasm.model.errors import CtxasmError, InvalidInput, InvalidSetting
from ctxasm.model.records import Query
from ctxasm.model.search import INDEXED_TEXTS, LANGUAGES, METHODS, MOST_HITS
from ctxasm.model.settings import AssemblySettings, Spec, spec_of, specs
from ctxasm.model.settings_text import from_url, parse, to_url, write
from ctxasm.retrieval.indexes import ENDPOINT
from ctxasm.retrieval.reranking import RERANKERS
from ctxasm.tuning.sweep import axes_of

View = Literal["question", "all", "answers", "blind"]
VIEWS: tuple[View, ...] = get_args(View)
COMPARE = "compare"
"""The path of the page."""
VIEW, ONLY = "view", "only"
"""The URL parameters of the view, and of the questions that "all" lists."""
FIRST: View = "question"
EVERY, FLAGGED = "all", "flagged"
"""What of the questions is listed where no filter is chosen, and those whose answers a reviewer found something wrong with."""


def view_address(view: str, only: str = EVERY) -> dict[str, str]:
    """What of an address says it: nothing of what is shown without being asked for."""
    return {VIEW: view} | ({ONLY: only} if view == "all" and only != EVERY else {}) if view != FIRST else {}


def shown_address(path: str) -> dict[str, str]:
    """The same of what is shown now; nothing on other pages."""
    return view_address(session.compare_view, session.compare_filter) if path == COMPARE else {}


def is_blind(path: str) -> bool:
    """Whether a blind review is shown: then nothing names a question but the review itself."""
    return path == COMPARE and session.compare_view == "blind" and isinstance(session.pinned, AssemblySettings)


def is_about_a_question(path: str) -> bool:
    """Whether what is shown is about the question of the sidebar: not a view of Compare over all of them, nor a blind review."""
    return path != COMPARE or session.compare_view == FIRST or not isinstance(session.pinned, AssemblySettings)


def _unknown(parameter: str, value: str, choices: Sequence[str]) -> tuple[str, ...]:
    """The sentence on a value of a parameter that is none of its choices."""
    return () if value in choices else (f"{parameter} must be one of {', '.join(choices)}, got {value[:60]!r}",)


def take_view(path: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Show what an address of Compare says; sentences on what of it cannot be used."""
    if path != COMPARE:
        return ()
    view = parameters.get(VIEW, FIRST)
    session.compare_view, session.compare_filter = view if view in VIEWS else FIRST, parameters.get(ONLY, EVERY)
    return _unknown(VIEW, view, VIEWS)


MODEL = "model"
"""The URL parameter."""
EXTRACTIVE, OPENAI = "extractive", "openai"


def first_model() -> str:
    """The model that answers until another is picked, as by command: the configured endpoint, else the key-free one."""
    return OPENAI if server.workbench().config.has_endpoint else EXTRACTIVE


def model_address() -> dict[str, str]:
    """What of an address names the model that was picked."""
    picked = session.model
    return {MODEL: picked} if picked is not None and picked != first_model() else {}


def take_model(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Pick the model that an address names, if it names one; a sentence where there is none of that name."""
    from ctxasm.llm import MODEL_NAMES

    named = parameters.get(MODEL)
    if named in MODEL_NAMES:
        session.model = named
    return () if named is None else _unknown(MODEL, named, MODEL_NAMES)


SWEEP = "sweep"
"""The path of the page."""
GRID = "grid"
"""The URL parameter: axes as `--grid` takes them, apart by semicolons; nothing where they are those that a sweep begins with."""
LISTED: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "expand_window": ((0, 1, 2, 3), (0, 1, 2)),
    "max_tokens": ((1000, 2000, 4000, 8000, 16000), (2000, 4000, 8000)),
    "budget_policy": (spec_of("budget_policy").choices, ("drop_documents", "segments")),
    "top_k": ((5, 10, 20, None), (None,)),
}
"""The settings that are always listed: the values that each can be tried at, and those that it is tried at before anybody chose."""
KEY = "sweep_"
"""How the keys of the lists begin."""
MORE = "sweep_more"


def addable() -> list[str]:
    """The settings that may be added: those with words for values; texts are no axis."""
    return [spec.name for spec in specs() if spec.name not in LISTED and spec.kind != "text" and spec.stage not in ("zones", "answer")]


def is_number(spec: Spec) -> bool:
    """Whether values can be typed."""
    return spec.kind in ("int", "float")


def options_of(spec: Spec) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a list offers, and what is chosen of it before anybody chose."""
    if spec.name in LISTED:
        return LISTED[spec.name]
    values = (True, False) if spec.kind == "bool" else spec.choices if spec.kind == "choice" else (spec.default,)
    return values, values


def read_values(spec: Spec, picked: Iterable[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """The values of a list in their order, and a sentence for each typed one that the setting does not take."""
    values, problems = [], []
    for value in picked:
        try:
            values.append(parse(spec, value.replace(",", "")) if is_number(spec) and isinstance(value, str) else value)
        except InvalidSetting as error:
            problems.append(str(error))
    order = sorted(set(values), key=lambda value: (value is None, value)) if is_number(spec) else options_of(spec)[0]
    return tuple(value for value in order if value in values), problems


def grid_address(path: str) -> dict[str, str]:
    """What of an address says the axes; nothing on other pages."""
    if path != SWEEP:
        return {}
    chosen = {}
    for name in (*LISTED, *st.session_state.get(MORE, ())):
        spec = spec_of(name)
        values, _ = read_values(spec, st.session_state.get(f"{KEY}{name}", options_of(spec)[1]))
        if values and (name not in LISTED or values != LISTED[name][1]):
            chosen[name] = ",".join(write(spec, value) for value in values)
    return {GRID: ";".join(f"{name}={values}" for name, values in chosen.items())} if chosen else {}


def take_grid(path: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Let the lists say what an address of Sweep says; a sentence where it cannot be used."""
    if path != SWEEP:
        return ()
    axes: Mapping[str, tuple[Any, ...]] = {}
    problems: tuple[str, ...] = ()
    try:
        axes = axes_of(parameters[GRID].split(";")) if GRID in parameters else {}
        if wrong := [name for name in axes if name not in (*LISTED, *addable())]:
            raise InvalidInput(f"{wrong[0]} cannot be tried at several values")
    except CtxasmError as error:
        axes, problems = {}, (f"{GRID}: {error}",)
    st.session_state[MORE] = [name for name in axes if name not in LISTED]
    for name in (*LISTED, *st.session_state[MORE]):
        st.session_state[f"{KEY}{name}"] = list(axes.get(name, options_of(spec_of(name))[1]))
    return problems


PIN = "a"
"""The URL parameter of A: its settings as they stand in an address of their own, or DEFAULTS."""
DEFAULTS = "default"


def pinned_address(pinned: Pinned | None) -> dict[str, str]:
    """What of an address says A; nothing where none is pinned."""
    if pinned is None or pinned == SENT:
        return {PIN: SENT} if pinned else {}
    return {PIN: urlencode(to_url(pinned)) or DEFAULTS}


def read_pinned(parameters: Mapping[str, str]) -> tuple[Pinned | None, tuple[str, ...]]:
    """A as an address says it, and sentences on what of it cannot be used."""
    text = parameters.get(PIN)
    if text == SENT:
        return SENT, ()
    if text is None or text == DEFAULTS:
        return (None if text is None else AssemblySettings()), ()
    try:
        said = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=len(specs())))
    except ValueError:
        said = {}
    if not said or said.keys() - {spec.url for spec in specs()}:
        return None, (f"A must be settings as an address has them, w=2&mt=4000, {DEFAULTS} or {SENT}, got {text[:60]!r}",)
    settings, rejected = from_url(said)
    return settings, tuple(f"of A, {error}" for error in rejected)


def pin(settings: Pinned) -> None:
    """Make these A (a callback)."""
    session.pinned = settings


def offer_pin(key: str = "pin") -> None:
    """A button that makes the settings of now A."""
    is_a = session.pinned == session.now
    help = "A on the page Compare: settings that are changed later (B) are held against these"
    label = "Pinned as A" if is_a else "Pin as A"
    st.button(label, key=key, on_click=pin, args=(session.now,), disabled=is_a, help=help, icon=":material/keep:", type="tertiary")


OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "qm": ("search_method", METHODS),
    "qx": ("search_text", INDEXED_TEXTS),
    "qn": ("search_limit", ()),
    "ql": ("search_language", LANGUAGES),
    "qe": ("search_embedder", ("default", *EMBEDDERS, ENDPOINT)),
    "qr": ("search_reranker", ("none", *RERANKERS)),
}
"""The URL parameters of the search options: the name in the session of each, and its choices; a number has none."""


def options_address() -> dict[str, str]:
    """What of an address says how questions are searched for: what differs from the default."""
    said = {key: getattr(session, name) for key, (name, _) in OPTIONS.items()}
    return {key: str(value) for key, value in said.items() if value != getattr(Session, OPTIONS[key][0])}


def take_options(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Set the search options that an address names; sentences on what of them cannot be used."""
    problems: list[str] = []
    for key, (name, choices) in OPTIONS.items():
        text = parameters.get(key)
        if text is None:
            continue
        if text in choices:
            setattr(session, name, text)
        elif choices:
            problems += _unknown(key, text, choices)
        elif text in map(str, range(1, MOST_HITS + 1)):
            setattr(session, name, int(text))
        else:
            problems.append(f"{key} must be a whole number from 1 to {MOST_HITS}, got {text[:60]!r}")
    return tuple(problems)


def question_address(query: Query, is_saved: bool) -> dict[str, str]:
    """What of an address names a question: a stored one by its id, another one by its words, which are searched for again."""
    return {QUERY_ID: query.query_id} if is_saved else {ASK: query.query}


LOAD = "load"
"""The path of the page."""
WAY = "way"
"""The URL parameter of the open tab."""
DOCUMENTS = "Documents"
WAYS = ("Files & paste", DOCUMENTS, "Your tables", "Sample")


def way_address(path: str) -> dict[str, str]:
    """What of an address says which tab of Load is open; nothing on other pages, and of the first tab."""
    return {WAY: session.way} if path == LOAD and session.way != WAYS[0] else {}


def take_way(path: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Open the tab that an address of Load names; a sentence where there is none of that name."""
    if path != LOAD:
        return ()
    way = parameters.get(WAY, WAYS[0])
    session.way = way if way in WAYS else WAYS[0]
    return _unknown(WAY, way, WAYS)


REVIEW = "review"
"""The path of the page."""
RUN = "run"
"""The URL parameter of the answer that is judged."""


def run_address(path: str) -> dict[str, str]:
    """What of an address names the answer that is judged; nothing on other pages."""
    return {RUN: session.review_run} if path == REVIEW and session.review_run else {}


def review_address(dataset: str, run_id: str | None = None) -> str:
    """Of Review, on the answers of a dataset, or on one of them: the link that an engineer hands to a reviewer."""
    return f"./{REVIEW}?{urlencode({DATASET: dataset, **({RUN: run_id} if run_id else {})})}"


WHERE = (DATASET, QUERY_ID, ASK, *OPTIONS, VIEW, ONLY, MODEL, GRID, RUN, WAY)
"""The parameters that say what is shown; the others are settings."""
URL_KEYS = frozenset((PIN, *(spec.url for spec in specs())))


def page_address(path: str) -> dict[str, str]:
    """What of the address of a page is neither settings nor question."""
    return options_address() | shown_address(path) | model_address() | grid_address(path) | run_address(path) | way_address(path)


def has_read_address() -> bool:
    """Whether this session has begun."""
    return session.rejected is not None


def read_address(path: str, parameters: Mapping[str, str]) -> None:
    """Take what the address of a page says: on the first run of a session, naming what it says wrongly, and after the back button; of
    Load its tab also where a link of another page led there.

    An address without a dataset was never written by `keep_address`: the back button only passes it.
    """
    first = not has_read_address()
    if not first and not (_is_history_navigation() and DATASET in parameters):
        if session.page_before != path:
            take_way(path, parameters)
        return
    if first:
        session.now, _ = from_url(parameters)  # which nothing came before that could be undone
    for name, _ in OPTIONS.values():
        delattr(session, name)
    rejected = take_address(path, parameters)
    if first:
        session.rejected = rejected


def take_address(path: str, parameters: Mapping[str, str]) -> list[str]:
    """Make what the address of a page says the state, its settings as a step that can be undone; what of it cannot be used."""
    settings, rejected = from_url(parameters)
    session.pinned, rejected_of_a = read_pinned(parameters)
    state.apply(settings)
    session.asked_for = {key: parameters[key] for key in (DATASET, QUERY_ID, ASK) if key in parameters}
    if path == REVIEW:
        session.review_run = parameters.get(RUN)
    taken = (*take_view(path, parameters), *take_model(parameters), *take_grid(path, parameters), *take_way(path, parameters))
    return [*map(str, rejected), *rejected_of_a, *take_options(parameters), *taken]


def _is_history_navigation() -> bool:
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))


def keep_address(where: Mapping[str, str] | None = None) -> None:
    """Make the address a link to what is shown. `where` says all but the settings; None leaves that.

    Told to the browser once, whatever differs: each telling is a step of its back button.
    """
    if session.moving:
        return  # else a step back would lead to this page in the state of the other one
    said = st.query_params.to_dict()
    settings = to_url(session.now) | pinned_address(session.pinned)
    own = {key: value for key, value in said.items() if key in URL_KEYS or key in WHERE}
    wanted = {key: own[key] for key in WHERE if key in own} if where is None else dict(where)
    if own != (wanted | settings):
        st.query_params.from_dict({key: value for key, value in said.items() if key not in own} | wanted | settings)


SHOW_ME = "show-me"
"""The path of the page."""
QUERY = "child-operation-cold"
"""The question of the sample that it is about, chosen by `sample_data/gains.py`: its evidence is in the context with assembly only."""


class CopyData(TypedDict):
    """What the script of the button reads: a text, or the query of a link to the address that the browser is at."""

    label: str
    text: str
    query: str | None


def copy_button(label: str, text: str, key: str) -> None:
    """A button that copies `text` in the browser, without a rerun."""
    data: CopyData = {"label": label, "text": text, "query": None}
    component("copy", '<button type="button">Copy</button>')(data=data, key=key, height="content")


def query_address(scene: Scene) -> dict[str, str]:
    """What of an address names the query of a scene."""
    stored = not typed_questions.is_unsaved(scene.query.query_id)
    return question_address(scene.query, stored) | ({} if stored else options_address())


def copy_link(scene: Scene, settings: AssemblySettings, page: str = "") -> None:
    """A button that copies the link to what is shown: dataset and query by name, what differs from the defaults, A, and what of it."""
    where = {DATASET: scene.dataset, **query_address(scene)}
    query = urlencode({**where, **to_url(settings), **pinned_address(session.pinned), **shown_address(page), **model_address()})
    data: CopyData = {"label": "Copy link", "text": "", "query": query}
    component("copy", '<button type="button">Copy</button>')(data=data, key="copy_link", width=104, height="content")


def settings_written(settings: AssemblySettings, origin: Sequence[str] = (), key: str = "settings_written") -> None:
    """A button that writes the settings down; `origin` says where they come from, as comments of the TOML."""
    if st.button("Copy settings as …", width="stretch" if not origin else "content", key=key):
        st.dialog("Copy settings as …", width="medium")(_show_written)(settings, origin)


def _show_written(settings: AssemblySettings, origin: Sequence[str]) -> None:
    """The settings in three notations."""
    st.caption("What differs from the defaults; each block has a copy button.")
    for title, language in (("TOML", "toml"), ("Python", "python"), ("Environment", "bash")):
        st.caption(title)
        st.code(written_as(settings, title.lower(), origin=origin).removesuffix("\n") or "# all defaults", language=language)


def inspect_address(settings: AssemblySettings) -> str:
    """Of Inspect, with the query that is shown, under these settings."""
    return f"./?{urlencode({**_shown(), **to_url(settings), **pinned_address(session.pinned)})}"


def compare_address(a: Pinned, b: AssemblySettings, query_id: str | None = None, view: View = "question", only: str = "all") -> str:
    """Of Compare, of A and B: on one query (default: that which is shown), or on all of them, those that are `only`."""
    where = _shown() if query_id is None else {**_dataset(), QUERY_ID: query_id}
    return f"./{COMPARE}?{urlencode({**where, **to_url(b), **pinned_address(a), **view_address(view, only)})}"


def _dataset() -> dict[str, str]:
    return {DATASET: session.info.name} if session.info is not None else {}


def _shown() -> dict[str, str]:
    scene, own = session.scene, _dataset()
    return own | query_address(scene) if scene is not None and own.get(DATASET) == scene.dataset else own


def hear_clicks(clicks: str, on_picked: Callable[[str], bool] = lambda _: False) -> None:
    """Listen to what the page draws as HTML: a link that is clicked opens, `on_picked` is called with anything else."""
    listen(clicks, partial(_heard, on_picked))


def _heard(on_picked: Callable[[str], bool], said: str) -> bool:
    path, _, query = (picked_text(said) or "").partition("?")
    if not query or not path.startswith("./"):
        return on_picked(said)
    wanted = dict(parse_qsl(query, keep_blank_values=True))
    scene = session.scene
    if scene is not None and wanted.get(ASK) == scene.query.query:
        del wanted[ASK]  # it is shown: there is nothing to search for again
    page = path.removeprefix("./")
    take_address(page, wanted)
    go_to(page or INSPECT)
    return True
