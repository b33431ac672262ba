"""Which settings to ship: what they gain and cost, and every sentence of the recommendation behind a line. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING

from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted

if TYPE_CHECKING:
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.tuning.recommend import Recommendation, Verdict

HEADINGS: Mapping[Verdict, str] = {
    "gain": "Shown to hold more evidence",
    "cheaper": "Shown to hold about as much for fewer tokens",
    "prior": "Better on other corpora, not shown on yours",
    "keep": "Nothing better is shown",
}


def shipping_html(
    made: Recommendation, inspect: Callable[[AssemblySettings], str], compare: Callable[[AssemblySettings, AssemblySettings], str]
) -> str:
    """The panel. The links open what the headline proposes; `inspect` and `compare` give addresses."""
    first, *more = made.sentences()
    proposed = made.found.settings[made.proposed]
    links = [state_link(inspect(proposed), "Inspect")]
    if proposed != made.start:
        links.append(state_link(compare(made.start, proposed), "Compare the questions"))
    rows = (
        (("To gain", more.pop(0)),)
        if made.taken == made.found.start
        else (("Gains", made.against_start().sentence()), ("Costs", costs(made)))
    )
    facts = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    facts += f'<dt>Labels</dt><dd id="ctx-gold">{escape(made.gold)}</dd>'
    return boxed(
        f'<div class="cx-panel{" ok" if made.verdict in ("gain", "cheaper") else ""}" id="ctx-recommended">'
        f"<h3>{escape(HEADINGS[made.verdict])}</h3>"
        f'<p class="cx-decision" role="status" id="ctx-decision">{escape(first)}</p><dl class="cx-ship">{facts}</dl>'
        f'<p>{" · ".join(links)}</p><details id="ctx-said"><summary>In full, and how sure</summary>'
        f"{''.join(f'<p>{escape(each)}</p>' for each in more)}</details></div>"
    )


def costs(made: Recommendation) -> str:
    """The tokens of the settings to ship, and the questions that they lose."""
    tokens, before = made.found.tokens(made.taken), made.found.tokens(made.found.start)
    lost = made.flips[1]
    loses = f"the evidence of {counted(len(lost), 'question')}" if lost else "no question"
    return f"{number(tokens)} tokens a question in place of {number(before)}; it loses {loses}"
