"""Runs and reviews over a workbench, for commands, pages and Python: what the functions of `ctxasm.review` need is opened here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import STDIN, refuse_irregular
from ctxasm.model.runs import Run, RunFilter
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.citations.report import CheckedAnswer
    from ctxasm.model.results import Assembly
    from ctxasm.model.support import Scorer
    from ctxasm.review.exchange import ImportReport
    from ctxasm.review.judging import QueueEntry
    from ctxasm.review.runs import ModelAnswer, Parameters

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
    from ctxasm.app.recorded import AnswerCheck, read_asked
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
    try:
        place.write_bytes(made)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"reviews cannot be written to {shown(os.fspath(path), 300)}: {error}") from None
    return len(wanted)


def annotations_text(workbench: Workbench, run_ids: Iterable[str]) -> tuple[str, int]:
    """The body of `POST /v1/span_annotations`, and how many judged answers came with no span id."""
    import json

    from ctxasm.citations.phoenix import annotations_body
    from ctxasm.review.exchange import annotations_of_reviews

    found, without = annotations_of_reviews(workbench.store, run_ids)
    text: str = json.dumps(annotations_body(found), ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode("utf-8", "replace").decode() + "\n", without


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
