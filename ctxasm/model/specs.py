"""What is known of one setting: its kind, its bounds, and whether a value fits. `settings` lists the settings themselves."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any, Literal, NamedTuple

from ctxasm.model.characters import has_mark, is_visible, storable
from ctxasm.model.errors import InvalidSetting

LARGEST = 2_000_000_000
"""The highest value of a setting that has no other bound."""
MAX_TEXT = 500
"""The longest text setting, in characters."""


class Spec(NamedTuple):
    """What is known of one setting. `low`/`high` bound a number, `choices` list the values of a choice.

    `none` is the word for an optional setting that is not set.
    """

    name: str
    kind: Literal["bool", "int", "float", "choice", "text"]
    default: Any
    url: str
    stage: str
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    open_low: bool = False
    none: str = "none"

    @property
    def allowed(self) -> str:
        """The range in words, as errors, the settings table and the command line show it."""
        if self.kind == "bool":
            return "true or false"
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.kind == "text":
            needed = " that holds {summary}" if self.name == "summary_template" else ""
            text = f"a text of at most {MAX_TEXT} characters{needed}"
            if self.name == "block_separator":
                text += " that is empty or holds a mark such as -"
            return f"{text}, or {self.none}" if self.optional else text
        number = "a whole number" if self.kind == "int" else "a number"
        low, high = _plain(self.low), _plain(self.high)
        if self.low is None:
            text = f"any {number.removeprefix('a ')}"
        elif self.high is None:
            text = f"{number} of at least {low}"
        elif self.open_low:
            text = f"{number} above {low} and at most {high}"
        else:
            text = f"{number} between {low} and {high}"
        return f"{text}, or {self.none}" if self.optional else text


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def setting(default: Any, kind: str, url: str, stage: str, help: str, **limits: Any) -> Any:
    """A field of the settings that carries all that other rooms need of it."""
    return field(default=default, metadata={"kind": kind, "url": url, "stage": stage, "help": help, **limits})


def check_value(spec: Spec, value: Any) -> None:
    """Refuse a value of the wrong type or out of range with InvalidSetting."""
    if value is None and spec.optional:
        return
    if not _fits(spec, value):
        raise InvalidSetting(spec.name, value, spec.allowed)


def _fits(spec: Spec, value: Any) -> bool:
    match spec.kind:
        case "bool":
            return isinstance(value, bool)
        case "choice":
            return isinstance(value, str) and value in spec.choices
        case "text":
            if not isinstance(value, str) or len(value) > MAX_TEXT or not storable(value):
                return False
            if spec.name == "block_separator":
                return not is_visible(value) or has_mark(value)
            return spec.name != "summary_template" or "{summary}" in value
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and _inside(spec, value)
        case "float":
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and _inside(spec, value) and math.isfinite(value)


def _inside(spec: Spec, value: float) -> bool:
    if spec.low is not None and not (value > spec.low if spec.open_low else value >= spec.low):
        return False
    return (-LARGEST if spec.low is None else spec.low) <= value <= (LARGEST if spec.high is None else spec.high)
