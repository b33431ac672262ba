"""Chunks numbered by their order: where the indexes of a file leave gaps (10, 20, 30), so that none follows another.

Done only where a user asks for it. Hits and gold chunks go along; the index that a chunk came with stays in its metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ctxasm.data.archives import ZipLimits
from ctxasm.data.files.bundle import KNOWN_FILES
from ctxasm.data.files.cells import HITS, ColumnMapping
from ctxasm.data.files.checking import KINDS, Checked, Source, check_sources, unread_notes
from ctxasm.data.files.formats import ZIP, read_rows, shown_name
from ctxasm.data.files.guess import guess
from ctxasm.data.files.mapping import apply
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.reading import Reading, read_bundle_bytes
from ctxasm.data.files.recognised import Shape, recognised
from ctxasm.data.files.recognised.draft import ONLY_RETRIEVED, Converted
from ctxasm.data.files.rows import TURN, Rows
from ctxasm.data.files.source import FileLimits, dataset_name, open_archive
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import Dataset, OwnedDataset
from ctxasm.model.errors import InvalidBundle, InvalidInput, shown
from ctxasm.model.events import NoNeighbours, no_neighbours
from ctxasm.model.records import Answer, Bundle, Chunk
from ctxasm.model.regular_files import open_regular
from ctxasm.store.digest import content_hash
from ctxasm.store.validation import check_records

ORIGINAL = "original_chunk_index"
"""The metadata that keeps the index that a chunk came with."""
_Key = tuple[str, int]


def number_by_order(bundle: Bundle) -> tuple[Bundle, tuple[str, ...]]:
    """The bundle with the chunks of each document numbered from 0 in the order of their indexes, and the note that says so.

    Hits and gold chunks name chunks of the bundle, as every load checks.
    """
    indexes: dict[str, list[int]] = {}
    for chunk in bundle.chunks:
        indexes.setdefault(chunk.document_id, []).append(chunk.chunk_index)
    places = {(name, index): at for name, own in indexes.items() for at, index in enumerate(sorted(own))}
    moved = sum(key[1] != at for key, at in places.items())
    if not moved:
        return bundle, ("every document numbers its chunks from 0 without gaps: nothing was numbered",)

    chunks = tuple(_placed(chunk, places) for chunk in bundle.chunks)
    queries = tuple(
        replace(
            query,
            retrieved=tuple(replace(hit, chunk_index=places[hit.document_id, hit.chunk_index]) for hit in query.retrieved),
            gold=tuple(replace(gold, chunk_index=places[gold.document_id, gold.chunk_index]) for gold in query.gold),
        )
        for query in bundle.queries
    )
    told = f"{counted(moved, 'chunk')} of {len(bundle.chunks):,} got another chunk_index, by their order in each document"
    return replace(bundle, chunks=chunks, queries=queries), (f"{told}; metadata {ORIGINAL} keeps the one of the file",)


def _placed(chunk: Chunk, places: Mapping[_Key, int]) -> Chunk:
    index = places[chunk.document_id, chunk.chunk_index]
    if index == chunk.chunk_index:
        return chunk
    return replace(chunk, chunk_index=index, metadata={**chunk.metadata, ORIGINAL: chunk.chunk_index})


KIND_OF_FILE = {kind.file: name for name, kind in KINDS.items()}
OF_LIBRARIES = frozenset({"source_id", "split_id", "split_idx", "split_idx_start", "ref_doc_id"})
"""By these names the splitters of Haystack and LlamaIndex call the document and the place; their shapes know more of them."""
DOCUMENTS = (".txt", ".text", ".html", ".htm", ".xhtml", ".md", ".markdown")
"""Names of files that are documents more often than tables."""
HINT = "map its columns, as in text=COLUMN, and say what its rows are (chunks, documents, queries, retrievals, answers)"
PROMPT = "a prompt with its answer, which stands last, after a line that begins with `Answer:`"
NO_ROWS = f"it holds no rows: give an object, a list of objects, a table with a line of column names, or {PROMPT}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and how it is understood: one of the three, `is_about` a bundle and so no part of it, or `unread`, the sentence that says
    why it is not."""

    rows: Rows
    bundle_kind: str | None = None
    shape: Shape | None = None
    mapping: ColumnMapping | None = None
    unread: str | None = None
    is_about: bool = False

    @property
    def understood(self) -> str:
        """How the table is understood, for the user."""
        if self.bundle_kind is not None:
            return f"the {self.bundle_kind} of a bundle"
        if self.shape is not None:
            return self.shape.name
        if self.mapping is not None:
            what = "questions with their hits" if HITS in self.mapping.columns else self.mapping.kind
            return f"{what}, by its columns"
        return "about the bundle, and left out" if self.is_about else "not understood"


