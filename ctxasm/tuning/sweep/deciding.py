"""The sentence of a sweep: what is shown to be better than the settings one started from, and what is cheaper and hardly worse."""

from __future__ import annotations

from dataclasses import dataclass

from ctxasm.model.amounts import counted, signed
from ctxasm.model.amounts import interval as span
from ctxasm.model.setting_labels import named
from ctxasm.tuning.statistics.many import Cheaper, Promising, cheapest_as_good, cheapest_no_worse, max_t_p
from ctxasm.tuning.statistics.pairs import p_words
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.rivals import Rivals, rivals

SURE = 0.05
DELTA = 0.05
"""What something cheaper may lose: five points."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a sweep shows of settings by their places. `better` is shown to be better than the start (`p`, adjusted for all tried), None
    where nothing is; of several the one that holds most. `cheaper` is shown to lose at most `delta` against it, or the start. Where
    nothing is, `promising` is the cheapest that did as well here.
    """

    better: int | None
    p: float
    cheaper: Cheaper | None
    promising: Promising | None
    delta: float
    sentences: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """All of them."""
        return " ".join(self.sentences)


def decide(found: SweepResult, delta: float = DELTA) -> Decision:
    """Adjusted for how many settings were tried: the best of many looks better than it is."""
    n = len(found.labelled)
    if not n:
        return Decision(None, 1.0, None, None, delta, ("No question is labelled with its evidence: the table shows tokens alone.",))
    base = found.whole[found.start].astype(float)
    adjusted = max_t_p((found.whole.astype(float) - base).T.tolist())
    sure = [at for at, p in enumerate(adjusted) if p <= SURE]
    better = min(sure, key=lambda at: (-int(found.whole[at].sum()), found.tokens(at), at), default=None)
    reference = found.start if better is None else better
    rows = [[bool(value) for value in row] for row in found.whole.T]
    costs = [found.tokens(at) for at in range(len(found.settings))]
    cheaper = cheapest_no_worse(rows, costs, reference, delta)
    promising = cheapest_as_good(rows, costs, reference, delta) if cheaper is None else None
    p = min(adjusted) if better is None else adjusted[better]
    first, second = _evidence_words(found, better, p), _token_words(found, reference, cheaper, promising, delta)
    at_equal_tokens = rivals(found)
    third = () if at_equal_tokens is None else (_rivals_sentence(at_equal_tokens),)
    told = (f"{first}; {second}.",) if cheaper is not None else (f"{first}.", f"{second}.")  # what is shown stands in the first sentence
    return Decision(better, p, cheaper, promising, delta, (*told, *third))


def _evidence_words(found: SweepResult, better: int | None, p: float) -> str:
    n, tried = len(found.labelled), len(found.settings)
    own, ceiling = int(found.whole[found.start].sum()), int(found.reachable.sum())
    if better is None:
        return (
            f"None of {counted(tried, 'setting')} is shown to be better than yours, which hold the evidence of {own} of "
            f"{counted(n, 'question')} (the hits with {found.reach} neighbours could give {ceiling})"
        )
    return (
        f"{_named(found, better)} holds the evidence of {int(found.whole[better].sum())} of {counted(n, 'question')}, your settings {own} "
        f"(the hits with {found.reach} neighbours could give {ceiling}; {p_words(p)}, adjusted for {tried:,} settings)"
    )


def _rivals_sentence(found: Rivals) -> str:
    """Whether a wider window or more hits win."""
    where = f"At equal tokens ({counted(len(found.all), 'comparison')})"
    sign, wins, loses = 1, "a wider window holds", "more hits do"
    if found.p > SURE:
        wins, loses = "a wider window is within noise of more hits", ""
    elif found.difference < 0:
        sign, wins, loses = -1, "more hits hold", "a wider window does"
    low, high = sorted((sign * found.interval.low, sign * found.interval.high))
    interval = span(low * 100, high * 100, 1)
    if not loses:
        return f"{where} {wins} ({signed(found.difference * 100, 1)} points {interval}, {p_words(found.p)})."
    return f"{where} {wins} {abs(found.difference) * 100:.1f} points more than {loses} ({interval}, {p_words(found.p)})."


def _token_words(found: SweepResult, reference: int, cheaper: Cheaper | None, promising: Promising | None, delta: float) -> str:
    if cheaper is not None:
        loses = f"is shown to lose at most {-min(0.0, cheaper.bound) * 100:.1f} points"
        return f"{_named(found, cheaper.at)} {loses}, at {_tokens(found, cheaper.at, reference)}"
    if promising is not None:
        own, more = int(found.whole[promising.at].sum()), promising.questions - len(found.labelled)
        return (
            f"{_named(found, promising.at)} holds {own} too, at {_tokens(found, promising.at, reference)}: about {more:,} more labelled "
            f"questions could show that it loses at most {delta * 100:.0f} points"
        )
    return f"Nothing cheaper is shown to lose at most {delta * 100:.0f} points"


def _tokens(found: SweepResult, at: int, reference: int) -> str:
    return f"{found.tokens(at):,.0f} tokens a question in place of {found.tokens(reference):,.0f}"


def _named(found: SweepResult, at: int) -> str:
    """By what it differs from the start in."""
    settings, start = found.settings[at], found.settings[found.start]
    told = {name: getattr(settings, name) for name in found.axes}
    return named({name: value for name, value in told.items() if value != getattr(start, name)} or told)
