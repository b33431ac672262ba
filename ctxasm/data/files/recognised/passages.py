"""Reading values whose type cannot be relied on: a number in quotes, JSON inside a text, attributes with dotted names."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import factorial, prod
from typing import Any, NamedTuple

from ctxasm.text.overlap import linked_runs, run_indexes

Object = Mapping[str, Any]
_WHOLE = re.compile(r"\d{1,9}")
MAX_LEVELS = 32


def first(values: Object, names: Iterable[str]) -> tuple[str, Any] | None:
    """The first of these names that holds something (not None, no blank text), with its value."""
    return next(((name, value) for name in names if not is_nothing(value := values.get(name))), None)


def is_nothing(value: object) -> bool:
    """Whether a cell is empty: None, blank, or the NaN that stands for an empty cell of a table."""
    return value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and math.isnan(value))


def named(value: object) -> str | None:
    """A name or title: a visible text on its own, or a number as text; None for anything else."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def whole(value: object) -> int | None:
    """A whole number from 0 to 999,999,999, also in quotes or written as 3.0; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer() and 0 <= value < 1e9:
        return int(value)
    if isinstance(value, int):
        return value if 0 <= value < 10**9 else None
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value.strip()) else None


def number(value: object) -> Any:
    """A number in quotes as a number; everything else as it came, for the validation to judge."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def is_finite(value: object) -> bool:
    """Whether it is a number that can be compared."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf


def parsed(value: object) -> Any:
    """What a text holds that is written as JSON or as a Python literal; the value itself where it is neither."""
    if not isinstance(value, str):
        return value
    bare = value.strip()
    if not bare or bare[0] not in "[{(a":
        return value
    try:
        found = json.loads(bare)
    except RecursionError:
        return value
    except ValueError:
        try:
            found = read_literal(bare)
        except (NotLiteral, ValueError):
            return value
    return value if is_deep(found) else found


def is_deep(value: object) -> bool:
    """Whether it is nested deeper than anything that is meant as data."""
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())]
        if not level:
            return False
    return True


def objects(value: object) -> list[Object]:
    """The objects of a list, written out or inside a text; empty where it is no list of objects."""
    found = parsed(value)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def nested(flat: Object) -> dict[str, Any]:
    """Attributes with dotted names (`retrieval.documents.0.document.id`) as objects; where all keys of one count, a list.

    A name that goes on below a value that is no object is left out: nothing is overwritten. The places of a list are ordered by
    number, whatever the number is.
    """
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        steps, inner = str(name).split("."), tree
        if len(steps) > MAX_LEVELS:
            continue
        for step in steps[:-1]:
            below = inner.setdefault(step, {})
            if not isinstance(below, dict):
                break
            inner = below
        else:
            known = inner.get(steps[-1])
            merged = nested(value) if isinstance(value, Mapping) and any("." in str(key) for key in value) else value
            if isinstance(known, dict) and isinstance(merged, Mapping):
                known.update(merged)
            else:
                inner.setdefault(steps[-1], dict(merged) if isinstance(merged, Mapping) else merged)
    return {name: _listed(value) for name, value in tree.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return [_opened(item) for item in value] if isinstance(value, list) else value
    if value and all(isinstance(key, str) and _WHOLE.fullmatch(key) for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {name: _listed(item) for name, item in value.items()}


def _opened(item: Any) -> Any:
    return nested(item) if isinstance(item, Mapping) and any("." in str(key) for key in item) else item


MIN_ODDS = 20
"""How unlikely it must be by chance that all lists rise: 1 in so many orders (a list of 4, or two of 3)."""


class Scored(NamedTuple):
    """The score of each passage of a list as a bundle has it (None: this one was not found but added), and `ranked`: the order
    of the list is the order of retrieval."""

    scores: list[Any]
    ranked: bool
    by: str


def rising(lists: Iterable[Sequence[Passage]]) -> bool:
    """Whether the plain scores of all lists rise, which by chance they would not."""
    return _always(lists, ("score", "pair"), lambda a, b: a <= b)


def falling(lists: Iterable[Sequence[Passage]]) -> bool:
    """Whether what is called a distance falls in all lists, which by chance it would not."""
    return _always(lists, ("distance",), lambda a, b: a >= b)


def _always(lists: Iterable[Sequence[Passage]], measures: Sequence[str], follows: Callable[[float, float], bool]) -> bool:
    odds, is_pair = [], False
    for found in lists:
        scores = [passage.score for passage in found if is_finite(passage.score)]
        if any(passage.measure not in measures for passage in found) or len(set(scores)) < 2:
            continue
        if not all(follows(a, b) for a, b in pairwise(scores)):
            return False
        is_pair = is_pair or any(passage.measure == "pair" for passage in found)
        odds.append(factorial(min(len(set(scores)), MIN_ODDS)))
    # Pairs of a document and a number are what LangChain returns with scores, and there they often are distances.
    return prod(odds) >= (2 if is_pair else MIN_ODDS) and bool(odds)


def score(found: Sequence[Passage], are_distances: bool) -> Scored:
    """The scores of one list. `are_distances`: plain scores of this file are distances."""
    if all(is_nothing(passage.score) for passage in found):
        return Scored([1 / rank for rank in range(1, len(found) + 1)], True, "no_score")
    turned = [_turned(passage, are_distances) for passage in found]
    known = [value for value in turned if is_finite(value)]
    is_falling = len(known) == len(found) and all(a >= b for a, b in pairwise(known))
    is_ranked = is_falling or all(passage.rank is not None for passage in found)
    by = "distance" if any(p.measure == "distance" for p in found) else "rising" if are_distances else ""
    if any(value is None for value in turned):
        by = "added"
    return Scored(turned, is_ranked, by)


def _turned(passage: Passage, are_distances: bool) -> Any:
    value = passage.score
    if value is None:
        return None
    if passage.measure != "distance" and not (are_distances and passage.measure in ("score", "pair")):
        return value
    if not is_finite(value):
        return value
    return 1 / (1 + value) if value >= 0 else 1 - value


NOTES = {
    "no_score": "hits without scores: the score is 1 / rank, in the order of the export (lists: {})",
    "distance": "hits with distances, where lower is better: the score is 1 / (1 + distance) (lists: {})",
    "rising": "scores that rise from the first hit on in every list are distances: the score is 1 / (1 + distance) (lists: {})",
    "added": "passages without a score beside hits that have one were added after retrieval: chunks, not hits (lists: {})",
}
"""What is said about the lists of a file, by `Scored.by`."""


MAX_DEPTH = 64
MAX_CHARS = 20_000_000
_CONSTANTS = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False, "nan": None, "NaN": None}
_NEXT = re.compile(
    r"""\s*(?:(?P<quote>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<word>array\s*\(|dtype\s*=\s*\w+|[A-Za-z]+)
    |(?P<mark>[\[\](){}:,]))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_CLOSERS = {"[": "]", "(": ")", "{": "}", "array(": ")"}


class NotLiteral(ValueError):
    """The text is no Python literal of the kinds read here."""


def read_literal(text: str) -> Any:
    """The value written in `text`: lists (tuples become lists), objects, texts, numbers, None. Raises NotLiteral."""
    if len(text) > MAX_CHARS:
        raise NotLiteral("too long")
    reader = _Reader(text)
    value = reader.value(0)
    if reader.peek() != ("end", ""):
        raise NotLiteral("something follows")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._next = self._read()

    def _read(self) -> tuple[str, str]:
        found = _NEXT.match(self._text, self._at)
        if found is None:
            if self._text[self._at :].strip():
                raise NotLiteral(f"character {self._at + 1}")
            return "end", ""
        self._at = found.end()
        kind = found.lastgroup or ""
        return kind, found[kind]

    def peek(self) -> tuple[str, str]:
        return self._next

    def take(self) -> tuple[str, str]:
        taken, self._next = self._next, self._read()
        return taken

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise NotLiteral("too deep")
        kind, word = self.take()
        if kind == "quote":
            return _ESCAPE.sub(_unescaped, word[1:-1])
        if kind == "number":
            return float(word) if len(word) > 100 or any(mark in word for mark in ".eE") else int(word)
        if kind == "word" and word in _CONSTANTS:
            return _CONSTANTS[word]
        if kind == "word" and word.startswith("array"):
            items = self._items(")", depth)
            return items[0] if items else []
        if word in ("[", "("):
            return self._items(_CLOSERS[word], depth)
        if word == "{":
            return self._object(depth)
        raise NotLiteral(word or "it ends too early")

    def _items(self, closer: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while self.peek()[1] != closer or self.peek()[0] != "mark":
            if self.peek()[0] == "word" and self.peek()[1].startswith("dtype"):
                self.take()
            else:
                items.append(self.value(depth + 1))
            if self.peek() == ("mark", ","):
                self.take()
        self.take()
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.peek() != ("mark", "}"):
            key = self.value(depth + 1)
            if not isinstance(key, str) or self.take() != ("mark", ":"):
                raise NotLiteral("a key must be a text")
            found[key] = self.value(depth + 1)
            if self.peek() == ("mark", ","):
                self.take()
        self.take()
        return found


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    return _ESCAPED.get(code, code if code in "\\'\"" else "\\" + code)


MAX_TRIMMED = 8
"""Characters between two chunks that a splitter may have trimmed as white space: they still touch."""

APPEARANCE = "the order of appearance"
"""What a place was taken from where nothing else tells it."""


class Placed(NamedTuple):
    """An index for each passage, and what it was taken from (for the note; "" for a document of one chunk)."""

    indexes: list[int]
    by: str


def place(passages: Sequence[Passage], is_whole: bool) -> Placed:
    """Indexes for the distinct passages of one document, in order of their appearance.

    `is_whole`: they were listed as stored, not as retrieved, so that nothing is missing between them.
    """
    for name in INDEX_NAMES:
        numbers = [passage.numbers.get(name) for passage in passages]
        known = [number for number in numbers if number is not None]
        if len(set(known)) == len(passages):
            return Placed(known, f"metadata {name}")
    if len(passages) == 1:
        return Placed([0], "")
    if any(passage.previous or passage.following for passage in passages):
        return Placed(_linked(passages), "the links to the previous and next node")
    for by, key, touches in _ORDERS:
        if all(key(passage) is not None for passage in passages):
            places = [key(passage) for passage in passages]
            if len(set(places)) == len(passages):
                order = sorted(range(len(passages)), key=lambda at, known=places: known[at])  # type: ignore[misc]
                return Placed(_numbered(passages, order, (lambda a, b: True) if is_whole else touches), by)
    return _shared(passages, is_whole)


def _shared(passages: Sequence[Passage], is_whole: bool) -> Placed:
    """In the order of appearance, unless the text that they share tells another one."""
    runs = linked_runs([passage.text if isinstance(passage.text, str) else "" for passage in passages])
    if is_whole and all(after == before + 1 for run in runs for before, after in pairwise(run)):
        return Placed(list(range(len(passages))), APPEARANCE)
    is_linked = len(runs) < len(passages)
    return Placed(run_indexes(runs), "the text that they share, and what shares none is not joined" if is_linked else APPEARANCE)


def _numbered(passages: Sequence[Passage], order: Sequence[int], touches: Callable[[Passage, Passage], bool]) -> list[int]:
    indexes, index = [0] * len(passages), 0
    for before, at in zip((None, *order), order, strict=False):
        if before is not None:
            index += 1 if touches(passages[before], passages[at]) else 2
        indexes[at] = index
    return indexes


def _characters_touch(before: Passage, after: Passage) -> bool:
    """Whether `after` begins where `before` ends, on the same page; over a page break nothing is known."""
    if before.start is None or after.start is None or (before.start_in_page and before.page != after.page):
        return False
    end = before.end if before.end is not None else before.start + len(str(before.text))
    return after.start <= end + MAX_TRIMMED


def _lines_touch(before: Passage, after: Passage) -> bool:
    return before.lines is not None and after.lines is not None and after.lines[0] <= before.lines[1] + 1


def _characters(passage: Passage) -> tuple[int, int] | None:
    return None if passage.start is None else (passage.page or 0 if passage.start_in_page else 0, passage.start)


def _lines(passage: Passage) -> tuple[int, int] | None:
    return passage.lines


def _page(passage: Passage) -> tuple[int, int] | None:
    return None if passage.page is None else (passage.page, 0)


def _pages_touch(before: Passage, after: Passage) -> bool:
    return before.page is not None and after.page == before.page + 1


_ORDERS = (
    ("where they start in the document", _characters, _characters_touch),
    ("their lines", _lines, _lines_touch),
    ("their pages", _page, _pages_touch),
)


def _linked(passages: Sequence[Passage]) -> list[int]:
    """Chains of nodes that name each other; between two chains an index stays free for what was not exported."""
    at = {passage.passage_id: position for position, passage in enumerate(passages) if passage.passage_id}
    follower: dict[int, int] = {}
    for position, passage in enumerate(passages):
        if passage.following in at:
            follower.setdefault(position, at[passage.following])
        if passage.previous in at:
            follower.setdefault(at[passage.previous], position)
    followed = set(follower.values())
    heads = [position for position in range(len(passages)) if position not in followed]
    heads.sort(key=lambda position: (passages[position].start or 0, position))
    indexes: dict[int, int] = {}
    index = 0
    for head in (*heads, *range(len(passages))):  # what is left after the heads stands in a ring
        step: int | None = head
        index += 1 if indexes and head not in indexes else 0
        while step is not None and step not in indexes:
            indexes[step], index = index, index + 1
            step = follower.get(step)
    return [indexes[position] for position in range(len(passages))]


DOCUMENT_NAMES = ("document_id", "doc_id", "documentId", "docId", "ref_doc_id", "source_id", "sourceId")
"""Where clients keep the identifier of the document that a chunk was cut from."""
SOURCE_NAMES = ("source", "file_path", "filepath", "path", "url", "uri", "source_url", "file_name", "filename", "file", "link")
TITLE_NAMES = ("title", "document_title", "doc_title", "file_name", "filename", "name")
SECTION_NAMES = ("section", "header", "heading", "Header 3", "Header 2", "Header 1", "header_path")
DATE_NAMES = ("date", "last_modified_date", "modified", "creation_date", "published")
INDEX_NAMES = (
    *("chunk_index", "chunkIndex", "chunk_id", "chunk_number", "chunk_num", "chunk", "chunk_seq", "seq", "seq_num", "sequence"),
    *("split_id", "node_index", "passage_index", "row"),
)
"""Where clients number the chunks of one document."""
START_NAMES = ("start_index", "start_char_idx", "split_idx_start", "start_char", "char_start", "start_offset")
END_NAMES = ("end_index", "end_char_idx", "split_idx_end", "end_char", "char_end", "end_offset")
SCORE_NAMES = {
    **dict.fromkeys(("relevance_score", "rerank_score", "reranker_score", "cross_encoder_score"), "rerank"),
    **dict.fromkeys(("score", "_score", "hybrid_score", "similarity_score"), "score"),
    **dict.fromkeys(("similarity", "vector_score", "query_similarity_score", "cosine_similarity"), "vector"),
    **dict.fromkeys(("bm25_score", "bm25", "keyword_score"), "bm25"),
    **dict.fromkeys(("distance", "_distance", "vector_distance", "cosine_distance", "l2_distance", "__nn_distance"), "distance"),
}
"""The names of a score, the one that counts first, with what it measures."""
MAX_ID = 500
OPENING = 6
"""Words that stand for a title."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with its place as far as the export tells it. `text` and `score` are as they came.

    `document_id` None: nothing names its document. `numbers` are the chunk numbers found in its metadata, by name; `start` and
    `end` its characters, in the page where `start_in_page`. `previous`, `following` are the `passage_id`s beside it. `scores` are
    all scores, by what they measure; `measure` says which of them `score` is. One that `refers` has no text: its chunk stands elsewhere.
    """

    text: Any
    passage_id: str | None = None
    document_id: str | None = None
    title: str | None = None
    source: str | None = None
    date: str | None = None
    page: int | None = None
    section: str | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None
    start_in_page: bool = False
    lines: tuple[int, int] | None = None
    previous: str | None = None
    following: str | None = None
    score: Any = None
    measure: str = "score"
    rank: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    metadata: Object = field(default_factory=dict)
    refers: bool = False


def passage(text: Any, metadata: object, passage_id: object = None, score: Any = None, document_id: object = None, **known: Any) -> Passage:
    """A passage, with everything that its metadata says. What is given here wins over the metadata."""
    own: Object = metadata if isinstance(metadata, Mapping) else {}
    source = _first_name(own, SOURCE_NAMES)
    document = named(document_id) or _first_name(own, DOCUMENT_NAMES) or source
    scores, measure = scores_of(own)
    if score is None and measure:
        score = scores[measure]
    elif score is not None:
        measure = "score"
    start = _first_whole(own, START_NAMES)
    facts = {
        "title": _first_name(own, TITLE_NAMES),
        "source": source,
        "date": _first_name(own, DATE_NAMES),
        "page": page_of(own),
        "section": _first_name(own, SECTION_NAMES),
        "numbers": {name: found for name in INDEX_NAMES if name in own and (found := whole(own[name])) is not None},
        "start": start,
        "end": _first_whole(own, END_NAMES),
        "start_in_page": "start_index" in own and "page" in own,
        "lines": _line_numbers(own),
    }
    return Passage(
        text=text,
        passage_id=named(passage_id),
        document_id=short_id(document),
        score=number(score),
        measure=measure or "score",
        scores={name: value for name, value in scores.items() if is_finite(value)},
        metadata=own,
        **{**facts, **{name: value for name, value in known.items() if value is not None}},
    )


def scores_of(values: Object) -> tuple[dict[str, Any], str]:
    """Every score among these values by what it measures, and the one that counts ("" where there is none)."""
    found: dict[str, Any] = {}
    for name, measure in SCORE_NAMES.items():
        if name not in values:
            continue
        value = number(values[name])
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found.setdefault(measure, value)
    return found, next(iter(found), "")


def page_of(values: Object) -> int | None:
    """The page, counted from 1. `page` beside `page_label` or `total_pages` counts from 0 (LangChain's PDF loaders)."""
    if (labelled := _first_whole(values, ("page_number", "page_label", "pageNumber"))) is not None:
        return labelled
    page = whole(values.get("page"))
    return page + 1 if page is not None and "total_pages" in values else page


def content_id(text: str) -> str:
    """The name of a document of which nothing is known but its text."""
    return f"text-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def opening(text: str) -> str | None:
    """What stands for the title of a document of which nothing is known but its text: its first words."""
    words = text[: 20 * OPENING].split()
    short = " ".join(words[:OPENING])[: 10 * OPENING]
    return f"{short}…" if short and short != text.strip() else short or None


def short_id(name: str | None) -> str | None:
    """`name` as an identifier: a very long one keeps its head and ends in a digest."""
    if name is None or len(name) <= MAX_ID:
        return name
    return f"{name[: MAX_ID - 40]}… {content_id(name)}"


def _line_numbers(values: Object) -> tuple[int, int] | None:
    """The lines `loc.lines` that LangChain's JavaScript splitter writes."""
    place = values.get("loc")
    lines = place.get("lines") if isinstance(place, Mapping) else None
    if not isinstance(lines, Mapping):
        return None
    low, high = whole(lines.get("from")), whole(lines.get("to"))
    return (low, high) if low is not None and high is not None else None


def _first_name(values: Object, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if name in values and (found := named(values[name])) is not None), None)


def _first_whole(values: Object, names: tuple[str, ...]) -> int | None:
    return next((found for name in names if name in values and (found := whole(values[name])) is not None), None)
