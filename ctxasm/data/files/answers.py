"""Reading answers that are to be checked: any JSON Lines file with the fields of `answers.jsonl`, a bundle, or a stream.

Nothing is raised for a wrong line: its problems are handed on, so that the caller can add what only it knows (whether the
query of a record is stored) and report everything once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple, Self, cast

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from ctxasm.data.archives import ZipLimits
from ctxasm.data.files.bundle import ANSWERS, QUERIES, AnswerShape, Kind
from ctxasm.data.files.checking import read_table
from ctxasm.data.files.json_lines import LineReader
from ctxasm.data.files.problems import MAX_PROBLEMS, Problem, Problems, TooManyProblems
from ctxasm.data.files.source import file_opener, open_files
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import Answer
from ctxasm.model.regular_files import STDIN, refuse_irregular

MAX_BYTES = ZipLimits().total_bytes
"""Of one file of answers, as much as a .zip may unpack to."""
MOST_SHOWN = 50
Opener = Callable[[], IO[bytes]]


class AskedAnswer(NamedTuple):
    """An answer from line `line`. `question` is "" where it is not known; `has_sources` is False where the record names none.

    No sources at all (False) and an empty list of sources (True) are not the same: the first asks for a stored context.
    """

    answer: Answer
    question: str
    has_sources: bool
    line: int


class AnswersReading(NamedTuple):
    """What a file holds, and what is wrong with it. `file` is the name under which a problem of a line is reported."""

    where: str
    file: str
    answers: tuple[AskedAnswer, ...]
    problems: tuple[Problem, ...]
    replaced: int


class AskedAnswerShape(AnswerShape):
    """A line of answers, with its question; a number stands for one source."""

    question: str | None = None
    query: str | None = None

    @model_validator(mode="after")
    def _one_source_a_number(self) -> Self:
        seen: set[int] = set()
        for at, source in enumerate(self.sources or ()):
            if source.n in seen:
                details = {"field": f"sources[{at}].n", "message": "may stand once: a number means one source", "value": source.n}
                raise PydanticCustomError("field", "{message}", details)
            seen.add(source.n)
        return self


def read_answers(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> AnswersReading:
    """The answers in a file, or in the `answers.jsonl` of a bundle (folder or .zip); questions from `queries.jsonl` beside.

    Raises InvalidInput with one sentence where there is no such file or nothing in it.
    """
    place = _place(path)
    if place.is_dir() or place.suffix.lower() == ".zip":
        with open_files(place, "answers", ZipLimits()) as files:
            if ANSWERS.file not in files.known:
                raise InvalidInput(f"{place} holds no {ANSWERS.file}: give the file of answers itself, or a bundle that has one")
            return _read(str(place), ANSWERS.file, files.known[ANSWERS.file], files.known.get(QUERIES.file), max_bytes)
    beside = place.parent / QUERIES.file
    questions = file_opener(beside) if place.name != QUERIES.file and beside.is_file() else None
    return _read(str(place), place.name, file_opener(place), questions, max_bytes)


def read_answer_stream(stream: IO[bytes], name: str, *, max_bytes: int = MAX_BYTES) -> AnswersReading:
    """The answers of a stream, such as standard input. Raises as `read_answers`."""
    return _read(name, name, lambda: stream, None, max_bytes)


def refusal(where: str, problems: Sequence[Problem]) -> InvalidInput:
    """One error that lists the problems of a file, the first `MOST_SHOWN` in full."""
    lines = [f"{where}: {counted(len(problems), 'problem')}, nothing was checked"]
    lines += [f"  {problem}" for problem in problems[:MOST_SHOWN]]
    lines += [f"  … and {len(problems) - MOST_SHOWN:,} more"] if len(problems) > MOST_SHOWN else []
    return InvalidInput("\n".join(lines))


def _place(path: str | os.PathLike[str]) -> Path:
    named = shown(os.fspath(path), 300)
    try:
        place = Path(path).expanduser()
        if not place.exists():
            raise InvalidInput(f"there is no file or folder at {named}")
        refuse_irregular(place, STDIN)
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(f"{named} is not a path: give a file of JSON Lines, the folder of a bundle, or - for standard input") from None
    return place


def _read(where: str, file: str, answers: Opener, questions: Opener | None, max_bytes: int) -> AnswersReading:
    problems = Problems((file, QUERIES.file))
    reader = LineReader(problems)
    kind: Kind[AskedAnswerShape, AskedAnswer] = Kind(file, AskedAnswerShape, _asked, ())
    found, end = dict[int, AskedAnswer](), tuple[Problem, ...]()
    known: Mapping[str, str] = {}
    try:
        table = read_table(kind, lambda: cast(IO[bytes], _Bounded(answers(), max_bytes)), reader, problems)
        found = {table.lines[key]: record for key, record in table.records.items()}
        queries = read_table(QUERIES, questions, reader, problems)
        known = {query.query_id: query.query for query in queries.records.values()}
        if not found and not table.has_failures:
            raise InvalidInput(f"{where} holds no records: it is empty")
    except TooManyProblems:
        end = (Problem("reading", None, "", f"stopped after {MAX_PROBLEMS:,} problems; there may be more"),)
    records = (
        record._replace(line=line, question=record.question or known.get(record.answer.query_id, "")) for line, record in found.items()
    )
    return AnswersReading(where, file, tuple(records), (*problems.sorted(), *end), reader.replaced)


def _asked(line: AskedAnswerShape) -> AskedAnswer:
    return AskedAnswer(ANSWERS.record(line), line.question or line.query or "", line.sources is not None, 0)


class _Bounded:
    """The lines of a stream, up to a size. A line that never ends would otherwise fill the memory."""

    def __init__(self, stream: IO[bytes], max_bytes: int) -> None:
        self._stream, self._max = stream, max_bytes

    def __enter__(self) -> Self:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def __iter__(self) -> Iterator[bytes]:
        left = self._max
        while line := self._stream.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise ValueError(f"it is larger than {self._max / 2**20:,.0f} MB: split it")
            yield line
