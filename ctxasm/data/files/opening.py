"""Several files handed in together -> their tables, each under a name of its own, and how each is to be understood.

A table is understood, in this order: as the user mapped it, as a file of a bundle by its name, as a recognised shape, as
its columns suggest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctxasm.data.archives import ZipLimits
from ctxasm.data.files.files import open_archive
from ctxasm.data.files.formats import ZIP, read_rows, shown_name
from ctxasm.data.files.kinds import KNOWN_FILES
from ctxasm.data.files.limits import FileLimits
from ctxasm.data.files.mapping import ColumnMapping, apply, guess
from ctxasm.data.files.mapping_form import HITS
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.recognised import Converted, Shape, recognised
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.unread import unread_notes
from ctxasm.data.files.validating import KINDS, Source
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import open_regular

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
    shape = None if guessed is not None and _is_of_chunks(guessed) else recognised([rows])
    if shape is not None:
        return Table(rows, shape=shape)
    if kind is not None:
        return Table(rows, bundle_kind=kind)
    if guessed is not None:
        return Table(rows, mapping=guessed)
    if rows.columns:
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
    maps_documents = any(_gives_documents(table) for table in tables)
    shared = {shape.name: shape for table in tables if (shape := table.shape) is not None}
    of_shape: dict[str, Source] = {}
    for name, shape in shared.items():
        own = [table.rows for table in tables if table.shape is not None and table.shape.name == name]
        of_shape |= {rows.file: Source(rows, lines) for rows, lines in zip(own, shape.convert_all(own), strict=True)}
    return [_with_unread(of_shape.get(table.rows.file) or _source(table, maps_documents)) for table in tables]


def _with_unread(source: Source) -> Source:
    """The source with a note on the fields that nothing was made of; where it became nothing, its problems say so."""
    notes = unread_notes(source.rows, source.lines) if source.lines != Converted() and not source.problems else ()
    return replace(source, lines=replace(source.lines, notes=(*source.lines.notes, *notes))) if notes else source


def _gives_documents(table: Table) -> bool:
    return table.bundle_kind == "documents" or (table.mapping is not None and table.mapping.kind == "documents")


def _source(table: Table, maps_documents: bool) -> Source:
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
