"""Labels and hits that follow their text when a dataset is replaced: a chunk index means nothing in documents that were cut anew.

Each is looked for in its own document: the same text, then the text but for white space, Unicode form and soft hyphens; in one chunk, in a
longer one, or over several. A text that stands several times is taken where it is nearest to its old place. What is not found stays with
its question as lost, with its text, and is looked for again at the next load. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ctxasm.model.characters import normalised, normalised_places
from ctxasm.model.datasets import Moves
from ctxasm.model.errors import shown
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, GoldChunk, Hit, LostHit, Query, Span, alternatives
from ctxasm.text.overlap import has_offsets, overlap_of

MOST_TIMES = 1_000
"""Places at which one text is looked at."""
LONGEST_SHOWN = 80

Key = tuple[str, int]
AnyChunk = Chunk | FetchedChunk
ChunksOf = Callable[[str], Sequence[Chunk] | Sequence[FetchedChunk]]
"""All chunks of a document by index; none of an unknown one."""


class OldTexts(NamedTuple):
    """The chunks and the texts of spans that questions name, before they are replaced."""

    chunks: Mapping[Key, AnyChunk]
    spans: Mapping[tuple[str, int, int], str]


class Wanted(NamedTuple):
    """A text of a document, the chunk that it stood in (-1: not known), and where it began in the document (None: not known).

    `is_chunk`: it was all of that chunk.
    """

    document_id: str
    chunk_index: int
    text: str
    start: int | None = None
    is_chunk: bool = False


class Part(NamedTuple):
    """What a chunk holds of a text; `is_all`: the chunk is nothing else."""

    chunk_index: int
    text: str
    is_all: bool

    @property
    def needed(self) -> str | None:
        """The words of the chunk that are needed; None: all of it."""
        return None if self.is_all else self.text


class Found(NamedTuple):
    """The chunks that hold a text, all of them needed. `others` hold it as well as the only one does.

    `stretch` are its characters in the document, None where chunks do not say where they stand. It stands there so many `times`, and
    `stayed` in its place.
    """

    chunks: tuple[Part, ...]
    others: tuple[Part, ...]
    stretch: tuple[int, int] | None
    times: int
    stayed: bool


class _Laid(NamedTuple):
    """A chunk, and which characters of its document's text it holds."""

    chunk: AnyChunk
    low: int
    high: int


