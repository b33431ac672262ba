"""Which settings to ship, once: what they gain and cost; every sentence of sweep and recommendation behind a line. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted, signed
from ctxasm.model.amounts import interval as span
from ctxasm.model.setting_labels import named

if TYPE_CHECKING:
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.tuning.recommend.recommending import Recommendation, Verdict
    from ctxasm.tuning.statistics.pairs import Interval
    from ctxasm.tuning.sweep.deciding import Decision
    from ctxasm.tuning.sweep.results import SweepResult

HEADINGS: Mapping[Verdict, str] = {
    "shown": "Recommended, and shown on your questions",
    "leaning": "Your questions lean to this, which is not shown yet",
    "prior": "Recommended, not shown on your questions",
    "keep": "Recommended",
}
"""What stands over the recommendation, so that it does not pass for what the sweep has shown."""
SHOWN_HERE = "Shown to be better by the settings that you tried"
KEEP = "Keep your settings."


@dataclass(frozen=True)
class Shipping:
    """What to ship in place of `start`: `gains` and `costs` in words; ids of the questions `gained` and `lost`; whether that is `shown`."""

    heading: str
    settings: AssemblySettings
    start: AssemblySettings
    gains: str
    costs: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    shown: bool

    @property
    def says(self) -> str:
        """`Take Max tokens 4,000, the rest as yours.`"""
        own, other = self.settings.to_dict(), self.start.to_dict()
        changed = {name: value for name, value in own.items() if value != other[name]}
        return f"Take {named(changed)}, the rest as yours." if changed else KEEP


def shipping(found: SweepResult, decision: Decision, recommended: Recommendation) -> Shipping:
    """The recommendation; what the sweep shows to be better where the recommendation is not shown."""
    if recommended.verdict == "shown" or decision.better is None:
        return _of_recommendation(recommended)
    return _of_sweep(found, decision.better, decision.p)


def _of_recommendation(recommended: Recommendation) -> Shipping:
    from ctxasm.tuning.statistics.pairs import p_words

    if recommended.held is None:
        gains = "nothing that so few labelled questions could show"
    else:
        held = recommended.held
        sure = {
            "shown": f"more than chance explains ({p_words(held.p)})",
            "leaning": "not shown yet",
            "prior": f"not shown; it rests on {recommended.corpora} other corpora",
            "keep": "nothing better is shown",
        }[recommended.verdict]
        of = "by choosing anew, " if recommended.verdict == "keep" else ""
        gains = f"{of}{_points(held.gain, held.interval)} (n = {held.n}) on questions that it was not made on: {sure}"
    return Shipping(
        HEADINGS[recommended.verdict],
        recommended.settings,
        recommended.start,
        gains,
        _costs(recommended.tokens, recommended.tokens_start, recommended.lost, keeps=recommended.settings == recommended.start),
        recommended.gained,
        recommended.lost,
        recommended.verdict == "shown",
    )


def _of_sweep(found: SweepResult, better: int, p: float) -> Shipping:
    from ctxasm.tuning.statistics.pairs import agresti_min, p_words

    n, tried = len(found.labelled), len(found.settings)
    gained, lost = found.flips(better, found.start)
    points = _points((len(gained) - len(lost)) / n, agresti_min(len(gained), len(lost), n))
    gains = f"{points} (n = {n}) on the questions that it was chosen on: {p_words(p)}, adjusted for {number(tried)} settings"
    costs = _costs(found.tokens(better), found.tokens(found.start), lost, keeps=False)
    return Shipping(SHOWN_HERE, found.settings[better], found.settings[found.start], gains, costs, gained, lost, True)


def _points(gain: float, interval: Interval) -> str:
    """`+3.4 points [−1.2, +8.0]`."""
    return f"{signed(gain * 100, 1)} points {span(interval.low * 100, interval.high * 100, 1)}"


def _costs(tokens: float, before: float, lost: Sequence[str], *, keeps: bool) -> str:
    if keeps:
        return f"{number(tokens)} tokens a question, as now"
    loses = f"the evidence of {counted(len(lost), 'question')}" if lost else "no question"
    return f"{number(tokens)} tokens a question in place of {number(before)}; it loses {loses}"


def shipping_html(
    ship: Shipping,
    gold: str,
    sentences: Sequence[tuple[str, Sequence[str]]],
    inspect: Callable[[AssemblySettings], str],
    compare: Callable[[AssemblySettings, AssemblySettings], str],
) -> str:
    """The panel. `gold` names the labels. `sentences` by what says them stand behind a line; `inspect` and `compare` give addresses."""
    links = [state_link(inspect(ship.settings), "Inspect")]
    if ship.gained or ship.lost:
        links.append(state_link(compare(ship.start, ship.settings), "Compare the questions"))
    more = "".join(f"<h3>{escape(title)}</h3>{''.join(f'<p>{escape(each)}</p>' for each in said)}" for title, said in sentences)
    facts = "".join(f"<dt>{name}</dt><dd>{escape(said)}</dd>" for name, said in (("Gains", ship.gains), ("Costs", ship.costs)))
    facts += f'<dt>Labels</dt><dd id="ctx-gold">{escape(gold)}</dd>'
    return boxed(
        f'<div class="cx-panel{" ok" if ship.shown else ""}" id="ctx-recommended"><h3>{escape(ship.heading)}</h3>'
        f'<p class="cx-decision" role="status" id="ctx-decision">{escape(ship.says)}</p><dl class="cx-ship">{facts}</dl>'
        f'<p>{" · ".join(links)}</p><details id="ctx-said"><summary>In full, and how sure</summary>{more}</details></div>'
    )
