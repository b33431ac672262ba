"""`ctxasm check`: are the citations of recorded answers right? Every marker and every claim against what it cites.

FILE has one JSON object a line: query_id, answer (or answer_text_with_markers) and sources, a list of {n, text, title?};
it may be the folder or .zip of a bundle, or - for standard input. A record without sources is checked against the
context that is assembled for its query from a loaded dataset. Without FILE the recorded answers of the dataset are checked.

Of each claim: support (full, partly, not_found, contradicted) and citation (right, wrong_number, missing, unknown, dropped by
the budget or another stage, inherited from its block), and whether another source disputes it.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.app.commands.check_report import ANNOTATIONS_HELP, AnnotationFile
from ctxasm.app.commands.common import add_dataset, add_settings, require_data, say, settings_of, workbench_of
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.recorded import recorded_of
from ctxasm.text.markers.grammar import NUMBERINGS, READINGS

if TYPE_CHECKING:
    from ctxasm.citations.report import CheckedAnswer

SUMMARY = "check the citations of recorded answers, claim by claim"
UNKNOWN, OFF_QUESTION, ANY = "unknown", "may_not_answer", "any"


def add_arguments(parser: ArgumentParser) -> None:
    """FILE, how to check, what fails, settings, --data, --db."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="answers in JSON Lines, a bundle that has them, or - for standard input")
    parser.add_argument(
        "--scorer",
        metavar="NAME",
        default="lexical",
        help="lexical (default, no model, strict), lexical-usual (finds more, lets more through), embedding, nli, llm, "
        "lexical+nli or lexical+llm (the second only for the doubtful)",
    )
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text", help="jsonl: a checked answer a line, as it is made")
    parser.add_argument(
        "--fail-on",
        metavar="WHAT,…",
        action="append",
        help="exit with 1 when a claim is one of these: contradicted, not_found, partly, disputed, wrong_number, missing, dropped, "
        "inherited, unknown (a number that no source has), or one of the verdicts of the JSON; may_not_answer: an answer that may be "
        "to another question; any: every problem",
    )
    parser.add_argument(
        "--junit", metavar="FILE", help="JUnit XML too: a test case an answer, which fails on what --fail-on names, else on what is listed"
    )
    parser.add_argument("--annotations", metavar="FILE", help=ANNOTATIONS_HELP)
    parser.add_argument("--all", action="store_true", help="list also claims that are carried in part or cite nothing, however many")
    parser.add_argument(
        "--markers",
        choices=READINGS,
        help="which forms are citations: strict ([1], 【1】, [source 1], tags), "
        "usual (also Open¹, (source 3), and (1), [chunk 2], [file.pdf] where they name sources; "
        "default), all (also (1), [1/2] anywhere)",
    )
    parser.add_argument(
        "--numbering",
        choices=NUMBERINGS,
        default="auto",
        help="what the numbers of an answer count: 1 (the first source is 1), 0 (the first source is 0), second (of 【4:1†source】 the 1, "
        "counted from 0), auto (default: 1, or 0 or second where the whole answer fits its sources better so; the report says it)",
    )
    parser.add_argument("--voice", action="store_true", help="spoken answers: read no marker, look for a source of each claim")
    add_settings(parser)
    add_dataset(parser)


def run(args: Namespace) -> int:
    """Check each answer and print it as it is made, then the totals. An answer that cannot be checked is named; the others go on."""
    from ctxasm.app.commands.check_report import TestSuite, open_report
    from ctxasm.app.recorded import AnswerCheck, read_asked
    from ctxasm.citations.report import Totals

    failing = _fail_on(args.fail_on)
    settings = replace(settings_of(args), channel="voice") if args.voice else settings_of(args)
    workbench = workbench_of(args)
    scorer = workbench.open_scorer(args.scorer)
    if args.file is None:
        require_data(workbench)
    check = AnswerCheck(workbench, settings, scorer, *read_asked(workbench, args.file, args.data, say), args.markers, say, args.numbering)
    report, totals, failed = open_report(args.format, whole=args.all), Totals(), Counter[str]()
    suite = TestSuite(args.junit) if args.junit is not None else None
    annotations = AnnotationFile(args.annotations) if args.annotations is not None else None
    start = time.perf_counter()
    try:
        for checked, grounds, answer in check.all():
            report.answer(checked, grounds)
            totals.add(checked)
            failed += (found := failures(checked, failing))
            if suite is not None:
                suite.answer(checked, grounds, found if failing.names else failures(checked, LISTED))
            if annotations is not None:
                annotations.answer(checked, recorded_of(answer).span_id)
    except ModelUnavailable as error:
        if suite is not None:
            suite.error("stopped", f"{error}, after {totals.answers} of {check.count} answers")
        raise ModelUnavailable(f"{error} (stopped after {totals.answers} of {check.count} answers)") from None
    finally:
        if suite is not None:
            for query_id, why in check.refused.items():
                suite.error(query_id, why)
            suite.write()
        if annotations is not None:
            annotations.write()
    report.end(totals, check.agreement())
    read = " and ".join(sorted(check.readings)) or "no"
    say(f"checked with {scorer.name} in {time.perf_counter() - start:.2f} s, {read} markers read")
    if failed:
        say(f"--fail-on: {', '.join(f'{count} {name}' for name, count in failed.items())}")
    return 2 if check.refused else 1 if failed else 0


class Chosen(NamedTuple):
    """What `--fail-on` names: verdicts, parts, unknown numbers, answers that may not answer."""

    names: frozenset[str] = frozenset()


LISTED = Chosen(frozenset({"contradicted", UNKNOWN, "dropped", "not_found", "disputed", "wrong_number"}))
"""What a person should look at: of claims carried in part, and of those that cite nothing, most are right."""


def _fail_on(given: Sequence[str] | None) -> Chosen:
    from ctxasm.citations.checked import VERDICTS, WORST
    from ctxasm.citations.report import PROBLEMS

    names = {name.strip() for part in given or () for name in part.split(",")}
    allowed = tuple(dict.fromkeys((*(part for part in WORST if part not in ("full", "right")), *VERDICTS, OFF_QUESTION, ANY)))
    for name in sorted(names):
        if name not in allowed:
            raise InvalidInput(f"--fail-on must name any of {', '.join(allowed)}, separated by commas, got {shown(name)}")
    return Chosen(frozenset(names - {ANY} | ({*PROBLEMS, "disputed", UNKNOWN} if ANY in names else set())))


def failures(checked: CheckedAnswer, chosen: Chosen) -> Counter[str]:
    """What in an answer `--fail-on` asks for: claims by what they are, markers with a number that no source has, the answer itself."""
    from ctxasm.citations.checked import parts_of
    from ctxasm.citations.report import may_not_answer

    found = Counter[str]()
    for claim in checked.claims:
        found.update(chosen.names & {claim.verdict, *parts_of(claim, checked)} - {UNKNOWN})
    if UNKNOWN in chosen.names:
        markers = sum(not marker.is_sound for marker in checked.markers)
        found[UNKNOWN] = markers or sum(bool(claim.unknown) or claim.verdict == "unknown_marker" for claim in checked.claims)
    found[OFF_QUESTION] = int(OFF_QUESTION in chosen.names and may_not_answer(checked))
    return +found
