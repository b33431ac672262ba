"""Rows of what is always visible: the header, the budget bar, the accounting line, the minimap. Pure; all from the trace.

Tokens of rendered parts are the growth of the exact count (they add up to `token_count`); tokens of dropped chunks are
what their document's block would have added, shared out by the chunks' own counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from ctxasm.model.events import Supplemented
from ctxasm.model.results import Assembly, DocumentSize, Fate, Key, Segment
from ctxasm.ui.words import title_of

SENT = ("kept", "truncated", "merged")
PartKind = Literal["retrieved", "added", "dropped", "prefix", "supplement", "scaffold"]
SUPPLEMENT = ""
"""Stands for the id of a document where extra results belong to none."""


class Figure(NamedTuple):
    """One number of the header, with the smaller words beside it."""

    name: str
    label: str
    value: int | float
    note: str = ""


def header_figures(assembly: Assembly) -> tuple[Figure, ...]:
    """Retrieved, expanded, overlap removed, documents kept, tokens used, assembly time (ms)."""
    fates = assembly.trace.fates
    retrieved, added = sum(f.retrieved for f in fates), sum(not f.retrieved for f in fates)
    overlap = sum(f.stripped_chars for f in fates if f.fate in SENT)
    documents = {f.document_id for f in fates}
    sent = {f.document_id for f in fates if f.fate in SENT}
    over = assembly.overshoot_tokens
    return (
        Figure("retrieved", "retrieved", retrieved, "chunks"),
        Figure("expanded", "expanded", retrieved + added, f"+{added}"),
        Figure("overlap", "overlap removed", overlap, "characters"),
        Figure("documents", "documents kept", len(sent), f"of {len(documents)}"),
        Figure("tokens", "tokens used", assembly.token_count, f"{over} over" if over else f"{assembly.unused_tokens} left"),
        Figure("ms", "assembly", round(assembly_ms(assembly), 2), "ms"),
    )


def assembly_ms(assembly: Assembly) -> float:
    """The time of all stages together, in milliseconds. Reading the store is part of expand."""
    return sum(stage.elapsed_ms for stage in assembly.trace.stages)


class Part(NamedTuple):
    """A run of tokens on the budget bar. `chunk_index` is None for prefix and scaffolding."""

    kind: PartKind
    tokens: int
    chunk_index: int | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class BarDocument:
    """A document on the token axis: its parts, kept before dropped. `missing_tokens` is what a dropped one needs."""

    document_id: str
    title: str
    kept: bool
    parts: tuple[Part, ...]
    numbers: tuple[int, ...] = ()
    missing_tokens: int | None = None

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Bar:
    """The budget bar: `axis` is the token at its right edge, `used` the tokens of the context.

    `documents` holds each document once (kept before dropped); `runs` is what lies on the axis from left to right, where the
    blocks of a document may stand apart. `supplement` says whether the query's extra results are in, None where it brings
    none; they are no document.
    """

    documents: tuple[BarDocument, ...]
    used: int
    limit: int
    axis: int
    supplement: Supplemented | None = None
    runs: tuple[BarDocument, ...] = ()

    @property
    def sources(self) -> int:
        """Documents of which something is kept."""
        return len({document.document_id for document in self.kept} - {SUPPLEMENT})

    @property
    def kept(self) -> tuple[BarDocument, ...]:
        return tuple(document for document in self.documents if document.kept)

    @property
    def dropped(self) -> tuple[BarDocument, ...]:
        return tuple(document for document in self.documents if not document.kept)


def budget_bar(assembly: Assembly) -> Bar:
    """Kept documents in context order, then what was dropped, on one token axis that holds the limit, too."""
    runs = _kept_runs(assembly)
    kept = _joined(runs)
    dropped = _dropped_documents(assembly)
    documents = (*kept, *dropped)
    total = sum(document.tokens for document in documents)
    return Bar(documents, assembly.token_count, assembly.limit, max(total, assembly.limit, 1), supplement_of(assembly), (*runs, *dropped))


def supplement_of(assembly: Assembly) -> Supplemented | None:
    """Whether the query's extra results are in the context and the rule that decided; None where it brings none."""
    record = assembly.trace.stage("supplement")
    return next((event for event in record.events if isinstance(event, Supplemented)), None) if record else None


def _kept_runs(assembly: Assembly) -> list[BarDocument]:
    """What is kept as it stands in the context: a run per stretch of blocks of one document."""
    retrieved = {(f.document_id, f.chunk_index): f.retrieved for f in assembly.trace.fates}
    cited = {citation.number: citation.document_id for citation in assembly.citations}
    runs: list[tuple[str, list[Part], dict[int, None]]] = []
    for segment in assembly.segments:
        owner = segment.document_id or cited.get(segment.block or 0) or (runs[-1][0] if runs else SUPPLEMENT)
        if not runs or runs[-1][0] != owner:
            runs.append((owner, [], {}))
        _, parts, numbers = runs[-1]
        parts.append(_part(segment, retrieved))
        if segment.block is not None:
            numbers[segment.block] = None
    documents = assembly.trace.documents
    return [
        BarDocument(key, title_of(documents, key) if key else "Supplement", True, _merged(parts), tuple(numbers))
        for key, parts, numbers in runs
    ]


