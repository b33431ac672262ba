"""Which column is which field: guessed by name, checked by values, and by values alone where no name tells.

A name never wins against its values (a column `document` full of long texts is no identifier), and every guess says its
reason. Nothing is guessed that a user could not see at a glance in the preview.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from ctxasm.data.files.answer_places import answer_places, is_expected
from ctxasm.data.files.cells import (
    DOCUMENT_FIELDS,
    EXPECTED,
    FIELDS,
    HIT_FIELDS,
    HITS,
    JSON_FIELDS,
    NEEDED,
    PROMPT,
    REALS,
    RESPONSE,
    WHOLES,
    ColumnMapping,
    field_value,
)
from ctxasm.data.files.hits import guess_hits, reads_like_passages
from ctxasm.data.files.literals import parsed
from ctxasm.data.files.rows import TURN, Rows
from ctxasm.data.files.seen import ABSENT, METADATA, VECTORS, is_vector, value_at
from ctxasm.data.names import FIELD_NAMES, LONG_TEXT, by_names, longest_texts, places_inside, plain_name
from ctxasm.model.errors import shown

SAMPLE_ROWS, MAX_DEPTH = 200, 3
MAX_ID_CHARS = 300
IDS = frozenset({"id", "ids", "uuid", "key", "pk", "uid"})
OWN_NAMES = frozenset({"document_id", "chunk_index", "text", "query_id", "query", "score"})
"""Names that nobody gives to anything else."""
BY_NAME = "by its name"
"""The reason for a column that is called as its field."""
OF_FLAT = ("text", "document_id", "chunk_index", "score", "distance", "rank", "retrieved")
"""Fields that are those of a row, not of a hit in it."""
ANSWERS = frozenset(map(plain_name, ("answer", "answers", "antwoord", "antwort")))
"""Names of columns that hold what was answered in a log, and what should be in a list of questions."""
QUERY_WORDS = ("quer", "question", "vragen", "vraag", "topic")
POSITIONS = frozenset(map(plain_name, ("position", "order", "idx", "index", "seq", "ordinal")))


def guess(rows: Rows, fixed: ColumnMapping | None = None) -> ColumnMapping | None:
    """The likeliest mapping of a table, None where it has no column that a record could be made of.

    `fixed` is what the user decided: its kind (any, where that is "") and its columns stay.
    """
    given = fixed.columns if fixed is not None else {}
    flat = None if given.keys() & {HITS, *HIT_FIELDS} else _flat(rows, fixed)
    if (fixed is not None and fixed.kind not in ("", "retrievals")) or not given.keys() <= set(FIELDS["retrievals"]) - set(OF_FLAT):
        return flat
    nested = guess_hits(rows, given)
    if nested is None or (rows.unit != TURN and flat is not None and flat.kind == "chunks" and _is_of_its_own(flat, nested, rows)):
        return flat
    return nested


def _is_of_its_own(chunks: ColumnMapping, nested: ColumnMapping, rows: Rows) -> bool:
    """Whether rows with lists in them are chunks all the same: their own columns say so, and nothing asks."""
    own = [chunks.columns.get(field, ".") for field in ("document_id", "chunk_index", "text")]
    if "answer" in nested.columns and "chunk_index" not in chunks.columns and reads_like_passages(rows, nested):
        return False
    return not any("." in column for column in own) or ("query" not in nested.columns and "." not in chunks.columns["text"])


def _flat(rows: Rows, fixed: ColumnMapping | None) -> ColumnMapping | None:
    columns = _Columns(rows)
    given = fixed.columns if fixed is not None else {}
    kinds = [fixed.kind] if fixed is not None and fixed.kind else [*_kinds(columns, rows), *FIELDS] if given else _kinds(columns, rows)
    for kind in dict.fromkeys(kinds):
        if kind not in FIELDS or not given.keys() <= set(FIELDS[kind]):
            continue
        found = _mapping(kind, columns, given)
        if all(any(name in found.columns for name in group) for group in NEEDED[kind]):
            return found
    return None


class _Columns:
    """The values of every column and dotted path in the first rows."""

    def __init__(self, rows: Rows) -> None:
        sample = [row for _, row in rows.rows[:SAMPLE_ROWS]]
        paths = dict.fromkeys(rows.columns)
        for row in sample[:50]:
            for name, value in row.items():
                paths.update(dict.fromkeys(_inner_paths(name, value)))
        every = {path: [value_at(row, path) for row in sample] for path in islice(paths, 300)}
        self.rows = len(sample)
        self.sample = sample
        self.values = {path: present for path, values in every.items() if (present := _given(path, values))}

    def named(self, field: str) -> Iterator[str]:
        """Columns by the names of a field, the surest name first, those of the table before those inside JSON."""
        shallow_first = sorted(self.values, key=lambda path: path.count("."))
        return by_names(FIELD_NAMES.get(field, (field,)), ((path.rpartition(".")[2], path) for path in shallow_first))

    def fits(self, field: str, path: str) -> bool:
        """Whether at least half of the values of a column could be this field's."""
        values = self.values[path]
        if path == field in OWN_NAMES:  # whatever is wrong in it is for the user to see
            return True
        if field == "document_id" and plain_name(path) in ("document", "doc") and _are_texts(values):
            return False
        return 2 * sum(_FITS.get(field, _is_short)(field_value(field, value)) for value in values) >= len(values)


