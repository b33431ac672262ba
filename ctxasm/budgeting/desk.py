"""What every policy asks: what a set of chunks comes to, how it is laid out, and who repeats whom in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ctxasm.model.events import Event
from ctxasm.model.extracts import NO_EXTRACTS, Extract
from ctxasm.model.formats import title_of
from ctxasm.model.passages import Joined, join
from ctxasm.model.plans import EMPTY, BlockPlan, DocumentPlan, Related, Relations, Resolution, Size, Written
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Document
from ctxasm.model.results import Candidate, DocumentSize, Key, Regret
from ctxasm.model.settings import AssemblySettings
from ctxasm.stages import deduplicate, order, render, summarise

Join = Callable[[str, Sequence[int]], tuple[Joined, ...]]
Documents = Mapping[str, Mapping[int, Candidate]]


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen set, written. `final` is in reading order, document by document; `written.shown` as it stands in the text.

    `reasons` and `missing` speak for every chunk that is shown nowhere. `blocks` is what was written.
    """

    resolution: Resolution
    written: Written
    blocks: tuple[BlockPlan, ...]
    final: tuple[Joined, ...]
    reasons: Mapping[Key, str]
    missing: Mapping[Key, int]
    sizes: tuple[DocumentSize, ...]
    yielded: tuple[Event, ...]
    regret: Regret


class Desk:
    """Where the budget is decided for one assembly. `own` are the candidates by document and index."""

    def __init__(
        self,
        settings: AssemblySettings,
        counter: TokenCounter,
        limit: int,
        documents: Mapping[str, Document],
        own: Documents,
        join_chunks: Join,
        relations: Relations,
        extracts: Mapping[Key, Extract] = NO_EXTRACTS,
    ) -> None:
        self.settings, self.counter, self.limit, self.documents, self.own = settings, counter, limit, documents, own
        self.join, self.relations = join_chunks, relations
        self.candidates = {candidate.key: candidate for each in own.values() for candidate in each.values()}
        self.renderer = render.Renderer(settings, counter, self.candidates, extracts)
        self._planned: dict[tuple[str, tuple[int, ...]], DocumentPlan] = {}

    @cached_property
    def originals(self) -> Mapping[Key, Sequence[Related]]:
        """What each chunk repeats. Not the other way round: what stands inside a larger chunk repeats it, and not it that."""
        originals: dict[Key, list[Related]] = {}
        for key, copies in self.relations.copies.items():
            for copy, likeness, similarity in copies:
                originals.setdefault(copy, []).append(Related(key, likeness, similarity))
        return originals

    def superseded(self, key: Key) -> bool:
        """Whether a newer chunk among the candidates stands for this one."""
        newer = self.relations.superseded.get(key)
        return newer is not None and newer.key in self.candidates

    def resolve(self, own: Documents) -> Resolution:
        """Duplicates resolved among these candidates alone."""
        return deduplicate.resolve(own, self.relations)

    def plan(self, document_id: str, joined: tuple[Joined, ...]) -> DocumentPlan:
        """A document with its summary line and title."""
        document = self.documents.get(document_id) or Document(document_id)
        return DocumentPlan(document, joined, summarise.prefix_of(document, self.settings), title_of(document))

    def planned(self, document_id: str, indexes: tuple[int, ...]) -> DocumentPlan:
        """A document with these of its chunks, put next to each other; the same plan for the same chunks."""
        key = (document_id, indexes)
        if key not in self._planned:
            self._planned[key] = self.plan(document_id, self.join(document_id, indexes))
        return self._planned[key]

    def plans(self, resolution: Resolution) -> tuple[DocumentPlan, ...]:
        """Every document that still shows something, best first."""
        order = [document_id for document_id in resolution.order if resolution.shown[document_id]]
        return tuple([self.planned(document_id, resolution.shown[document_id]) for document_id in order])

    def blocks(self, plans: Sequence[DocumentPlan]) -> tuple[BlockPlan, ...]:
        """The blocks of these documents in their final order."""
        return order.arrange(plans, self.settings, self.candidates)

    def size(self, plans: Sequence[DocumentPlan]) -> Size:
        """What these documents come to in their final order."""
        ends = self.renderer.ends(self.blocks(plans))
        return ends[-1] if ends else EMPTY

    def budgeted(self, plans: Sequence[DocumentPlan]) -> int:
        """`size` as the budget compares it."""
        return self.size(plans).budgeted

    def sizes(self, plans: Sequence[DocumentPlan]) -> tuple[Size, ...]:
        """What the first document comes to, the first two, and so on, each set in its final order."""
        if self.settings.ordering != "document_first":
            return tuple([self.size(plans[:count]) for count in range(1, len(plans) + 1)])
        blocks = self.blocks(plans)
        last = {block.plan.document.document_id: end for block, end in zip(blocks, self.renderer.ends(blocks), strict=True)}
        return tuple([last[plan.document.document_id] for plan in plans])

    def written_sizes(self, plans: Sequence[DocumentPlan], written: Written) -> tuple[Size, ...]:
        """`sizes`, read off these documents as they are written, where each stands behind those before it."""
        if self.settings.ordering != "document_first" or self.settings.budget_scope == "chunks" or self.settings.max_chars is not None:
            return self.sizes(plans)
        of_block = {block.number: block.document_id for block in written.blocks}
        ends: dict[str, int] = {}
        total = 0
        for segment in written.segments:
            total += segment.tokens
            if segment.block is not None:
                ends[of_block[segment.block]] = total
        return tuple([Size(ends[plan.document.document_id], ends[plan.document.document_id]) for plan in plans])

    def write(self, plans: Sequence[DocumentPlan]) -> tuple[tuple[BlockPlan, ...], Written]:
        """These documents as text in their final order."""
        blocks = self.blocks(plans)
        return blocks, self.renderer.write(blocks)


def final_of(plans: Iterable[DocumentPlan]) -> tuple[Joined, ...]:
    """The chunks of documents, document by document in reading order."""
    return tuple(chain.from_iterable([plan.joined for plan in plans]))


def like_originals(resolution: Resolution, reasons: dict[Key, str], lacks: dict[Key, int]) -> None:
    """A copy is present as soon as what it repeats is: it lacks no more than that."""
    for copy, original in resolution.duplicates.items():
        if original in lacks and copy in reasons and lacks[original] <= lacks.get(copy, lacks[original]):
            reasons[copy], lacks[copy] = reasons[original], lacks[original]


def write_baseline(
    keys: Sequence[Key],
    candidates: Mapping[Key, Candidate],
    documents: Mapping[str, Document],
    settings: AssemblySettings,
    counter: TokenCounter,
) -> Written:
    """Retrieved chunks in retrieval order, one block each, no summaries."""
    blocks = []
    for key in keys:
        document = documents.get(key[0]) or Document(key[0])
        joined = join([candidates[key].chunk], 0)
        blocks.append(BlockPlan(DocumentPlan(document, joined, "", title_of(document)), joined, True))
    return render.Renderer(settings, counter, candidates).write(blocks)
