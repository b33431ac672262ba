"""Lines of any origin -> one validated bundle, by the rules of a bundle's own files; problems named by where a line came from.

The lines of each kind are numbered through over all sources, as if they were one file of a bundle; a problem's number is
then turned back into the file and row that a user knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ctxasm.data.files.joining import join_logs
from ctxasm.data.files.kinds import ANSWERS, CHUNKS, DOCUMENTS, KNOWN_FILES, QUERIES, RETRIEVALS, Kind
from ctxasm.data.files.mapping_flat import UNQUOTED
from ctxasm.data.files.problems import MAX_PROBLEMS, NO_VALUE, Problem, Problems
from ctxasm.data.files.recognised.converted import Converted
from ctxasm.data.files.references import Tables, asked_queries, check_references, documents_of, notes_of
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.tables import Table, take_line
from ctxasm.model.datasets import Dataset, OwnedDataset
from ctxasm.model.errors import shown
from ctxasm.model.records import Bundle, Chunk

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
