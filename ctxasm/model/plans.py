"""What is to be rendered, and what rendering it yields. Policies choose plans; the renderer measures and writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctxasm.model.events import Event
from ctxasm.model.passages import Joined
from ctxasm.model.records import Document
from ctxasm.model.results import Key, SegmentKind


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """One document of the chosen set: its chunks as joined, its summary line and the title to show.

    `prefix` is the summary line or empty; `title` what the header names.
    """

    document: Document
    joined: tuple[Joined, ...]
    prefix: str
    title: str


class Part(NamedTuple):
    """A piece of the rendered text before it has a place. `growth` is what it adds to the exact token count."""

    kind: SegmentKind
    text: str
    growth: int
    block: int | None
    document_id: str | None = None
    chunk_index: int | None = None
    chunk_start: int | None = None
    chunk_end: int | None = None
    shared_with: tuple[Key, ...] = ()
    neutralised: bool = False


class Block(NamedTuple):
    """One numbered unit of context: the chunks it shows (merged ones too), ascending."""

    number: int
    document_id: str
    chunk_indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A rendering that was measured. After document i: `ends[i]` tokens, `part_ends[i]` parts, `block_ends[i]` blocks.

    `sizes` are the running sizes that the budget compares with its limit (`ends` in the default scope).
    """

    parts: tuple[Part, ...]
    blocks: tuple[Block, ...]
    ends: tuple[int, ...]
    sizes: tuple[int, ...]
    part_ends: tuple[int, ...]
    block_ends: tuple[int, ...]
    events: tuple[Event, ...]


Measure = Callable[[Sequence[DocumentPlan]], Layout]
"""Lay out documents in this order and count them: the one and only cost formula."""


class Resolution(NamedTuple):
    """Exact duplicates resolved in reading order: the documents in context order, and what each still shows.

    `shown` holds chunk indexes ascending; `duplicates` maps a removed copy to the kept chunk that says the same; `orphans`
    are adjacent chunks whose every parent went because of another document. `scores` is each document's best score.
    """

    order: tuple[str, ...]
    shown: Mapping[str, tuple[int, ...]]
    duplicates: Mapping[Key, Key]
    orphans: frozenset[Key]
    scores: Mapping[str, float]
