"""Recorded answers, checked one by one, and reviews over a workbench: answers are kept as runs, queued, exported and imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import STDIN, refuse_irregular, standard_input, write_file
from ctxasm.model.runs import Run, RunFilter
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.formats import expects_markers

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.citations.agreement import Judged
    from ctxasm.citations.grounds import Grounds
    from ctxasm.citations.report import CheckedAnswer
    from ctxasm.data.files.answers import AnswersReading, AskedAnswer
    from ctxasm.data.files.problems import Problem
    from ctxasm.model.records import Answer
    from ctxasm.model.results import Assembly
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.model.support import Scorer
    from ctxasm.review.exchange import ImportReport
    from ctxasm.review.judging import QueueEntry
    from ctxasm.review.runs import ModelAnswer, Parameters
    from ctxasm.text.markers.grammar import Numbering, Reading


Tell = Callable[[str], None]
"""Takes a note about what is read."""


def _nothing(message: str) -> None:
    """A `Tell` of no one."""


class AnswerCheck:
    """The answers of one run, checked one by one. `refused` says why of those whose context could not be assembled."""

    def __init__(
        self,
        workbench: Workbench,
        settings: AssemblySettings,
        scorer: Scorer,
        answers: Sequence[AskedAnswer],
        dataset: str | None,
        reading: Reading | None = None,
        tell: Tell = _nothing,
        numbering: Numbering = "auto",
    ) -> None:
        self._numbering: Numbering = numbering
        self._workbench, self._settings, self._scorer = workbench, settings, scorer
        self._answers, self._dataset, self._reading, self._tell = answers, dataset, reading, tell
        self.readings: set[Reading] = set()
        self._judged: list[Judged] = []
        self.refused, self.count = dict[str, str](), len(answers)

    def all(self) -> Iterator[tuple[CheckedAnswer, Grounds, Answer]]:
        """Each answer with what it was checked against, and as it is recorded."""
        from ctxasm.app.parts import open_likeness
        from ctxasm.citations.agreement import label_scores
        from ctxasm.citations.alignment import check_answer

        voice, marked = self._settings.channel == "voice", expects_markers(self._settings)
        for asked in self._answers:
            answer = asked.answer
            try:
                grounds = self._grounds(asked)
            except InvalidInput as error:
                self.refused[answer.query_id] = str(error)
                self._tell(f"query {answer.query_id}: {error}")
                continue
            checked = check_answer(
                answer.answer,
                grounds,
                self._scorer,
                query_id=answer.query_id,
                question=asked.question,
                voice=voice,
                marked=marked or asked.has_sources,  # sources of its own have their own numbers, whatever the format
                cut=answer.metadata.get("finish_reason") == "length",
                reference=str(answer.metadata.get("reference") or ""),
                likeness=open_likeness(),
                reading=self._reading or "usual",
                numbering=self._numbering,
            )
            self.readings.add(checked.reading)
            yield checked, grounds, answer
            if asked.has_sources:
                self._judged += label_scores([answer], self._scorer, {answer.query_id: asked.question})

    def _grounds(self, asked: AskedAnswer) -> Grounds:
        from ctxasm.citations.grounds import grounds_of_assembly, grounds_of_sources

        if asked.has_sources:
            return grounds_of_sources(asked.answer.sources)
        query = self._workbench.query(self._dataset, asked.answer.query_id)
        return grounds_of_assembly(self._workbench.assemble(query, self._settings, self._dataset))

    def agreement(self) -> dict[str, object] | None:
        """How the scorer agrees with the labels of the answers; None where they have none."""
        from ctxasm.citations.agreement import agreement_dict

        labels = sum(len(asked.answer.labels) for asked in self._answers)
        return agreement_dict(self._judged, self._scorer.threshold, labels) if labels else None


def read_asked(workbench: Workbench, file: str | None, data: str | None, tell: Tell = _nothing) -> tuple[Sequence[AskedAnswer], str | None]:
    """What to check, and the dataset that its contexts come from, if any. Raises InvalidInput with every problem of the file."""
    if file is None:
        return _stored(workbench, data, tell)
    reading = _reading(file)
    if reading.replaced:
        tell(f"note: {counted(reading.replaced, 'character')} became U+FFFD (NUL, lone surrogates)")
    bare = [asked for asked in reading.answers if not asked.has_sources]
    datasets = bool(bare) and bool(workbench.datasets())
    dataset = workbench.dataset(data).info.name if datasets or data is not None else None
    texts = {entry.query_id: entry.query for entry in workbench.query_list(dataset)} if dataset is not None and bare else {}
    lacking = [_lacking(asked, reading.file, dataset) for asked in bare if asked.answer.query_id not in texts]
    _refuse(reading.where, [*reading.problems, *lacking])
    if bare:
        tell(f"note: {len(bare)} without sources, checked against contexts assembled from {dataset}")
    return _with_questions(reading.answers, texts), dataset


def _reading(file: str) -> AnswersReading:
    from ctxasm.data.files.answers import read_answer_stream, read_answers

    if file != "-":
        return read_answers(file)
    return read_answer_stream(standard_input(), "standard input")


def _stored(workbench: Workbench, data: str | None, tell: Tell) -> tuple[Sequence[AskedAnswer], str]:
    from ctxasm.data.files.answers import AskedAnswer

    dataset = workbench.dataset(data).info.name  # one dataset throughout, also when a newer one is loaded meanwhile
    answers = workbench.dataset(dataset).answers()
    if not answers:
        raise InvalidInput(f"dataset {dataset} has no recorded answers: give a FILE of answers, or load a bundle with answers.jsonl")
    texts = {entry.query_id: entry.query for entry in workbench.query_list(dataset)}
    asked = [AskedAnswer(answer, "", bool(answer.sources), 0) for answer in answers]
    lacking = [item for item in asked if not item.has_sources and item.answer.query_id not in texts]
    _refuse(f"dataset {dataset}", [_lacking(item, "answers.jsonl", dataset) for item in lacking])
    tell(f"{counted(len(answers), 'recorded answer')} of {dataset}")
    return _with_questions(asked, texts), dataset


def _lacking(asked: AskedAnswer, file: str, dataset: str | None) -> Problem:
    from ctxasm.data.files.problems import Problem

    if dataset is None:
        return Problem(file, asked.line, "sources", "is missing: give the sources, or load the dataset that the answer was made from")
    why = f"has no sources and is no query of dataset {dataset}: give sources, or name its dataset with --data"
    return Problem(file, asked.line or None, "query_id", why, shown(asked.answer.query_id))


def _with_questions(answers: Sequence[AskedAnswer], texts: Mapping[str, str]) -> tuple[AskedAnswer, ...]:
    return tuple(asked._replace(question=asked.question or texts.get(asked.answer.query_id, "")) for asked in answers)


def _refuse(where: str, problems: Sequence[Problem]) -> None:
    from ctxasm.data.files.answers import refusal

    if problems:
        raise refusal(where, sorted(problems, key=lambda problem: (problem.file, problem.line or 0)))


FORMATS = ("jsonl", "csv", "xlsx", "annotations")
"""What reviews are exported as; the first is whole, and the one that is imported."""


class Kept(NamedTuple):
    """The runs of recorded answers: how many are `new`, and why others could not be checked, by question."""

    run_ids: tuple[str, ...]
    new: int
    refused: dict[str, str]


def keep_answer(
    workbench: Workbench,
    assembly: Assembly,
    answer: ModelAnswer,
    checked: CheckedAnswer,
    asked: Parameters,
    dataset: str | None = None,
    *,
    author: str = "",
    batch: str = "",
    prices: tuple[float, float] | None = None,
) -> Run:
    """Keep an answer that was asked for, with what its context holds of the labelled evidence. `prices` are of a million tokens."""
    from dataclasses import replace

    from ctxasm import __version__
    from ctxasm.review.runs import run_of
    from ctxasm.tuning.compare_answers import Prices

    data = workbench.dataset(dataset).info if dataset is not None else None
    found = _evidence(workbench, assembly, dataset)
    run = run_of(assembly, answer, checked, asked, data, version=__version__, author=author, batch=batch, evidence=found)
    if prices is not None and run.sent_tokens is not None:
        run = replace(run, cost=Prices(*prices).of(run.sent_tokens, run.written_tokens or 0))
    workbench.store.keep_runs([run])
    return run


def keep_recorded(
    workbench: Workbench,
    dataset: str | None = None,
    file: str | None = None,
    *,
    batch: str = "",
    settings: AssemblySettings | None = None,
    scorer: Scorer | str = "lexical",
) -> Kept:
    """Keep the answers that a dataset records, or those of a file of answers, checked; each once, however often this is done.

    Raises InvalidInput with every problem of the file, NotFound, ModelUnavailable.
    """
    from ctxasm import __version__
    from ctxasm.review.runs import run_of_record

    asked, named = read_asked(workbench, file, dataset)
    data = workbench.dataset(named).info if named is not None else None
    scored = workbench.open_scorer(scorer) if isinstance(scorer, str) else scorer
    check = AnswerCheck(workbench, settings or AssemblySettings(), scored, asked, named)
    questions = {each.answer.query_id: each.question for each in asked}
    batch = batch or (Path(file).stem if file is not None and file != "-" else "")
    runs: list[Run] = []
    for checked, grounds, answer in check.all():
        found = _evidence(workbench, grounds.assembly, named)
        question = questions.get(answer.query_id, "")
        runs.append(run_of_record(answer, grounds, checked, question, data, version=__version__, batch=batch, evidence=found))
    new = workbench.store.keep_runs(runs, skip_known=True)
    return Kept(tuple(dict.fromkeys(run.run_id for run in runs)), new, check.refused)


def _evidence(workbench: Workbench, assembly: Assembly | None, dataset: str | None) -> tuple[int, int] | None:
    """How much of the labelled evidence a context holds, of how much; None where nothing is labelled, or no context was assembled."""
    states = workbench.evidence(assembly, dataset) if assembly is not None and dataset is not None else ()
    return (sum(state.state == "found" for state in states), len(states)) if states else None


def review_queue(workbench: Workbench, reviewer: str, run_ids: Iterable[str]) -> list[QueueEntry]:
    """These runs in the order in which a reviewer should take them, off their questions' gold among what counts as a risk."""
    from ctxasm.model.errors import NotFound
    from ctxasm.review.gold import labelled_chunks
    from ctxasm.review.judging import queue

    wanted = list(dict.fromkeys(run_ids))
    gold: dict[tuple[str, str], frozenset[tuple[str, int]]] = {}
    for name in {workbench.store.run(run_id).dataset for run_id in wanted} - {""}:
        try:
            gold |= labelled_chunks(workbench.dataset(name).queries(), name)
        except NotFound:  # deleted since: its runs are judged by what they kept
            continue
    return queue(workbench.store, wanted, reviewer, gold)


