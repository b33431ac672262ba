"""The hits of a log as chunks of a corpus that is there already: found by name, by place, else by their text.

One pass over the corpus, and a second one only for texts that are no whole chunk; nothing is asked hit by hit. A name or a place counts
where the texts agree, as far as the hit has one: row numbers of two stores are often equal and mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ctxasm.data.files.recognised.draft import BY_NAME, ONLY_RETRIEVED, Converted, Line
from ctxasm.model.characters import normalised
from ctxasm.model.datasets import ChunkKey
from ctxasm.model.errors import shown
from ctxasm.model.records import Chunk
from ctxasm.text.overlap import has_offsets

WAYS = ("id", "place", "offsets", "exact text", "text but for white space and Unicode form", "text inside a chunk, or a chunk inside it")
"""How a hit was found, the surest way first."""
BY_ID, BY_PLACE, BY_OFFSETS, EXACT, NORMALISED, CONTAINED = range(len(WAYS))
ID_NAMES = ("id", "chunk_id", "node_id", "uuid", "_id", "id_", "passage_id", "point_id")
"""Metadata that names a chunk."""
BETWEEN = (":", "#", "-", "_", "/", "::", "_chunk_", "-chunk-", "#chunk")
"""What stands between the document and the index in names that are made of both."""
ANCHOR, LEAST_ANCHOR, MOST_TOLD = 8, 4, 5
"""Words by which a text is looked for inside others, and the fewest that are enough; hits that a note lists."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
Corpus = Callable[[], Iterable[Chunk]]
"""Gives the chunks anew each time."""


@dataclass(slots=True)
class Quoted:
    """A chunk as a log has it: `text` None where it only names it, `is_placed` False where its index was not said.

    `found` is the chunk of the corpus, and the way it was found.
    """

    key: ChunkKey
    text: str | None
    names: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    is_placed: bool = True
    plain: str = ""
    found: tuple[ChunkKey, int] | None = None
    same_document: bool = False

    def offer(self, chunk: Chunk, way: int) -> None:
        """Take a chunk where it was found in a surer way than one before, or as surely and in the document that the log names."""
        same = chunk.document_id == self.key[0]
        if self.found is None or way < self.found[1] or (way == self.found[1] and same and not self.same_document):
            self.found, self.same_document = ((chunk.document_id, chunk.chunk_index), way), same

    def agrees(self, chunk: Chunk) -> bool:
        """Whether the chunk can be this one by its text, or there is nothing to compare."""
        if self.text is None or self.text == chunk.text:
            return True
        plain = normalised(chunk.text)
        return self.plain == plain or (bool(self.plain) and (self.plain in plain or (bool(plain) and plain in self.plain)))


class Joined(NamedTuple):
    """The lines of logs with hits on chunks of the corpus, and how many were found in which way."""

    lines: tuple[Converted, ...]
    ways: Mapping[str, int]
    missing: tuple[Quoted, ...]

    def notes(self, corpus: str, kept: bool) -> tuple[str, ...]:
        """What was found how, and what was not found."""
        if not self.ways and not self.missing:
            return ()
        told = ", ".join(f"{count:,} by {way}" for way, count in self.ways.items())
        total = sum(self.ways.values())
        found = f"{total:,} of {total + len(self.missing):,} retrieved chunks were found in {corpus}{f': {told}' if told else ''}"
        if not self.missing:
            return (found,)
        does = "they stay as the log has them" if kept else "hits on them were left out"
        listed = ", ".join(f"{shown(one.key[0], 60)} {one.key[1]}" for one in self.missing[:MOST_TOLD])
        texts = f" ({shown(self.missing[0].text, 80)})" if self.missing[0].text else ""
        more = f" and {len(self.missing) - MOST_TOLD:,} more" if len(self.missing) > MOST_TOLD else ""
        return (found, f"not found in {corpus}, so {does}: {listed}{texts}{more}")


def join_logs(logs: Sequence[Converted], corpus: Corpus, keep: bool, documents: Collection[object] = ()) -> Joined:
    """The logs with their hits on the chunks of the corpus, each of which then needs no line of its own.

    With `keep` a hit that is not found keeps its own chunk, else it goes. `documents` are those of which the corpus tells itself.
    """
    quoted = {one.key: one for log in logs for one in _quoted(log)}
    find(list(quoted.values()), corpus)
    ways: dict[str, int] = {}
    for at, way in enumerate(WAYS):
        if count := sum(one.found is not None and one.found[1] == at for one in quoted.values()):
            ways[way] = count
    missing = tuple(one for one in quoted.values() if one.found is None)
    return Joined(tuple(_rewritten(log, quoted, keep, documents) for log in logs), ways, missing)


def find(quoted: Sequence[Quoted], corpus: Corpus) -> None:
    """Look for all of these in one pass over the corpus, and in a second one for texts that are no whole chunk."""
    by_place: dict[ChunkKey, list[Quoted]] = {}
    by_name: dict[str, list[Quoted]] = {}
    by_document: dict[str, list[Quoted]] = {}
    by_text: dict[str, list[Quoted]] = {}
    for one in quoted:
        by_place.setdefault(one.key, []).append(one)
        for name in one.names:
            by_name.setdefault(name, []).append(one)
        if one.start is not None and one.end is not None:
            by_document.setdefault(one.key[0], []).append(one)
        if one.text is not None:
            one.plain = normalised(one.text)
            by_text.setdefault(one.plain, []).append(one)
    chunks = dict.fromkeys((one.key[0] for one in quoted if not one.is_placed), 0)
    for chunk in corpus():
        _offer(chunk, by_place.get((chunk.document_id, chunk.chunk_index), ()), BY_PLACE)
        for name in _names_of(chunk):
            _offer(chunk, by_name.get(name, ()), BY_ID)
        if chunk.document_id in chunks:
            chunks[chunk.document_id] += 1
        if has_offsets(chunk):
            for one in by_document.get(chunk.document_id, ()):
                if one.start is not None and one.end is not None and (chunk.start or 0) <= one.start and one.end <= (chunk.end or 0):
                    _offer(chunk, (one,), BY_OFFSETS)
        if by_text:
            for one in by_text.get(normalised(chunk.text), ()):
                one.offer(chunk, EXACT if one.text == chunk.text else NORMALISED)
    for one in quoted:  # the name of a document is that of a chunk only where it has one
        if one.text is None and not one.is_placed and one.found is not None and one.found[1] == BY_PLACE and chunks[one.key[0]] > 1:
            one.found = None
    if left := [one for one in quoted if one.found is None and one.plain]:
        _find_inside(left, corpus)


