"""What a framework retrieved -> an assembly, by the rules by which the same things are read from a file; and its blocks one by one.

With a source of chunks the place of a passage is the one under which it is stored: its document and chunk_index where the metadata has
them and the text agrees, else those of the stored chunk of the same text, in any document. Without one it is worked out as on import,
from what the metadata says.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ctxasm.data.files.recognised.draft import Draft, Place, document_of
from ctxasm.data.files.recognised.passages import Passage, number, passage, whole
from ctxasm.data.files.rows import Rows
from ctxasm.model.characters import normalised
from ctxasm.model.datasets import ChunkKey, DatasetInfo
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.events import NoNeighbours, Obstacle, Unexpanded
from ctxasm.model.ports import ChunkSource, FetchedChunk, KnowsDatasets, KnowsDocuments, Window
from ctxasm.model.results import Assembly, Citation
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.chunk_facts import duplicate_key


class Block(NamedTuple):
    """One block as it stands in the context, its citation as JSON values, and the best score among its chunks."""

    text: str
    metadata: dict[str, Any]
    score: float


def blocks_of(assembly: Assembly) -> list[Block]:
    """All blocks in order. Joined by a blank line, or by `block_separator`, they are the context (but for a supplement before them)."""
    spans: dict[int, tuple[int, int, int]] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            start, _, tokens = spans.get(segment.block, (segment.start, 0, 0))
            spans[segment.block] = (start, segment.end, tokens + segment.tokens)
    fates = {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}
    found = []
    for citation in assembly.citations:
        start, end, tokens = spans[citation.number]
        own = [fates[citation.document_id, index] for index in citation.chunk_indexes]
        score = max(fate.score for fate in own)
        retrieved = [fate.chunk_index for fate in own if fate.retrieved]
        found.append(
            Block(assembly.text[start:end], {**_metadata(citation), "retrieved": retrieved, "score": score, "tokens": tokens}, score)
        )
    return found


def _metadata(citation: Citation) -> dict[str, Any]:
    return {
        "number": citation.number,
        "document_id": citation.document_id,
        "title": citation.title,
        "source": citation.source,
        "ref": citation.ref,
        "page_number": citation.page_number,
        "row_number": citation.row_number,
        "chunk_indexes": list(citation.chunk_indexes),
        "snippet": citation.snippet,
        "also_in": [{"document_id": document_id, "chunk_index": index} for document_id, index in citation.also_in],
    }


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
        if source.info.linked:
            asked = {text: self._asked(source, text) for text in dict.fromkeys(texts)}
            return {text: place for text, place in asked.items() if place is not None}
        if self._dataset != source.info.dataset_id:
            self._places, self._flat = {}, None
            for chunk in source.iter_chunks():
                self._places.setdefault(_text_key(chunk), (chunk.document_id, chunk.chunk_index))
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
        same.sort(key=lambda chunk: _text_key(chunk) != wanted)
        return next(((chunk.document_id, chunk.chunk_index) for chunk in same), None)


def _text_key(chunk: FetchedChunk) -> bytes:
    return chunk.duplicate_key if chunk.duplicate_key is not None else duplicate_key(chunk.text)


NOT_STORED = 10**9
"""From here on are the indexes of passages that the source does not hold: no stored chunk is their neighbour."""
_HERE = Place(0, 1)


class Memory:
    """What an adapter keeps from one question to the next: where texts are stored, and which warnings were given."""

    def __init__(self) -> None:
        self.texts = StoredTexts()
        self._given: set[Obstacle] = set()

    def warn(self, assembly: Assembly) -> None:
        """Warn where no hit has a neighbour although some were asked for, once a reason."""
        if not assembly.settings.window or not all(fate.retrieved for fate in assembly.trace.fates):
            return
        record = assembly.trace.stage("expand")
        for event in record.events if record is not None else ():
            if isinstance(event, Unexpanded) and event.obstacle not in self._given:
                self._given.add(event.obstacle)
                warnings.warn(NoNeighbours(event.obstacle, event.document_id, event.chunk_indexes).sentence, UserWarning, stacklevel=4)


@dataclass(frozen=True, slots=True)
class Reader:
    """How passages are read: the metadata keys of document, index and score, and the source behind them.

    A key that is None is looked for under the usual names. `lower_is_better`: the scores are distances. `memory` is what an adapter
    keeps from one question to the next.
    """

    source: ChunkSource | KnowsDatasets | None = None
    document_id_key: str | None = None
    chunk_index_key: str | None = None
    score_key: str | None = None
    lower_is_better: bool = False
    memory: Memory = field(default_factory=lambda: Memory())

    def passage(self, text: str, metadata: Mapping[str, Any], passage_id: str | None, **known: Any) -> Passage:
        """One passage. Raises InvalidInput where its metadata lacks a key that was named."""
        made = passage(text, metadata, passage_id, **known)
        if self.document_id_key is not None:
            made = replace(made, document_id=str(self._named(metadata, self.document_id_key)))
        index = metadata.get("chunk_index") if self.chunk_index_key is None else self._named(metadata, self.chunk_index_key)
        if (at := whole(index)) is not None:
            made = replace(made, numbers={"chunk_index": at})
        elif self.chunk_index_key is not None:
            raise InvalidInput(f"metadata {self.chunk_index_key} must be a whole number from 0, got {shown(index)}")
        if self.score_key is not None:
            made = replace(made, score=number(metadata.get(self.score_key)), measure="score")
        return made

    def assemble(self, question: str, found: Sequence[Passage], settings: AssemblySettings, beside: Sequence[Passage] = ()) -> Assembly:
        """The assembly for passages in order of retrieval; `beside` are neighbours that are not hits. Raises as `ctxasm.assemble`."""
        from ctxasm import assemble

        stored = opened(self.source)
        draft = Draft((Rows("retrieved", (), ()),), are_distances=self.lower_is_better)
        if stored is not None:
            found = _as_stored(stored, found, self.memory.texts)
        for one in beside:
            draft.keep(_HERE, one)
        draft.ask(_HERE, question, found)
        (lines,) = draft.lines()
        hits = [hit for _, retrieval in lines.retrievals for hit in retrieval["retrieved"]]
        chunks = [line for _, line in lines.chunks]
        made = assemble(question, stored, settings, hits=hits, chunks=chunks, documents=[line for _, line in lines.documents])
        self.memory.warn(made)
        return made

    @staticmethod
    def _named(metadata: Mapping[str, Any], key: str) -> Any:
        if key not in metadata:
            raise InvalidInput(
                f"a retrieved passage has no {key} in its metadata, only {', '.join(map(shown, list(metadata)[:10])) or 'nothing'}"
            )
        return metadata[key]


def opened(source: ChunkSource | KnowsDatasets | None) -> ChunkSource | None:
    """The source itself; of a store its newest dataset."""
    return source.dataset() if isinstance(source, KnowsDatasets) else source


def _as_stored(source: ChunkSource, found: Sequence[Passage], texts: StoredTexts) -> list[Passage]:
    """The passages at the places where the source has them: where their metadata says, else in their document, else anywhere, by text."""
    placed = _in_their_documents(source, found)
    keys = [(document_of(one, _HERE), one.numbers["chunk_index"]) for one in placed]
    asked = [Window(document_id, index, index) for document_id, index in dict.fromkeys(keys) if index < NOT_STORED]
    held = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in source.fetch(asked, "").chunks} if asked else {}
    lost = {at for at, key in enumerate(keys) if key not in held or normalised(held[key]) != normalised(str(placed[at].text))}
    places = texts.places(source, [str(placed[at].text) for at in sorted(lost)]) if lost else {}
    for at in lost:
        if (place := places.get(str(placed[at].text))) is not None:
            placed[at] = replace(placed[at], document_id=place[0], numbers={"chunk_index": place[1]})
    return placed


def _in_their_documents(source: ChunkSource, found: Sequence[Passage]) -> list[Passage]:
    """The passages with their chunk_index, or that of the chunk of their document that has their text; else NOT_STORED."""
    by_text: dict[str, dict[str, int]] = {}
    placed = []
    for at, one in enumerate(found):
        if "chunk_index" in one.numbers:
            placed.append(one)
            continue
        document_id = document_of(one, _HERE)
        if document_id not in by_text:
            chunks = source.document_chunks(document_id) if isinstance(source, KnowsDocuments) else ()
            by_text[document_id] = {chunk.text: chunk.chunk_index for chunk in reversed(list(chunks))}
        index = by_text[document_id].get(str(one.text), NOT_STORED + 2 * at)
        placed.append(replace(one, numbers={"chunk_index": index}))
    return placed
