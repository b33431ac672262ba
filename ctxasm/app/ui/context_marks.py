"""The assembled text as escaped HTML: one card per block, provenance of every stretch. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from ctxasm.app.fates import SENT, fate_label, fates_by_key, likeness_label, supplement_of
from ctxasm.app.ui.markup import document_of
from ctxasm.app.ui.words import SUPPLEMENT_RULES, in_attribute, number, supplement_sentence, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.results import Assembly, Citation, Fate, Key, Segment

SOURCE_COLOURS = ("#4A5261", "#6B7280")
"""One per block, in turns: neutral, because a hue says what a chunk is to the context, and a number says whose it is."""
SUPPLEMENT_COLOUR = "#CC79A7"
"""The colour of a card that no number names."""
MAX_RUNS = 400
"""Beyond this many marked stretches the browser becomes the slow part: chunks of a block are then drawn as one."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of the context drawn as one element."""

    kind: str
    text: str
    block: int | None
    chunk_index: int | None = None
    added: bool = False
    shared: str = ""
    neutralised: bool = False
    opens: bool = False
    short: str = ""
    rewritten: bool = False


class Elsewhere(NamedTuple):
    """Another document that says what a citation says, and how alike; `label` is empty for an exact copy."""

    title: str
    label: str


class Stretch(NamedTuple):
    """Characters of a chunk's text: sent, left out, or shown by the chunk before it."""

    text: str
    state: Literal["sent", "left", "shared"]


class Shortened(NamedTuple):
    """A compressed chunk: the share of its tokens that is left, and whether a model put it in other words."""

    share: float
    tokens: int
    rewritten: bool

    @property
    def words(self) -> str:
        """`31 % of 1 240 tokens`."""
        return f"{percent(self.share)} of {counted(self.tokens, 'token')}"


def colour_of(block: int) -> str:
    """The colour of a block's card."""
    return SOURCE_COLOURS[(block - 1) % len(SOURCE_COLOURS)]


def runs(assembly: Assembly) -> tuple[Run, ...]:
    """The context as runs; the texts of all runs join to the text of the context."""
    added = {(f.document_id, f.chunk_index) for f in assembly.trace.fates if not f.retrieved}
    fine = tuple(_merged(_fine(assembly, added, shortened_chunks(assembly))))
    return fine if len(fine) <= MAX_RUNS else tuple(_coarse(fine))


def _fine(assembly: Assembly, added: set[Key], short: Mapping[Key, Shortened]) -> Iterator[Run]:
    before: Segment | None = None
    for segment in assembly.segments:
        text = assembly.text[segment.start : segment.end]
        if segment.kind == "chunk" and segment.document_id is not None and segment.chunk_index is not None:
            shared = ", ".join(f"{'' if key == segment.document_id else key + ' '}#{index}" for key, index in segment.shared_with)
            key = (segment.document_id, segment.chunk_index)
            opens = before is None or (before.document_id, before.chunk_index) != key
            own = short.get(key)
            says = own.words if own is not None else ""
            place = (segment.block, segment.chunk_index, key in added, shared)
            yield Run("chunk", text, *place, segment.neutralised, opens, says, segment.rewritten)
            before = segment
        else:
            yield Run(segment.kind, text, segment.block)


def _merged(fine: Iterator[Run]) -> Iterator[Run]:
    last: Run | None = None
    for run in fine:
        if last is not None and not run.opens and _look(last) == _look(run):
            last = replace(last, text=last.text + run.text)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _look(run: Run) -> tuple[object, ...]:
    return run.kind, run.block, run.chunk_index, run.added, run.shared, run.neutralised, run.rewritten


def _coarse(fine: Sequence[Run]) -> Iterator[Run]:
    for (block, prefix), group in groupby(fine, key=lambda run: (run.block, run.kind == "prefix")):
        yield Run("prefix" if prefix else "plain", "".join(run.text for run in group), block)


def _by_block(drawn: Sequence[Run]) -> Iterator[tuple[int | None, list[Run]]]:
    """Runs in block order; what stands between blocks goes with the block before it."""
    group: list[Run] = []
    current: int | None = None
    for run in drawn:
        if run.block is not None and run.block != current:
            if group:
                yield current, group
            group, current = [], run.block
        group.append(run)
    if group:
        yield current, group


