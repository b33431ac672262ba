"""Lines of any origin to one validated bundle: each file by itself, then what points at what. Problems are named by where they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ctxasm.data.archives import BROKEN
from ctxasm.data.files.bundle import (
    ANSWERS,
    CHUNKS,
    DOCUMENTS,
    KNOWN_FILES,
    PARTS,
    QUERIES,
    RETRIEVALS,
    BothPlaces,
    Key,
    Kind,
    Retrieval,
    explained,
)
from ctxasm.data.files.cells import is_key, is_vector, parsed
from ctxasm.data.files.json_lines import LineReader
from ctxasm.data.files.mapping import UNQUOTED
from ctxasm.data.files.match_hits import join_logs
from ctxasm.data.files.problems import MAX_PROBLEMS, NO_VALUE, Problem, Problems
from ctxasm.data.files.recognised.draft import BY_NAME, Converted
from ctxasm.data.files.recognised.lists import LIST_NAMES
from ctxasm.data.files.rows import Rows
from ctxasm.data.paths import EVERY
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import Dataset, OwnedDataset
from ctxasm.model.errors import shown
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Query, Span
from ctxasm.store.append import Difference, differences

ROWS, READ_ROWS, ITEMS, DEPTH = 10, 200, 4, 4
"""Rows whose fields are looked at; rows whose lines are; items of a list; levels of a path that is named."""
MOST_NAMED, EXAMPLE_CHARS, LEAST_PART = 8, 40, 8
"""Fields that the sentence names; characters of an example; characters from which a value may be part of a longer one."""


def unread_notes(rows: Rows, lines: Converted) -> tuple[str, ...]:
    """The sentence that names what was not read of a table, each field once with an example; none where all was."""
    read = _Read(rows, lines)
    fields: dict[str, Any] = {}
    known: set[str] = set()
    for _, row in islice(rows.rows, ROWS):
        for path, value in _unread(row, "", read, known):
            fields.setdefault(path, value)
    left = {path: value for path, value in fields.items() if path not in known}
    return unread_note(rows.file, left)


def unread_note(file: str, left: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentence that names fields with their values; none where there are none."""
    if not left:
        return ()
    named = ", ".join(f"{shown(path)}{_example(path, value)}" for path, value in islice(left.items(), MOST_NAMED))
    more = f" and {len(left) - MOST_NAMED:,} more" if len(left) > MOST_NAMED else ""
    return (f"{file}: not read: {named}{more}",)


class _Read:
    """The values that stand in the lines of the first rows."""

    def __init__(self, rows: Rows, lines: Converted) -> None:
        last = max((number for number, _ in islice(rows.rows, READ_ROWS)), default=0)
        self.values: set[str] = set()
        for kind in (lines.documents, lines.chunks, lines.queries, lines.retrievals, lines.answers):
            for number, line in kind:
                if number <= last:
                    self.values.update(map(str, _leaves(line)))
        self._text = "\n".join(value for value in self.values if len(value) > LEAST_PART)

    def holds(self, value: Any) -> bool:
        text = str(value)
        return text in self.values or (len(text) >= LEAST_PART and text in self._text)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None and value != "":
        yield value


def _unread(value: Any, path: str, read: _Read, known: set[str]) -> Iterator[tuple[str, Any]]:
    """The paths below a value of which nothing was read, the highest ones; those of which something was are put into `known`."""
    for name, given in value.items():
        inner = parsed(given) if isinstance(given, str) else given
        at = f"{path}{name}"
        if is_vector(str(name), inner) or next(_leaves(inner), None) is None:
            continue
        if not any(read.holds(leaf) for leaf in _leaves(inner)):
            yield at, inner
            continue
        known.add(at)
        if at.count(".") >= DEPTH:
            continue
        if isinstance(inner, Mapping):
            yield from _unread(inner, f"{at}.", read, known)
        elif isinstance(inner, list):
            for item in islice(inner, ITEMS):
                if isinstance(item, Mapping):
                    yield from _unread(item, f"{at}{EVERY}.", read, known)


