"""Numbers of sources that stay what they are from one assembly of a conversation to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxasm.assembly.stages import BlockPlan
from ctxasm.model.results import Citation, Key
from ctxasm.model.settings import AssemblySettings


@dataclass(frozen=True, slots=True)
class Numbering:
    """The numbers that are taken: `given` says under which number each chunk was shown last, `highest` is the highest ever given.

    With `by_document` every chunk of a document has its number; else a block keeps the number of a block with which it shares a chunk.
    A number is never given to another source. Without earlier blocks the numbers are 1, 2, 3, … in the order of the blocks.
    """

    given: Mapping[Key, int] = field(default_factory=dict)
    highest: int = 0
    by_document: bool = True

    def numbers(self, blocks: Sequence[BlockPlan]) -> Sequence[int]:
        """The number of each block: the one it had (of several that became one the lowest), else the lowest that was never given."""
        if not self.highest:
            return range(1, len(blocks) + 1)
        documents = {key[0]: number for key, number in self.given.items()} if self.by_document else {}
        numbers: dict[int, None] = {}
        following = self.highest
        for block in blocks:
            document_id = block.plan.document.document_id
            if self.by_document:
                earlier = [documents[document_id]] if document_id in documents else []
            else:
                keys = [(document_id, j.chunk.chunk_index) for j in block.group]
                earlier = [self.given[key] for key in keys if key in self.given and self.given[key] not in numbers]
            following += not earlier
            numbers[min(earlier, default=following)] = None
        return tuple(numbers)

    def after(self, citations: Iterable[Citation]) -> Numbering:
        """With the numbers of these blocks given too."""
        given, highest = dict(self.given), self.highest
        for citation in citations:
            given |= {(citation.document_id, index): citation.number for index in citation.chunk_indexes}
            highest = max(highest, citation.number)
        return Numbering(given, highest, self.by_document)


FROM_ONE = Numbering()


def numbering_for(settings: AssemblySettings) -> Numbering:
    """No number given yet, for the citation unit of these settings."""
    return Numbering(by_document=settings.enabled and settings.citation_unit == "document")


@dataclass(frozen=True, slots=True)
class EarlierEvidence:
    """What earlier turns of a conversation bring to an assembly: the numbers that are given, and which chunks stand already.

    `kept` are chunks that are to stay while they fit: candidates behind every hit, without neighbours. `sent` stand elsewhere in the
    same prompt: they are not shown again.
    """

    numbering: Numbering = FROM_ONE
    kept: tuple[Key, ...] = ()
    sent: frozenset[Key] = frozenset()


NO_EARLIER = EarlierEvidence()
