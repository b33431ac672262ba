"""What says the same: removed copies and how alike they are, newer editions, and two texts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

from ctxasm.app.ui.widgets.chunk_clicks import at_of
from ctxasm.app.ui.widgets.fates import SENT, likeness_label
from ctxasm.app.ui.widgets.tables import table_html
from ctxasm.app.ui.widgets.word_diff import shortened, word_diff
from ctxasm.app.ui.words.words import in_attribute, title_of
from ctxasm.model.events import Duplicate, Likeness, Promoted
from ctxasm.model.results import Assembly, Key


class Copy(NamedTuple):
    """A removed duplicate and the chunk that says the same; `similarity` as in the event.

    `superseded`: it is the older edition, and the kept one took over its standing. `returned`: it is in the context after all.
    """

    copy: Key
    kept: Key
    returned: bool
    likeness: Likeness = "exact"
    similarity: float = 1.0
    superseded: bool = False


class Piece(NamedTuple):
    """A run of words of one text beside another: the same in both, only here, or a long equal run left out."""

    kind: Literal["same", "own", "skipped"]
    text: str


class Difference(NamedTuple):
    """Two texts side by side."""

    copy: tuple[Piece, ...]
    kept: tuple[Piece, ...]


def copies(assembly: Assembly) -> tuple[Copy, ...]:
    """The duplicates that any stage found, in the order of the stages; the last word on a chunk counts."""
    sent = {(f.document_id, f.chunk_index) for f in assembly.trace.fates if f.fate in SENT}
    events = [event for record in assembly.trace.stages for event in record.events]
    older = {(e.of_document_id, e.of_chunk_index) for e in events if isinstance(e, Promoted)}
    found: dict[Key, Copy] = {}
    for e in events:
        if isinstance(e, Duplicate):
            copy, kept = (e.document_id, e.chunk_index), (e.of_document_id, e.of_chunk_index)
            found[copy] = Copy(copy, kept, copy in sent, e.likeness, e.similarity, copy in older)
    return tuple(found.values())


def difference(copy: str, kept: str) -> Difference:
    """The words in which two texts differ, case and white space aside; equal words far from any difference are left out."""
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, one, other in shortened(word_diff(copy, kept)):
        left += [Piece("own" if kind == "changed" else kind, one)] if one else []
        right += [Piece("own" if kind == "changed" else kind, other)] if other else []
    return Difference(tuple(left), tuple(right))


def chunk_name(assembly: Assembly, key: Key) -> str:
    """A chunk by its document's title: `Visiting hours #3`."""
    return f"{title_of(assembly.trace.documents, key[0], 64)} #{key[1]}"


def copies_html(assembly: Assembly, copies: Sequence[Copy]) -> str:
    """Removed copies with the chunk that stays, and how alike they are."""
    rows = [
        (
            escape(chunk_name(assembly, copy.copy)),
            _likeness(copy),
            f"<span {at_of(*copy.kept)}>{escape(chunk_name(assembly, copy.kept))}</span>",
            _outcome(copy),
        )
        for copy in copies
    ]
    return table_html(("copy", "how alike", "says what this one says", "in the context"), rows, caption="Duplicates among the candidates")


def _likeness(copy: Copy) -> str:
    return f'<span data-likeness="{copy.likeness}" class="cx-nowrap">{likeness_label(copy.likeness, copy.similarity)}</span>'


def _outcome(copy: Copy) -> str:
    if copy.returned:
        return "came back: the other one left"
    older = '<span class="cx-need">older edition</span>: the newer one stands in its place, with its score; ' if copy.superseded else ""
    return f"{older}shown once, both sources named"


def difference_html(assembly: Assembly, copy: Copy, found: Difference) -> str:
    """The copy and what is kept, the words that only one of them has marked."""
    older, newer = ("older edition", "newer edition, kept") if copy.superseded else ("left out", "kept")
    same = "" if any(piece.kind == "own" for piece in (*found.copy, *found.kept)) else " The words are the same; case or spaces differ."
    return (
        f'<p class="cx-note">{likeness_label(copy.likeness, copy.similarity).capitalize()}.{same}</p>'
        '<div class="cx-sides" style="margin-top:8px">'
        f"{_side(f'{chunk_name(assembly, copy.copy)}, {older}', found.copy, 'del')}"
        f"{_side(f'{chunk_name(assembly, copy.kept)}, {newer}', found.kept, 'mark')}</div>"
    )


def _side(name: str, pieces: Sequence[Piece], tag: str) -> str:
    body = "".join(_piece(piece, tag) for piece in pieces)
    return (
        f'<div class="cx-quote" tabindex="0" role="region" aria-label="{in_attribute(name)}" dir="auto"><h3>{escape(name)}</h3>{body}</div>'
    )


def _piece(piece: Piece, tag: str) -> str:
    match piece.kind:
        case "own":
            return f"<{tag}>{escape(piece.text)}</{tag}>"
        case "skipped":
            return f'<span class="cx-seg-gap">… {escape(piece.text)} …</span> '
        case "same":
            return escape(piece.text)
