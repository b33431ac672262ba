"""Any files -> one validated bundle, or one error that names every problem; and the same looked at before it is done.

All or nothing, unless the user asks for the valid part. Then the rows that fail are left out, then those whose document,
chunk or query went with them, and so on until all holds: what is loaded is what the files without these rows would give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ctxasm.data.files.files import dataset_name
from ctxasm.data.files.formats import shown_name
from ctxasm.data.files.limits import FileLimits
from ctxasm.data.files.mapping import ColumnMapping
from ctxasm.data.files.opening import Table, is_bundle_name, is_bundle_zip, open_tables, sources_of
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.reading import Reading, read_bundle_bytes
from ctxasm.data.files.recognised import Converted
from ctxasm.data.files.recognised.converted import ONLY_RETRIEVED
from ctxasm.data.files.validating import Checked, Source, check_sources
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import Dataset, OwnedDataset
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.neighbours import NoNeighbours, no_neighbours
from ctxasm.model.records import Answer, Bundle
from ctxasm.store.digest import content_hash
from ctxasm.store.intake import check_records

PREVIEW_ROWS, PREVIEW_ASKED, PREVIEW_HITS = 20, 3, 3


class AskedPreview(NamedTuple):
    """A question as it would be loaded, with the number of its hits, and its best hits: their texts (or names) and scores."""

    question: str
    hits: int
    best: tuple[tuple[str, float | None], ...]


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
    if not (bundle.documents or bundle.chunks or bundle.queries or bundle.answers):
        raise InvalidInput(f"{where} {'hold' if len(files) > 1 else 'holds'} no {'valid ' if dropped else ''}records")
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
    first = [line for _, line in lines.retrievals[:PREVIEW_ASKED]]
    hits = [[hit for hit in line.get("retrieved") or () if isinstance(hit, Mapping)] for line in first]
    named = {_key(hit) for own in hits for hit in own[:PREVIEW_HITS]}
    texts = {key: str(line.get("text")) for _, line in lines.chunks if (key := _key(line)) in named}
    return tuple(
        AskedPreview(
            str(questions.get(str(line.get("query_id"))) or line.get("query_id")),
            len(own),
            tuple((texts.get(_key(hit)) or " ".join(_key(hit)), _score(hit)) for hit in own[:PREVIEW_HITS]),
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