def _shortened_words(group: Sequence[Run]) -> str:
    short = [run for run in group if run.opens and run.short]
    rewritten = sum(run.rewritten for run in short)
    return (f" · {len(short)} shortened" if short else "") + (f", {rewritten} of them rewritten" if rewritten else "")


def also_in(assembly: Assembly, citation: Citation, fates: dict[Key, Fate] | None = None, limit: int = 40) -> tuple[Elsewhere, ...]:
    """Where else the source of a citation stands, each document once, with the weakest likeness among its copies."""
    fates = fates if fates is not None else fates_by_key(assembly)
    found: dict[str, tuple[float, str]] = {}
    for key in citation.also_in:
        fate = fates.get(key)
        likeness, similarity = (fate.likeness or "exact", fate.similarity) if fate is not None else ("exact", None)
        alike = 1.0 if similarity is None else similarity
        label = "" if likeness == "exact" else likeness_label(likeness, alike)
        known = found.get(key[0])
        if known is None or (alike, not label) < (known[0], not known[1]):
            found[key[0]] = (alike, label)
    return tuple(Elsewhere(title_of(assembly.trace.documents, key, limit), label) for key, (_, label) in found.items())


def shortened_chunks(assembly: Assembly) -> dict[Key, Shortened]:
    """Every compressed chunk of the context."""
    rewritten = rewritten_chunks(assembly)
    return {
        key: Shortened(fate.compressed, fate.tokens, key in rewritten)
        for fate in assembly.trace.fates
        if fate.compressed is not None and fate.fate in SENT
        for key in [(fate.document_id, fate.chunk_index)]
    }


def rewritten_chunks(assembly: Assembly) -> frozenset[Key]:
    """Chunks of which the context holds words that a model wrote."""
    return frozenset(
        (s.document_id, s.chunk_index) for s in assembly.segments if s.rewritten and s.document_id is not None and s.chunk_index is not None
    )


def stretches(assembly: Assembly, fate: Fate) -> tuple[Stretch, ...]:
    """A chunk's whole text by what became of it; empty where it is not stored. The texts join to the chunk's text."""
    key = (fate.document_id, fate.chunk_index)
    candidate = assembly.trace.candidates.get(key)
    if candidate is None or not candidate.chunk.text:
        return ()
    text = candidate.chunk.text
    if fate.fate == "merged":
        return (Stretch(text, "shared"),)
    states: list[Literal["sent", "left", "shared"]] = ["left"] * len(text)
    shared = fate.stripped_chars if fate.compressed is None else 0
    states[:shared] = ["shared"] * min(shared, len(text))
    for segment in assembly.segments:
        if (segment.document_id, segment.chunk_index) == key and segment.chunk_start is not None and segment.chunk_end is not None:
            states[segment.chunk_start : segment.chunk_end] = ["sent"] * (segment.chunk_end - segment.chunk_start)
    edges = [0, *(at for at in range(1, len(text)) if states[at] != states[at - 1]), len(text)]
    return tuple(Stretch(text[low:high], states[low]) for low, high in pairwise(edges))


def rewritten_text(assembly: Assembly, key: Key) -> str:
    """What a model wrote in place of a chunk; empty where it stands in its own words."""
    own = (s for s in assembly.segments if s.rewritten and (s.document_id, s.chunk_index) == key)
    return "".join(assembly.text[s.start : s.end] for s in own)


def text_html(assembly: Assembly, stamp: str) -> str:
    """Cards of the assembled text, addressable as `#ctx-text`."""
    drawn = runs(assembly)
    cited = {citation.number: citation for citation in assembly.citations}
    fates = fates_by_key(assembly)
    cards = _left_out(assembly) + "".join(_card(block, tuple(group), cited, assembly, fates) for block, group in _by_block(drawn))
    return (
        f'<div class="cx cx-text" id="ctx-text" role="region" aria-label="Assembled context" tabindex="0"'
        f' data-tokens="{assembly.token_count}" data-limit="{assembly.limit}" data-stamp="{escape(stamp)}">{cards}</div>'
    )


def _left_out(assembly: Assembly) -> str:
    """A supplement that stays out, and why, where it would have stood."""
    event = supplement_of(assembly)
    if event is None or event.injected:
        return ""
    return f'<div class="cx-card cx-out" id="ctx-supplement" data-injected="false">{escape(supplement_sentence(event))}</div>'


