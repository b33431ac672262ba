"""Which chunks a question expects, and the sign at a chunk that says so and changes it with a click. Escaped HTML, pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.app.ui.widgets.html import pick_of
from ctxasm.app.ui.words.words import in_attribute
from ctxasm.model.records import Query
from ctxasm.model.results import Key
from ctxasm.tuning.evidence import EvidenceState

MARK = "expected"
"""What a click on the sign says beside its chunk."""
MARK_HELP = "Mark as expected: this passage should be there. Kept with the question."
UNMARK_HELP = "Expected. Click to unmark."
SPAN_HELP = "Expected: it holds a span that the question's labels name."
OFFER = "gold"
"""What a click says on the way to gold, where a question has none."""


class Expected(NamedTuple):
    """The chunks that are expected: `marked` ones can be unmarked, those that hold a span of the labels (`spanned`) cannot."""

    marked: frozenset[Key] = frozenset()
    spanned: frozenset[Key] = frozenset()

    def holds(self, key: Key) -> bool:
        """Whether it is expected."""
        return key in self.marked or key in self.spanned


NONE_EXPECTED = Expected()


def marked_of(query: Query) -> frozenset[Key]:
    """The chunks of the gold that counts, alternatives too."""
    return frozenset(key for gold in query.counted_gold for key in gold.chunks)


def expected_of(query: Query, states: Sequence[EvidenceState]) -> Expected:
    """What is expected of a query whose evidence was judged."""
    spanned = {(state.document_id, index) for state in states if state.kind == "span" for index in state.chunk_indexes}
    return Expected(marked_of(query), frozenset(spanned))


def sign_html(expected: Expected, key: Key) -> str:
    """The sign at a chunk: filled where it is expected."""
    if key in expected.spanned and key not in expected.marked:
        return f'<span class="cx-expected" title="{SPAN_HELP}" role="img" aria-label="expected">●</span>'
    is_marked = key in expected.marked
    help = UNMARK_HELP if is_marked else MARK_HELP
    says = in_attribute(f"Expected: {key[0]} #{key[1]}")
    return (
        f'<button type="button" class="cx-expected" {pick_of((*key, MARK))} aria-pressed="{str(is_marked).lower()}" '
        f'aria-label="{says}" title="{help}">{"●" if is_marked else "○"}</button>'
    )


def offer_html() -> str:
    """The way to gold where a question has none."""
    return f'<button type="button" class="cx-expected" id="ctx-offer" {pick_of(OFFER)}>○ what should it find?</button>'


def marked_key(said: str) -> Key | None:
    """The chunk whose sign was clicked; None for what a page cannot have drawn."""
    try:
        document_id, index, mark = json.loads(said)
    except (TypeError, ValueError, RecursionError):
        return None
    is_key = isinstance(document_id, str) and type(index) is int and mark == MARK
    return (document_id, index) if is_key else None
