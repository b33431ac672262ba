"""What each stage of an assembly hands to the next: frozen records, from which text and explanation both follow; and the grouping.

First what is left of a compressed chunk, then what is to be rendered and what rendering it yields (policies choose plans; the renderer
measures and writes them), then what says the same, then the stages in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from ctxasm.assembly.passages import Joined, Piece
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.events import Event, Likeness, NoNeighbours, Placed, Promoted
from ctxasm.model.ports import Fetched, FetchedChunk, TokenCounter
from ctxasm.model.records import Document, Hit
from ctxasm.model.results import Candidate, DocumentSize, Key, Segment

How = Literal["extractive", "model", "rewritten"]
"""Who chose the spans; "rewritten": a model returned words that the chunk does not hold."""


class KeptSpan(NamedTuple):
    """Characters `start` to `end` of the original chunk text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extract:
    """What is left of one chunk: `spans` ascending and disjoint, or, where `how` is "rewritten", `words` without a source.

    `failure` says why a model did not choose, where one was asked.
    """

    how: How
    spans: tuple[KeptSpan, ...] = ()
    words: str = ""
    failure: str = ""


NO_EXTRACTS: Mapping[tuple[str, int], Extract] = {}


class Part(NamedTuple):
    """Characters `low` to `high` of the compressed text: `start` to `end` of the original, or a gap mark (both None)."""

    low: int
    high: int
    start: int | None = None
    end: int | None = None


class Compressor(Protocol):
    """Shortens chunks to what a question is about."""

    def compress(
        self,
        query: str,
        chunks: Sequence[FetchedChunk],
        max_tokens: int,
        counter: TokenCounter,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Extract | None]:
        """One extract a chunk, at most `max_tokens` tokens each with its gap marks. None: nothing in it is relevant."""
        ...


def gap_between(gap_mark: str) -> str:
    """What stands between two kept spans: the mark on its own line; an empty mark leaves a line break."""
    mark = one_line(gap_mark)
    return f"\n{mark}\n" if mark else "\n"


def compressed_text(text: str, extract: Extract, gap_mark: str) -> str:
    """The text that is left of a chunk's `text`."""
    if extract.how == "rewritten":
        return extract.words
    return gap_between(gap_mark).join([text[start:end] for start, end in extract.spans])


def pieces_of(extract: Extract, gap_mark: str, low: int, high: int) -> list[Part]:
    """Characters `low` to `high` of the compressed text, cut where it leaves the original; they join without a rest.

    A rewritten text is one part without a place in the original.
    """
    if extract.how == "rewritten":
        return [Part(low, high)] if low < high else []
    parts: list[Part] = []
    at, gap = 0, len(gap_between(gap_mark))
    for number, (start, end) in enumerate(extract.spans):
        if number:
            parts.append(Part(at, at + gap))
            at += gap
        parts.append(Part(at, at + end - start, start, end))
        at += end - start
    return [_clipped(part, low, high) for part in parts if part.low < high and low < part.high]


def _clipped(part: Part, low: int, high: int) -> Part:
    first, last = max(part.low, low), min(part.high, high)
    if part.start is None:
        return Part(first, last)
    return Part(first, last, part.start + first - part.low, part.start + last - part.low)


def cuts_head(text: str, extract: Extract) -> bool:
    """Whether something visible before the first kept span is left out; of a rewritten text nothing is known."""
    return extract.how == "rewritten" or is_visible(text[: extract.spans[0].start] if extract.spans else text)


def cuts_tail(text: str, extract: Extract) -> bool:
    """Whether something visible after the last kept span is left out."""
    return extract.how == "rewritten" or is_visible(text[extract.spans[-1].end :] if extract.spans else text)


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


GateRule = Literal["always", "never", "similarity", "intent", "suppressed", "no_signal", "no_block", "no_room"]
"""What decided on the supplement: the mode itself, a low similarity, a listed intent, signals that ask for nothing, no signal at
all; that there is no block, or no room."""
Documents = Mapping[str, Mapping[int, Candidate]]
"""Candidates by document and index, ascending."""


