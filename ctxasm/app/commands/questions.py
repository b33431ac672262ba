"""`ctxasm questions`: the questions of a dataset, loaded and saved, with how many hits and labels each has, and what of them is lost."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from ctxasm.app.commands.common import Command, add_dataset, as_json, require_data, say, show, workbench_of
from ctxasm.app.commands.label import SHOWN_CHARS, label_line
from ctxasm.model.amounts import counted
from ctxasm.model.errors import shown
from ctxasm.model.records import Query, Span

QUESTION_CHARS = 100


def add_questions(parser: ArgumentParser) -> None:
    """--lost, --format, --data, --db."""
    parser.add_argument("--lost", action="store_true", help="only questions with a label or hit whose text is in the dataset no more")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_dataset(parser)


def run_questions(args: Namespace) -> int:
    """Print a line a question, with its labels below it where some are lost; or a JSON list."""
    workbench = workbench_of(args)
    require_data(workbench)
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
    """`ctxasm questions`: the questions of a dataset, loaded and saved, with how many hits and labels each has, and what of them is lost.""",
    add_questions,
    run_questions,
)