def _example(path: str, value: Any) -> str:
    """A short value of a field; none for what may open an account, and for the name of such a thing below it."""
    names: Sequence[str] = path.replace(EVERY, "").split(".")
    if any(map(is_key, names)) or isinstance(value, (Mapping, list)):
        return ""
    return f" (such as {shown(value, EXAMPLE_CHARS)})"


LOOKED_AT = 1_000
"""Lines whose parts are looked at for fields that are not read."""
S = TypeVar("S", bound=BaseModel)
R = TypeVar("R")


@dataclass(slots=True)
class Table(Generic[R]):
    """The records of one file. `present` is False where the bundle has no such file.

    `held` are names that the dataset holds which the bundle joins, as far as they were asked for; `unread` the fields of hits, gold
    chunks and spans that are not read, each with its first value, as far as LOOKED_AT lines have them.
    """

    file: str
    present: bool = False
    records: dict[Key, R] = field(default_factory=dict)
    lines: dict[Key, int] = field(default_factory=dict)
    repeated: int = 0
    held: set[Key] = field(default_factory=set)
    unread: dict[str, Any] = field(default_factory=dict)
    _failed: set[Key] = field(default_factory=set)
    _unnamed: bool = False

    def may_hold(self, *key: Any) -> bool:
        """Whether a reference to `key` is right as far as can be known.

        A line that failed is not reported twice; where one failed whose name cannot be read, no reference is judged.
        """
        return key in self.records or key in self._failed or key in self.held or self._unnamed

    @property
    def has_failures(self) -> bool:
        """Whether any line failed."""
        return self._unnamed or bool(self._failed)

    def note_unread(self, number: int, line: dict[str, Any]) -> None:
        """Remember what is not read of the parts of a line."""
        if number > LOOKED_AT:
            return
        for name, shape in PARTS.items():
            parts, fields = line.get(name), shape.model_fields.keys()
            for part in parts if isinstance(parts, list) else ():
                for own in part.keys() - fields - {BY_NAME} if isinstance(part, dict) else ():
                    self.unread.setdefault(f"{name}[*].{own}", part[own])

    def note_failure(self, key: Key | None) -> None:
        """Remember that a line failed, under its name where that could be read."""
        if key is None:
            self._unnamed = True
        else:
            self._failed.add(key)


def read_table(kind: Kind[S, R], open_file: Callable[[], IO[bytes]] | None, reader: LineReader, problems: Problems) -> Table[R]:
    """All records of a file (None: there is no such file). Every mistake goes to `problems`."""
    table: Table[R] = Table(kind.file, present=open_file is not None)
    if open_file is None:
        return table
    try:
        with open_file() as stream:
            for number, value in reader.read(kind.file, stream):
                take_line(kind, table, number, value, problems)
    except BROKEN as error:
        problems.add(kind.file, None, "", f"cannot be read ({why(error)})")
        table.note_failure(None)
    return table


Put = Callable[[Kind[S, R], Any, int, R, Problems], None]
"""Keeps the record of a line in a table, or reports that it stands there with other content."""


def take_line(
    kind: Kind[S, R], table: Table[R], number: int, value: dict[str, Any] | None, problems: Problems, put: Put[S, R] | None = None
) -> None:
    """Add one line to a table; None stands for a line whose mistake is reported already."""
    if value is None:
        table.note_failure(None)
        return
    record = record_of(kind, number, value, problems)
    if isinstance(record, Failed):
        table.note_failure(None if record.fields & set(kind.names) else tuple(value[name] for name in kind.names))
    else:
        (put or _put)(kind, table, number, record, problems)
        table.note_unread(number, value)


class Failed(NamedTuple):
    """A line that is no record, and the fields that are to blame."""

    fields: set[str]


