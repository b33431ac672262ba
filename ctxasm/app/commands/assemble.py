"""`ctxasm assemble`: the context of one query, or of all."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from ctxasm.app.commands.evidence import LEAST_DROP, EvidenceTally, bar_of, read_baseline, write_evidence
from ctxasm.app.commands.options import (
    add_dataset,
    add_history,
    add_settings,
    number_of,
    require_data,
    say,
    say_compression,
    say_zones,
    settings_of,
    show,
    with_history,
    workbench_of,
)
from ctxasm.app.parts import equipment
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput
from ctxasm.model.results import Assembly

_CONTROL = re.compile("[\x7f-\x9f]")
SUMMARY = "assemble the context of a query, or of all queries"


def add_arguments(parser: ArgumentParser) -> None:
    """--query-id or --all, checks of the evidence, --history, settings, --format, --data, --db."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--query-id", metavar="ID", help="assemble this query")
    which.add_argument("--all", action="store_true", help="assemble every query of the dataset")
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text", help="text: the context alone; json: with trace")
    parser.add_argument(
        "--fail-below",
        metavar="MEASURE=N",
        action="append",
        default=[],
        help="with --all: exit code 1 where evidence (mean share found whole) or whole (share of questions) is below N; repeatable",
    )
    parser.add_argument(
        "--fail-if-worse-than",
        metavar="FILE",
        help="with --all: exit code 1 where evidence is shown to be below that of a baseline, 2 where the two cannot be compared",
    )
    parser.add_argument(
        "--least-drop", metavar="SHARE", default=str(LEAST_DROP), help=f"a smaller drop than this never fails (default: {LEAST_DROP})"
    )
    parser.add_argument("--write-evidence", metavar="FILE", help="with --all: write the evidence of every question, a baseline for later")
    add_history(parser)
    add_settings(parser)
    add_dataset(parser)


def run(args: Namespace) -> int:
    """Print each assembly as it is made. A query that cannot be assembled is named; the others go on. Exit code 1: a check failed."""
    if args.all and args.history is not None:
        raise InvalidInput("--history is the conversation before one query: name it with --query-id")
    bars = [bar_of(text) for text in args.fail_below]
    baseline = None if args.fail_if_worse_than is None else read_baseline(args.fail_if_worse_than)
    least = number_of("least-drop", args.least_drop, 0, 1)
    if not args.all and (bars or baseline is not None or args.write_evidence is not None):
        raise InvalidInput("--fail-below, --fail-if-worse-than and --write-evidence judge all questions: use them with --all")
    settings, workbench = settings_of(args), workbench_of(args)
    require_data(workbench)
    dataset = workbench.dataset(args.data).info.name  # one dataset throughout, also when a newer one is loaded meanwhile
    queries = workbench.dataset(dataset).queries() if args.all else [with_history(workbench.query(dataset, args.query_id), args.history)]
    model = workbench.open_model() if settings.history_summarise_after is not None else None
    if not queries:
        raise InvalidInput(f"dataset {dataset} has no queries: load a bundle with queries.jsonl and retrievals.jsonl")
    equipment(settings, workbench.config, workbench.store)  # what is not installed or configured is said once, not of every query
    failures: list[str] = []
    tally = EvidenceTally()

    def assemblies() -> Iterator[Assembly]:
        for query in queries:
            try:
                assembly = workbench.assemble(query, settings, dataset, model=model)
                if args.all:
                    tally.add(assembly, workbench.evidence(assembly, dataset) if query.is_labelled else ())
                yield assembly
            except InvalidInput as error:
                failures.append(f"query {query.query_id}: {error}")
                say(failures[-1])

    _print(assemblies(), args)
    if not args.all:
        return 2 if failures else 0
    if not failures:
        say(f"{counted(len(queries), 'query')} of {dataset}")
    say(tally.sentence())
    if args.write_evidence is not None:
        write_evidence(args.write_evidence, tally.to_dict(settings, dataset))
    passed = tally.passes(bars)
    worse = baseline is not None and tally.is_worse(baseline, least)
    return 2 if failures else 1 if worse or not passed else 0


def _print(assemblies: Iterator[Assembly], args: Namespace) -> None:
    if args.format == "text":
        _print_texts(assemblies, args.all)
    elif args.format == "jsonl" or not args.all:
        for assembly in assemblies:
            print(as_json(assembly, indent=None if args.format == "jsonl" else 2), flush=True)
    else:
        before = "["
        for assembly in assemblies:
            print(f"{before}{as_json(assembly, indent=None)}", end="", flush=True)
            before = ",\n"
        print("[]" if before == "[" else "]")


def _print_texts(assemblies: Iterator[Assembly], titled: bool) -> None:
    for assembly in assemblies:
        if titled:
            show(f"=== {assembly.query.query_id}: {' '.join(assembly.query.query.split())}")
        show(assembly.text)
        say(described(assembly))
        say_zones(assembly)
        say_compression(assembly)


def described(assembly: Assembly) -> str:
    """The size of a context as one line."""
    kind = "" if assembly.exact else "ESTIMATE "
    over = f", {assembly.overshoot_tokens:,} over the limit" if assembly.overshoot_tokens else ""
    cited = counted(len(assembly.citations), "citation")
    return f"{assembly.token_count:,} of {assembly.limit:,} tokens ({kind}{assembly.encoding}){over}, {cited}"


def as_json(assembly: Assembly, indent: int | None) -> str:
    """The JSON of one assembly, strict: no NaN. Control characters that JSON lets through are escaped, for terminals."""
    text = json.dumps(assembly.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
