"""What is to be rendered, and what rendering it yields. Policies choose plans; the renderer measures and writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctxasm.assembly.passages import Joined
from ctxasm.model.events import Event, Likeness
from ctxasm.model.records import Document
from ctxasm.model.results import Key, Segment


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """One document of the chosen set: its chunks as joined, its summary line and the title to show.

    `prefix` is the summary line or empty; `title` what the header names.
    """

    document: Document
    joined: tuple[Joined, ...]
    prefix: str
    title: str


class Block(NamedTuple):
    """One numbered unit of context: the chunks it shows (merged ones too), ascending."""

    number: int
    document_id: str
    chunk_indexes: tuple[int, ...]


class BlockPlan(NamedTuple):
    """One block that is to be written: its document, the chunks it shows, and whether it carries the document's summary."""

    plan: DocumentPlan
    group: tuple[Joined, ...]
    prefixed: bool


OVER = 10**15
"""The size of a text that no token limit would admit: it breaks the limit in characters."""


class Size(NamedTuple):
    """What a text of blocks comes to: `tokens` exactly, `budgeted` what the budget compares with its limit."""

    tokens: int
    budgeted: int


EMPTY = Size(0, 0)


class End(NamedTuple):
    """Where a block ends in what is written: so many characters, tokens, segments, events and shown chunks in all."""

    chars: int
    size: Size
    segments: int
    events: int
    shown: int


@dataclass(frozen=True, slots=True)
class Written:
    """Blocks as text, in the order they were given. `size` is that of the whole text, `ends` say where each block ends in it."""

    text: str
    segments: tuple[Segment, ...]
    blocks: tuple[Block, ...]
    events: tuple[Event, ...]
    shown: tuple[Joined, ...]
    size: Size
    ends: tuple[End, ...] = ()

    def head(self, count: int) -> Written:
        """The first blocks alone: the same characters, since nothing that follows changes what stands before."""
        if count == len(self.blocks):
            return self
        if not count:
            return NOTHING_WRITTEN
        chars, size, segments, events, shown = self.ends[count - 1]
        parts = (self.segments[:segments], self.blocks[:count], self.events[:events], self.shown[:shown])
        return Written(self.text[:chars], *parts, size, self.ends[:count])


NOTHING_WRITTEN = Written("", (), (), (), (), EMPTY)
Measure = Callable[[Sequence[DocumentPlan]], int]
"""What these documents come to, in their final order, for the budget: the one and only cost formula."""


class Related(NamedTuple):
    """Another chunk that says the same, how, and how much alike they are (1 for an exact copy)."""

    key: Key
    likeness: Likeness
    similarity: float


class Relations(NamedTuple):
    """Which candidates say the same. `copies[key]` are those that leave where `key` is kept (`key` itself may be among them).

    It is symmetric but for a chunk that stands word for word inside another: that one never leaves for it. `superseded` maps
    an older copy to the newer one that stands for it: it is never shown, whatever its score and whatever fits.
    """

    copies: Mapping[Key, tuple[Related, ...]]
    superseded: Mapping[Key, Related]


NO_RELATIONS = Relations({}, {})


class Resolution(NamedTuple):
    """Duplicates resolved in reading order: the documents in context order, and what each still shows.

    `shown` holds chunk indexes ascending; `duplicates` maps a removed copy to the kept chunk that says the same; `orphans`
    are adjacent chunks whose every parent went because of another document. `scores` is each document's best score.
    `likeness` says of each removed copy how it is like the kept one.
    """

    order: tuple[str, ...]
    shown: Mapping[str, tuple[int, ...]]
    duplicates: Mapping[Key, Key]
    orphans: frozenset[Key]
    scores: Mapping[str, float]
    likeness: Mapping[Key, Related]
