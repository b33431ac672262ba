"""`ctxasm review ACTION`: answers that people judge, citation by citation.

  ctxasm review queue --data log --reviewer An        the answers to judge, the riskiest first (recorded ones are kept as runs)
  ctxasm review queue answers.jsonl --reviewer An     the same of a file of answers
  ctxasm review export reviews.jsonl                  runs and judgements; .csv and .xlsx for a spreadsheet
  ctxasm review import reviews.jsonl                  what another database exported
  ctxasm review agreement                             how reviewers agree with each other, and the checker with them
  ctxasm review gold --data log                       what reviewers approve becomes the evidence of the questions

Judging itself is done on a page, or from Python with `ctxasm.judge`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from ctxasm.app.commands.common import Command, add_dataset, as_json, require_data, say, show, workbench_of, write_result
from ctxasm.app.reviews import (
    FORMATS,
    agreement_dict,
    annotations_text,
    export_reviews,
    import_reviews,
    keep_recorded,
    review_queue,
    run_ids_of,
)
from ctxasm.app.workbench import Workbench
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput
from ctxasm.model.runs import RunFilter

QUESTION_CHARS = 100


def add_review(parser: ArgumentParser) -> None:
    """ACTION, FILE, --reviewer, --batch, --as, --annotations, --format, --data, --db."""
    parser.add_argument("action", choices=tuple(ACTIONS), help="what to do")
    parser.add_argument("file", nargs="?", metavar="FILE", help="answers for queue, a file to write for export, or to read for import")
    parser.add_argument("--reviewer", metavar="NAME", default="", help="who judges, for queue")
    parser.add_argument("--batch", metavar="NAME", help="only runs that were kept under this name (for queue: keep them under it)")
    parser.add_argument("--as", choices=FORMATS, dest="form", help="what to export (default: by the suffix of the file)")
    parser.add_argument(
        "--annotations", metavar="FILE", help="with export: also the judgements as annotations of spans, as Phoenix takes them"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_dataset(parser)


def run_review(args: Namespace) -> int:
    """Do it, and print what came of it."""
    return ACTIONS[args.action](
        args, workbench_of(args, makes=args.action == "import" or (args.action == "queue" and args.file is not None))
    )


def _queue(args: Namespace, workbench: Workbench) -> int:
    if not args.reviewer.strip():
        raise InvalidInput("review queue needs --reviewer NAME: what is judged already differs between reviewers")
    if args.file is not None or args.batch is None:
        if args.file is None:
            require_data(workbench)
        kept = keep_recorded(workbench, args.data, args.file, batch=args.batch or "")
        run_ids = list(kept.run_ids)
        say(f"{counted(kept.new, 'answer')} newly kept")
    else:
        run_ids = run_ids_of(workbench, RunFilter(args.data, args.batch))
    entries = review_queue(workbench, args.reviewer, run_ids)
    if args.format == "json":
        show(as_json([entry._asdict() for entry in entries]))
        return 0
    for entry in entries:
        words = " ".join(entry.question.split())
        show(f"{entry.run_id}\t{entry.judged} of {entry.items} judged\t{words[:QUESTION_CHARS]}")
    say(f"{sum(entry.is_done for entry in entries)} of {counted(len(entries), 'answer')} judged by {args.reviewer}")
    return 0


def _export(args: Namespace, workbench: Workbench) -> int:
    run_ids = run_ids_of(workbench, RunFilter(args.data, args.batch))
    count = export_reviews(workbench, _file(args), run_ids, args.form)
    show(f"{counted(count, 'run')} in {args.file}")
    if args.annotations is not None:
        text, without = annotations_text(workbench, run_ids)
        write_result("--annotations", args.annotations, text)
        if without:
            say(f"{counted(without, 'judged answer')} came with no OpenTelemetry span id: load the trace with it")
    return 0


def _import(args: Namespace, workbench: Workbench) -> int:
    report = import_reviews(workbench, _file(args))
    for given, standing in report.conflicts:
        where = f"{given.item} of run {given.run_id} by {given.reviewer}, version {given.version}"
        say(f"conflict at {where}: {given.verdict or given.answers or given.note!r} there, {standing.verdict or standing.answers!r} here")
    show(report.sentence())
    return 1 if report.conflicts else 0


def _agreement(args: Namespace, workbench: Workbench) -> int:
    found = agreement_dict(workbench, run_ids_of(workbench, RunFilter(args.data, args.batch)))
    show(as_json(found) if args.format == "json" else "\n".join(found["sentences"]))
    return 0


def _gold(args: Namespace, workbench: Workbench) -> int:
    from ctxasm.review.gold import approve

    require_data(workbench)
    show(approve(workbench, args.data).sentence())
    return 0


def _file(args: Namespace) -> str:
    if args.file is None:
        raise InvalidInput(f"review {args.action} needs a FILE")
    return str(args.file)


ACTIONS: Mapping[str, Callable[[Namespace, Workbench], int]] = {
    "queue": _queue,
    "export": _export,
    "import": _import,
    "agreement": _agreement,
    "gold": _gold,
}


REVIEW = Command(
    "judge answers: a queue, export and import, agreement of reviewers, gold from verdicts",
    """`ctxasm review ACTION`: answers that people judge, citation by citation.

  ctxasm review queue --data log --reviewer An        the answers to judge, the riskiest first (recorded ones are kept as runs)
  ctxasm review queue answers.jsonl --reviewer An     the same of a file of answers
  ctxasm review export reviews.jsonl                  runs and judgements; .csv and .xlsx for a spreadsheet
  ctxasm review import reviews.jsonl                  what another database exported
  ctxasm review agreement                             how reviewers agree with each other, and the checker with them
  ctxasm review gold --data log                       what reviewers approve becomes the evidence of the questions

Judging itself is done on a page, or from Python with `ctxasm.judge`.
""",
    add_review,
    run_review,
)
