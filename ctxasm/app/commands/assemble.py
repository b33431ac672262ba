"""`ctxasm assemble`: the context of one query, or of all; with --all also the evidence, and whether it fails a check.

A check fails below a bar (--fail-below), or where the evidence is shown to be below a baseline (--fail-if-worse-than).
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ctxasm.app.commands.common import (
    Command,
    add_dataset,
    add_history,
    add_settings,
    as_json,
    parse_number,
    require_data,
    say,
    say_compression,
    say_zones,
    settings_of,
    show,
    with_history,
    workbench_of,
    write_result,
)
from ctxasm.app.parts import equipment
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import read_regular
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import EvidenceState
from ctxasm.tuning.statistics import FEWEST, paired_difference

MEASURES = ("evidence", "whole")
"""evidence: the mean share of a question's pieces that are whole in its context; whole: the share of questions with all of them."""
NAMED = 10
"""Questions that a message names at most."""
LEAST_DROP = 0.01


class Bar(NamedTuple):
    """A measure must reach `least`."""

    measure: str
    least: float


def bar_of(text: str) -> Bar:
    """A bar from `evidence=0.9`. Raises InvalidInput."""
    name, equals, number = text.partition("=")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not equals or name not in MEASURES or not 0 <= least <= 1:
        raise InvalidInput(f"--fail-below is written evidence=0.9 or whole=0.9, with a number from 0 to 1, got {shown(text)}")
    return Bar(name, least)


@dataclass
class EvidenceTally:
    """The evidence of every question that was assembled: pieces that are there whole, and pieces that are needed."""

    questions: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def add(self, assembly: Assembly, states: tuple[EvidenceState, ...]) -> None:
        """Note a question: found, needed, tokens."""
        judged = [state for state in states if state.state != "unknown"]
        found = sum(state.state == "found" for state in judged)
        self.questions[assembly.query.query_id] = found, len(judged), assembly.token_count

    @property
    def labelled(self) -> dict[str, tuple[int, int, int]]:
        """The questions with evidence."""
        return {query_id: counts for query_id, counts in self.questions.items() if counts[1]}

    def measure(self, name: str) -> float | None:
        """One of `MEASURES`; None without labelled questions."""
        return measured(name, {query_id: counts[:2] for query_id, counts in self.labelled.items()})

    def sentence(self) -> str:
        """The evidence as one line."""
        labelled = self.labelled
        if not labelled:
            return "evidence: no question is labelled"
        whole = sum(found == needed for found, needed, _ in labelled.values())
        tokens = sum(counts[2] for counts in self.questions.values()) / len(self.questions)
        of = counted(len(labelled), "question")
        return f"evidence: {self.measure('evidence'):.3f}; whole for {whole} of {of}; {tokens:,.0f} tokens a question"

    def to_dict(self, settings: AssemblySettings, dataset: str) -> dict[str, Any]:
        """As a baseline for a later run."""
        questions = {query_id: dict(zip(("found", "needed", "tokens"), own, strict=True)) for query_id, own in self.questions.items()}
        return {
            "dataset": dataset,
            "settings": settings.changed(),
            "evidence": self.measure("evidence"),
            "whole": self.measure("whole"),
            "questions": questions,
        }

    def passes(self, bars: list[Bar]) -> bool:
        """Whether every bar is reached; what is not is said. A bar that nothing can be said of is missed."""
        return sum(not self._reaches(bar) for bar in bars) == 0  # every one of them is said

    def _reaches(self, bar: Bar) -> bool:
        value = self.measure(bar.measure)
        if value is None:
            say(f"check failed: {bar.measure} cannot be told, because no question is labelled with its evidence")
        elif value < bar.least:
            say(f"check failed: {bar.measure} is {value:.3f}, below {bar.least:g}")
        return value is not None and value >= bar.least

    def is_worse(self, baseline: Mapping[str, tuple[int, int]], least: float) -> bool:
        """Whether evidence is shown to have dropped against a baseline, by at least `least`; how it changed is said in any case.

        Raises InvalidInput where the two cannot be compared: fewer than `FEWEST` questions are labelled alike in both.
        """
        both = [query_id for query_id, own in self.labelled.items() if query_id in baseline and baseline[query_id][1] == own[1]]
        left_out = sorted((baseline.keys() | self.labelled.keys()) - set(both))
        if left_out:
            say(f"left out of the comparison with the baseline, because their labels differ or are missing: {_named(left_out)}")
        if len(both) < FEWEST:
            anew = "write the baseline anew with --write-evidence"
            todo = anew if len(self.labelled) >= FEWEST else f"label more questions (`ctxasm label`), then {anew}"
            raise InvalidInput(
                f"the baseline and this run are not comparable: a comparison needs {FEWEST} questions that are labelled alike in both, "
                f"got {len(both)}: {todo}"
            )
        shares = {query_id: (self.labelled[query_id][0] - baseline[query_id][0]) / baseline[query_id][1] for query_id in both}
        result = paired_difference(list(shares.values()))
        worse = result.shown and result.difference <= -least
        lost = [query_id for query_id in both if shares[query_id] < 0]
        fewer = f"; less for {_named(lost)}" if lost else ""
        say(f"{'check failed: ' if worse else ''}evidence against the baseline: {result.sentence()}{fewer}")
        return worse