def open_tables(
    files: Sequence[tuple[str, bytes]], mappings: Mapping[str, ColumnMapping], limits: FileLimits
) -> tuple[list[Table], list[Problem]]:
    """All tables of all files, and the files that cannot be read at all. A single file that cannot raises its InvalidInput.

    A mapping is for the table of its name, or for every one where its name is "".
    """
    if not files:
        raise InvalidInput("there is no file to load: give at least one")
    found: list[Rows] = []
    problems: list[Problem] = []
    for name, data in files:
        try:
            found += read_rows(data, name, limits)
        except InvalidInput as error:
            if len(files) == 1:
                raise
            problems.append(Problem(shown_name(name), None, "", str(error)))
    limits.check_rows("the load", sum(len(rows.rows) for rows in found))
    named = _named_apart(found)
    for name in mappings:
        if name and name not in {rows.file for _, rows in named}:
            listed = ", ".join(rows.file for _, rows in named[:20])
            raise InvalidInput(f"a mapping is for {shown(name)}, but the files are {listed}")
    alone = len(files) == len(named) == 1
    tables = [_understood(file, rows, mappings.get(rows.file, mappings.get("")), alone) for file, rows in named]
    if any(table.bundle_kind == "chunks" for table in tables):
        tables = [Table(table.rows, is_about=True) if table.rows.file not in mappings and _describes(table) else table for table in tables]
    return tables, problems


def _describes(table: Table) -> bool:
    """Whether a file beside the chunks of a bundle is about it, as META.json is: one JSON object in which a column passed for a text,
    and that names no document."""
    taken = table.mapping is not None and table.mapping.kind in ("chunks", "documents") and "document_id" not in table.mapping.columns
    return taken and table.rows.file.lower().endswith(".json") and len(table.rows.rows) == 1


def _named_apart(tables: Sequence[Rows]) -> list[tuple[str, Rows]]:
    """Each table with the name of its file, and renamed where another table has that name."""
    found: dict[str, tuple[str, Rows]] = {}
    for rows in tables:
        name, again = rows.file, 2
        while name in found:
            name, again = f"{rows.file} ({again})", again + 1
        own = rows if name == rows.file else replace(rows, file=name, problems=tuple(replace(p, file=name) for p in rows.problems))
        found[name] = (rows.file, own)
    return list(found.values())


def _understood(file: str, rows: Rows, mapping: ColumnMapping | None, alone: bool) -> Table:
    if mapping is not None:
        own = (guess(rows, mapping) or mapping) if mapping.guess_rest else mapping
        own.check(rows)
        return Table(rows, mapping=own)
    kind = KIND_OF_FILE.get(file)
    if kind is not None and alone and (own_columns := _of_bundle_by_name_only(kind, rows)) is not None:
        return Table(replace(rows, notes=(*rows.notes, f"no row has the fields of a bundle's {file}")), mapping=own_columns)
    if kind is not None and (not rows.rows or set(KINDS[kind].shape.model_fields) & {"document_id", "query_id"} <= set(rows.columns)):
        return Table(rows, bundle_kind=kind)
    guessed = guess(rows)
    shape = None if rows.unit == TURN or (guessed is not None and _is_of_chunks(guessed)) else recognised([rows])
    if shape is not None:
        return Table(rows, shape=shape)
    if kind is not None:
        return Table(rows, bundle_kind=kind)
    if guessed is not None:
        return Table(rows, mapping=guessed)
    if rows.columns and (rows.rows or not rows.problems):
        columns = ", ".join(map(shown, rows.columns[:10])) + (" …" if len(rows.columns) > 10 else "")
        is_plain = len(rows.columns) == 1 or file.lower().endswith(DOCUMENTS)
        plain = f"; plain text is loaded with `ctxasm ingest`, but for {PROMPT}" if is_plain else ""
        return Table(rows, unread=f"none of its columns ({columns}) is known as a text, a question or a document: {HINT}{plain}")
    told = "it is a document and no table: load it with `ctxasm ingest`" if file.lower().endswith(DOCUMENTS) else NO_ROWS
    return Table(rows, unread=None if rows.problems else told)