def _supplement_card(body: str, assembly: Assembly) -> str:
    event = supplement_of(assembly)
    about = f"{counted(event.tokens, 'token')}: {SUPPLEMENT_RULES[event.rule]}" if event is not None else ""
    return (
        f'<article class="cx-card" id="ctx-supplement" data-injected="true" style="--c:{SUPPLEMENT_COLOUR}"><header><b>Supplement</b>'
        f'<span class="cx-mute">no number cites it · {escape(about)}</span></header><div class="cx-body" dir="auto">{body}</div></article>'
    )


def _card(block: int | None, group: Sequence[Run], cited: dict[int, Citation], assembly: Assembly, fates: dict[Key, Fate]) -> str:
    body = "".join(run_html(run) for run in group).strip("\n")
    if block is None or block not in cited:
        return _supplement_card(body, assembly)
    citation, colour = cited[block], colour_of(block)
    tokens = sum(segment.tokens for segment in assembly.segments if segment.block == block)
    documents = assembly.trace.documents
    title = title_of(documents, citation.document_id, 90)
    whole = title_of(documents, citation.document_id, len(assembly.text))
    heading = "" if _says(group, whole) else f"<b>{escape(title)}</b>"
    also = _shortened_words(group) + "".join(
        f" · also in {escape(place.title)}{f' ({escape(place.label)})' if place.label else ''}"
        for place in also_in(assembly, citation, fates)
    )
    return (
        f'<article class="cx-card" id="ctx-block-{block}" data-block="{block}" '
        f'{document_of(citation.document_id)} aria-label="{in_attribute(title)}" style="--c:{colour}"><header>'
        f'<span class="cx-num">{block}</span>'
        f'{heading}<span class="cx-mute">{number(tokens)} tokens{also}</span>'
        "</header>"
        f'<div class="cx-body" dir="auto">{body}</div></article>'
    )


def _says(group: Sequence[Run], title: str) -> bool:
    """Whether the line that the context has over a block names its source: then the card need not."""
    return title in " ".join("".join(run.text for run in group if run.kind == "header").split())


def run_html(run: Run) -> str:
    """One run, escaped, with its provenance as attributes and a tag where a chunk starts."""
    text = escape(run.text)
    if run.kind != "chunk":
        return f'<span class="cx-seg-{run.kind}">{text}</span>' if run.kind != "plain" else text
    marks = " data-added" if run.added else ""
    notes = []
    if run.shared:
        marks += " data-shared"
        notes.append(f"also the text of {run.shared}")
    if run.neutralised:
        marks += " data-neutral"
        notes.append("swapped for look-alikes so that it cannot be read as a marker or a boundary")
    if run.short:
        marks += " data-rewritten" if run.rewritten else " data-short"
        notes.append(f"{'rewritten by a model, ' if run.rewritten else 'shortened to '}{run.short}")
    title = f' title="{in_attribute("; ".join(notes))}"' if notes else ""
    marks += " data-opens" if run.opens else ""
    tag = f'<i class="cx-cut">{"✎ rewritten · " if run.rewritten else "✂ "}{run.short}</i>' if run.opens and run.short else ""
    return f'{tag}<span class="cx-c" data-chunk="{run.chunk_index}"{marks}{title}>{text}</span>'


def marked_phrase(text: str, phrase: str, around: int = 80) -> str:
    """Escaped text around the first occurrence of a phrase, the phrase marked; the start of the text where it is absent."""
    found = re.search(re.escape(phrase), text, re.IGNORECASE) if phrase else None
    if found is None:
        return escape(text[: 2 * around])
    low, high = max(0, found.start() - around), min(len(text), found.end() + around)
    lead, tail = ("…" if low else ""), ("…" if high < len(text) else "")
    return f"{lead}{escape(text[low : found.start()])}<mark>{escape(found.group())}</mark>{escape(text[found.end() : high])}{tail}"


def number_chip(block: int) -> str:
    """A citation number that jumps to its block."""
    return f'<a class="cx-num" href="#ctx-block-{block}">{block}</a>'


def fate_chip(fate: Fate) -> str:
    """The fate in two words, with a symbol."""
    look = "" if fate.fate == "kept" else " part" if fate.fate in SENT else " gone"
    return f'<span class="cx-fate{look}">{fate_label(fate)}</span>'