def run_ids_of(workbench: Workbench, wanted: RunFilter) -> list[str]:
    """The runs that a filter finds, the newest first."""
    return [entry.run_id for entry in workbench.store.runs(wanted)]


def export_reviews(workbench: Workbench, path: str | os.PathLike[str], run_ids: Iterable[str], form: str | None = None) -> int:
    """Write runs with their judgements to a file, as its suffix or `form` says; how many runs. Raises InvalidInput, NotFound."""
    from ctxasm.review.exchange import as_csv, as_xlsx, export_lines, table_rows

    place, wanted, store = Path(path), sorted(set(run_ids)), workbench.store
    chosen = form or place.suffix.lstrip(".").lower()
    if chosen not in FORMATS:
        raise InvalidInput(f"reviews are exported as {', '.join(FORMATS)}, got {shown(chosen)}: name a file of that suffix, or the format")
    if chosen == "jsonl":
        made = "".join(export_lines(store, wanted)).encode()
    elif chosen == "annotations":
        made = annotations_text(workbench, wanted)[0].encode()
    else:
        made = (as_csv if chosen == "csv" else as_xlsx)(table_rows(store, wanted))
    write_file("the file of reviews", place, made)
    return len(wanted)


def annotations_text(workbench: Workbench, run_ids: Iterable[str]) -> tuple[str, int]:
    """The body of `POST /v1/span_annotations`, and how many judged answers came with no span id."""
    from ctxasm.citations.phoenix import annotations_json
    from ctxasm.review.exchange import annotations_of_reviews

    found, without = annotations_of_reviews(workbench.store, run_ids)
    return annotations_json(found), without


def import_reviews(workbench: Workbench, path: str | os.PathLike[str]) -> ImportReport:
    """Keep the runs and judgements of a file that `export_reviews` wrote as JSON Lines. Raises InvalidInput; then nothing is kept."""
    from ctxasm.review.exchange import LONGEST_LINE, import_lines

    place = Path(path)
    try:
        refuse_irregular(place, STDIN)
        with place.open("rb") as stream:
            return import_lines(workbench.store, iter(lambda: stream.readline(LONGEST_LINE + 1), b""))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"reviews cannot be read from {shown(os.fspath(path), 300)}: {error}") from None


def agreement_dict(workbench: Workbench, run_ids: Iterable[str]) -> dict[str, Any]:
    """Agreement of reviewers and calibration of the checker as JSON values, with their sentences."""
    from ctxasm.review.reviewers import agreement, calibration

    wanted = list(dict.fromkeys(run_ids))
    citations, answers = agreement(workbench.store, wanted)
    checker = calibration(workbench.store, wanted)
    sentences = [citations.sentence(), answers.sentence(), checker.sentence()]
    return {"citations": citations.to_dict(), "answers": answers.to_dict(), "checker": checker.to_dict(), "sentences": sentences}
