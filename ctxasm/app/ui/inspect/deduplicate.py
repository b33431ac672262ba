"""Deduplicate: every seam with the text that both sides of it share, and the copies side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.inspect.copies import chunk_name, copies, copies_html, difference, difference_html
from ctxasm.app.ui.inspect.expand import document_order
from ctxasm.app.ui.widgets.chunk_clicks import at_of
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.event_words import coincidence_words
from ctxasm.app.ui.words.words import title_of
from ctxasm.model.amounts import counted
from ctxasm.model.events import Coincidence, Merged, NearMiss, Stripped
from ctxasm.model.results import Assembly, Key
from ctxasm.text.overlap import header_of

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
            f"{difference_html(assembly, copy, difference(_text(assembly, copy.copy), _text(assembly, copy.kept)))}</details>"
            for copy in near
        )
        st.html(boxed(f'{copies_html(assembly, found)}<div id="ctx-difference">{side_by_side}</div>', "ctx-duplicates"))
    elif looked_for := _looked_for(assembly):
        st.html(boxed(f'<p class="cx-note">No {looked_for} duplicates among the candidates.</p>', "ctx-duplicates"))


def _text(assembly: Assembly, key: Key) -> str:
    candidate = assembly.trace.candidates.get(key)
    return candidate.chunk.text if candidate else ""