class DocumentText:
    """The chunks of a document as one text: what neighbours share once, and a line break where something may lie between them."""

    def __init__(self, chunks: Sequence[AnyChunk]) -> None:
        self.laid: list[_Laid] = []
        text, length = [], 0
        for before, chunk in zip([None, *chunks], chunks, strict=False):
            low = 0 if before is None else self._low(before, chunk, self.laid[-1], length)
            if low > length:
                text.append("\n" * (low - length))
                length = low
            text.append(chunk.text[length - low :])
            length = max(length, low + len(chunk.text))
            self.laid.append(_Laid(chunk, low, low + len(chunk.text)))
        self.text = "".join(text)
        self._plain: list[tuple[str, list[int]]] = []

    @staticmethod
    def _low(before: AnyChunk, chunk: AnyChunk, laid: _Laid, length: int) -> int:
        shared = overlap_of(before, chunk)
        if shared.kind == "offsets":
            ahead = (chunk.start or 0) - (before.start or 0)
            return laid.low + ahead if ahead <= len(before.text) else length + 1
        return laid.high - shared.chars if shared.kind == "text" and laid.high == length else length + 1

    def find(self, wanted: str) -> list[tuple[int, int]]:
        """Where a text stands, from and to: exactly, else but for white space, Unicode form and soft hyphens.

        Without any white space at last, as chunks without offsets may part a word.
        """
        if exact := [(at, at + len(wanted)) for at in _times(self.text, wanted)]:
            return exact
        if not self._plain:
            plain, places = normalised_places(self.text)
            kept = [at for at, char in enumerate(plain) if char != " "]
            self._plain = [(plain, places), ("".join(plain[at] for at in kept), [*(places[at] for at in kept), places[-1]])]
        for (plain, places), sought in zip(self._plain, (normalised(wanted), "".join(normalised(wanted).split())), strict=True):
            if found := [(places[at], self._end(places, at + len(sought))) for at in _times(plain, sought)]:
                return found
        return []

    def _end(self, places: list[int], at: int) -> int:
        # Behind the last character, not before the next: white space and what has no width is between them.
        last = places[at - 1]
        return places[at] if at == len(places) - 1 else last + max(1, len(self.text[last : places[at]].rstrip()))

    def holding(self, low: int, high: int) -> list[_Laid]:
        """The chunks that hold all of these characters; where none does, those that hold them together, each needed."""
        if whole := [laid for laid in self.laid if laid.low <= low and high <= laid.high]:
            return whole
        found: list[_Laid] = []
        at = low
        while at < high:
            best = max((laid for laid in self.laid if laid.low <= at < laid.high), key=lambda laid: laid.high, default=None)
            if best is None:
                at = min((laid.low for laid in self.laid if laid.low > at), default=high)
            else:
                found.append(best)
                at = best.high
        return [laid for laid in found if self.text[max(low, laid.low) : min(high, laid.high)].strip()]

    def nearest(self, wanted: Wanted) -> Found | None:
        """Where a text stands nearest to its old place; that of a chunk first where it is one again."""
        places = self.find(wanted.text) if wanted.text.strip() else []
        if not places:
            return None
        edges = {(laid.low, laid.high) for laid in self.laid}
        places = [place for place in places if place in edges and wanted.is_chunk] or places

        def apart(laid: _Laid) -> int:
            return abs(laid.chunk.chunk_index - wanted.chunk_index) if wanted.chunk_index >= 0 else 0

        def distance(place: tuple[int, int]) -> tuple[int, int]:
            holding = self.holding(*place)
            start, nearest = self._offset(holding[0], place[0]), min(map(apart, holding))
            return (nearest if start is None or wanted.start is None else abs(start - wanted.start)), nearest

        low, high = best = min(places, key=distance)
        holding = self.holding(low, high)
        is_whole = holding[0].low <= low and high <= holding[0].high
        exact = [laid for laid in holding if (laid.low, laid.high) == best] if is_whole else []
        holding = exact or (sorted(holding, key=apart) if is_whole else holding)
        parts = tuple(self._part(laid, low, high) for laid in holding)
        start, end = self._offset(holding[0], low), self._offset(holding[-1], high)
        stretch = None if start is None or end is None or end <= start else (start, end)
        return Found(parts[:1] if is_whole else parts, parts[1:] if is_whole else (), stretch, len(places), not any(distance(best)))

    @staticmethod
    def _offset(laid: _Laid, at: int) -> int | None:
        return laid.chunk.start + at - laid.low if has_offsets(laid.chunk) and laid.chunk.start is not None else None

    def _part(self, laid: _Laid, low: int, high: int) -> Part:
        text = self.text[max(low, laid.low) : min(high, laid.high)].strip()
        return Part(laid.chunk.chunk_index, text, normalised(text) == normalised(laid.chunk.text))


def _times(text: str, wanted: str) -> list[int]:
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < MOST_TIMES:
        found.append(at)
        at = text.find(wanted, at + len(wanted))
    return found


def old_texts(queries: Iterable[Query], chunks_of: ChunksOf) -> OldTexts:
    """What the questions name; what is not there has no text. One document is read at a time."""
    chunks: dict[Key, AnyChunk] = {}
    spans: dict[tuple[str, int, int], str] = {}
    indexes: dict[str, set[int]] = {}
    stretches: dict[str, set[tuple[int, int]]] = {}
    for query in queries:
        for document_id, index in (*(_key(hit) for hit in query.retrieved), *(key for gold in query.gold for key in gold.chunks)):
            indexes.setdefault(document_id, set()).add(index)
        for place in (place for span in query.spans for place in span.places if not place.lost):
            stretches.setdefault(place.document_id, set()).add((place.start, place.end))
    for document_id in indexes.keys() | stretches.keys():
        own, named = chunks_of(document_id), indexes.get(document_id, ())
        chunks |= {(document_id, chunk.chunk_index): chunk for chunk in own if chunk.chunk_index in named}
        for start, end in stretches.get(document_id, ()):
            if text := _stretch(own, start, end):
                spans[document_id, start, end] = text
    return OldTexts(chunks, spans)


def _stretch(chunks: Sequence[AnyChunk], start: int, end: int) -> str:
    """The characters of a document from the chunks that hold them; nothing where these do not say where they stand."""
    placed = sorted((c for c in chunks if has_offsets(c)), key=lambda chunk: chunk.start or 0)
    if len(placed) < len(chunks):
        return ""
    text, reached = "", start
    for chunk in placed:
        first = chunk.start or 0
        if first < end and reached < first + len(chunk.text):
            text += ("\n" if text and first > reached else "") + chunk.text[max(0, reached - first) : end - first]
            reached = first + len(chunk.text)
    return text