def _of_bundle_by_name_only(kind: str, rows: Rows) -> ColumnMapping | None:
    """How the columns map where a file is called as one of a bundle's, but no row has the fields that such a line needs; else None."""
    needed = {name for name, field in KINDS[kind].shape.model_fields.items() if field.is_required()}
    if not rows.rows or rows.problems or any(needed <= row.keys() for _, row in rows.rows) or recognised([rows]) is not None:
        return None
    return guess(rows, ColumnMapping(kind, {}, guess_rest=True))


def _is_of_chunks(mapping: ColumnMapping) -> bool:
    """Whether columns of the table itself, and not those of a library, name the document and the chunk.

    A table of one's own may well call its text `page_content`; it is no dump of LangChain for that.
    """
    own = [mapping.columns.get(field, ".") for field in ("document_id", "chunk_index", "text")]
    return not any("." in column or column in OF_LIBRARIES for column in own)


def sources_of(tables: Sequence[Table]) -> list[Source]:
    """What each table becomes, in the same order. Raises InvalidInput where a mapping does not fit its table."""
    maps_documents = any(_gives(table, "documents") for table in tables)
    asks = any(_gives(table, kind) for table in tables for kind in ("queries", "retrievals"))
    shared = {shape.name: shape for table in tables if (shape := table.shape) is not None}
    of_shape: dict[str, Source] = {}
    for name, shape in shared.items():
        own = [table.rows for table in tables if table.shape is not None and table.shape.name == name]
        of_shape |= {rows.file: Source(rows, lines) for rows, lines in zip(own, shape.convert_all(own), strict=True)}
    return [_with_unread(of_shape.get(table.rows.file) or _source(table, maps_documents, asks)) for table in tables]


def _with_unread(source: Source) -> Source:
    """The source with a note on the fields that nothing was made of; where it became nothing, its problems say so."""
    lines = _without_nan(source) if source.rows.not_numbers else source.lines
    notes = unread_notes(source.rows, lines) if lines != Converted() and not source.problems else ()
    return replace(source, lines=replace(lines, notes=(*lines.notes, *notes)))