def _given(path: str, values: Sequence[Any]) -> list[Any]:
    present = [value for value in values if value is not ABSENT]
    return [] if present and is_vector(path, present[0]) else present


def _inner_paths(column: str, value: Any) -> Iterator[str]:
    return (".".join((column, *keys)) for keys, _ in places_inside(column, value, MAX_DEPTH, _opened))


def _opened(name: str, value: Any) -> Any:
    return parsed(value) if isinstance(value, str) and value[:1] == "{" and plain_name(name.rpartition(".")[2]) in METADATA else value


def _are_texts(values: Sequence[Any]) -> bool:
    """Whether values read like texts, and not like names."""
    return 2 * sum(isinstance(value, str) and value.count(" ") >= 5 for value in values) >= len(values)


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARS and "\n" not in value


_FITS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(WHOLES, lambda value: type(value) is int and value >= 0),
    **dict.fromkeys(REALS, lambda value: type(value) in (int, float)),
    **dict.fromkeys(JSON_FIELDS, lambda value: isinstance(value, list)),
    **dict.fromkeys(("text", "query", "answer", "summary", "supplement"), lambda value: isinstance(value, str)),
}


def _kinds(columns: _Columns, rows: Rows) -> list[str]:
    """The kinds that a table may be of, the likeliest first."""

    def has(*fields: str) -> bool:
        return any(columns.fits(field, path) for field in fields for path in columns.named(field))

    asks = has("query") or (_is_named_for_queries(rows) and not has("chunk_index", "document_id"))
    if has("retrieved") and has("query", "query_id"):
        return ["retrievals"]
    if has("query", "query_id") and has("document_id", "text") and has("score", "distance", "rank", "text"):
        return ["retrievals", "chunks"]
    if _recorded(columns) and has("query"):
        return ["answers", "queries", "chunks"]
    if has("answer", "answer_text_with_markers") and (not has("query") or has("sources")):
        return ["answers", "queries", "chunks"]
    if asks:
        return ["queries", "chunks"]
    if has("document_id", *DOCUMENT_FIELDS) and not has("text", "chunk_index") and not _longest_text(columns, set()):
        return ["documents"]
    return ["chunks", "documents"]


def _recorded(columns: _Columns) -> str | None:
    """The column that says what a model answered: its name is that of nothing that should be answered, and not `answer` alone."""
    names = [path for path in columns.values if plain_name(path) not in ANSWERS]
    seen = {path: list(columns.values[path]) for path in names}
    found = next(iter(answer_places(seen, ())), None)
    return found.path if found is not None and found.sure > 3 else None


def _answered(columns: _Columns) -> str | None:
    """The column `answer` of hits with scores or ranks: such rows are a log, and it says what was answered."""
    if not any(columns.fits(field, path) for field in ("score", "distance", "rank") for path in columns.named(field)):
        return None
    return next((path for path in columns.values if plain_name(path) in ANSWERS and columns.fits("answer", path)), None)


def _is_named_for_queries(rows: Rows) -> bool:
    return any(word in PurePosixPath(rows.file).stem.lower() for word in QUERY_WORDS)


