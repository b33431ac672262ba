"""Settings that a measurement speaks against: they brought no more of the evidence into the context, or less of it.

They stay, as a source has them or they serve something else (fewer tokens, the newer edition of a text), but nothing recommends
them: advice tries none, what is recommended holds none, and wherever one is described its figure stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURED_AGAINST: Mapping[tuple[str, object], str] = {
    ("dedup_near", True): "Measured: it changed nothing of the evidence in the context on 160 questions of four corpora.",
    ("dedup_semantic", True): "Measured: it gained 0.0 points of evidence on four corpora (95 % interval −0.5 to 0.5).",
    (
        "compression",
        "extractive",
    ): "Measured: extracts of every chunk cost the recommended choice 5.5 points of evidence on four corpora (95 % "
    "interval 2.3 to 8.9), extracts of 200 tokens 19.7 (13.9 to 25.9); no chunk there had 2,000 tokens.",
    ("oversized", "drop"): "Measured: dropping cost the five stages 16.1 points of evidence on four corpora (95 % interval 12.5 to 20.0).",
}
"""What was measured, by setting and value: points of questions with all evidence in the context, the mean of four corpora and four limits.
The table, with its command, is in docs/about/measurements.md."""


def spoken_against(changes: Mapping[str, object]) -> tuple[str, ...]:
    """What was measured against these choices."""
    return tuple(figure for (name, value), figure in MEASURED_AGAINST.items() if name in changes and changes[name] == value)


def figures_of(name: str) -> tuple[str, ...]:
    """What was measured against values of one setting."""
    return tuple(figure for (own, _), figure in MEASURED_AGAINST.items() if own == name)


def with_figures(text: str, figures: tuple[str, ...]) -> str:
    """A help text with the figures that belong beside it."""
    return " ".join((text, *figures))