def _without_nan(source: Source) -> Converted:
    """The lines without NaN and Infinity in their metadata; in a field of its own it is a problem of its line."""
    names: set[str] = set()

    def kept(value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            return {key: kept(inner, str(key)) for key, inner in value.items() if not is_gone(inner, str(key))}
        return [kept(inner, name) for inner in value if not is_gone(inner, name)] if isinstance(value, list) else value

    def is_gone(value: Any, name: str) -> bool:
        if not isinstance(value, float) or isfinite(value):
            return False
        names.add(name)
        return True

    lines = {
        kind: tuple(
            (number, {**line, "metadata": kept(line["metadata"], "metadata")} if "metadata" in line else line)
            for number, line in getattr(source.lines, kind)
        )
        for kind in KINDS
    }
    for _, row in source.rows.rows:
        kept(row, "")
    told = f"{source.rows.file}: left out, because NaN and Infinity are no numbers: {', '.join(map(shown, sorted(names)))}"
    return replace(source.lines, **lines, notes=(*source.lines.notes, told))


def _gives(table: Table, kind: str) -> bool:
    return table.bundle_kind == kind or (table.mapping is not None and table.mapping.kind == kind)


def _source(table: Table, maps_documents: bool, asks: bool) -> Source:
    rows = table.rows
    if table.bundle_kind is not None:
        lines: dict[str, Any] = {table.bundle_kind: tuple((number, dict(row)) for number, row in rows.rows)}
        return Source(rows, Converted(**lines), kinds=frozenset({table.bundle_kind}))
    if table.mapping is None:
        problems = (Problem(rows.file, None, "", table.unread),) if table.unread else ()
        return Source(rows, Converted(), problems=problems)
    applied = apply(table.mapping, rows)
    found = applied.lines
    if maps_documents and table.mapping.kind in ("chunks", "retrievals"):
        found = replace(found, documents=())  # the file of documents says it, and each chunk must name one of them
    if asks and table.mapping.kind == "answers":
        found = replace(found, queries=())
    return Source(rows, found, table.mapping.columns, applied.problems, frozenset({table.mapping.kind}), applied.hit_rows)


def is_bundle_zip(file_name: str, data: bytes, limits: FileLimits) -> bool:
    """Whether a file is an archive with the files of a bundle at its top. Raises InvalidInput for a hostile one."""
    file = shown_name(file_name)
    limits.check_bytes(file, len(data))
    return data.startswith(ZIP) and _holds_bundle(open_archive(data, file, limits.of_zip()))


def is_bundle_archive(path: Path) -> bool:
    """The same of a file on disk, by its names alone; True also for a damaged one."""
    with open_regular(path) as stream:
        if not stream.read(4).startswith(ZIP):
            return False
        stream.seek(0)
        try:
            return _holds_bundle(open_archive(stream, path.name, ZipLimits()))
        except InvalidInput:
            return True


def _holds_bundle(names: Iterable[str]) -> bool:
    """A corpus beside its queries is no bundle."""
    bare = {name.rpartition("/")[2] for name in names if name.count("/") <= 1}
    return bool(bare & set(KNOWN_FILES)) and "corpus.jsonl" not in bare


def is_bundle_name(file: str) -> bool:
    """Whether a file has the name of one of a bundle's."""
    return file in KNOWN_FILES


PREVIEW_ROWS, PREVIEW_ASKED, PREVIEW_HITS = 20, 3, 3


class AskedPreview(NamedTuple):
    """A question as it would be loaded, its answer, the number of its hits, and its best hits: their texts (or names) and scores."""

    question: str
    hits: int
    best: tuple[tuple[str, float | None], ...]
    answer: str | None = None


class FilePreview(NamedTuple):
    """One table. `shape` is the recognised shape's name; `mapping` what its columns were taken for; one of them, or none.

    `rows` are the first 20 with their numbers; `asked` the first three questions as they would be loaded; `row_count` all rows;
    `failing` those with a problem.
    """

    file: str
    understood: str
    shape: str | None
    mapping: ColumnMapping | None
    columns: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, Any]], ...]
    asked: tuple[AskedPreview, ...]
    row_count: int
    failing: int
    unit: str
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