@dataclass(frozen=True, slots=True)
class RankedHits:
    """The hits that count, best first, each once, with their ranks; those beyond `top_k`; those `below` the relevance floor.

    `times` counts how often each chunk was retrieved that was retrieved more than once.
    """

    hits: tuple[Hit, ...]
    beyond: tuple[Hit, ...] = ()
    below: tuple[Hit, ...] = ()
    times: Mapping[Key, int] | None = None

    def all(self) -> tuple[Hit, ...]:
        """Every hit, best first, those that do not count at the end."""
        return (*self.hits, *self.beyond, *self.below)


@dataclass(frozen=True, slots=True)
class Found:
    """All candidates, documents in the order of their first hit and ascending inside, and what was lost at once.

    `lost` holds chunks that never became candidates (missing, empty, beyond top_k, below the floor) with the reason; `stored` is
    all that was read. `obstacle` says why no hit has a neighbour, None where one has, or none was asked for.
    """

    ranked: RankedHits
    window: int
    fetched: Fetched
    documents: Mapping[str, Document]
    stored: Mapping[Key, FetchedChunk]
    candidates: Mapping[Key, Candidate]
    lost: Mapping[Key, str]
    obstacle: NoNeighbours | None = None


@dataclass(frozen=True, slots=True)
class Unique:
    """What says the same is to be shown once. `standing` are the candidates, each successor at the place of what it stands for;
    `own` the same by document."""

    found: Found
    relations: Relations
    standing: Mapping[Key, Candidate]
    promoted: tuple[Promoted, ...]
    own: Documents
    resolution: Resolution


@dataclass(frozen=True, slots=True)
class Grouped:
    """The documents in the order in which they stand from here on; `resolution` says which of their chunks each shows.

    `extracts` say what compression left of a chunk, `irrelevant` what it left out, `notes` what it did.
    """

    found: Found
    relations: Relations
    own: Documents
    resolution: Resolution
    order: tuple[str, ...]
    extracts: Mapping[Key, Extract] = field(default_factory=lambda: NO_EXTRACTS)
    irrelevant: frozenset[Key] = frozenset()
    notes: tuple[Event, ...] = ()

    @property
    def was_compressed(self) -> bool:
        """Whether compression shortened, left out or failed at anything."""
        return bool(self.extracts or self.irrelevant or self.notes)

    @property
    def there(self) -> tuple[str, ...]:
        """The documents that show something."""
        shown = self.resolution.shown
        return tuple([document_id for document_id in self.order if shown.get(document_id)])


class Ahead(NamedTuple):
    """What a higher limit shows: the chunks shown `whole`, but for those that a lower one shows, and the one that is `cut`."""

    limit: int
    whole: frozenset[Key]
    cut: Key | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What fits: the documents with what each shows, in their order.

    `yielded` are frames that gave way; `reasons` speak for chunks that are out for another reason than the budget. `ahead` says what
    higher limits show: every limit at which that changes, ascending, up to where it is not looked for any more. `sizes` puts the
    documents on the token axis, given what each lacks. `valued` says what each candidate was worth, where the policy values them.
    """

    plans: tuple[DocumentPlan, ...]
    sizes: Callable[[Mapping[Key, int]], tuple[DocumentSize, ...]]
    ahead: Callable[[], Iterable[Ahead]]
    reasons: Mapping[Key, str]
    yielded: Sequence[Event] = ()
    valued: Callable[[], Sequence[Event]] = tuple

    @property
    def final(self) -> tuple[Joined, ...]:
        """The chosen chunks, document by document in reading order."""
        return tuple([j for plan in self.plans for j in plan.joined])


@dataclass(frozen=True, slots=True)
class Arranged:
    """The blocks in the order in which they are written."""

    blocks: tuple[BlockPlan, ...]


@dataclass(frozen=True, slots=True)
class Led:
    """The blocks with what stands before the first. `rule` decided on the supplement, None where the query brings none."""

    blocks: tuple[BlockPlan, ...]
    lead: tuple[Piece, ...] = ()
    rule: GateRule | None = None


def group(one: Unique) -> Grouped:
    """The documents in their order."""
    return Grouped(one.found, one.relations, one.own, one.resolution, one.resolution.order)


def places(grouped: Grouped) -> tuple[Placed, ...]:
    """The place of every document that shows something, 1 = first."""
    return tuple(Placed(document_id, place, grouped.resolution.scores[document_id]) for place, document_id in enumerate(grouped.there, 1))