def record_of(kind: Kind[S, R], number: int, value: dict[str, Any], problems: Problems) -> R | Failed:
    """The record of one line; every mistake goes to `problems`."""
    try:
        return kind.record(kind.shape.model_validate(value))
    except ValidationError as error:
        found = explained(error)
    except BothPlaces as error:
        found = [(error.key, "may not stand both beside and inside metadata", error.value)]
    for field_path, message, came in found:
        problems.add(kind.file, number, field_path, message, came)
    return Failed({field_path for field_path, _, _ in found})


def _put(kind: Kind[S, R], table: Table[R], number: int, record: R, problems: Problems) -> None:
    key: Key = tuple(getattr(record, name) for name in kind.names) or (number,)
    if key not in table.records:
        table.records[key], table.lines[key] = record, number
    elif table.records[key] == record:
        table.repeated += 1  # the same line twice says nothing new and hides nothing
    else:
        add_twice(kind, key, number, table.lines[key], problems)


def add_twice(kind: Kind[S, R], key: Key, number: int, first_line: int, problems: Problems) -> None:
    """Report a record that stands on an earlier line with other content."""
    named = " and ".join(f"{name} {shown(part)}" for name, part in zip(kind.names, key, strict=True))
    first = problems.place(kind.file, first_line)
    problems.add(kind.file, number, kind.names[-1], f"{named} stands on {first} with other content: keep one of the two")


