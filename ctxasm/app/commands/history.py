"""`ctxasm history`: the answers that were kept, the newest first; one of them whole; or what differs between two.

ctxasm history --data log --since 2026-11-01
ctxasm history RUN
ctxasm history RUN OTHER
ctxasm history --delete RUN       it can be undone with --restore RUN, until --purge
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import Command, add_dataset, as_json, say, show, workbench_of
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput
from ctxasm.model.runs import Run, RunFilter
from ctxasm.model.runs import as_json as run_json

QUESTION_CHARS = 80


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
        words = " ".join(entry.question.split())[:QUESTION_CHARS]
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