class Preview(NamedTuple):
    """What a load of these files would bring: `counts` of documents, chunks, queries and answers where nothing is wrong.

    `problems` are all of them, in the order of the files; `content_hash` is that of the dataset they would make, None where there are any,
    and `answers` those that it would hold. `obstacle` says why none of its chunks would have a neighbour.
    """

    files: tuple[FilePreview, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    name: str
    content_hash: str | None = None
    answers: tuple[Answer, ...] = ()
    obstacle: NoNeighbours | None = None


@dataclass(frozen=True, slots=True)
class _Dropped:
    """Rows left out, by file: those that fail themselves, and those that lost what they refer to."""

    failed: Mapping[str, frozenset[int]]
    lost: Mapping[str, frozenset[int]]


def preview(
    files: Sequence[tuple[str, bytes]],
    limits: FileLimits | None = None,
    mappings: Mapping[str, ColumnMapping] | None = None,
    into: OwnedDataset | None = None,
    onto: Dataset | None = None,
) -> Preview:
    """What the files hold and how they are understood, beside the dataset `into` that they join, their hits on the chunks of `onto`.

    Raises InvalidInput where the only file cannot be read at all.
    """
    tables, unreadable = open_tables(files, mappings or {}, limits or FileLimits())
    sources = sources_of(tables)
    checked = check_sources(sources, "preview", into, onto)
    bundle = checked.bundle
    counts = {} if bundle is None else {kind: len(getattr(bundle, kind)) for kind in ("documents", "chunks", "queries", "answers")}
    shown = [_file_preview(table, source, checked) for table, source in zip(tables, checked.sources, strict=True)]
    problems, answers = (*unreadable, *checked.problems), () if bundle is None else bundle.answers
    told = (*checked.notes, *(note for file in shown for note in file.notes))
    is_log = any(note.startswith(ONLY_RETRIEVED) for note in told)
    chunks = () if bundle is None or is_log else sorted((chunk.document_id, chunk.chunk_index) for chunk in bundle.chunks)
    why = no_neighbours(chunks)
    notes = checked.notes if why is None else (*checked.notes, why.sentence)
    return Preview(tuple(shown), notes, problems, counts, default_name(files), _hash_of(bundle), answers, why)


def _hash_of(bundle: Bundle | None) -> str | None:
    if bundle is None:
        return None
    try:
        return content_hash(check_records(bundle.documents, bundle.chunks, bundle.queries, bundle.answers))
    except InvalidInput:  # told when it is loaded
        return None


def import_files(
    files: Sequence[tuple[str, bytes]],
    mappings: Mapping[str, ColumnMapping] | None = None,
    name: str | None = None,
    *,
    valid_only: bool = False,
    limits: FileLimits | None = None,
    into: OwnedDataset | None = None,
    onto: Dataset | None = None,
) -> Reading:
    """The bundle that the files make together, with notes. `mappings` are by the name of the table ("" for all).

    `into` is the dataset that they join: references may name its records, and what is stored there otherwise is a problem. With
    `onto` their questions alone are loaded, with hits on the chunks of that dataset.

    Raises InvalidBundle with all problems, or InvalidInput with one sentence. With `valid_only` rows that fail are left
    out, which the notes count; a file that cannot be read at all is refused all the same.
    """
    limits = limits or FileLimits()
    if not valid_only and not mappings and onto is None and len(files) == 1 and is_bundle_zip(*files[0], limits):
        return read_bundle_bytes(files[0][1], files[0][0], name, limits.of_zip(), into)
    called = dataset_name(name if name is not None else default_name(files))
    where = ", ".join(shown_name(file) for file, _ in files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    tables, unreadable = open_tables(files, mappings or {}, limits)
    sources = sources_of(tables)
    checked = check_sources(sources, called, into, onto)
    dropped = None
    if valid_only and checked.problems and not unreadable:
        tables, sources, checked, dropped = _valid_part(tables, checked, called, into, onto)
    if unreadable or checked.bundle is None:
        raise InvalidBundle(where, (*unreadable, *checked.problems))
    bundle = checked.bundle
    if not (bundle.chunks or bundle.queries or bundle.answers) and (into is None or not bundle.documents):
        hold, valid = "hold" if len(files) > 1 else "holds", "valid " if dropped else ""
        documents = f"{counted(len(bundle.documents), 'document')}, but no {valid}text and no question: {HINT}"
        raise InvalidInput(f"{where} {hold} {documents if bundle.documents else f'no {valid}records'}")
    return Reading(bundle, (*_notes(tables, checked.sources), *checked.notes, *(_dropped_notes(dropped) if dropped else ())))


def default_name(files: Sequence[tuple[str, bytes]]) -> str:
    """The name of the dataset that files make where none is given: that of the first, without its ending."""
    names = [PurePosixPath(file.replace("\\", "/")).name for file, _ in files]
    stem = next((PurePosixPath(name).stem for name in names if not is_bundle_name(name)), "upload")
    bare = "".join(character if character.isprintable() else " " for character in stem).strip()
    return bare[:100] or "upload"


def _valid_part(
    tables: list[Table], checked: Checked, name: str, into: OwnedDataset | None, onto: Dataset | None
) -> tuple[list[Table], list[Source], Checked, _Dropped]:
    """The tables without their failing rows, checked again, until nothing fails."""
    first, later = checked.failed, dict[str, frozenset[int]]()
    failed: Mapping[str, frozenset[int]] = first
    while True:
        tables = [_without(table, failed.get(table.rows.file, frozenset())) for table in tables]
        sources = sources_of(tables)
        checked = check_sources(sources, name, into, onto)
        failed = checked.failed
        gone = any(failed.get(table.rows.file, frozenset()) & {number for number, _ in table.rows.rows} for table in tables)
        if checked.bundle is not None or not gone:
            return tables, sources, checked, _Dropped(first, later)
        for file, rows in failed.items():
            later[file] = later.get(file, frozenset()) | rows


def _without(table: Table, failed: frozenset[int]) -> Table:
    rows = table.rows
    if not rows.rows:  # a file of which nothing could be read has no valid part
        return table
    left = [(number, row) for number, row in rows.rows if number not in failed]
    problems = tuple(problem for problem in rows.problems if problem.line is None)
    return replace(table, rows=replace(rows, rows=left, problems=problems))


def _file_preview(table: Table, source: Source, checked: Checked) -> FilePreview:
    rows = table.rows
    own = tuple(problem for problem in checked.problems if problem.file == rows.file)
    return FilePreview(
        file=rows.file,
        understood=table.understood,
        shape=table.shape.name if table.shape is not None else None,
        mapping=table.mapping,
        columns=rows.columns,
        rows=tuple(rows.rows[:PREVIEW_ROWS]),
        asked=_asked_preview(source.lines),
        row_count=len(rows.rows) + len({problem.line for problem in rows.problems}),
        failing=len(checked.failed.get(rows.file, ())),
        unit=rows.unit,
        notes=(*rows.notes, *source.lines.notes),
        problems=own,
    )


def _asked_preview(lines: Converted) -> tuple[AskedPreview, ...]:
    questions = {str(line.get("query_id")): line.get("query") for _, line in lines.queries}
    answers = {str(line.get("query_id")): str(line.get("answer")) for _, line in lines.answers if line.get("answer") is not None}
    first = [line for _, line in (lines.retrievals or lines.answers)[:PREVIEW_ASKED]]
    hits = [[hit for hit in line.get("retrieved") or () if isinstance(hit, Mapping)] for line in first]
    named = {_key(hit) for own in hits for hit in own[:PREVIEW_HITS]}
    texts = {key: str(line.get("text")) for _, line in lines.chunks if (key := _key(line)) in named}
    return tuple(
        AskedPreview(
            str(questions.get(str(line.get("query_id"))) or line.get("query_id")),
            len(own),
            tuple((texts.get(_key(hit)) or " ".join(_key(hit)), _score(hit)) for hit in own[:PREVIEW_HITS]),
            answers.get(str(line.get("query_id"))),
        )
        for line, own in zip(first, hits, strict=True)
    )


def _score(hit: Mapping[str, Any]) -> float | None:
    """The score of a hit as read, None for one that is no number: the problems name it."""
    score = hit.get("score")
    return score if isinstance(score, (int, float)) and not isinstance(score, bool) else None


def _key(line: Mapping[str, Any]) -> tuple[str, str]:
    return str(line.get("document_id")), str(line.get("chunk_index"))


def _notes(tables: Sequence[Table], sources: Sequence[Source]) -> list[str]:
    """How each table was read and understood, and what was derived."""
    notes: list[str] = []
    for table, source in zip(tables, sources, strict=True):
        if table.bundle_kind is None:
            columns = table.mapping.columns.items() if table.mapping is not None else ()
            taken = ", ".join(f"{field} from {column}" for field, column in columns if field != column)
            read = f"{table.rows.file}: {'; '.join(table.rows.notes)}; read as {table.understood}"
            notes.append(f"{read}: {taken}" if taken else read)
        notes += source.lines.notes
    return list(dict.fromkeys(notes))


def _dropped_notes(dropped: _Dropped) -> list[str]:
    notes = []
    for file in dict.fromkeys((*dropped.failed, *dropped.lost)):
        failed, lost = len(dropped.failed.get(file, ())), len(dropped.lost.get(file, ()))
        parts = [f"{counted(failed, 'row')} with a problem"] if failed else []
        parts += [f"{counted(lost, 'row')} whose document, chunk or query was left out"] if lost else []
        notes.append(f"{file}: left out {' and '.join(parts)}")
    return notes