def why(error: BaseException) -> str:
    """The reason of an error, for the end of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


L = TypeVar("L", GoldChunk, Span)

RETRIEVAL_FIELDS = tuple(name for name in Retrieval._fields if name not in ("query_id", "metadata"))


@dataclass(frozen=True, slots=True)
class Tables:
    """The five files of one bundle. `stored` is the dataset that it joins, None where it makes one of its own."""

    documents: Table[Document]
    chunks: Table[Chunk]
    queries: Table[Query]
    retrievals: Table[Retrieval]
    answers: Table[Answer]
    stored: OwnedDataset | None = None

    @property
    def has_chunks(self) -> bool:
        """Whether it is known which chunks there are."""
        return self.chunks.present or (self.stored is not None and self.stored.info.chunks > 0)

    @property
    def has_queries(self) -> bool:
        """Whether it is known which queries there are."""
        return self.queries.present or (self.stored is not None and self.stored.info.queries > 0)

    def of(self, table: Table[Chunk] | Table[Query] | Table[Document]) -> str:
        """Where a name must be, for the end of a sentence."""
        if self.stored is None:
            return table.file
        dataset = f"the dataset {shown(self.stored.info.name)}"
        return f"{table.file} or of {dataset}" if table.present else dataset


class Asked(NamedTuple):
    """A query with what retrieval returned for it, and the lines of both."""

    query: Query
    line: int | None
    retrieval: Retrieval | None
    retrieval_line: int | None


def check_references(tables: Tables, problems: Problems) -> None:
    """Report every reference that leads nowhere, and what is stored otherwise. What a missing file would have held is not judged."""
    check_documents(tables, problems)
    check_chunks(tables, problems, set())
    lengths: dict[str, int | None] = {}
    extend_lengths(lengths, tables.chunks.records.values())
    check_evidence(tables, problems, lengths)
    check_retrievals(tables, problems)
    check_asked(tables, problems, asked_queries(tables))
    check_answers(tables, problems)


def check_documents(tables: Tables, problems: Problems) -> None:
    """Report documents that are stored otherwise."""
    records = tables.documents.records
    if tables.stored is not None and records:
        stored = tables.stored.documents_named([document.document_id for document in records.values()])
        for key, document in records.items():
            if (was := stored.get(document.document_id)) is not None:
                _report(problems, tables.documents.file, tables.documents.lines[key], differences(was, document))


def check_chunks(tables: Tables, problems: Problems, unknown: set[str]) -> None:
    """Report chunks that are stored otherwise, and of documents that are missing, each document once: it is then `unknown`."""
    records = tables.chunks.records
    if tables.stored is not None and records:
        names = list(dict.fromkeys(chunk.document_id for chunk in records.values()))
        tables.documents.held |= {(name,) for name in tables.stored.documents_named(names)}
        stored = tables.stored.chunks_at([(chunk.document_id, chunk.chunk_index) for chunk in records.values()])
        for key, chunk in records.items():
            if (was := stored.get((chunk.document_id, chunk.chunk_index))) is not None:
                _report(problems, tables.chunks.file, tables.chunks.lines[key], differences(was, chunk))
    if tables.documents.present:
        for key, chunk in records.items():
            if not tables.documents.may_hold(chunk.document_id) and chunk.document_id not in unknown:
                unknown.add(chunk.document_id)
                message = f"must name a document of {tables.of(tables.documents)}"
                problems.add(tables.chunks.file, tables.chunks.lines[key], "document_id", message, chunk.document_id)


def check_evidence(tables: Tables, problems: Problems, lengths: Mapping[str, int | None]) -> None:
    """Report gold chunks and spans that lead nowhere; `lengths` are those of the documents (`extend_lengths`)."""
    if not tables.has_chunks:
        return
    queries = tables.queries.records
    whole = not tables.chunks.has_failures  # else a document or its end may be on a line that failed
    if tables.stored is not None:
        _hold_chunks(tables, [key for query in queries.values() for gold in query.gold for key in gold.chunks])
        named = list(dict.fromkeys(span.document_id for query in queries.values() for _, span in _places("spans", query.spans)))
        lengths = _longest(lengths, tables.stored.document_lengths(named))
        tables.documents.held |= {(name,) for name in named if name in lengths}
    for key, query in queries.items():
        line = tables.queries.lines[key]
        for path, place in _places("gold", query.gold):
            if not tables.chunks.may_hold(place.document_id, place.chunk_index):
                came = f"{place.document_id} {place.chunk_index}"
                problems.add(tables.queries.file, line, path, f"must name a chunk of {tables.of(tables.chunks)}", came)
        for path, span in _places("spans", query.spans):
            if not whole:
                break
            if not (tables.documents.may_hold(span.document_id) or span.document_id in lengths):
                where = "this bundle" if tables.stored is None else tables.of(tables.documents)
                problems.add(tables.queries.file, line, f"{path}.document_id", f"must name a document of {where}", span.document_id)
            elif (length := lengths.get(span.document_id)) is not None and span.end > length:
                problems.add(tables.queries.file, line, f"{path}.end", f"must be inside the document ({length} characters)", span.end)


def _longest(own: Mapping[str, int | None], stored: Mapping[str, int | None]) -> dict[str, int | None]:
    """The lengths of documents of which some chunks are stored and some come now."""
    found = dict(own)
    for name, length in stored.items():
        more = own.get(name, 0)
        found[name] = None if length is None or more is None else max(length, more) or None
    return found


def _places(field: str, labels: Iterable[L]) -> Iterable[tuple[str, L]]:
    """The places of labels that should be there, with where each stands in its line; what is said to be lost is not looked for."""
    for position, label in enumerate(labels):
        for other, place in enumerate(label.places):
            if not place.lost:
                yield f"{field}[{position}]" + (f".also[{other - 1}]" if other else ""), place


def extend_lengths(lengths: dict[str, int | None], chunks: Iterable[Chunk]) -> None:
    """Characters of each document as far as its chunks reach; None where a chunk does not say where it stands."""
    for chunk in chunks:
        known = lengths.get(chunk.document_id, 0)
        lengths[chunk.document_id] = None if known is None or chunk.end is None else max(known, chunk.end)


def check_answers(tables: Tables, problems: Problems) -> None:
    """Report answers to no query."""
    _hold_queries(tables, [answer.query_id for answer in tables.answers.records.values()])
    if tables.has_queries:
        for (number,), answer in tables.answers.records.items():
            if not tables.queries.may_hold(answer.query_id):
                message = f"must name a query of {tables.of(tables.queries)}"
                problems.add(tables.answers.file, number, "query_id", message, answer.query_id)


def check_retrievals(tables: Tables, problems: Problems) -> None:
    """Report retrievals of no query, and hits on no chunk."""
    records = tables.retrievals.records
    _hold_queries(tables, [retrieval.query_id for retrieval in records.values()])
    _hold_chunks(tables, [(hit.document_id, hit.chunk_index) for retrieval in records.values() for hit in retrieval.retrieved])
    for key, retrieval in records.items():
        line = tables.retrievals.lines[key]
        if not tables.queries.may_hold(retrieval.query_id):
            message = f"must name a query of {tables.of(tables.queries)}"
            problems.add(tables.retrievals.file, line, "query_id", message, retrieval.query_id)
        for position, hit in enumerate(retrieval.retrieved):
            if tables.has_chunks and not tables.chunks.may_hold(hit.document_id, hit.chunk_index):
                came, message = f"{hit.document_id} {hit.chunk_index}", f"must name a chunk of {tables.of(tables.chunks)}"
                problems.add(tables.retrievals.file, line, f"retrieved[{position}]", message, came)


def check_asked(tables: Tables, problems: Problems, asked: Sequence[Asked]) -> None:
    """Report what queries and retrievals say otherwise than what is stored."""
    stored = {} if tables.stored is None else tables.stored.queries_named([one.query.query_id for one in asked])
    for query, line, retrieval, retrieval_line in asked:
        if (was := stored.get(query.query_id)) is None:
            continue
        for difference in differences(was, query):
            said = retrieval is not None and difference.field in (*RETRIEVAL_FIELDS, *retrieval.metadata)
            if line is None or (said and retrieval_line is not None):
                _report(problems, tables.retrievals.file, retrieval_line, [difference])
            else:
                _report(problems, tables.queries.file, line, [difference])


def _report(problems: Problems, file: str, line: int | None, found: Iterable[Difference]) -> None:
    for difference in found:
        problems.add(file, line, difference.field, f"{difference.sentence} in the dataset", difference.came)


def _hold_chunks(tables: Tables, keys: Iterable[tuple[str, int]]) -> None:
    if tables.stored is not None and (unknown := [key for key in dict.fromkeys(keys) if not tables.chunks.may_hold(*key)]):
        tables.chunks.held |= tables.stored.held_chunks(unknown)


def _hold_queries(tables: Tables, query_ids: Iterable[str]) -> None:
    if tables.stored is not None and (unknown := [name for name in dict.fromkeys(query_ids) if not tables.queries.may_hold(name)]):
        tables.queries.held |= {(name,) for name in tables.stored.queries_named(unknown)}


def asked_queries(tables: Tables) -> list[Asked]:
    """Every query with what retrieval returned for it; one without a line in retrievals.jsonl has no hits.

    A line of retrievals.jsonl for a query that is only stored brings its hits to that.
    """
    queries, retrievals = tables.queries, tables.retrievals
    found = [
        Asked(joined(query, retrievals.records.get(key)), queries.lines[key], retrievals.records.get(key), retrievals.lines.get(key))
        for key, query in queries.records.items()
    ]
    return found + only_retrieved(tables, [key for key in retrievals.records if key not in queries.records])


def only_retrieved(tables: Tables, keys: Iterable[tuple[str, ...]]) -> list[Asked]:
    """Retrievals of queries that are only stored."""
    retrievals = tables.retrievals
    held = [key for key in keys if key in tables.queries.held]
    stored = tables.stored.queries_named([name for (name,) in held]) if tables.stored is not None and held else {}
    found = []
    for key in held:
        if (was := stored.get(key[0])) is not None:
            query = Query(was.query, query_id=was.query_id)
            found.append(Asked(joined(query, retrievals.records[key]), None, retrievals.records[key], retrievals.lines[key]))
    return found


def joined(query: Query, retrieval: Retrieval | None) -> Query:
    """A query with what retrieval returned for it."""
    if retrieval is None:
        return query
    told = {field: getattr(retrieval, field) for field in RETRIEVAL_FIELDS}
    return replace(query, **told, metadata={**retrieval.metadata, **query.metadata} or query.metadata)


def documents_of(tables: Tables) -> tuple[Document, ...]:
    """The documents, in file order; without documents.jsonl those that the chunks imply."""
    if tables.documents.present:
        return tuple(tables.documents.records.values())
    first: dict[str, Chunk] = {}
    for chunk in tables.chunks.records.values():
        first.setdefault(chunk.document_id, chunk)
    return tuple(map(implied_document, first.values()))


def implied_document(first: Chunk) -> Document:
    """The document that its first chunk implies: with the title that the line of the chunk has, where it has one."""
    title = first.metadata.get("title")
    return Document(first.document_id, title if isinstance(title, str) and title.strip() else None)


def notes_of(tables: Tables) -> list[str]:
    """What a user should know of a bundle that is fine."""
    odd = [chunk for chunk in tables.chunks.records.values() if is_odd(chunk)]
    found = tables.retrievals.records
    beside = sum(key not in found and holds_hits(query) for key, query in tables.queries.records.items())
    implied = [] if tables.documents.present else documents_of(tables)
    untitled = sum(each.title is None for each in implied)
    return notes_with(tables, len(odd), odd[0] if odd else None, bool(found), beside, untitled)


def holds_hits(query: Query) -> bool:
    """Whether a line of queries.jsonl has a field that looks like hits: they are read from retrievals.jsonl alone."""
    lists = (query.metadata.get(name) for name in ("retrieved", *LIST_NAMES))
    return any(isinstance(hits, list) and hits and isinstance(hits[0], Mapping) and "document_id" in hits[0] for hits in lists)


def is_odd(chunk: Chunk) -> bool:
    """Whether the offsets of a chunk cannot be those of its text."""
    return chunk.start is not None and chunk.end is not None and chunk.end - chunk.start != len(chunk.text)


def notes_with(tables: Tables, odd: int, first_odd: Chunk | None, has_retrievals: bool, beside: int, untitled: int) -> list[str]:
    """The notes on tables, with the number of odd chunks and the first of them, that of queries whose hits stand beside them, and of
    documents that chunks imply without a title.
    """
    tables_of_records = (tables.documents, tables.chunks, tables.queries, tables.retrievals)
    notes = [f"{table.file}: {table.repeated} repeated lines were merged" for table in tables_of_records if table.repeated]
    for table in (tables.queries, tables.retrievals):
        notes += unread_note(table.file, dict(sorted(table.unread.items())))
    if first_odd is not None:
        first = f"the first is {shown(first_odd.document_id)} {first_odd.chunk_index}"
        notes.append(f"{tables.chunks.file}: {odd} chunks whose end - start is not the length of their text ({first}); offsets not trusted")
    if untitled and tables.stored is None:
        named = "is named by its id" if untitled == 1 else "are named by their ids"
        told = f"{counted(untitled, 'document')} without a title {named}"
        notes.append(f"{told}; documents.jsonl or the lines of chunks can give titles")
    if has_retrievals and not tables.has_chunks:
        notes.append("chunks.jsonl is absent: the chunks that retrieval returned could not be checked and cannot be assembled")
    if beside:
        told = f"{tables.queries.file}: the hits in {counted(beside, 'line')} are not loaded as hits, they stay as metadata"
        notes.append(f"{told}; hits are read from `retrieved` in {tables.retrievals.file}")
    return notes


KINDS: dict[str, Kind[Any, Any]] = {
    "documents": DOCUMENTS,
    "chunks": CHUNKS,
    "queries": QUERIES,
    "retrievals": RETRIEVALS,
    "answers": ANSWERS,
}
_HIT = re.compile(r"retrieved\[(\d+)\]\.?(.*)")


@dataclass(frozen=True, slots=True)
class Source:
    """What one table became: its lines by kind, the columns that gave their fields, and problems that no line can hold.

    `kinds` are those that the table speaks for even without a line (an empty chunks.jsonl says that there are no chunks).
    `hit_rows` are as in `Applied`.
    """

    rows: Rows
    lines: Converted
    columns: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    kinds: frozenset[str] = frozenset()
    hit_rows: Mapping[int, Sequence[int]] = field(default_factory=dict)


class Place(NamedTuple):
    """A row of a source."""

    source: Source
    row: int


class Checked(NamedTuple):
    """The bundle that sound lines are (None where there are problems), its notes, and the rows that failed by file.

    `failed` is complete even where `problems` stops at the most that are reported. `sources` are those that were given, with the hits
    of logs on chunks that stand elsewhere.
    """

    bundle: Bundle | None
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]
    failed: Mapping[str, frozenset[int]]
    sources: Sequence[Source]


class _Sourced(Problems):
    """Problems in the words of their sources."""

    def __init__(self, places: Mapping[str, Sequence[Place]], labels: Mapping[str, str]) -> None:
        super().__init__(())
        self._places, self._labels = places, labels
        self.more = 0
        self.failed: dict[str, set[int]] = {}
        self.problems: list[Problem] = []
        self._said: set[tuple[str, int | None, str, str]] = set()

    def add(self, file: str, line: int | None, field: str, message: str, value: object = NO_VALUE) -> None:
        came = None if value is NO_VALUE else shown(value)
        if line is None:
            self.put(Problem(self.words(file), None, field, message, came))
            return
        source, row = self._places[file][line - 1]
        if (hits := source.hit_rows.get(row)) and (found := _HIT.match(field)):
            row, field = hits[int(found[1])], found[2] or "chunk_index"
        name = field.partition(".")[0].partition("[")[0]
        column = source.columns.get(name, name)
        label = field if column == name else f"{field} ({column})"
        words = message.removesuffix(UNQUOTED) if source.columns or source.rows.is_text else message
        self.put(Problem(source.rows.file, row, label, self.words(words), came, source.rows.unit))

    def put(self, problem: Problem) -> None:
        """Keep a problem that is in its source's words already; beyond the most that are listed, only its row."""
        key = (problem.file, problem.line, problem.field, problem.message)
        if key in self._said:  # a row that becomes several lines is wrong once
            return
        if problem.line is not None:
            self.failed.setdefault(problem.file, set()).add(problem.line)
        if len(self.problems) < MAX_PROBLEMS:
            self._said.add(key)
            self.problems.append(problem)
        else:
            self.more += 1

    def place(self, file: str, line: int) -> str:
        source, row = self._places[file][line - 1]
        return f"{source.rows.unit} {row} of {source.rows.file}"

    def words(self, message: str) -> str:
        """A message that speaks of the files of a bundle, of the sources instead."""
        for file, label in self._labels.items():
            message = message.replace(file, label)
        return message


