"""None"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxasm.assembly.deduplicate.relations import STRENGTH
from ctxasm.assembly.deduplicate.resolution import originals_of
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.plans import Related, Relations, Resolution
from ctxasm.model.results import Key

NOTHING_ALIKE: Mapping[Key, Related] = {}


def likeness_of(resolution: Resolution, relations: Relations, shown: Sequence[Joined], candidates: Iterable[Key]) -> Mapping[Key, Related]:
    """Every candidate that is not shown and repeats a chunk that is shown whole, with that chunk.

    Of several the one that deduplication named, else the first in the text, the most alike.
    """
    if not relations.copies and not relations.superseded:
        return NOTHING_ALIKE
    there = {(j.chunk.document_id, j.chunk.chunk_index) for j in shown}
    whole = {(j.chunk.document_id, j.chunk.chunk_index): at for at, j in enumerate(shown) if j.end == len(j.chunk.text)}
    likeness = {copy: related for copy, related in resolution.likeness.items() if related.key in whole and copy not in there}
    repeated = Repeated(relations)
    documents = {document_id: place for place, document_id in enumerate(dict.fromkeys(key[0] for key in whole))}
    for key in candidates:
        if key not in there and key not in likeness and (options := [each for each in repeated.by(key) if each.key in whole]):
            likeness[key] = min(options, key=lambda r: (documents[r.key[0]], STRENGTH[r.likeness], -r.similarity, whole[r.key]))
    return likeness


class Repeated:
    """What each chunk repeats; of one that a newer chunk stands for, that one and what it repeats."""

    def __init__(self, relations: Relations) -> None:
        self.originals, self.superseded = originals_of(relations), relations.superseded

    def by(self, key: Key) -> list[Related]:
        """The chunks whose presence makes this one superfluous."""
        newer = self.superseded.get(key)
        if newer is None:
            return self.originals.get(key, [])
        return [newer, *(newer._replace(key=original.key) for original in self.originals.get(newer.key, ()))]


def cited_beside(likeness: Mapping[Key, Related]) -> dict[Key, tuple[Key, ...]]:
    """Every shown chunk with the places that said the same."""
    places: dict[Key, tuple[Key, ...]] = {}
    for copy, related in likeness.items():
        places[related.key] = (*places.get(related.key, ()), copy)
    return places
