"""Where the texts that a framework retrieved are stored: the ids of its documents are seldom those of the dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from ctxasm.model.characters import normalised
from ctxasm.model.datasets import ChunkKey, DatasetInfo
from ctxasm.model.ports import ChunkSource, FetchedChunk
from ctxasm.text.chunk_facts import duplicate_key

HELD = 50
"""Chunks that hold a part of a text among which the one of that text is looked for."""
UNEVEN = re.compile(r"\s{2,}|[^\S ]+")
"""White space in which two copies of a text may differ."""


@runtime_checkable
class KnowsTexts(Protocol):
    """A dataset whose chunks can be looked up by their text."""

    @property
    def info(self) -> DatasetInfo: ...
    def iter_chunks(self) -> Iterator[FetchedChunk]:
        """All chunks."""
        ...

    def find_text(self, phrase: str, limit: int = ...) -> list[FetchedChunk]:
        """The chunks whose text contains `phrase`."""
        ...


class StoredTexts:
    """The chunks of a dataset by their texts, as they are laid out, else white space aside. All are read once a load for each, when needed.

    A linked table may change at any time, so it is asked text by text.
    """

    def __init__(self) -> None:
        self._dataset: int | None = None
        self._places: dict[bytes, ChunkKey] = {}
        self._flat: dict[bytes, ChunkKey] | None = None

    def places(self, source: ChunkSource, texts: Sequence[str]) -> Mapping[str, ChunkKey]:
        """Where these texts stand in the source; one that is not found is left out. Of equal chunks the first."""
        if not isinstance(source, KnowsTexts):
            return {}
        if source.info.dataset_id < 0:
            asked = {text: self._asked(source, text) for text in dict.fromkeys(texts)}
            return {text: place for text, place in asked.items() if place is not None}
        if self._dataset != source.info.dataset_id:
            self._places, self._flat = {}, None
            for chunk in source.iter_chunks():
                self._places.setdefault(_key(chunk), (chunk.document_id, chunk.chunk_index))
            self._dataset = source.info.dataset_id
        found: dict[str, ChunkKey] = {text: place for text in texts if (place := self._places.get(duplicate_key(text)))}
        return found | self._flattened(source, [text for text in texts if text not in found])

    def _flattened(self, source: KnowsTexts, texts: Sequence[str]) -> dict[str, ChunkKey]:
        """Where texts stand of which a framework changed the lines, such as those of a list or of code."""
        if not texts:
            return {}
        if self._flat is None:
            self._flat = {}
            for chunk in source.iter_chunks():
                self._flat.setdefault(duplicate_key(normalised(chunk.text)), (chunk.document_id, chunk.chunk_index))
        return {text: place for text in texts if (place := self._flat.get(duplicate_key(normalised(text))))}

    @staticmethod
    def _asked(source: KnowsTexts, text: str) -> ChunkKey | None:
        wanted, flat, part = duplicate_key(text), normalised(text), max(UNEVEN.split(text), key=len)
        same = [chunk for chunk in source.find_text(part, HELD) if normalised(chunk.text) == flat]
        same.sort(key=lambda chunk: _key(chunk) != wanted)
        return next(((chunk.document_id, chunk.chunk_index) for chunk in same), None)


def _key(chunk: FetchedChunk) -> bytes:
    return chunk.duplicate_key if chunk.duplicate_key is not None else duplicate_key(chunk.text)