def check_sources(sources: Sequence[Source], name: str, into: OwnedDataset | None = None, onto: Dataset | None = None) -> Checked:
    """Validate the lines of all sources together, and against the dataset `into` that they join.

    Hits of logs are first found among the chunks of the other sources and of that dataset; those of `onto` are all that there are.
    """
    sources, told = _on_chunks(sources, into, onto)
    places: dict[str, list[Place]] = {file: [] for file in KNOWN_FILES}
    problems = _Sourced(places, _labels(sources))
    for source in sources:
        for problem in (*source.rows.problems, *source.problems):
            problems.put(problem)
    tables = Tables(**{kind: _table(kind, sources, places, problems) for kind in KINDS}, stored=into)
    check_references(tables, problems)
    failed = {file: frozenset(rows) for file, rows in problems.failed.items()}
    if problems.problems:
        order = {source.rows.file: position for position, source in enumerate(sources)}
        ordered = sorted(problems.problems, key=lambda p: (order.get(p.file, len(order)), p.line or 0))
        if problems.more:
            ordered.append(Problem("reading", None, "", f"{problems.more:,} more problems are not listed"))
        return Checked(None, (), tuple(ordered), failed, sources)
    bundle = Bundle(
        name=name,
        documents=documents_of(tables),
        chunks=tuple(tables.chunks.records.values()),
        queries=tuple(asked.query for asked in asked_queries(tables)),
        answers=tuple(tables.answers.records.values()),
        replaced=sum(source.rows.replaced for source in sources),
    )
    return Checked(bundle, (*told, *(problems.words(note) for note in notes_of(tables))), (), failed, sources)


