"""The assembled text as escaped HTML: one card per block, provenance of every stretch, a minimap. Pure.

Source text is hostile: every character of it passes `html.escape`, and nothing here is ever read as markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby

from ctxasm.model.results import Assembly, Citation, Fate, Key, Segment
from ctxasm.ui.copy_rows import also_in, fates_by_key
from ctxasm.ui.event_words import SUPPLEMENT_RULES, supplement_sentence
from ctxasm.ui.rows import supplement_of
from ctxasm.ui.shortened import Shortened, shortened_chunks
from ctxasm.ui.words import number, plural, title_of

SOURCE_COLOURS = ("#0072B2", "#B86E00", "#00795A", "#A8487C", "#3A7CA5", "#C04E00", "#6B6100", "#5B5EA6")
"""One per block, repeating: Okabe–Ito hues, darkened until white numbers on them are readable."""
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


def colour_of(block: int) -> str:
    """The colour of a block's card, its number and its place on the minimap."""
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


def text_html(assembly: Assembly, stamp: str) -> str:
    """The reader: cards of the assembled text beside a minimap, addressable as `#ctx-text`."""
    drawn = runs(assembly)
    cited = {citation.number: citation for citation in assembly.citations}
    fates = fates_by_key(assembly)
    cards = _left_out(assembly) + "".join(_card(block, tuple(group), cited, assembly, fates) for block, group in _by_block(drawn))
    return (
        f'<div class="cx cx-reader"><div class="cx-text" id="ctx-text" role="region" aria-label="Assembled context" tabindex="0"'
        f' data-tokens="{assembly.token_count}" data-limit="{assembly.limit}" data-stamp="{escape(stamp)}">{cards}</div>'
        f"{_minimap(assembly, any(run.short for run in drawn))}</div>"
    )


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


def _left_out(assembly: Assembly) -> str:
    """A supplement that stays out, and why, where it would have stood."""
    event = supplement_of(assembly)
    if event is None or event.injected:
        return ""
    return f'<div class="cx-card cx-out" id="ctx-supplement" data-injected="false">{escape(supplement_sentence(event))}</div>'


def _supplement_card(body: str, assembly: Assembly) -> str:
    event = supplement_of(assembly)
    about = f"{plural(event.tokens, 'token')}: {SUPPLEMENT_RULES[event.rule]}" if event is not None else ""
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
    title = escape(title_of(assembly.trace.documents, citation.document_id, 90))
    also = _shortened_words(group) + "".join(
        f" · also in {escape(place.title)}{f' ({escape(place.label)})' if place.label else ''}"
        for place in also_in(assembly, citation, fates)
    )
    return (
        f'<article class="cx-card" id="ctx-block-{block}" data-block="{block}" style="--c:{colour}"><header>'
        f'<span class="cx-num" style="--n:{colour}">{block}</span>'
        f'<b>{title}</b><span class="cx-mute">{plural(len(citation.chunk_indexes), "chunk")} · {number(tokens)} tokens{also}</span>'
        "</header>"
        f'<div class="cx-body" dir="auto">{body}</div></article>'
    )


def _shortened_words(group: Sequence[Run]) -> str:
    short = [run for run in group if run.opens and run.short]
    rewritten = sum(run.rewritten for run in short)
    return (f" · {len(short)} shortened" if short else "") + (f", {rewritten} of them rewritten" if rewritten else "")


def run_html(run: Run) -> str:
    """One run, escaped, with its provenance as attributes and a tag where a chunk starts."""
    text = escape(run.text)
    if run.kind != "chunk":
        return f'<span class="cx-seg-{run.kind}">{text}</span>' if run.kind != "plain" else text
    marks = ' data-added=""' if run.added else ""
    says = f"chunk #{run.chunk_index}, {'added neighbour' if run.added else 'retrieved'}"
    if run.shared:
        marks += ' data-shared=""'
        says += f"; also the text of {run.shared}"
    if run.neutralised:
        marks += ' data-neutral=""'
        says += "; brackets swapped so that it cannot be read as a marker"
    if run.short:
        marks += ' data-rewritten=""' if run.rewritten else ' data-short=""'
        says += f"; {'rewritten by a model, ' if run.rewritten else 'shortened to '}{run.short}"
    tag = f'<i class="cx-ix{" added" if run.added else ""}" aria-hidden="true">{run.chunk_index}</i>' if run.opens else ""
    if run.opens and run.short:
        tag += f'<i class="cx-cut">{"✎ rewritten · " if run.rewritten else "✂ "}{run.short}</i>'
    return f'{tag}<span class="cx-c" data-chunk="{run.chunk_index}"{marks} title="{escape(says)}">{text}</span>'


def _minimap(assembly: Assembly, short: bool) -> str:
    shortened = '<span><i class="cx-cut">✂ 40\u202f%</i>shortened</span>' if short else ""
    sizes: dict[int, int] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            sizes[segment.block] = sizes.get(segment.block, 0) + segment.tokens
    links = "".join(
        f'<a href="#ctx-block-{block}" style="flex-grow:{max(tokens, 1)};--c:{colour_of(block)}" aria-label="Go to block {block}, '
        f'{tokens} tokens"'
        f' title="[{block}] {plural(tokens, "token")}"><span>{block}</span></a>'
        for block, tokens in sizes.items()
    )
    legend = (
        '<div class="cx-legend" style="flex-direction:column;align-items:flex-start;margin-top:8px">'
        '<span><i class="cx-ix">4</i>retrieved chunk</span><span><i class="cx-ix added">5</i>added neighbour</span>'
        '<span style="border-bottom:2px dotted #D55E00">shared with a neighbour</span>'
        f"{shortened}"
        '<span style="text-decoration:underline wavy #D55E00 1px">neutralised</span><span><i class="cx-seg-gap">[…]</i>gap</span></div>'
    )
    return f'<nav class="cx-mini" aria-label="Minimap of the context"><div class="cx-mini-track">{links}</div>{legend}</nav>'


def marked_phrase(text: str, phrase: str, around: int = 80) -> str:
    """Escaped text around the first occurrence of a phrase, the phrase marked; the start of the text where it is absent."""
    found = re.search(re.escape(phrase), text, re.IGNORECASE) if phrase else None
    if found is None:
        return escape(text[: 2 * around])
    low, high = max(0, found.start() - around), min(len(text), found.end() + around)
    lead, tail = ("…" if low else ""), ("…" if high < len(text) else "")
    return f"{lead}{escape(text[low : found.start()])}<mark>{escape(found.group())}</mark>{escape(text[found.end() : high])}{tail}"
