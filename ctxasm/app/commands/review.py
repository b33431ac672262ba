"""`ctxasm label`, `questions`, `review`, `history` and `report`: what people say about questions and answers, and what was kept."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Any

from ctxasm.app.commands.common import (
    Command,
    add_database,
    add_dataset,
    as_json,
    check_writable,
    loaded_workbench,
    require_data,
    say,
    show,
    workbench_of,
)
from ctxasm.app.report import report_runs
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
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import GoldChange, GoldChunk, Query, Span
from ctxasm.model.regular_files import write_file
from ctxasm.model.runs import Run, RunFilter
from ctxasm.model.runs import as_json as run_json

SHOWN_CHARS = 80


def add_label(parser: ArgumentParser) -> None:
    """QUERY_ID, CHUNK…, --phrase, --any, --data, --remove, --db."""
    parser.add_argument("query_id", metavar="QUERY_ID")
    parser.add_argument("chunk", nargs="*", metavar="DOCUMENT:INDEX", help="a chunk that holds what the question asks for")
    parser.add_argument("--phrase", action="append", default=[], metavar="TEXT", help="words that it needs; repeatable")
    parser.add_argument(
        "--any", action="store_true", help="any one of the chunks named here, and of all passages that hold a phrase, is enough"
    )
    parser.add_argument("--data", metavar="NAME", help="name of the dataset (default: the newest)")
    parser.add_argument("--remove", action="store_true", help="take these from the evidence, lost ones too, instead of adding them")
    add_database(parser)


def run_label(args: Namespace) -> int:
    """Label, and print the evidence, a label a line."""
    from ctxasm.data.labelling import label

    if args.any and args.remove:
        raise InvalidInput("--any and --remove exclude each other: a removed chunk goes from its alternatives")
    workbench = loaded_workbench(args)
    how: GoldChange = "remove" if args.remove else "add"
    chunks = [_chunk(text) for text in args.chunk]
    query = label(workbench, args.data, args.query_id, chunks, how, phrases=args.phrase, any_of=args.any)
    say(f"{query.query_id}: {query.query}")
    for gold in query.gold:
        show(label_line(gold))
    return 0


def label_line(gold: GoldChunk) -> str:
    """A label on one line: its chunk, or those of which any one is enough, each with the words that are needed or lost."""
    return " | ".join(map(_place, gold.places))


def _place(gold: GoldChunk) -> str:
    words = f" {shown(gold.text, SHOWN_CHARS)}" if gold.text is not None else ""
    return f"{gold.document_id}:{gold.chunk_index}{' lost' if gold.lost else ''}{words}"


def _chunk(text: str) -> tuple[str, int]:
    document, colon, index = text.rpartition(":")
    if not colon or not document or not index.isascii() or not index.isdecimal() or len(index) > 10:
        raise InvalidInput(f"a chunk must be DOCUMENT:INDEX, such as guide.md:3, got {shown(text)}")
    return document, int(index)


LABEL = Command(
    "say which passages a question needs (gold evidence)",
    """`ctxasm label`: which passages a question needs, said after the load, on imported logs as well.

