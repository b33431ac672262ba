"""Settings that a measurement speaks against: they brought no more of the evidence into the context, or less of it.

They stay, as a source has them or they serve something else (fewer tokens, the newer edition of a text), but nothing recommends
them: no advice proposes one for its own sake, what is recommended holds none, and wherever one is described its figure stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURED_AGAINST: Mapping[tuple[str, object], str] = {
    ("dedup_near", True): "TBD",
    ("dedup_semantic", True): "TBD",
    ("compression", "extractive"): "TBD",
    ("oversized", "drop"): "TBD",
}
"""What was measured by the setting and its value, with the mean of four corpora and four limits and its 95 % interval, in points; the
tables, with the command, are in docs/about/measurements.md."""


def spoken_against(changes: Mapping[str, object]) -> tuple[str, ...]:
    """What was measured against these choices."""
    return tuple(figure for (name, value), figure in MEASURED_AGAINST.items() if name in changes and changes[name] == value)


def figures_of(name: str) -> tuple[str, ...]:
    """What was measured against values of one setting."""
    return tuple(figure for (own, _), figure in MEASURED_AGAINST.items() if own == name)


def with_figures(text: str, figures: tuple[str, ...]) -> str:
    """A help text with the figures that belong beside it."""
    return " ".join((text, *figures))
