"""The supplement gate: whether a query's extra results stand before the blocks, by which rule, and how they are written.

The five-stage pipeline injects its taxonomy results only where intent or similarity say that the retrieved chunks are not
enough, and suppresses them otherwise; they stand behind a separator line, before the blocks. That there is a block at all
and room for the supplement is decided where both are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ctxasm.assembly.passages import Piece
from ctxasm.assembly.steps import BlockPlan, GateRule, Led, Written
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.events import Neutralised, Supplemented
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.markers.collisions import Body, defuse, find_behind_a_line, separator_of

Write = Callable[[Sequence[BlockPlan], Sequence[Piece]], Written]


def supplement(query: Query, led: Led, settings: AssemblySettings, limit: int, write: Write) -> Led:
    """The blocks, behind the supplement where the gate lets it in and there is room."""
    wanted, rule = decide(query, settings)
    if not wanted:
        return Led(led.blocks, (), rule)
    if not led.blocks:
        return Led((), (), "no_block")
    lead = (Piece("supplement", supplement_text(query, settings)),)
    fits = write(led.blocks, lead).size.budgeted <= limit
    return Led(led.blocks, lead, rule) if fits else Led(led.blocks, (), "no_room")


def supplemented(query: Query, led: Led, written: Written, settings: AssemblySettings) -> tuple[Supplemented | Neutralised, ...]:
    """Whether the supplement stands in the context and why, and what in it was defused."""
    rule = led.rule or "no_signal"
    if not led.lead:
        return (Supplemented(False, rule, 0),)
    return (Supplemented(True, rule, written.segments[0].tokens), *supplement_events(query, settings))


def decide(query: Query, settings: AssemblySettings) -> tuple[bool, GateRule]:
    """Whether the gate lets the supplement in, and the rule that decided. Never in for a query that brings none.

    `auto` opens below `supplement_threshold` (a similarity that equals it is enough) or for an intent that is listed; a
    record that says neither gets no supplement.
    """
    opens, rule = _gate(query, settings)
    return opens and query.has_supplement, rule


def _gate(query: Query, settings: AssemblySettings) -> tuple[bool, GateRule]:
    if settings.supplement_mode == "always":
        return True, "always"
    if settings.supplement_mode == "never":
        return False, "never"
    similarity = query.best_similarity
    if similarity is not None and math.isnan(similarity):
        similarity = None
    intent = _intent(query.intent or "")
    if similarity is not None and similarity < settings.supplement_threshold:
        return True, "similarity"
    if intent and intent in supplement_intents(settings):
        return True, "intent"
    return False, "no_signal" if similarity is None and not intent else "suppressed"


def supplement_intents(settings: AssemblySettings) -> frozenset[str]:
    """The intents that open the gate, as they are compared: without case and outer white space."""
    return frozenset(intent for part in settings.supplement_intents.split(",") if (intent := _intent(part)))


def _intent(text: str) -> str:
    return one_line(text).casefold()


def supplement_text(query: Query, settings: AssemblySettings) -> str:
    """Separator line, supplement, blank line; empty for a query that brings none.

    What would read as a marker or a block's header is defused as `marker_collisions` says: nobody cites the supplement.
    Ends in a newline, so that a block which starts with a visible character begins at a safe seam.
    """
    if not query.has_supplement:
        return ""
    return "".join(_defused(query, settings).texts)


def supplement_events(query: Query, settings: AssemblySettings) -> tuple[Neutralised, ...]:
    """What in supplement and separator would have read as a marker or a header. It belongs to no document: its id is empty."""
    if not query.has_supplement:
        return ()
    swap = settings.marker_collisions == "neutralise"
    return tuple(Neutralised("", None, text, swap) for _, text in _defused(query, settings).found)


def _defused(query: Query, settings: AssemblySettings) -> Body:
    """Separator and supplement looked at together: a marker may also stand across their seam."""
    separator, text = one_line(settings.supplement_separator), (query.supplement or "").strip("\r\n").rstrip()
    texts = (f"{separator}\n" if is_visible(separator) else "", f"{text}\n\n")
    if settings.marker_collisions == "off":
        return Body(texts)
    swap, line = settings.marker_collisions == "neutralise", separator_of(settings)
    return defuse(texts, swap, settings.format, find_behind_a_line, line)