def _on_chunks(sources: Sequence[Source], into: OwnedDataset | None, onto: Dataset | None) -> tuple[Sequence[Source], tuple[str, ...]]:
    """The sources with the hits of logs on chunks that stand elsewhere, and the notes that say how each was found."""
    logs = [source for source in sources if source.lines.retrievals and (source.lines.chunks or onto is not None)]
    corpora = [source for source in sources if source.lines.chunks and not source.lines.retrievals and onto is None]
    dataset = onto if onto is not None else into
    if not logs or not (corpora or dataset is not None):
        return sources, ()
    lines = [line for source in corpora for _, line in source.lines.chunks]

    def corpus() -> Iterator[Chunk]:
        for line in lines:
            if (chunk := _chunk_of(line)) is not None:
                yield chunk
        if dataset is not None:
            yield from dataset.iter_records()

    documents = {line.get("document_id") for source in corpora for _, line in source.lines.documents}
    joined = join_logs([source.lines for source in logs], corpus, onto is None, documents)
    where = ", ".join(
        [*(source.rows.file for source in corpora), *([f"dataset {shown(dataset.info.name)}"] if dataset is not None else [])]
    )
    moved = {source.rows.file: replace(source, lines=lines) for source, lines in zip(logs, joined.lines, strict=True)}
    return [moved.get(source.rows.file, source) for source in sources], joined.notes(where, onto is None)


