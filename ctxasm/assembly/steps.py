"""What each step of an assembly hands to the next: frozen records, from which text and explanation both follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ctxasm.assembly.extracts import NO_EXTRACTS, Extract
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.pieces import Piece
from ctxasm.assembly.plans import BlockPlan, DocumentPlan, Relations, Resolution
from ctxasm.model.events import Event, Promoted
from ctxasm.model.ports import Fetched, FetchedChunk
from ctxasm.model.records import Document, Hit
from ctxasm.model.results import Candidate, DocumentSize, Key

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
    all that was read.
    """

    ranked: RankedHits
    window: int
    fetched: Fetched
    documents: Mapping[str, Document]
    stored: Mapping[Key, FetchedChunk]
    candidates: Mapping[Key, Candidate]
    lost: Mapping[Key, str]


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
