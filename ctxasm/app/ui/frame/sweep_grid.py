"""What a sweep tries: kept in the lists of the page, and part of the address of that page alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ctxasm.app.ui.frame.session import session
from ctxasm.model.errors import CtxasmError, InvalidInput, InvalidSetting
from ctxasm.model.settings import spec_of, specs
from ctxasm.model.settings_text import parse, write
from ctxasm.model.specs import Spec
from ctxasm.tuning.sweep import axes_of

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