The evidence is kept with the question: results are measured by it, and an export holds it. `ctxasm questions` lists the ids.
""",
    add_label,
    run_label,
)


QUESTION_CHARS = 100


def add_questions(parser: ArgumentParser) -> None:
    """--lost, --format, --data, --db."""
    parser.add_argument("--lost", action="store_true", help="only questions with a label or hit whose text is in the dataset no more")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_dataset(parser)


def run_questions(args: Namespace) -> int:
    """Print a line a question, with its labels below it where some are lost; or a JSON list."""
    workbench = loaded_workbench(args)
    dataset = workbench.dataset(args.data)
    every = dataset.queries()
    found = [query for query in every if not args.lost or query.lost_labels or query.lost_hits]
    if args.format == "json":
        print(as_json([as_row(query) for query in found]))
        return 0
    for query in found:
        show(_line(query))
        for gold in query.gold:
            if any(place.lost for place in gold.places):
                show(f"  {label_line(gold)}")
        for place in query.lost_labels:
            if isinstance(place, Span):
                show(f"  {place.document_id} characters {place.start} to {place.end} lost {shown(place.text or '', SHOWN_CHARS)}")
        for one in query.lost_hits:
            show(f"  hit {one.hit.document_id}:{one.hit.chunk_index} lost {shown(one.text, SHOWN_CHARS)}")
    labelled, lost_labels = sum(query.is_labelled for query in every), sum(_lost(query) > 0 for query in every)
    without = f", {lost_labels:,} with a lost label" if lost_labels else ""
    say(f"{dataset.info.name}: {counted(len(every), 'question')}, {labelled:,} labelled{without}")
    return 0


def as_row(query: Query) -> dict[str, Any]:
    """A question as JSON: its labels and lost hits as a bundle has them."""
    from ctxasm.data.files.bundle import query_row, retrieval_row

    row, retrieval = query_row(query), retrieval_row(query)
    own = {"query_id": query.query_id, "query": query.query, "hits": len(query.retrieved)}
    labels = {name: row.get(name, ()) for name in ("gold", "spans")}
    return {
        **own,
        "labels": len(query.labels),
        "lost_labels": _lost(query),
        **labels,
        "lost_hits": retrieval.get("lost_hits", ()),
    }


def _lost(query: Query) -> int:
    """How many labels are lost: of one with alternatives all of them."""
    return sum(all(place.lost for place in label.places) for label in query.labels)


def _line(query: Query) -> str:
    def part(count: int, noun: str, lost: int) -> str:
        return counted(count, noun) + (f" ({lost:,} lost)" if lost else "")

    words = " ".join(query.query.split())
    short = words if len(words) <= QUESTION_CHARS else words[: QUESTION_CHARS - 1] + "…"
    hits = counted(len(query.retrieved), "hit") + (f" ({len(query.lost_hits):,} more lost)" if query.lost_hits else "")
    return "\t".join((query.query_id, hits, part(len(query.labels), "label", _lost(query)), short))


QUESTIONS = Command(
    "list the questions of a dataset with their hits, labels, and what is lost",
    """`ctxasm questions`: the questions of a dataset, loaded and saved, their hits and labels, and what of them is lost.""",
    add_questions,
    run_questions,
)


def add_review(parser: ArgumentParser) -> None:
    """ACTION, FILE, --reviewer, --batch, --as, --annotations, --undo, --format, --data, --db."""
    parser.add_argument("action", choices=tuple(ACTIONS), help="what to do")
    parser.add_argument("file", nargs="?", metavar="FILE", help="answers for queue, a file to write for export, or to read for import")
    parser.add_argument("--reviewer", metavar="NAME", default="", help="who judges, for queue")
    parser.add_argument("--batch", metavar="NAME", help="only runs that were kept under this name (for queue: keep them under it)")
    parser.add_argument("--as", choices=FORMATS, dest="form", help="what to export (default: by the suffix of the file)")
    parser.add_argument(
        "--annotations", metavar="FILE", help="with export: also the judgements as annotations of spans, as Phoenix takes them"
    )
    parser.add_argument("--undo", action="store_true", help="with gold: give the questions the labels back that they had before")
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
        write_file("--annotations", args.annotations, text)
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
    from ctxasm.review.gold import approve, undo_approval

    require_data(workbench)
    show((undo_approval if args.undo else approve)(workbench, args.data).sentence())
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
  ctxasm review gold --data log                       what reviewers approve becomes the evidence of the questions; --undo

Judging itself is done on a page, or from Python with `ctxasm.judge`.
""",
    add_review,
    run_review,
)


HISTORY_CHARS = 80


def add_history(parser: ArgumentParser) -> None:
    """RUN…, the filters, --delete, --restore, --purge, --format, --data, --db."""
    parser.add_argument("run_id", nargs="*", metavar="RUN", help="one run to show, or two to compare")
    parser.add_argument("--batch", metavar="NAME", help="only runs that were kept under this name")
    parser.add_argument("--query-id", metavar="ID", help="only answers to this question")
    parser.add_argument("--model", metavar="NAME", help="only answers of this model")
    parser.add_argument("--author", metavar="NAME", help="only answers that this person kept")
    parser.add_argument("--since", metavar="DATE", help="only runs kept from this date on (UTC, such as 2026-11-28 or 2026-11-28T08:30)")
    parser.add_argument("--until", metavar="DATE", help="only runs kept before this date")
    parser.add_argument("--limit", metavar="N", type=int, help="at most so many (default: all)")
    parser.add_argument("--deleted", action="store_true", help="list the deleted runs instead")
    parser.add_argument("--delete", metavar="RUN", action="append", default=[], help="delete a run with its judgements; repeatable")
    parser.add_argument("--restore", metavar="RUN", action="append", default=[], help="undo that; repeatable")
    parser.add_argument("--purge", action="store_true", help="remove deleted runs and their judgements for good")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_dataset(parser)


