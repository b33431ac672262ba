"""HTML of what says the same: the list of copies, and two texts side by side with the words in which they differ. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ctxasm.model.results import Assembly, Key
from ctxasm.ui.copy_rows import Copy, Difference, Piece, likeness_label
from ctxasm.ui.pictures import table_html
from ctxasm.ui.words import title_of

MOST_WORDS_NOTE = "Only the first words of these long texts are compared."


def chunk_name(assembly: Assembly, key: Key) -> str:
    """A chunk by its document's title: `Visiting hours #3`."""
    return f"{title_of(assembly.trace.documents, key[0], 64)} #{key[1]}"


def copies_html(assembly: Assembly, copies: Sequence[Copy]) -> str:
    """Removed copies with the chunk that stays, and how alike they are."""
    rows = [
        (
            escape(chunk_name(assembly, copy.copy)),
            _likeness(copy),
            escape(chunk_name(assembly, copy.kept)),
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
    note = f'<p class="cx-note cx-small">{MOST_WORDS_NOTE}</p>' if found.clipped else ""
    same = "" if any(piece.kind == "own" for piece in (*found.copy, *found.kept)) else " The words are the same; case or spaces differ."
    return (
        f'<p class="cx-note">{likeness_label(copy.likeness, copy.similarity).capitalize()}.{same}</p>'
        '<div class="cx-seam" style="margin-top:8px">'
        f"{_side(f'{chunk_name(assembly, copy.copy)}, {older}', found.copy, 'del')}"
        f"{_side(f'{chunk_name(assembly, copy.kept)}, {newer}', found.kept, 'mark')}</div>{note}"
    )


def _side(name: str, pieces: Sequence[Piece], tag: str) -> str:
    body = "".join(_piece(piece, tag) for piece in pieces)
    return f'<div class="cx-quote" tabindex="0" role="region" aria-label="{escape(name)}" dir="auto"><h3>{escape(name)}</h3>{body}</div>'


def _piece(piece: Piece, tag: str) -> str:
    match piece.kind:
        case "own":
            return f"<{tag}>{escape(piece.text)}</{tag}>"
        case "skipped":
            return f'<span class="cx-seg-gap">… {escape(piece.text)} …</span> '
        case "same":
            return escape(piece.text)
