"""The nouns of the field: documents, chunks, hits and queries, as they come in from outside.

All offsets are characters. `chunk_index` counts from 0 inside one document. Scores are any real scale, higher is
better, and may be negative (cross-encoder logits).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ctxasm.model.characters import is_visible
from ctxasm.model.errors import InvalidInput, shown


class _Nothing(Mapping[str, Any]):
    """One for all records, so nobody may add to it. A read-only view of a dict would do, but that can be neither copied nor pickled."""

    def __getitem__(self, name: str) -> Any:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        """With what `other` holds, as of a dict: a new dict."""
        return dict(other) if isinstance(other, Mapping) else NotImplemented

    __ror__ = __or__

    def __reduce__(self) -> str:
        """By its name: a copy is it itself."""
        return "NOTHING"


NOTHING: Mapping[str, Any] = _Nothing()
"""The empty metadata of a record."""

GoldBy = Literal["hand", "cited", "made"]
GOLD_BY: tuple[GoldBy, ...] = ("hand", "cited", "made")
"""Who said that a chunk is needed: a person who marked it, one who approved an answer's citation, the question that was made of it."""
CorpusLanguage = Literal["nl", "en", "de"]
"""A language that a corpus can be in."""


def _nothing() -> Mapping[str, Any]:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Document:
    """A source. `summary` is the page summary that the prefix stage shows, `source` a file name or URL."""

    document_id: str
    title: str | None = None
    source: str | None = None
    summary: str | None = None
    date: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document. `start`/`end` are its characters in the document, where known."""

    document_id: str
    chunk_index: int
    text: str
    start: int | None = None
    end: int | None = None
    page_number: int | None = None
    section: str | None = None
    row_number: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk. `rank` 1 is best; a hit without one is ranked by score, then document, then index.

    `scores` keeps the raw score of each retrieval method (vector, bm25, rerank).
    """

    document_id: str
    chunk_index: int
    score: float
    rank: int | None = None
    scores: Mapping[str, float] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class GoldChunk:
    """A chunk that a labelled query needs. `by` is None where it came with the data.

    `text` are the words of it that are needed, as they stand in it; None: all of it. `also` lists other chunks: any one of them is enough.
    `lost`: no chunk of its document holds the text any more; it stood in chunk `chunk_index`. Chunks that are there come before lost ones.
    `votes`: how many reviewers approved it, of how many who judged it; None where it does not come from a review.
    """

    document_id: str
    chunk_index: int
    by: GoldBy | None = None
    text: str | None = None
    also: tuple[GoldChunk, ...] = ()
    lost: bool = False
    votes: tuple[int, int] | None = None

    @property
    def key(self) -> tuple[str, int]:
        """The chunk, whoever said it."""
        return self.document_id, self.chunk_index

    @property
    def places(self) -> tuple[GoldChunk, ...]:
        """The chunk and its alternatives, those that are lost too."""
        return (self, *self.also)

    @property
    def chunks(self) -> tuple[tuple[str, int], ...]:
        """The chunks that are there, any one of which is enough; empty where the label is lost."""
        return tuple(place.key for place in self.places if not place.lost)


GoldChange = Literal["add", "remove", "replace"]
"""What becomes of the evidence that a question has."""


def alternatives(places: Iterable[GoldChunk]) -> GoldChunk | None:
    """One label of these chunks, any one of which is enough; those that are there before lost ones. None of no chunk."""
    alone = (place if not place.also else replace(place, also=()) for place in places)
    first, *others = sorted(dict.fromkeys(alone), key=lambda place: place.lost) or (None,)
    return first if first is None or not others else replace(first, also=tuple(others))


def changed_gold(has: Iterable[GoldChunk], named: Iterable[GoldChunk], how: GoldChange) -> tuple[GoldChunk, ...]:
    """Evidence with these labels added to it, taken from it, or in its place; a chunk stands in one label, as it was named last.

    Named without `text` a chunk goes with all its labels, with it only with that one.
    """
    said = tuple(dict.fromkeys(named))
    if how == "replace":
        return said

    def is_named(place: GoldChunk, by: GoldChunk) -> bool:
        return (place.key, place.lost) == (by.key, by.lost) and by.text in (None, place.text)

    changed: list[GoldChunk] = []
    for gold in has:
        left = [place for place in gold.places if not any(is_named(place, other) for one in said for other in one.places)]
        # What is named anew keeps its place in the order.
        again = (one for one in said if any(is_named(place, other) for place in gold.places for other in one.places))
        changed += [one for one in again if one not in changed] if how == "add" else []
        rest = gold if len(left) == len(gold.places) else alternatives(left)
        changed += [rest] if rest is not None else []
    return (*changed, *(one for one in said if one not in changed)) if how == "add" else tuple(changed)


@dataclass(frozen=True, slots=True)
class Span:
    """Evidence as characters of a document. `also` lists other places that say the same.

    `lost`: no chunk of the document holds its `text` any more; the offsets are where it stood. Places that are there come before lost ones.
    """

    document_id: str
    start: int
    end: int
    also: tuple[Span, ...] = ()
    text: str | None = None
    lost: bool = False

    @property
    def places(self) -> tuple[Span, ...]:
        """The place and the others that say the same, those that are lost too."""
        return (self, *self.also)


