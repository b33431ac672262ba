"""Recorded answers, of a file or of a dataset, checked one by one: what `check` prints and what a review keeps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.text.formats import expects_markers

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.citations.agreement import Judged
    from ctxasm.citations.grounds import Grounds
    from ctxasm.citations.report import CheckedAnswer
    from ctxasm.data.files.answers import AnswersReading, AskedAnswer
    from ctxasm.data.files.problems import Problem
    from ctxasm.model.records import Answer
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.model.support import Scorer
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
    if sys.stdin is None:
        raise InvalidInput("there is no standard input: give a file")
    return read_answer_stream(sys.stdin.buffer, "standard input")


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