def follow(queries: Sequence[Query], old: OldTexts, chunks_of: ChunksOf, moves: Moves) -> list[Query]:
    """Questions of a dataset that was replaced, with labels and hits where their text is in the one in its place.

    A question to which nothing happened is the very same object. `chunks_of` gives the documents of now, asked for one at a time.
    """
    wanted: dict[str, dict[Wanted, None]] = {}
    for query in queries:
        for one in filter(None, _all_wanted(query, old)):
            wanted.setdefault(one.document_id, {})[one] = None
    found: dict[Wanted, Found] = {}
    for document_id, texts in wanted.items():
        chunks = chunks_of(document_id)
        found |= _unmoved(texts, old, {chunk.chunk_index: chunk for chunk in chunks})
        if left := [one for one in texts if one not in found]:
            document = DocumentText(chunks)
            found |= {one: place for one in left if (place := document.nearest(one)) is not None}
    return [_Following(query, old, found, moves).query() for query in queries]


def _unmoved(texts: Iterable[Wanted], old: OldTexts, now: Mapping[int, AnyChunk]) -> dict[Wanted, Found]:
    """The texts of chunks that are as they were: nothing is laid out or looked for in a document that did not change."""
    found: dict[Wanted, Found] = {}
    for one in texts:
        was, same = old.chunks.get((one.document_id, one.chunk_index)), now.get(one.chunk_index)
        if was is not None and same is not None and (was.text, was.start) == (same.text, same.start) and one.text in was.text:
            found[one] = Found((Part(one.chunk_index, one.text, one.text == was.text),), (), None, 1, True)
    return found


def _all_wanted(query: Query, old: OldTexts) -> Iterator[Wanted | None]:
    yield from (_wanted_gold(place, old) for gold in query.gold for place in gold.places)
    yield from (_wanted_span(place, old) for span in query.spans for place in span.places)
    yield from (_wanted_hit(hit, old) for hit in query.retrieved)
    yield from map(_wanted_lost, query.lost_hits)


def _wanted_gold(gold: GoldChunk, old: OldTexts) -> Wanted | None:
    was = None if gold.lost else old.chunks.get(gold.key)
    if was is None:
        return Wanted(*gold.key, gold.text) if gold.lost and gold.text else None
    part = gold.text if gold.text and gold.text in was.text else was.text
    return Wanted(*gold.key, part, None if was.start is None else was.start + was.text.find(part), part == was.text)


def _wanted_span(span: Span, old: OldTexts) -> Wanted | None:
    text = span.text if span.lost else old.spans.get((span.document_id, span.start, span.end))
    return Wanted(span.document_id, -1, text, span.start) if text else None


def _wanted_hit(hit: Hit, old: OldTexts) -> Wanted | None:
    was = old.chunks.get(_key(hit))
    return None if was is None else Wanted(*_key(hit), was.text, was.start, True)


def _wanted_lost(lost: LostHit) -> Wanted | None:
    return Wanted(*_key(lost.hit), lost.text) if lost.text else None


def _key(hit: Hit) -> Key:
    return hit.document_id, hit.chunk_index


