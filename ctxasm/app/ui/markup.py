"""Escaped HTML: tables, boxes that scroll, and what an element carries that stands for a chunk, a question or a cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from ctxasm.app.ui.words import in_attribute
from ctxasm.model.records import Query
from ctxasm.model.results import Key
from ctxasm.tuning.evidence import EvidenceState


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = (), caption: str = "", more: str = "") -> str:
    """A table of cells that are already escaped HTML; `numeric` columns stand right, `more` follows the caption as HTML."""
    head = "".join(f'<th scope="col"{_numeric(at, numeric)}>{name}</th>' for at, name in enumerate(heads))
    body = "".join("<tr>" + "".join(f"<td{_numeric(at, numeric)}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>" for row in rows)
    title = f"<caption>{caption}{more}</caption>" if caption else ""
    return (
        f'<div class="cx-table-wrap" tabindex="0" role="group" aria-label="{caption or "table"}"><table>{title}<thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


def _numeric(at: int, numeric: Sequence[int]) -> str:
    return ' class="num"' if at in numeric else ""


def boxed(inner: str, id: str = "") -> str:
    """HTML inside the workbench's own styles."""
    return f'<div class="cx"{f" id={chr(34)}{id}{chr(34)}" if id else ""}>{inner}</div>'


def state_link(address: str, words: str, label: str = "") -> str:
    """A link to another state of the workbench, `./compare?…`; `label` is what it is called where its words do not say it.

    A click on it says its address. With a key held, by the middle button or without a listener, the browser opens it in a tab of its own.
    """
    named = f' aria-label="{in_attribute(label)}"' if label else ""
    return f'<a {pick_of(address)} href="{escape(address)}" target="_blank"{named}>{escape(words)}</a>'


def pick_of(key: Key | str | tuple[str, int, str]) -> str:
    """What an element carries that stands for a chunk (with a word: for a sign at it), or by a text for a cell or a link."""
    return f'data-pick="{_kept(json.dumps(key))}"'


def at_of(document_id: str, chunk_index: int | None = None) -> str:
    """What an element of the picture carries that stands for a chunk, or for a document, and is no button: the text scrolls to it."""
    at = [document_id] if chunk_index is None else [document_id, chunk_index]
    return f'data-at="{_kept(json.dumps(at))}"'


def document_of(document_id: str) -> str:
    """What an element carries that stands for a document and holds its chunks; the script reads it with `decodeURIComponent`."""
    return f'data-document="{escape(document_id.replace("%", "%25").replace("<", "%3C").replace(">", "%3E"))}"'


def _kept(text: str) -> str:
    """JSON as the value of an attribute. The browser drops an attribute in which `</style>` or `-->` stands, escaped or not."""
    return escape(text.replace("<", "\\u003c").replace(">", "\\u003e"))


def picked_key(said: str) -> Key | None:
    """The chunk that was clicked; None for what a page cannot have drawn."""
    try:
        document_id, index = json.loads(said)
    except (TypeError, ValueError, RecursionError):
        return None
    return (document_id, index) if isinstance(document_id, str) and isinstance(index, int) else None


def picked_text(said: str) -> str | None:
    """The text of what was clicked; None for what a page cannot have drawn."""
    try:
        text = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return text if isinstance(text, str) else None


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