def _chunk_of(line: Mapping[str, Any]) -> Chunk | None:
    """A line of a corpus as far as hits are found by it; None for one that is wrong, which is told when it is checked."""
    document, index, text, metadata = (line.get(name) for name in ("document_id", "chunk_index", "text", "metadata"))
    start, end = line.get("start"), line.get("end")
    if not isinstance(document, str) or not isinstance(index, int) or not isinstance(text, str):
        return None
    if not isinstance(start, int) or not isinstance(end, int):
        start = end = None
    return Chunk(document, index, text, start, end, metadata=metadata if isinstance(metadata, Mapping) else {})


def _lines(source: Source, kind: str) -> Sequence[tuple[int, dict[str, Any]]]:
    found: Sequence[tuple[int, dict[str, Any]]] = getattr(source.lines, kind)
    return found


def _labels(sources: Sequence[Source]) -> dict[str, str]:
    """For each file of a bundle the names of the sources that stand for it."""
    labels = {}
    for kind, known in KINDS.items():
        files = dict.fromkeys(source.rows.file for source in sources if kind in source.kinds or _lines(source, kind))
        labels[known.file] = ", ".join(files) or f"a file of {kind}"
    return labels


def _table(kind: str, sources: Sequence[Source], places: Mapping[str, list[Place]], problems: _Sourced) -> Table[Any]:
    known = KINDS[kind]
    table: Table[Any] = Table(known.file)
    for source in sources:
        lines = _lines(source, kind)
        table.present = table.present or kind in source.kinds or bool(lines)
        if (source.rows.problems or source.problems) and (lines or kind in source.kinds):
            table.note_failure(None)  # what a row would have named that could not be read is not missed
        for row, line in lines:
            places[known.file].append(Place(source, row))
            take_line(known, table, len(places[known.file]), line, problems)
    return table