class _Following:
    """One question whose texts were looked for."""

    def __init__(self, query: Query, old: OldTexts, found: Mapping[Wanted, Found], moves: Moves) -> None:
        self._query, self._old, self._found, self._moves = query, old, found, moves
        self._noted: set[str] = set()
        """What is noted of one label with alternatives: a note counts labels, not their places."""

    def query(self) -> Query:
        query = self._query
        gold = tuple(dict.fromkeys(label for one in query.gold for label in self._gold(one)))
        spans = tuple(self._span(span) for span in query.spans)
        hits, lost = self._hits()
        if (gold, spans, hits, lost) == (query.gold, query.spans, query.retrieved, query.lost_hits):
            return query
        return replace(query, gold=gold, spans=spans, retrieved=hits, lost_hits=lost)

    def _look_up(self, wanted: Wanted | None) -> Found | None:
        return None if wanted is None else self._found.get(wanted)

    def _gold(self, gold: GoldChunk) -> list[GoldChunk]:
        """One label; several where its text is now in several chunks that are all needed. A choice stays one chunk, the first of them."""
        if gold.also:
            lost = self._lost(_wanted_gold(place, self._old) for place in gold.places)
            places = [self._place(place, lost) for place in gold.places]
            self._noted.clear()
            chosen = [each[0] for each in places]
            label = alternatives(place for one in chosen for place in one.places)
            return [label] if label is not None else []
        placed = self._place(gold)
        self._noted.clear()
        return placed

    def _lost(self, places: Iterable[Wanted | None]) -> str:
        """The kind of note of a place that is lost: while another place of its label is there, the label is not."""
        return "place lost" if any(self._look_up(place) is not None for place in places) else "label lost"

    def _place(self, gold: GoldChunk, lost: str = "label lost") -> list[GoldChunk]:
        found, name = self._look_up(_wanted_gold(gold, self._old)), f"{gold.document_id} {gold.chunk_index}"
        if found is None:
            was = self._old.chunks.get(gold.key)
            text = gold.text if gold.text is not None or was is None else was.text
            if not gold.lost:
                self._note(lost, name, text, once=lost == "label lost")
            return [replace(gold, text=text, also=(), lost=True)]
        if found.stayed and not gold.lost and [(part.chunk_index, part.needed) for part in found.chunks] == [(gold.chunk_index, gold.text)]:
            return [replace(gold, also=())]
        self._moved("label", name, found, gold.lost)
        alone = replace(gold, also=(), lost=False)
        first, *more = (replace(alone, chunk_index=part.chunk_index, text=part.needed) for part in found.chunks)
        others = tuple(replace(alone, chunk_index=part.chunk_index, text=part.needed) for part in found.others)
        return [replace(first, also=others), *more]

    def _span(self, span: Span) -> Span:
        lost = self._lost(_wanted_span(place, self._old) for place in span.places)
        first, *others = sorted((self._span_place(place, lost) for place in span.places), key=lambda place: place.lost)
        self._noted.clear()
        return replace(first, also=tuple(others))

    def _span_place(self, span: Span, lost: str) -> Span:
        alone, name = replace(span, also=()), f"{span.document_id} characters {span.start} to {span.end}"
        found = self._look_up(_wanted_span(span, self._old))
        if found is None or found.stretch is None:
            text = span.text if span.lost else self._old.spans.get((span.document_id, span.start, span.end))
            if not span.lost:
                self._note(lost, name, text, once=lost == "label lost")
            return replace(alone, text=text, lost=True)
        if span.lost or found.stretch != (span.start, span.end):
            self._moved("label", name, found, span.lost)
        return Span(span.document_id, *found.stretch)

    def _hits(self) -> tuple[tuple[Hit, ...], tuple[LostHit, ...]]:
        """The hits on the chunks that hold most of their texts, of several on one chunk the first; and those that are lost."""
        hits: dict[Key, Hit] = {}
        lost: list[LostHit] = []
        for hit in self._query.retrieved:
            found, was = self._look_up(_wanted_hit(hit, self._old)), self._old.chunks.get(_key(hit))
            if found is None:
                self._note("hit lost", f"{hit.document_id} {hit.chunk_index}", was.text if was is not None else None)
                lost.append(LostHit(hit, was.text if was is not None else ""))
            else:
                self._keep_hit(hits, hit, found, False)
        for one in self._query.lost_hits:
            if (found := self._look_up(_wanted_lost(one))) is None:
                lost.append(one)
            else:
                self._keep_hit(hits, one.hit, found, True)
        return tuple(hits.values()), tuple(lost)

    def _keep_hit(self, hits: dict[Key, Hit], hit: Hit, found: Found, was_lost: bool) -> None:
        index = max(found.chunks, key=lambda part: len(part.text)).chunk_index
        if was_lost or index != hit.chunk_index or len(found.chunks) > 1:
            self._moved("hit", f"{hit.document_id} {hit.chunk_index}", found, was_lost)
        hits.setdefault((hit.document_id, index), replace(hit, chunk_index=index))

    def _moved(self, what: str, name: str, found: Found, was_lost: bool) -> None:
        to = f"{name}, now {', '.join(str(part.chunk_index) for part in found.chunks)}"
        once = what == "label"
        self._note(f"{what} found" if was_lost else f"{what} moved", to, once=once)
        if found.times > 1 and what == "label":
            self._note("label ambiguous", f"{to} ({found.times} times)", once=once)

    def _note(self, kind: str, name: str, text: str | None = None, *, once: bool = False) -> None:
        if once and kind in self._noted:
            return
        self._noted.add(kind)
        said = f" ({shown(text, LONGEST_SHOWN)})" if text else ""
        self._moves.note(kind, f"{shown(self._query.query_id, 60)}, {name}{said}")