def _offer(chunk: Chunk, quoted: Iterable[Quoted], way: int) -> None:
    for one in quoted:
        if one.agrees(chunk):
            one.offer(chunk, way)


def _names_of(chunk: Chunk) -> Iterator[str]:
    """What a chunk may be called: by its metadata, or by its document and index."""
    for name in ID_NAMES:
        if isinstance(value := chunk.metadata.get(name), (str, int)) and not isinstance(value, bool):
            yield str(value)
    for between in BETWEEN:
        yield f"{chunk.document_id}{between}{chunk.chunk_index}"


def _find_inside(left: Sequence[Quoted], corpus: Corpus) -> None:
    """Texts that are a part of a chunk, or that a chunk is a part of: by the words that they begin with, then by all of them."""
    starts: dict[int, dict[tuple[str, ...], list[Quoted]]] = {}
    windows: dict[tuple[str, ...], list[Quoted]] = {}
    for one in left:
        one.plain = one.plain.removesuffix("...").removesuffix("…").rstrip()
        words = _WORD.findall(one.plain)
        if len(words) >= LEAST_ANCHOR:
            size = min(ANCHOR, len(words) - 1)  # the last word may be cut
            starts.setdefault(size, {}).setdefault(tuple(words[:size]), []).append(one)
        for at in range(len(words) - ANCHOR + 1):
            windows.setdefault(tuple(words[at : at + ANCHOR]), []).append(one)
    if not starts:
        return
    for chunk in corpus():
        plain = normalised(chunk.text)
        words = _WORD.findall(plain)
        near = [
            one
            for size, known in starts.items()
            for at in range(len(words) - size + 1)
            for one in known.get(tuple(words[at : at + size]), ())
        ]
        near += windows.get(tuple(words[:ANCHOR]), ())
        for one in near:
            if one.plain in plain or plain in one.plain:
                one.offer(chunk, CONTAINED)


def _quoted(log: Converted) -> Iterator[Quoted]:
    """Every chunk that a log speaks of, as far as its lines are sound: the others are reported when they are checked."""
    known = set()
    for _, line in log.chunks:
        if (key := _key(line)) is not None and isinstance(line.get("text"), str) and key not in known:
            known.add(key)
            metadata = line.get("metadata")
            values = [metadata.get(name) for name in ID_NAMES] if isinstance(metadata, Mapping) else []
            names = tuple(str(value) for value in values if isinstance(value, (str, int)) and not isinstance(value, bool))
            start, end = line.get("start"), line.get("end")
            offsets = (start, end) if isinstance(start, int) and isinstance(end, int) else (None, None)
            yield Quoted(key, line["text"], (*names, key[0]), *offsets)
    for _, line in (*log.retrievals, *log.queries):
        for hit in (*_listed(line.get("retrieved")), *_listed(line.get("gold"))):
            if (key := _key(hit)) is not None and key not in known:
                known.add(key)
                yield Quoted(key, None, (key[0],), is_placed=BY_NAME not in hit)


def _rewritten(log: Converted, quoted: Mapping[ChunkKey, Quoted], keep: bool, told: Collection[object]) -> Converted:
    def stays(line: Mapping[str, Any]) -> bool:
        one = quoted.get(key) if (key := _key(line)) is not None else None
        return keep and (one is None or one.found is None)

    chunks = tuple((row, line) for row, line in log.chunks if stays(line))
    documents = {line.get("document_id") for _, line in chunks} - set(told)
    return replace(
        log,
        chunks=chunks,
        documents=tuple((row, line) for row, line in log.documents if line.get("document_id") in documents),
        retrievals=tuple(_moved(line, "retrieved", quoted, keep) for line in log.retrievals),
        queries=tuple(_moved(line, "gold", quoted, keep) for line in log.queries),
        notes=tuple(note for note in log.notes if chunks or not note.startswith(ONLY_RETRIEVED)),
    )


def _moved(line: Line, name: str, quoted: Mapping[ChunkKey, Quoted], keep: bool) -> Line:
    row, fields = line
    if not isinstance(fields.get(name), list):
        return line
    found: list[Any] = []
    taken: set[ChunkKey] = set()
    for hit in fields[name]:
        one = quoted.get(key) if (key := _key(hit)) is not None else None
        place = one.found[0] if one is not None and one.found is not None else key if keep else None
        if place is None and key is not None:
            continue
        if place is not None and place not in taken:  # two parts of one chunk are one hit, the better one
            taken.add(place)
            found.append({**hit, "document_id": place[0], "chunk_index": place[1]})
        elif key is None:
            found.append(hit)
    return row, {**fields, name: found}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _key(line: object) -> ChunkKey | None:
    if not isinstance(line, Mapping):
        return None
    document, index = line.get("document_id"), line.get("chunk_index")
    return (document, index) if isinstance(document, str) and isinstance(index, int) and not isinstance(index, bool) else None
