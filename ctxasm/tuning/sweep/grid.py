"""Which settings a sweep tries: the product of its axes, on top of the settings that one starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.model.settings_text import parse

Axes = Mapping[str, Sequence[Any]]
"""The values of each setting that is tried, by name."""
MOST_SETTINGS = 20_000


def default_axes() -> dict[str, tuple[Any, ...]]:
    """Window, limit, every policy, and the number of hits: the rival of a wider window."""
    return {
        "expand_window": (0, 1, 2, 3),
        "max_tokens": (2000, 4000, 8000),
        "budget_policy": spec_of("budget_policy").choices,
        "top_k": (5, 10, None),
    }


def axes_of(texts: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """Axes from `name=v1,v2` texts, as `--grid` takes them. Raises InvalidInput, InvalidSetting."""
    axes: dict[str, tuple[Any, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise InvalidInput(f"an axis is written name=value,value, got {shown(text)}")
        spec = spec_of(name.strip())
        if spec.name in axes:
            raise InvalidInput(f"the axis {spec.name} is given twice: write all its values in one")
        axes[spec.name] = tuple(dict.fromkeys(parse(spec, value) for value in values.split(",")))
    return axes


def settings_of(start: AssemblySettings, axes: Axes) -> tuple[AssemblySettings, ...]:
    """Every combination, the last axis changing fastest. Raises InvalidInput for more than can be tried, or an axis without values."""
    count = 1
    for name, values in axes.items():
        if not values:
            raise InvalidInput(f"the axis {name} needs at least one value")
        count *= len(values)
    if count > MOST_SETTINGS:
        raise InvalidInput(f"a sweep tries at most {MOST_SETTINGS:,} settings, got {count:,}: give fewer values")
    return tuple(start.replace(**dict(zip(axes, values, strict=True))) for values in product(*axes.values()))