Label = GoldChunk | Span
"""What says where the evidence stands."""


@dataclass(frozen=True, slots=True)
class LostHit:
    """A hit whose chunk is not there any more, and no other chunk of its document holds its text."""

    hit: Hit
    text: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of an earlier conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question with what retrieval returned for it, and, where labelled, the evidence it needs. `lost_hits` are on chunks that went."""

    query: str
    retrieved: tuple[Hit, ...] = ()
    query_id: str = ""
    gold: tuple[GoldChunk, ...] = ()
    spans: tuple[Span, ...] = ()
    answer: str | None = None
    history: tuple[Turn, ...] = ()
    search_method: str | None = None
    bm25_matches: int | None = None
    best_similarity: float | None = None
    intent: str | None = None
    supplement: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing, hash=False)
    lost_hits: tuple[LostHit, ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        """Its spans and its gold chunks."""
        return (*self.spans, *self.gold)

    @property
    def is_labelled(self) -> bool:
        """Whether anything says what it should find."""
        return bool(self.spans or self.gold)

    @property
    def marked(self) -> tuple[GoldChunk, ...]:
        """The gold chunks that a person added after the load: they count beside spans."""
        return tuple(gold for gold in self.gold if gold.by in ("hand", "cited"))

    @property
    def counted_gold(self) -> tuple[GoldChunk, ...]:
        """The gold chunks that count: beside spans only those that a person added."""
        return self.marked if self.spans else self.gold

    @property
    def lost_labels(self) -> tuple[Label, ...]:
        """The labels, and places among alternatives, whose text the dataset holds no more."""
        return tuple(place for label in self.labels for place in label.places if place.lost)

    @property
    def has_supplement(self) -> bool:
        """Whether it brings extra results that a reader would see."""
        return self.supplement is not None and is_visible(self.supplement)


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded answer. `sources` are the numbered texts it was given, where the record brings its own."""

    query_id: str
    answer: str
    sources: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    labels: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    metadata: Mapping[str, Any] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one load brings: all records of a folder or zip, already validated, and what was repaired on the way.

    `replaced` counts characters that no database and no tokenizer takes (NUL, lone surrogates), each now U+FFFD.
    """

    name: str
    documents: tuple[Document, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    queries: tuple[Query, ...] = ()
    answers: tuple[Answer, ...] = ()
    replaced: int = 0


make_record = tuple.__new__
"""Makes a named tuple of all its values in order: in a third of the time, which counts where there is one for every chunk."""
LARGEST = 2**64
"""The largest index or rank."""
_LARGEST_SCORE = sys.float_info.max


def _is_whole(value: object, least: int) -> bool:
    # Most are plain numbers, which is quicker to tell.
    whole = type(value) is int or (isinstance(value, int) and not isinstance(value, bool))
    return whole and least <= value <= LARGEST  # type: ignore[operator]


def _is_finite(value: object) -> bool:
    number = type(value) is float or (isinstance(value, (int, float)) and not isinstance(value, bool))
    return number and abs(value) <= _LARGEST_SCORE  # type: ignore[arg-type]


def check_query(query: Query) -> None:
    """Refuse a query that cannot be assembled.

    Raises InvalidInput naming the field, the value and the allowed range.
    """
    if not isinstance(query.query, str) or not query.query.strip():
        raise InvalidInput(f"query must be a text with at least one visible character, got {shown(query.query)}")
    for position, hit in enumerate(query.retrieved):
        if not _is_finite(hit.score):
            raise InvalidInput(f"retrieved[{position}].score must be a finite number, got {shown(hit.score)}")
        if not _is_whole(hit.chunk_index, 0):
            raise InvalidInput(
                f"retrieved[{position}].chunk_index must be a whole number from 0 to {LARGEST}, got {shown(hit.chunk_index)}"
            )
        if hit.rank is not None and not _is_whole(hit.rank, 1):
            raise InvalidInput(f"retrieved[{position}].rank must be a whole number from 1 to {LARGEST}, got {shown(hit.rank)}")
        if not isinstance(hit.document_id, str) or not hit.document_id:
            raise InvalidInput(f"retrieved[{position}].document_id must be a text, got {shown(hit.document_id)}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """`prompt` is empty, and the others None, where it is not recorded. `span_id` is as the trace has it."""

    prompt: tuple[Turn, ...] = ()
    model: str | None = None
    trace_id: str | None = None
    span_id: str | None = None

    @property
    def text(self) -> str:
        """The prompt as one text, a blank line between its messages."""
        return "\n\n".join(turn.content for turn in self.prompt)


def recorded_of(answer: Answer) -> Recorded:
    """Read from the metadata of an answer, whoever wrote them: what is not as it should be is not recorded."""
    listed = answer.metadata.get("prompt")
    turns = [
        Turn(str(one.get("role") or "user"), one["content"])
        for one in (listed if isinstance(listed, (list, tuple)) else ())
        if isinstance(one, Mapping) and isinstance(one.get("content"), str)
    ]
    if isinstance(listed, str) and listed.strip():
        turns = [Turn("user", listed)]
    named = {name: value for name in ("model", "trace_id", "span_id") if isinstance(value := answer.metadata.get(name), str) and value}
    return Recorded(tuple(turns), **named)
