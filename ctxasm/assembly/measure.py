"""What every policy asks: what a set of chunks comes to, how it is laid out, and who repeats whom in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar, cast

from ctxasm.assembly.context_head import introduced, prefix_of
from ctxasm.assembly.deduplicate import originals_of, resolve
from ctxasm.assembly.numbering import FROM_ONE, Numbering
from ctxasm.assembly.order import arrange, groups_of
from ctxasm.assembly.passages import Joined, Piece, join
from ctxasm.assembly.render import Renderer
from ctxasm.assembly.stages import BlockPlan, DocumentPlan, Documents, Grouped, Related, Resolution, Size, Written
from ctxasm.assembly.values import Valued, Weights, value_candidates
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Document
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.formats import title_of

Part = TypeVar("Part")
EDGES = 16
"""What may merge at the edges of a chunk with what stands around it: so many tokens, and one of so many besides."""


def showing(resolution: Resolution) -> list[str]:
    """The documents that still show something, in their places."""
    return [document_id for document_id in resolution.order if resolution.shown[document_id]]


class Scales:
    """Weighs sets of the grouped chunks for one assembly, by writing them. `limit` is what they may come to.

    `question` and `weights` (None: those that ship) are for the policy that values chunks by both.
    """

    def __init__(
        self,
        grouped: Grouped,
        settings: AssemblySettings,
        counter: TokenCounter,
        limit: int,
        question: str = "",
        weights: Weights | None = None,
        numbering: Numbering = FROM_ONE,
    ) -> None:
        self.grouped, self.settings, self.counter, self.limit = grouped, settings, counter, limit
        self.question, self.weights = question, weights
        self.own, self.relations = grouped.own, grouped.relations
        self.candidates: Mapping[Key, Candidate] = {(name, index): c for name, own in grouped.own.items() for index, c in own.items()}
        self.renderer = Renderer(settings, counter, self.candidates, grouped.extracts, numbering)
        self._once: dict[tuple[str, int], Any] = {}
        self._joined: dict[tuple[str, tuple[int, ...]], tuple[Joined, ...]] = {}
        self._planned: dict[tuple[str, tuple[int, ...]], DocumentPlan] = {}
        self._blocks: dict[int, tuple[DocumentPlan, tuple[BlockPlan, ...]]] = {}
        self._sizes: dict[tuple[int, ...], tuple[Sequence[DocumentPlan], Size]] = {}
        self._least: dict[int, tuple[DocumentPlan, int]] = {}

    def remembering(self, other: Scales) -> Scales:
        """These scales, which know from now on what `other` has measured, and tell it what they measure.

        For scales of the same query under settings that write and count a set of chunks alike: they differ in what is chosen (policy,
        limit) or in which chunks there are to choose from.
        """
        self._joined, self._planned, self._blocks, self._least = other._joined, other._planned, other._blocks, other._least
        if self.settings.format != "xml":  # which names the scores of the candidates
            self.renderer = other.renderer
            if self.settings.ordering == "document_first":  # others look at those scores, too
                self._sizes = other._sizes
        return self

    def under(self, settings: AssemblySettings, limit: int) -> Scales:
        """The same chunks, to be chosen from by other settings, which write and count a set of chunks alike."""
        other = copy(self)
        other.settings, other.limit = settings, limit
        return other

    def once(self, what: str, work: Callable[[], Part]) -> Part:
        """What follows from the candidates and `min_chunk_tokens` alone, worked out once for all policies and limits."""
        key = (what, self.settings.min_chunk_tokens)
        if key not in self._once:
            self._once[key] = work()
        return cast(Part, self._once[key])

    @property
    def place(self) -> Mapping[str, int]:
        """Where each document stands: no policy sorts them again."""
        return self.once("place", lambda: {document_id: place for place, document_id in enumerate(self.grouped.order)})

    @property
    def originals(self) -> Mapping[Key, Sequence[Related]]:
        """What each chunk repeats."""
        return self.once("originals", lambda: originals_of(self.relations))

    @property
    def small(self) -> frozenset[Key]:
        """Chunks below `min_chunk_tokens` that may be shown."""
        return self.once("small", self._small)

    def _small(self) -> frozenset[Key]:
        least = self.settings.min_chunk_tokens
        small = [key for key, c in self.candidates.items() if (c.chunk.token_count or 0) < least]
        return frozenset([key for key in small if not self.superseded(key)])

    def valued(self) -> Mapping[Key, Valued]:
        """What each candidate is probably worth to the question."""
        return self.once("valued", self._valued)

    def _valued(self) -> Mapping[Key, Valued]:
        titles = {document_id: self.title(document_id) for document_id in self.own}
        return value_candidates(self.question, self.candidates.values(), titles, self.weights)

    def superseded(self, key: Key) -> bool:
        """Whether a newer chunk among the candidates stands for this one."""
        newer = self.relations.superseded.get(key)
        return newer is not None and newer.key in self.candidates

    def resolve(self, own: Documents) -> Resolution:
        """Duplicates resolved among these candidates alone, in the order in which the documents stand."""
        return resolve(own, self.relations, self.grouped.order)

    def join(self, document_id: str, indexes: Sequence[int]) -> tuple[Joined, ...]:
        """These chunks of a document, put next to each other."""
        if not indexes or indexes[-1] - indexes[0] == len(indexes) - 1:
            return self._run(document_id, tuple(indexes))
        # Chunks that do not follow each other share nothing.
        ends = [at for at in range(1, len(indexes)) if indexes[at] != indexes[at - 1] + 1]
        return tuple([j for low, high in pairwise((0, *ends, len(indexes))) for j in self._run(document_id, tuple(indexes[low:high]))])

    def _run(self, document_id: str, indexes: tuple[int, ...]) -> tuple[Joined, ...]:
        key = (document_id, indexes)
        joined = self._joined.get(key)
        if joined is None:
            own = self.own[document_id]
            joined = self._joined[key] = join([own[index].chunk for index in indexes], self.settings.min_overlap_chars)
        return joined

    def plan(self, document_id: str, joined: tuple[Joined, ...]) -> DocumentPlan:
        """A document with its summary line and title."""
        document = self.document(document_id)
        return DocumentPlan(document, joined, self.prefix(document_id), title_of(document))

    def document(self, document_id: str) -> Document:
        """What is known of a document."""
        return self.grouped.found.documents.get(document_id) or Document(document_id)

    def title(self, document_id: str) -> str:
        """What its header names."""
        return title_of(self.document(document_id))

    def prefix(self, document_id: str) -> str:
        """Its summary line."""
        return prefix_of(self.document(document_id), self.settings)

    def planned(self, document_id: str, indexes: tuple[int, ...]) -> DocumentPlan:
        """A document with these of its chunks, put next to each other; the same plan for the same chunks."""
        key = (document_id, indexes)
        plan = self._planned.get(key)
        if plan is None:
            plan = self._planned[key] = self.plan(document_id, self.join(document_id, indexes))
        return plan

    def all_plans(self) -> tuple[DocumentPlan, ...]:
        """Every document that shows something, as grouped."""
        return self.plans(self.grouped.resolution)

    def plans(self, resolution: Resolution, count: int | None = None) -> tuple[DocumentPlan, ...]:
        """Every document that still shows something, in its place; the first `count` of them."""
        return tuple([self.planned(document_id, resolution.shown[document_id]) for document_id in showing(resolution)[:count]])

    def blocks(self, plans: Sequence[DocumentPlan]) -> tuple[BlockPlan, ...]:
        """The blocks of these documents in their final order."""
        if self.settings.ordering != "document_first":
            return introduced(arrange(plans, self.settings, self.candidates))
        blocks: list[BlockPlan] = []
        for plan in plans:
            known = self._blocks.get(id(plan))
            if known is None:
                groups = groups_of(plan.joined, self.settings.citation_unit)
                known = self._blocks[id(plan)] = (plan, tuple([BlockPlan(plan, group, not at) for at, group in enumerate(groups)]))
            blocks += known[1]
        return tuple(blocks)

    def size(self, plans: Sequence[DocumentPlan]) -> Size:
        """What these documents come to in their final order. Remembered by the very plans, which are kept as long."""
        key = tuple(map(id, plans))
        if key not in self._sizes:
            self._sizes[key] = (tuple(plans), self.renderer.end(self.blocks(plans)))
        return self._sizes[key][1]

    def budgeted(self, plans: Sequence[DocumentPlan]) -> int:
        """`size` as the budget compares it."""
        return self.size(plans).budgeted

    @property
    def adds_up(self) -> bool:
        """Whether a set comes to what its documents come to, each by itself, but for a few tokens at their edges."""
        settings = self.settings
        apart = settings.ordering == "document_first" and settings.citation_unit == "document" and settings.format != "source"
        return apart and settings.budget_scope == "rendered" and settings.max_chars is None and self._closes_gaps_cheaply

    @cached_property
    def _closes_gaps_cheaply(self) -> bool:
        """A chunk that closes a gap takes its mark away: with a long one a set can come to less for one chunk more."""
        return self.counter.count(self.settings.gap_mark) < EDGES

    def alone(self, plan: DocumentPlan) -> int:
        """Tokens of a document's block by itself, behind its number."""
        return self.renderer.alone(self.blocks([plan])[0])

    def least(self, plan: DocumentPlan) -> int:
        """Tokens that a document's block takes at least, wherever it stands."""
        known = self._least.get(id(plan))
        if known is None:
            known = self._least[id(plan)] = (plan, self.renderer.least(plan) - EDGES)
        return known[1]

    def fits_alone(self, plan: DocumentPlan) -> bool:
        """Whether a document fits by itself. What surely does not is not put together to be counted."""
        return not (self.adds_up and self.least(plan) > self.limit) and self.budgeted([plan]) <= self.limit

    def sizes(self, plans: Sequence[DocumentPlan]) -> tuple[Size, ...]:
        """What the first document comes to, the first two, and so on, each set in its final order."""
        if self.settings.ordering != "document_first":
            return tuple([self.size(plans[:count]) for count in range(1, len(plans) + 1)])
        blocks = self.blocks(plans)
        last = {block.plan.document.document_id: end for block, end in zip(blocks, self.renderer.ends(blocks), strict=True)}
        return tuple([last[plan.document.document_id] for plan in plans])

    def sizes_after(self, plans: Sequence[DocumentPlan], near: Sequence[Size]) -> tuple[Size, ...]:
        """`sizes`, where `near_sizes` has told those of the first documents."""
        if len(near) == len(plans) or self.settings.citation_unit != "document":
            return tuple(near) if len(near) == len(plans) else self.sizes(plans)
        return self.renderer.ends_after(self.blocks(plans), near)

    def near_sizes(self, resolution: Resolution) -> tuple[Size, ...]:
        """`sizes` of as many documents as can fit, read off them as they are written, where each stands behind those before it."""
        if self.settings.ordering != "document_first" or self.settings.budget_scope == "chunks" or self.settings.max_chars is not None:
            return self.sizes(self.plans(resolution))
        plans = self.plans(resolution, self._within_reach(resolution))
        written = self.write(self.blocks(plans))
        last = {block.document_id: end.size for block, end in zip(written.blocks, written.ends, strict=True)}
        return tuple([last[plan.document.document_id] for plan in plans])

    def _within_reach(self, resolution: Resolution) -> int:
        """How many documents have a chance to fit: before all others stand too many tokens, whatever merges at the edges of chunks."""
        total = 0
        for count, document_id in enumerate(showing(resolution)):
            total += self._surely(self.own[document_id], resolution.shown[document_id])
            if total > self.limit:
                return count
        return len(resolution.order)

    def _surely(self, own: Mapping[int, Candidate], indexes: Sequence[int]) -> int:
        """Tokens that these chunks of a document take at least, whatever they share and stand beside."""
        total = 0
        before: FetchedChunk | None = None
        frontier = 0
        for index in indexes:
            chunk = own[index].chunk
            tokens = chunk.token_count or 0
            if before is not None and before.chunk_index + 1 == index and chunk.overlap_chars != 0:
                # What is shared with more than the chunk before is not known here.
                nested = before.end is None or before.end < frontier or chunk.start is None
                known = chunk.overlap_tokens if not (nested and chunk.overlap_kind == "offsets") else None
                tokens -= tokens if known is None else known
            total += max(0, tokens * EDGES // (EDGES + 1) - EDGES)
            before, frontier = chunk, max(frontier, chunk.end or 0)
        return total

    def write(self, blocks: Sequence[BlockPlan], lead: Sequence[Piece] = ()) -> Written:
        """Blocks as text."""
        return self.renderer.write(blocks, lead)

    def total(self) -> int:
        """Tokens of everything that was grouped."""
        return self.size(self.all_plans()).tokens
