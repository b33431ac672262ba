"""The sentence of a sweep: what is shown to be better than the settings one started from, and what is cheaper and hardly worse."""

from __future__ import annotations

from dataclasses import dataclass

from ctxasm.model.setting_labels import named
from ctxasm.tuning.statistics.many import Cheaper, cheapest_no_worse, max_t_p
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.rivals import Rivals, rivals

SURE = 0.05
DELTA = 0.05
"""What something cheaper may lose: five points."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a sweep shows of settings by their places. `better` is shown to be better than the start (`p`, adjusted for all tried), None
    where nothing is; of several the one that holds most. `cheaper` is shown to lose at most `delta` against it, or the start.
    """

    better: int | None
    p: float
    cheaper: Cheaper | None
    delta: float
    sentence: str


def decide(found: SweepResult, delta: float = DELTA) -> Decision:
    """Adjusted for how many settings were tried: the best of many looks better than it is."""
    n = len(found.labelled)
    if not n:
        return Decision(None, 1.0, None, delta, "No question is labelled with its evidence: the table shows tokens alone.")
    base = found.whole[found.start].astype(float)
    adjusted = max_t_p((found.whole.astype(float) - base).T.tolist())
    sure = [at for at, p in enumerate(adjusted) if p <= SURE]
    better = min(sure, key=lambda at: (-int(found.whole[at].sum()), found.tokens(at), at), default=None)
    reference = found.start if better is None else better
    rows = [[bool(value) for value in row] for row in found.whole.T]
    costs = [found.tokens(at) for at in range(len(found.settings))]
    cheaper = cheapest_no_worse(rows, costs, reference, delta)
    p = min(adjusted) if better is None else adjusted[better]
    sentence, at_equal_tokens = _sentence(found, better, p, cheaper, delta), rivals(found)
    if at_equal_tokens is not None:
        sentence = f"{sentence} {_rivals_sentence(at_equal_tokens)}"
    return Decision(better, p, cheaper, delta, sentence)


def _sentence(found: SweepResult, better: int | None, p: float, cheaper: Cheaper | None, delta: float) -> str:
    n, tried = len(found.labelled), len(found.settings)
    own, ceiling = int(found.whole[found.start].sum()), int(found.reachable.sum())
    if better is None:
        text = (
            f"None of {tried:,} settings is shown to be better than yours, which hold the evidence of {own} of {n} questions "
            f"(the hits could give {ceiling})"
        )
    else:
        text = (
            f"{_named(found, better)} holds the evidence of {int(found.whole[better].sum())} of {n} questions, your settings {own} "
            f"(the hits could give {ceiling}; p = {p:.3f}, adjusted for {tried:,} settings)"
        )
    if cheaper is None:
        return f"{text}; nothing cheaper is shown to lose at most {delta * 100:.0f} points."
    reference = found.start if better is None else better
    return (
        f"{text}; {_named(found, cheaper.at)} is shown to lose at most {-min(0.0, cheaper.bound) * 100:.1f} points, "
        f"at {found.tokens(cheaper.at):,.0f} tokens a question in place of {found.tokens(reference):,.0f}."
    )


def _rivals_sentence(found: Rivals) -> str:
    """Whether a wider window or more hits win."""
    pairs = f"At equal tokens ({len(found.pairs):,} pair{'s' if len(found.pairs) > 1 else ''} of settings)"
    sign, wins, loses = 1, "a wider window holds", "more hits do"
    if found.p > SURE:
        wins, loses = "a wider window is within noise of more hits", ""
    elif found.difference < 0:
        sign, wins, loses = -1, "more hits hold", "a wider window does"
    low, high = sorted((sign * found.interval.low, sign * found.interval.high))
    interval = f"[{low * 100:+.1f}, {high * 100:+.1f}]"
    if not loses:
        return f"{pairs} {wins} ({found.difference * 100:+.1f} points {interval}, p = {found.p:.3f})."
    return f"{pairs} {wins} {abs(found.difference) * 100:.1f} points more than {loses} ({interval}, p = {found.p:.3f})."


def _named(found: SweepResult, at: int) -> str:
    settings = found.settings[at]
    several = [name for name, values in found.axes.items() if len(values) > 1] or list(found.axes)
    return named({name: getattr(settings, name) for name in several})
