"""Reading values whose type cannot be relied on: a number in quotes, JSON inside a text, attributes with dotted names."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import factorial, prod
from typing import Any, NamedTuple

from ctxasm.data.files.literals import parsed
from ctxasm.data.names import (
    DATE_NAMES,
    DOCUMENT_NAMES,
    END_NAMES,
    INDEX_NAMES,
    LONG_NAME,
    PAGE_NAMES,
    PLACEHOLDERS,
    SCORE_NAMES,
    SECTION_NAMES,
    SHARED,
    SOURCE_NAMES,
    START_NAMES,
    TITLE_NAMES,
    plain_name,
)
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
    """Whether what is called a distance falls in all lists: the best hit stands first."""
    return _always(lists, ("distance",), lambda a, b: a >= b, 2)


def _always(
    lists: Iterable[Sequence[Passage]], measures: Sequence[str], follows: Callable[[float, float], bool], least: int = MIN_ODDS
) -> bool:
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
    return prod(odds) >= (2 if is_pair else least) and bool(odds)


def score(found: Sequence[Passage], are_distances: bool) -> Scored:
    """The scores of one list. `are_distances`: plain scores of this file are distances."""
    if all(is_nothing(passage.score) and not isinstance(passage.score, float) for passage in found):
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
    farthest: Passage | None = None  # one that holds others reaches beyond them
    for at in order:
        if farthest is not None:
            index += 1 if touches(farthest, passages[at]) else 2
        indexes[at] = index
        farthest = passages[at] if farthest is None or _reach(passages[at]) >= _reach(farthest) else farthest
    return indexes


def _reach(passage: Passage) -> tuple[int, int]:
    page = (passage.page or 0) if passage.start_in_page else 0
    return page, _end_of(passage) if passage.start is not None else 0


def _end_of(passage: Passage) -> int:
    return passage.end if passage.end is not None else (passage.start or 0) + len(str(passage.text))


def _characters_touch(before: Passage, after: Passage) -> bool:
    """Whether `after` begins where `before` ends, on the same page; over a page break nothing is known."""
    if before.start is None or after.start is None or (before.start_in_page and before.page != after.page):
        return False
    return after.start <= _end_of(before) + MAX_TRIMMED


def _lines_touch(before: Passage, after: Passage) -> bool:
    return before.lines is not None and after.lines is not None and after.lines[0] <= before.lines[1] + 1


def _characters(passage: Passage) -> tuple[int, ...] | None:
    """Where it starts; of two that start together the longer first."""
    return None if passage.start is None else (passage.page or 0 if passage.start_in_page else 0, passage.start, -_end_of(passage))


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


def _plain(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(plain_name, names)))


MAX_NESTED = 3
_INDEXES = tuple((plain_name(name), name) for name in INDEX_NAMES)
_ADDRESS = re.compile(r"^\w+://.*/[^/?#]+\.[a-z]\w{1,4}$")
_FILE = re.compile(r"\.[A-Za-z]\w{1,4}$")
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
    flat = _by_plain_name(own) if own else own
    source, title = _first_name(flat, SOURCE_NAMES), _first_name(flat, TITLE_NAMES)
    name = title or known.get("title")
    is_identity = name is not None and (passage_id is None or _FILE.search(name) is not None)
    document = named(document_id) or _first_name(flat, DOCUMENT_NAMES) or source or known.get("source") or (name if is_identity else None)
    scores, measure = scores_of(own)
    if score is None and measure:
        score = scores[measure]
    elif score is not None:
        measure = "score"
    facts = {
        "title": title or (source.rpartition("/")[2] or None if source and _ADDRESS.search(source) else None),
        "source": source,
        "date": _first_name(flat, DATE_NAMES),
        "page": page_of(own, flat),
        "section": _first_name(flat, SECTION_NAMES),
        "numbers": {name: found for plain, name in _INDEXES if plain in flat and (found := whole(flat[plain])) is not None},
        "start": _first_whole(flat, START_NAMES),
        "end": _first_whole(flat, END_NAMES),
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


def page_of(values: Object, flat: Object) -> int | None:
    """The page, counted from 1. `page` beside `page_label` or `total_pages` counts from 0 (LangChain's PDF loaders)."""
    if (labelled := _first_whole(flat, PAGE_NAMES)) is not None:
        return labelled
    page = whole(flat.get("page"))
    if page is None:
        for name in ("positions", "page_numbers", "pages"):  # boxes that begin with their page, or pages
            listed = values.get(name)
            while isinstance(listed, list) and listed:
                listed = listed[0]
            if (page := whole(listed)) is not None:
                break
    return page + 1 if page is not None and "totalpages" in flat else page


def _by_plain_name(values: Object) -> dict[str, Any]:
    """What stands in an object, and in the objects in it, by plain names; the outer and the first win."""
    found: dict[str, Any] = {}
    level: list[Object] = [values]
    for _ in range(MAX_NESTED + 1):
        below: list[Object] = []
        for inner in level:
            for name, value in inner.items():
                if isinstance(value, Mapping):
                    below.append(value)
                elif value is not None:
                    found.setdefault(plain_name(str(name)), value)
        level = below
    return found


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


def _first_name(flat: Object, names: tuple[str, ...]) -> str | None:
    for name in _names_in(tuple(flat), names):
        if (found := named(flat[name])) is not None and found.lower() not in PLACEHOLDERS:
            return found
    return None


def _first_whole(flat: Object, names: tuple[str, ...]) -> int | None:
    return next((found for name in _names_in(tuple(flat), names) if (found := whole(flat[name])) is not None), None)


@lru_cache(4096)
def _names_in(keys: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that are one of the names, then those that end in a long one; passages of a file have the same few sets of keys."""
    ends = (key for name in names if len(name) >= LONG_NAME and name not in SHARED for key in keys if key.endswith(name) and key != name)
    return (*(name for name in names if name in keys), *ends)