def run_history(args: Namespace) -> int:
    """Print it."""
    store = workbench_of(args).store
    if args.delete or args.restore or args.purge:
        deleted, restored = store.delete_runs(args.delete), store.delete_runs(args.restore, undo=True)
        purged = store.purge_runs() if args.purge else 0
        show(f"{counted(deleted, 'run')} deleted, {restored} restored, {purged} removed for good")
        return 0
    if len(args.run_id) > 2:
        raise InvalidInput(f"history takes one run to show or two to compare, got {len(args.run_id)}")
    found = [store.run(run_id) for run_id in args.run_id]
    if len(found) == 2:
        from ctxasm.review.runs import difference_of

        made = difference_of(*found)
        show(as_json(made.to_dict()) if args.format == "json" else "\n".join(made.sentences()))
    elif found:
        show(as_json(json.loads(run_json(found[0]))) if args.format == "json" else _text(found[0]))
    else:
        _list(args)
    return 0


def _list(args: Namespace) -> None:
    if args.limit is not None and args.limit < 1:
        raise InvalidInput(f"--limit must be at least 1, got {args.limit}")
    wanted = RunFilter(args.data, args.batch, args.query_id, args.model, args.author, args.since, args.until, args.deleted, args.limit)
    entries = workbench_of(args).store.runs(wanted)
    if args.format == "json":
        show(as_json([entry._asdict() for entry in entries]))
        return
    for entry in entries:
        words = " ".join(entry.question.split())[:HISTORY_CHARS]
        show("\t".join((entry.run_id, entry.kept_at[:19], entry.dataset or "–", entry.model or "–", words)))
    say(counted(len(entries), "run"))


def _text(run: Run) -> str:
    about = [f"{name}: {value}" for name in ("kept_at", "author", "dataset", "model", "version") if (value := getattr(run, name))]
    changed = ", ".join(f"{name}={value}" for name, value in run.settings.items())
    sources = [f"[{source.number}] {source.title or source.document_id or ''} {source.ref or ''}".rstrip() for source in run.sources]
    note = [f"({run.note})"] if run.note else []
    return "\n".join((run.question, "", run.answer, *note, "", *sources, "", *about, f"settings: {changed or 'the defaults'}"))


HISTORY = Command(
    "list the answers that were kept, show one, or say what differs between two",
    """`ctxasm history`: the answers that were kept, the newest first; one of them whole; or what differs between two.

ctxasm history --data log --since 2026-11-01
ctxasm history RUN
ctxasm history RUN OTHER
ctxasm history --delete RUN       it can be undone with --restore RUN, until --purge
""",
    add_history,
    run_history,
)


def add_report(parser: ArgumentParser) -> None:
    """RUN…, --batch, --out, --data, --db."""
    parser.add_argument("run_id", nargs="*", metavar="RUN", help="the runs, as `ctxasm history` lists them")
    parser.add_argument("--batch", metavar="NAME", help="the runs that were kept under this name")
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the HTML file to write")
    add_dataset(parser)


def run_report(args: Namespace) -> int:
    """Write the file."""
    if bool(args.run_id) == (args.batch is not None):
        raise InvalidInput("report takes the ids of runs, or --batch NAME: `ctxasm history` lists both")
    workbench = workbench_of(args)
    run_ids = args.run_id or run_ids_of(workbench, RunFilter(args.data, args.batch))
    check_writable("--out", args.out)
    text = report_runs(workbench, run_ids)
    write_file("--out", args.out, text)
    say(f"{counted(len(run_ids), 'run')} in {args.out}, {len(text.encode()):,} bytes")
    return 0


REPORT = Command(
    "write kept answers, with their sources and reviews, as one HTML file",
    """`ctxasm report RUN… -o FILE`: kept answers as one HTML file that can be printed, sent and opened without a server.

  ctxasm history                                      the runs that there are
  ctxasm report RUN -o answer.html                    one answer, with its sources and what reviewers say of it
  ctxasm report --batch log -o review.html            all that were kept under a name

Of a sweep or a comparison: `ctxasm sweep --out FILE.html`, `ctxasm compare --out FILE.html`.
""",
    add_report,
    run_report,
)