def _part(segment: Segment, retrieved: Mapping[Key, bool]) -> Part:
    if segment.kind == "chunk" and segment.document_id is not None and segment.chunk_index is not None:
        hit = retrieved.get((segment.document_id, segment.chunk_index), True)
        return Part("retrieved" if hit else "added", segment.tokens, segment.chunk_index, f"#{segment.chunk_index}")
    return Part(segment.kind if segment.kind in ("prefix", "supplement") else "scaffold", segment.tokens)


def _joined(runs: list[BarDocument]) -> list[BarDocument]:
    """Each document once, in the order of its first run."""
    found: dict[str, BarDocument] = {}
    for run in runs:
        known = found.get(run.document_id)
        if known is None:
            found[run.document_id] = run
        else:
            found[run.document_id] = replace(known, parts=(*known.parts, *run.parts), numbers=(*known.numbers, *run.numbers))
    return list(found.values())


def _merged(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbouring parts of the same chunk or kind as one."""
    runs: list[Part] = []
    for part in parts:
        if runs and runs[-1][0::2] == part[0::2]:
            runs[-1] = runs[-1]._replace(tokens=runs[-1].tokens + part.tokens)
        elif part.tokens:
            runs.append(part)
    return tuple(runs)


def _dropped_documents(assembly: Assembly) -> list[BarDocument]:
    gone: defaultdict[str, list[Fate]] = defaultdict(list)
    for fate in assembly.trace.fates:
        if fate.fate == "dropped" and fate.stage == "budget":
            gone[fate.document_id].append(fate)
    sizes = {size.document_id: size for size in assembly.trace.sizes}
    order = [size.document_id for size in assembly.trace.sizes] + [key for key in gone if key not in sizes]
    return [_dropped_document(assembly, key, gone[key], sizes.get(key)) for key in order if key in gone]


def _dropped_document(assembly: Assembly, key: str, fates: list[Fate], size: DocumentSize | None) -> BarDocument:
    fates = sorted(fates, key=lambda fate: fate.chunk_index)
    own = [fate.tokens for fate in fates]
    total = size.tokens if size is not None and not size.kept else sum(own)
    shares = _shared_out(total, own)
    parts = tuple(Part("dropped", share, fate.chunk_index, f"#{fate.chunk_index}") for share, fate in zip(shares, fates, strict=True))
    missing = (
        size.missing_tokens
        if size is not None and not size.kept
        else min((f.missing_tokens for f in fates if f.missing_tokens), default=None)
    )
    partly = any(segment.document_id == key for segment in assembly.segments)
    title = ("rest of " if partly else "") + title_of(assembly.trace.documents, key)
    return BarDocument(key, title, False, parts, (), missing)


def _shared_out(total: int, weights: list[int]) -> list[int]:
    """`total` in whole numbers proportional to `weights`, adding up exactly."""
    whole = sum(weights)
    if not whole:
        return [total if position == 0 else 0 for position in range(len(weights))]
    edges, running = [0], 0
    for weight in weights:
        running += weight
        edges.append(round(total * running / whole))
    return [high - low for low, high in pairwise(edges)]


class Stretch(NamedTuple):
    """A run of the context on the token axis: tokens `start` to `end`."""

    kind: Literal["body", "prefix", "scaffold", "supplement"]
    start: int
    end: int
    block: int | None
    document_id: str | None


_STRETCH: dict[str, Literal["body", "prefix", "scaffold", "supplement"]] = {"chunk": "body", "prefix": "prefix", "supplement": "supplement"}


def token_axis(assembly: Assembly) -> tuple[Stretch, ...]:
    """The context from first to last token as runs of prefix, body and scaffolding; equal neighbours merged."""
    runs: list[Stretch] = []
    at = 0
    for segment in assembly.segments:
        kind = _STRETCH.get(segment.kind, "scaffold")
        end = at + segment.tokens
        if runs and (runs[-1].kind, runs[-1].block) == (kind, segment.block):
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(Stretch(kind, at, end, segment.block, segment.document_id))
        at = end
    return tuple(runs)


def fate_of(assembly: Assembly, key: Key) -> Fate | None:
    """The fate of one chunk, or None where it was no candidate."""
    return next((fate for fate in assembly.trace.fates if (fate.document_id, fate.chunk_index) == key), None)
