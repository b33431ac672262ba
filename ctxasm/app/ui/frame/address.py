"""What the pages keep in their address beside settings and question: models, what Compare shows, the axes of a sweep, the pinned settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import SENT, Pinned, Session, session
from ctxasm.model.errors import CtxasmError, InvalidInput, InvalidSetting
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.settings_text import from_url, parse, to_url, write
from ctxasm.model.specs import Spec
from ctxasm.tuning.sweep import axes_of

View = Literal["question", "all", "answers", "blind"]
VIEWS: tuple[View, ...] = get_args(View)
COMPARE = "compare"
"""The path of the page."""
VIEW, ONLY = "view", "only"
"""The URL parameters of the view, and of the questions that "all" lists."""
FIRST: View = "question"
EVERY = "all"
"""What of the questions is listed where no filter is chosen."""


def view_address(view: str, only: str = EVERY) -> dict[str, str]:
    """What of an address says it: nothing of what is shown without being asked for."""
    return {VIEW: view} | ({ONLY: only} if view == "all" and only != EVERY else {}) if view != FIRST else {}


def shown_address(path: str) -> dict[str, str]:
    """The same of what is shown now; nothing on other pages."""
    return view_address(session.compare_view, session.compare_filter) if path == COMPARE else {}


def is_blind(path: str) -> bool:
    """Whether a blind review is shown: then nothing names a question but the review itself."""
    return path == COMPARE and session.compare_view == "blind" and isinstance(session.pinned, AssemblySettings)


def take_view(path: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Show what an address of Compare says; sentences on what of it cannot be used."""
    if path != COMPARE:
        return ()
    view = parameters.get(VIEW, FIRST)
    session.compare_view, session.compare_filter = view if view in VIEWS else FIRST, parameters.get(ONLY, EVERY)
    return () if view in VIEWS else (f"{VIEW} must be one of {', '.join(VIEWS)}, got {view[:60]!r}",)


MODEL = Session.model.key
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
    return () if named is None or named in MODEL_NAMES else (f"{MODEL} must be one of {', '.join(MODEL_NAMES)}, got {named[:60]!r}",)


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
    for name in (*LISTED, *session.value_of(MORE, ())):
        spec = spec_of(name)
        values, _ = read_values(spec, session.value_of(f"{KEY}{name}", options_of(spec)[1]))
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
    session.put(MORE, [name for name in axes if name not in LISTED])
    for name in (*LISTED, *session.value_of(MORE)):
        session.put(f"{KEY}{name}", list(axes.get(name, options_of(spec_of(name))[1])))
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
