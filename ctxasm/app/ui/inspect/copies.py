"""What is sent once or shorter: the text that neighbours share, copies and newer editions, shortened chunks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.fates import SENT, failures, fates_by_key, likeness_label
from ctxasm.app.ui.context_marks import number_chip
from ctxasm.app.ui.frame.layout import show_empty
from ctxasm.app.ui.inspect.chunks import document_order
from ctxasm.app.ui.markup import at_of, boxed, table_html
from ctxasm.app.ui.word_diff import shortened, word_diff
from ctxasm.app.ui.words import coincidence_words, event_sentence, in_attribute, number, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.events import Coincidence, Compressed, Duplicate, Likeness, Merged, NearMiss, Promoted, Stripped
from ctxasm.model.results import Assembly, Key
from ctxasm.text.overlap import header_of


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
    return table_html(("copy", "how alike", "says what this one says", "in the context"), rows, caption="Repeated chunks")


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


FIRST_SEAMS, MOST_SEAMS = 8, 60
"""Seams that are drawn at once, and that can be unfolded: those with most shared text and the near misses first."""
MOST_DIFFERENCES = 6
"""Copies that are shown side by side: comparing takes time."""
Verdict = Literal["stripped", "merged", "below", "coincidence", "none"]
_VERDICTS: dict[type, Verdict] = {Stripped: "stripped", Merged: "merged", NearMiss: "below", Coincidence: "coincidence"}
_ORDER: tuple[Verdict, ...] = ("below", "coincidence", "merged", "stripped", "none")
CONTEXT_CHARS = 70
"""How much text on either side of a seam is shown, in characters."""
MOST_SHARED = 160
"""Characters of the shared text that are shown; the middle of a longer one is left out."""


class OverlapPair(NamedTuple):
    """Two neighbouring chunks and what they share: `head`, of which the first `header` characters are the beginning of the first too."""

    document_id: str
    title: str
    first: int
    second: int
    chars: int
    verdict: Verdict
    tail: str
    head: str
    rest: str
    first_chars: int
    header: int = 0


def _looked_for(assembly: Assembly) -> str:
    """The kinds of duplicates that the settings look for: `exact or near`."""
    settings = assembly.settings
    kinds = {"exact": settings.dedup_exact, "near": settings.dedup_near, "semantic": settings.dedup_semantic}
    return " or ".join(kind for kind, on in kinds.items() if on)


def overlap_pairs(assembly: Assembly) -> tuple[OverlapPair, ...]:
    """Every pair of neighbours among the candidates, in document order, with the characters they share."""
    record = assembly.trace.stage("deduplicate")
    found: dict[Key, tuple[int, Verdict]] = {}
    for event in record.events if record else ():
        if isinstance(event, (Stripped, Merged, NearMiss, Coincidence)):
            found[event.document_id, event.chunk_index] = (event.chars, _VERDICTS[type(event)])
    keys = sorted((key for key in assembly.trace.candidates), key=lambda key: key)
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    pairs = [
        _pair(assembly, key, *found.get(key, (0, "none")))
        for key in sorted(keys, key=lambda key: (order.get(key[0], len(order)), key[1]))
        if (key[0], key[1] - 1) in assembly.trace.candidates
    ]
    return tuple(pairs)


def _pair(assembly: Assembly, key: Key, chars: int, verdict: Verdict) -> OverlapPair:
    document_id, index = key
    first = assembly.trace.candidates[document_id, index - 1].chunk.text
    second = assembly.trace.candidates[key].chunk.text
    header = 0 if verdict in ("none", "merged") else header_of(first, second, chars)
    shared = chars - header
    return OverlapPair(
        document_id,
        title_of(assembly.trace.documents, document_id, 40),
        index - 1,
        index,
        chars,
        verdict,
        first[max(0, len(first) - shared - CONTEXT_CHARS) : len(first) - shared],
        second[:chars],
        second[chars : chars + CONTEXT_CHARS],
        len(first),
        header,
    )


def seam_html(pair: OverlapPair, threshold: int) -> str:
    """One seam: the end of a chunk, the text that both hold, the start of the next; struck through where it is not sent again."""
    gone = pair.verdict in ("stripped", "merged")
    state, why = _verdict(pair, threshold)
    name = f"<span {at_of(pair.document_id, pair.second)}>{escape(pair.title)} #{pair.first} → #{pair.second}</span>"
    if pair.verdict == "none":
        return f'<li class="cx-seam none" data-verdict="none"><b dir="auto">{name}</b><span class="cx-mute">{why}</span></li>'
    tag = "del" if gone else "mark"
    return (
        f'<li class="cx-seam" data-verdict="{pair.verdict}"><b dir="auto">{name}</b><span class="cx-seam-state">{state}</span>'
        f'<p dir="auto">…{escape(pair.tail)}<mark>{_shared(pair.head[pair.header :])}</mark></p>'
        f'<p dir="auto"><{tag}>{_shared(pair.head)}</{tag}>{escape(pair.rest)}…</p><small class="cx-mute">{why}</small></li>'
    )


def _shared(text: str) -> str:
    if len(text) <= MOST_SHARED:
        return escape(text)
    half = MOST_SHARED // 2
    return f'{escape(text[:half])}<span class="cx-seg-gap">…</span>{escape(text[-half:])}'


def _verdict(pair: OverlapPair, threshold: int) -> tuple[str, str]:
    chars = counted(pair.chars, "character")
    match pair.verdict:
        case "stripped":
            return "shown once", f"{chars} shared."
        case "merged":
            return "merged", f"#{pair.second} is contained in #{pair.first}."
        case "below":
            return "near miss, kept", f"{chars} shared; only more than {threshold} are left out."
        case "coincidence":
            return "kept whole", coincidence_words(pair.chars, pair.first_chars, f"#{pair.first}")
        case "none":
            return "", "nothing shared"


def seams_html(pairs: Sequence[OverlapPair], threshold: int) -> str:
    """All seams, those first of which there is something to say."""
    ordered = sorted(pairs, key=lambda pair: (_ORDER.index(pair.verdict), -pair.chars))[:MOST_SEAMS]
    drawn = [seam_html(pair, threshold) for pair in ordered]
    first, rest = drawn[:FIRST_SEAMS], drawn[FIRST_SEAMS:]
    more = (
        f'<details><summary>{counted(len(rest), "more seam")}</summary><ul class="cx-seams">{"".join(rest)}</ul></details>' if rest else ""
    )
    return f'<ul class="cx-seams">{"".join(first)}</ul>{more}'


def show_deduplicate(assembly: Assembly) -> None:
    """What neighbours share and what was done about it, then the copies."""
    pairs, found = overlap_pairs(assembly), copies(assembly)
    if pairs:
        st.html(boxed(seams_html(pairs, assembly.settings.min_overlap_chars), "ctx-seams"))
    else:
        st.html(boxed('<p class="cx-note">No two chunks stand next to each other in a document: raise Neighbours.</p>', "ctx-seams"))
    if found:
        near = [copy for copy in found if copy.likeness != "exact"][:MOST_DIFFERENCES]
        side_by_side = "".join(
            f"<details><summary>{escape(chunk_name(assembly, copy.copy))} · {escape(chunk_name(assembly, copy.kept))}</summary>"
            f"{difference_html(assembly, copy, difference(*texts))}</details>"
            for copy in near
            for texts in [(_candidate_text(assembly, copy.copy), _candidate_text(assembly, copy.kept))]
        )
        st.html(boxed(f'{copies_html(assembly, found)}<div id="ctx-difference">{side_by_side}</div>', "ctx-duplicates"))
    elif looked_for := _looked_for(assembly):
        st.html(boxed(f'<p class="cx-note">No {looked_for} copies among the chunks.</p>', "ctx-duplicates"))


def _candidate_text(assembly: Assembly, key: Key) -> str:
    candidate = assembly.trace.candidates.get(key)
    return candidate.chunk.text if candidate else ""


HOW = {
    "extractive": "its own sentences",
    "model": "its own words, chosen by a model",
    "rewritten": '<span class="cx-need">rewritten by a model</span>',
}


class ShortenedChunk(NamedTuple):
    """A shortened chunk: tokens before and after, whether it is sent, and in which block."""

    key: Key
    name: str
    tokens: int
    kept_tokens: int
    how: Literal["extractive", "model", "rewritten"]
    sent: bool
    block: int | None


def shortened_by_compression(assembly: Assembly) -> tuple[ShortenedChunk, ...]:
    """The shortened chunks, those that are sent first, each group by what it was before."""
    record = assembly.trace.stage("compress")
    fates = fates_by_key(assembly)
    rows = []
    for event in record.events if record else ():
        if isinstance(event, Compressed):
            fate = fates.get((event.document_id, event.chunk_index))
            sent = fate is not None and fate.fate in SENT
            name = f"{title_of(assembly.trace.documents, event.document_id, 40)} #{event.chunk_index}"
            block = fate.block if fate is not None and sent else None
            rows.append(
                ShortenedChunk((event.document_id, event.chunk_index), name, event.tokens, event.kept_tokens, event.how, sent, block)
            )
    return tuple(sorted(rows, key=lambda row: (not row.sent, -row.tokens, row.name)))


def _notes(assembly: Assembly, rows: tuple[ShortenedChunk, ...]) -> str:
    before, after = sum(row.tokens for row in rows), sum(row.kept_tokens for row in rows)
    sent = sum(row.sent for row in rows)
    failed = "".join(f'<p class="cx-note cx-need">{escape(event_sentence(event))}</p>' for event in failures(assembly))
    return (
        f'<p class="cx-note" style="padding-bottom:8px">{counted(len(rows), "chunk")} shortened from {number(before)} to '
        f"{counted(after, 'token')}, {sent} of them kept. The life of a chunk shows in grey what was left out of it.</p>{failed}"
    )


def _table(rows: tuple[ShortenedChunk, ...]) -> str:
    most = max(row.tokens for row in rows)
    cells = [
        (
            f"{number_chip(row.block) if row.block is not None else ''} <span {at_of(*row.key)}>{escape(row.name)}</span>",
            _bar(row, most),
            f"{percent(row.kept_tokens / max(row.tokens, 1))} of {number(row.tokens)}",
            HOW[row.how],
            '<span class="cx-fate">kept</span>' if row.sent else '<span class="cx-fate gone">left out</span>',
        )
        for row in rows
    ]
    return table_html(("chunk", "tokens kept", "share", "how", "in the context"), cells, (2,), "Shortened chunks")


def _bar(row: ShortenedChunk, most: int) -> str:
    kept, whole = 100 * row.kept_tokens / max(row.tokens, 1), 100 * row.tokens / max(most, 1)
    title = f"{number(row.kept_tokens)} of {counted(row.tokens, 'token')}"
    return f'<div class="cx-squeezed" style="width:{whole:.1f}%" title="{title}"><i style="width:{kept:.1f}%"></i></div>'


def show_compress(assembly: Assembly) -> None:
    """A bar per shortened chunk, those that are sent first."""
    settings = assembly.settings
    if settings.compression == "off" or not settings.enabled:
        show_empty(
            "Compression is off",
            "Turn it on in All settings under Compress: what is too large is shortened when not all fits, or every chunk.",
        )
        return
    rows = shortened_by_compression(assembly)
    if not rows:
        large = f"All fits, or no chunk has more than {number(settings.max_chunk_tokens)} tokens: every chunk is as it was."
        why = large if settings.compression_when == "tight" else "Every chunk that is left bears on the question from end to end."
        show_empty("Nothing was shortened", why)
        return
    st.html(boxed(f'{_notes(assembly, rows)}<div class="cx-scroll">{_table(rows)}</div>', "ctx-compressed"))