def _named(query_ids: Sequence[str]) -> str:
    return ", ".join(query_ids[:NAMED]) + (f" and {len(query_ids) - NAMED} more" if len(query_ids) > NAMED else "")


def measured(name: str, counts: Mapping[str, tuple[int, int]]) -> float | None:
    """A measure of (found, needed) by question; None for no questions."""
    if not counts:
        return None
    shares = [found / needed if name == "evidence" else float(found == needed) for found, needed in counts.values()]
    return sum(shares) / len(shares)


def read_baseline(path: str) -> dict[str, tuple[int, int]]:
    """Found and needed by question, from a file that --write-evidence wrote. Raises InvalidInput."""
    wanted = "a file that `ctxasm assemble --all --write-evidence FILE` wrote"
    try:
        questions = json.loads(read_regular(path).decode("utf-8"))["questions"]
        found = {query_id: (int(own["found"]), int(own["needed"])) for query_id, own in questions.items()}
    except OSError as error:
        raise InvalidInput(f"the baseline {shown(path)} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(f"the baseline {shown(path)} is not {wanted}") from None
    return {query_id: counts for query_id, counts in found.items() if counts[1] > 0}




def add_assemble(parser: ArgumentParser) -> None:
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


def run_assemble(args: Namespace) -> int:
    """Print each assembly as it is made. A query that cannot be assembled is named; the others go on. Exit code 1: a check failed."""
    if args.all and args.history is not None:
        raise InvalidInput("--history is the conversation before one query: name it with --query-id")
    bars = [bar_of(text) for text in args.fail_below]
    baseline = None if args.fail_if_worse_than is None else read_baseline(args.fail_if_worse_than)
    least = parse_number("least-drop", args.least_drop, 0, 1)
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
        write_result(
            "--write-evidence", args.write_evidence, json.dumps(tally.to_dict(settings, dataset), ensure_ascii=False, indent=1) + "\n"
        )
    passed = tally.passes(bars)
    worse = baseline is not None and tally.is_worse(baseline, least)
    return 2 if failures else 1 if worse or not passed else 0


def _print(assemblies: Iterator[Assembly], args: Namespace) -> None:
    if args.format == "text":
        _print_texts(assemblies, args.all)
    elif args.format == "jsonl" or not args.all:
        for assembly in assemblies:
            print(as_json(assembly.to_dict(), indent=None if args.format == "jsonl" else 2), flush=True)
    else:
        before = "["
        for assembly in assemblies:
            print(f"{before}{as_json(assembly.to_dict(), indent=None)}", end="", flush=True)
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


ASSEMBLE = Command(
    "assemble the context of a query, or of all queries",
    """`ctxasm assemble`: the context of one query, or of all; with --all also the evidence, and whether it fails a check.

A check fails below a bar (--fail-below), or where the evidence is shown to be below a baseline (--fail-if-worse-than).
""",
    add_assemble,
    run_assemble,
)