def _mapping(kind: str, columns: _Columns, given: Mapping[str, str]) -> ColumnMapping:
    found = dict(given)
    reasons = dict.fromkeys(given, "as you said")

    def take(field: str, path: str | None, reason: str) -> None:
        if path is not None and field not in found and path not in found.values():
            found[field], reasons[field] = path, reason

    flat = [field for field in FIELDS[kind] if field not in (HITS, *HIT_FIELDS, RESPONSE, EXPECTED, PROMPT)]
    if kind == "retrievals" and not given.keys() & {"answer", RESPONSE}:
        take(RESPONSE, _recorded(columns) or _answered(columns), "its name says that it was answered")
    for field in flat:
        for path in columns.named(field):
            if path not in found.values() and columns.fits(field, path) and not _is_of_hits(kind, field, path, columns):
                take(field, path, BY_NAME if plain_name(path) == plain_name(field) else f"{shown(path)} is a usual name of it")
    if kind == "answers" and "answer" not in given and (recorded := _recorded(columns)) is not None:
        found.pop("answer", None)
        if recorded not in found.values():
            take("answer", recorded, f"{shown(recorded)} is a usual name of it")
        expected = next((path for path in columns.values if path not in found.values() and is_expected(path)), None)
        take(EXPECTED, expected or ("answer" if "answer" in columns.values and recorded != "answer" else None), "its name says so")
    if "text" in FIELDS[kind] and "text" not in found and kind == "chunks":
        take("text", _longest_text(columns, set(found.values())), "by its values: the longest texts")
    if kind == "queries" and "query" not in found:
        named = next((path for path in columns.named("text") if columns.fits("query", path)), None)
        take("query", named or _longest_text(columns, set(found.values()), 8), "the file is named for queries, and these are its texts")
    _take_ids(kind, columns, found, take)
    if kind == "chunks" and "chunk_index" not in found:
        take("chunk_index", _counting(columns, found), "by its values: whole numbers that count up within each document")
    if bool(found.get("start")) != bool(found.get("end")):  # one without the other says nothing
        found |= dict.fromkeys(("start", "end"), "")
    ordered = [field for field in FIELDS[kind] if found.get(field)]
    open_fields = [field for field in flat if field not in found and field not in ("start", "end")]
    used = tuple(path for given in found.values() for path in (given, given.partition(".")[0]))
    unfit = {field: path for field in open_fields for path in columns.named(field) if path not in used and "." not in path}
    return ColumnMapping(kind, {field: found[field] for field in ordered}, {field: reasons[field] for field in ordered}, unfit=unfit)


def _take_ids(kind: str, columns: _Columns, found: dict[str, str], take: Callable[[str, str | None, str], None]) -> None:
    """Columns that are only called `id`: of the document where its rows repeat or nothing else names it, or of the query."""
    ids = [path for path in columns.values if plain_name(path) in IDS and columns.fits("document_id", path)]
    if kind in ("queries", "answers"):
        take("query_id", next(iter(ids), None), "the only identifier of the rows")
    elif kind == "documents":
        take("document_id", next(iter(ids), None), "the only identifier of the rows")
    elif kind == "chunks" and "document_id" not in found and ids:
        values = columns.values[ids[0]]
        if len(set(map(str, values))) < len(values):
            take("document_id", ids[0], "an identifier that several rows share")
        elif "source" not in found and "title" not in found:
            take("document_id", ids[0], "the only identifier of the rows: each row is a document of its own")


def _is_of_hits(kind: str, field: str, path: str, columns: _Columns) -> bool:
    """In a table of hits, whether a column such as `position` ranks the hits of a query rather than placing chunks."""
    if kind != "retrievals" or field != "chunk_index" or plain_name(path) not in POSITIONS:
        return False
    if any(other != path and columns.fits("rank", other) for other in columns.named("rank") if plain_name(other) not in POSITIONS):
        return False
    asked = next((other for field in ("query_id", "query") for other in columns.named(field)), None)
    return asked is not None and _counts_up(columns, path, asked)


def _counting(columns: _Columns, found: Mapping[str, str]) -> str | None:
    """A column of whole numbers that count up by one from 0 or 1 within each document."""
    document = found.get("document_id") or found.get("source") or found.get("title")
    if document is None:
        return None
    free = [path for path in columns.values if path not in found.values() and columns.fits("chunk_index", path)]
    return next((path for path in free if _counts_up(columns, path, document)), None)


def _counts_up(columns: _Columns, path: str, within: str) -> bool:
    expected: dict[str, int] = {}
    repeats = False
    for row in columns.sample:
        key, value = str(value_at(row, within)), field_value("chunk_index", value_at(row, path))
        if type(value) is not int or value != expected.get(key, value if value in (0, 1) else -1):
            return False
        repeats = repeats or key in expected
        expected[key] = value + 1
    return repeats


def _longest_text(columns: _Columns, used: set[str], least: int = LONG_TEXT) -> str | None:
    """The column of the longest texts, at least `least` characters on average."""
    free = {
        path: values
        for path, values in columns.values.items()
        if path not in used and plain_name(path.rpartition(".")[2]) not in METADATA | VECTORS
    }
    return longest_texts(free, least)
