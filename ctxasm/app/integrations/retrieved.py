"""What a framework retrieved -> an assembly, by the rules by which the same things are read from a file.

With a source of chunks the place of a passage is the one under which it is stored: its chunk_index where the metadata has it,
else that of the stored chunk of the same text. Without one it is worked out as on import, from what the metadata says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxasm.data.files.recognised.draft import Draft, Place, document_of
from ctxasm.data.files.recognised.passages import Passage, passage
from ctxasm.data.files.recognised.values import number, whole
from ctxasm.data.files.rows import Rows
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import ChunkSource, KnowsDatasets, KnowsDocuments
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings

NOT_STORED = 10**9
"""From here on are the indexes of passages that the source does not hold: no stored chunk is their neighbour."""
_HERE = Place(0, 1)


@dataclass(frozen=True, slots=True)
class Reader:
    """How passages are read: the metadata keys of document, index and score, and the source behind them.

    A key that is None is looked for under the usual names. `lower_is_better`: the scores are distances.
    """

    source: ChunkSource | KnowsDatasets | None = None
    document_id_key: str | None = None
    chunk_index_key: str | None = None
    score_key: str | None = None
    lower_is_better: bool = False

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
            found = _as_stored(stored, found)
        for one in beside:
            draft.keep(_HERE, one)
        draft.ask(_HERE, question, found)
        (lines,) = draft.lines()
        hits = [hit for _, retrieval in lines.retrievals for hit in retrieval["retrieved"]]
        chunks = [line for _, line in lines.chunks]
        return assemble(question, stored, settings, hits=hits, chunks=chunks, documents=[line for _, line in lines.documents])

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


def _as_stored(source: ChunkSource, found: Sequence[Passage]) -> list[Passage]:
    """The passages with the indexes under which the source has them."""
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
