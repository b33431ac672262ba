"""`ctxasm check`: every claim and citation of recorded answers, and the forms that the result is written in."""

from __future__ import annotations

import re
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from ctxasm.app.commands.common import (
    Command,
    add_dataset,
    add_settings,
    as_json,
    check_writable,
    require_data,
    say,
    settings_of,
    show,
    workbench_of,
)
from ctxasm.citations.checked import FINE, WORST, CheckedClaim, Part, Support, label, parts_of, support_of, words
from ctxasm.citations.grounds import Grounds
from ctxasm.citations.phoenix import annotations_json, annotations_of, otel_span_id
from ctxasm.citations.report import (
    CheckedAnswer,
    Totals,
    brackets,
    clipped,
    conflict_sentence,
    disputed_sentence,
    lacks_sentence,
    problem_claims,
    summary_sentence,
)
from ctxasm.model.amounts import agreeing, counted
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.records import recorded_of
from ctxasm.model.regular_files import write_file
from ctxasm.text.markers.grammar import NUMBERINGS, READINGS

if TYPE_CHECKING:
    from ctxasm.citations.grounds import Grounds
    from ctxasm.citations.report import CheckedAnswer


LONGEST_QUOTE = 240
AROUND_CONFLICT = 60
UNLISTED: frozenset[Part] = frozenset({"partly", "missing"})
"""What is only counted, unless all is asked for: most claims that are carried in part, or cite nothing, are right."""
Agreement = Mapping[str, Any]


class Report(Protocol):
    """Takes each checked answer as it is made, then the totals."""

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None: ...
    def end(self, totals: Totals, agreement: Agreement | None) -> None: ...


def open_report(form: str, whole: bool = False) -> Report:
    """The report of a `--format`: text (of all problems, if `whole`), json or jsonl."""
    forms: dict[str, Callable[[], Report]] = {"text": lambda: TextReport(whole), "json": JsonReport, "jsonl": JsonLines}
    return forms[form]()


MOST_UNREAD = 5
"""How many marks are named whose source is not known."""


class TextReport:
    """A line per answer as it is made; at the end what a person should look at, the worst first, and the totals."""

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._listed: list[tuple[int, float, list[str]]] = []
        self._unlisted = Counter[Part]()

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None:
        name = one_line(checked.query_id)
        show(f"{name}: {summary_sentence(checked)}")
        for line in note_lines(checked):
            show(f"  {line}")
        texts = texts_of(grounds)
        for claim in worst_first(checked):
            worst = parts_of(claim, checked)[0]
            if worst in UNLISTED and not self._whole:
                self._unlisted[worst] += 1
                continue
            first, *more = claim_lines(claim, checked, texts)
            self._listed.append((WORST.index(worst), claim.score, [f"{name}: {first}", *more]))
        self._listed += [(WORST.index("unknown"), 0.0, [f"{name}: {line}"]) for line in marker_lines(checked)]

    def end(self, totals: Totals, agreement: Agreement | None) -> None:
        if self._listed:
            show("\nTo look at, the worst first:")
        for _, _, lines in sorted(self._listed, key=lambda entry: entry[:2]):
            for line in lines:
                show(f"  {line}")
        if self._unlisted:
            rest = ", ".join(f"{count} {words(part)}" for part, count in sorted(self._unlisted.items()))
            show(f"{'Beside' if self._listed else chr(10) + 'Not listed'}: {rest} (--all lists them)")
        show("")
        for sentence in totals.sentences():
            show(sentence)
        if agreement is not None:
            show(agreement_sentence(agreement))


class JsonLines:
    """One checked answer a line; the totals go to standard error."""

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None:
        print(as_json(checked.to_dict(), indent=None), flush=True)

    def end(self, totals: Totals, agreement: Agreement | None) -> None:
        for sentence in totals.sentences():
            say(sentence)
        if agreement is not None:
            say(agreement_sentence(agreement))


class JsonReport:
    """One object: `answers`, and `summary` with the totals and, where there are labels, the `agreement` with them."""

    def __init__(self) -> None:
        self._before = '{"answers": ['

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None:
        print(f"{self._before}\n{as_json(checked.to_dict(), indent=None)}", end="", flush=True)
        self._before = ","

    def end(self, totals: Totals, agreement: Agreement | None) -> None:
        opened = "" if self._before == "," else self._before
        print(f'{opened}\n],\n"summary": {as_json({**totals.to_dict(), "agreement": agreement}, indent=None)}}}')


def worst_first(checked: CheckedAnswer) -> list[CheckedClaim]:
    """The claims of an answer that are not as they should be, the worst first."""
    claims = [claim for claim in problem_claims(checked) if not FINE.issuperset(parts_of(claim, checked))]
    return sorted(claims, key=lambda claim: WORST.index(parts_of(claim, checked)[0]))


def texts_of(grounds: Grounds) -> Mapping[int, str]:
    """The texts of sources by number."""
    return {source.number: source.text for source in grounds.sources}


def marker_lines(checked: CheckedAnswer) -> list[str]:
    """Markers that name no source and stand in no claim of which that is said."""
    told = {position for claim in checked.claims for position in claim.claim.markers if claim.unknown}
    unsound = [marker for position, marker in enumerate(checked.markers) if not marker.is_sound and position not in told]
    return [f"no source has the number of {quoted(marker.marker.text)}" for marker in unsound]


def note_lines(checked: CheckedAnswer) -> list[str]:
    """How markers were read, where that is not as usual."""
    unread = list(dict.fromkeys(marker.marker.text for marker in checked.markers if marker.marker.form == "unread"))
    lines = [f"left out of the claims, source not known: {', '.join(map(quoted, unread[:MOST_UNREAD]))}"] if unread else []
    return lines if checked.first_number else [*lines, "numbers begin at 0 here: 0 is the first source (--numbering sets it)"]


def claim_lines(checked: CheckedClaim, answer: CheckedAnswer, texts: Mapping[int, str]) -> Iterator[str]:
    """One claim that needs a look: what it is and says first, then, indented, why and where to look. `texts` by number."""
    cited = f", cites {brackets(checked.claim.cited)}" if checked.claim.cited else ""
    yield f"{label(checked, answer)} ({checked.score:.2f}){cited}: {quoted(checked.claim.text)}"
    for detail in _details(checked, answer.threshold, texts):
        yield f"    {detail}"


def _details(checked: CheckedClaim, threshold: float, texts: Mapping[int, str]) -> Iterator[str]:
    support = support_of(checked, threshold)
    if checked.disputed is not None:
        yield f"{disputed_sentence(checked.disputed)} {_place(checked.disputed.support, texts)}"
    elif (conflict := checked.conflict) is not None:
        low, high = max(0, conflict.start - AROUND_CONFLICT), conflict.end + AROUND_CONFLICT
        yield f"{conflict_sentence(conflict)} {quoted(texts.get(conflict.number, '')[low:high])}"
    if support in ("partly", "not_found") and (lacks := lacks_sentence(checked)):
        yield lacks
    for place in checked.support if support == "partly" else ():
        yield f"has a part of it: {_place(place, texts)}"
    if checked.idle and checked.verdict == "partly":  # elsewhere the verdict says it
        yield f"{brackets(checked.idle)} {agreeing(len(checked.idle), 'carries', 'carry')} nothing of it"
    if checked.better_support is not None:
        yield f"better: {_place(checked.better_support, texts)}"
    elif checked.better is not None:
        yield f"better: [{checked.better}]"
    if checked.summary_support is not None:
        yield f"page summary: {_place(checked.summary_support, texts)}"
    explained = {source.number for source in checked.dropped}
    for source in checked.dropped:
        reason = f" ({source.reason})" if source.reason else ""
        yield f"[{source.number}] would be {quoted(source.document_id, 100)}, dropped at {source.stage}{reason}"
    if unknown := [number for number in checked.unknown if number not in explained]:
        yield f"no source has the number {brackets(unknown)}"


def _place(support: Support, texts: Mapping[int, str]) -> str:
    neighbour = " (an added neighbour, not a hit)" if support.retrieved is False else ""
    return f"[{support.number}] {quoted(texts.get(support.number, '')[support.start : support.end])}{neighbour}"


def agreement_sentence(agreement: Agreement) -> str:
    """How the scores agree with the labels, in one line."""
    said = f"labels: {agreement['compared']} of {agreement['labels']} compared"
    if agreement["auc"] is not None:
        interval = "" if agreement["auc_low"] is None else f" (95 %: {agreement['auc_low']:.3f} to {agreement['auc_high']:.3f})"
        said += f", AUC {agreement['auc']:.3f}{interval}"
    shares = (f"{name} {'–' if agreement[name] is None else format(agreement[name], '.3f')}" for name in ("precision", "recall"))
    return f"{said}; supported from {agreement['threshold']:.2f} on: {', '.join(shares)}"


def one_line(text: str) -> str:
    """`text` on one line of at most LONGEST_QUOTE characters."""
    return clipped(text, LONGEST_QUOTE)


def quoted(text: str, limit: int = LONGEST_QUOTE) -> str:
    """`text` between quotes, on one line."""
    return f"“{clipped(text, limit)}”"


SUITE = "ctxasm check"
_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TestSuite:
    """Test cases, written to a file at the end. Raises InvalidInput where that file cannot be written."""

    __test__ = False

    def __init__(self, path: str) -> None:
        self._path = check_writable("--junit", path)
        self._cases: list[Element] = []
        self._names = Counter[str]()

    def answer(self, checked: CheckedAnswer, grounds: Grounds, failed: Counter[str]) -> None:
        """A case for an answer; it fails where anything `failed`."""
        case = self._case(checked.query_id, checked.elapsed_ms)
        if failed:
            message = f"{summary_sentence(checked)} ({', '.join(f'{count} {name}' for name, count in sorted(failed.items()))})"
            failure = SubElement(case, "failure", {"message": _clean(message), "type": _clean(", ".join(sorted(failed)))})
            lines = [line for claim in worst_first(checked) for line in claim_lines(claim, checked, texts_of(grounds))]
            failure.text = _clean("\n".join([*lines, *marker_lines(checked)]))

    def error(self, query_id: str, why: str) -> None:
        """A case for what could not be checked."""
        SubElement(self._case(query_id, 0.0), "error", {"message": _clean(why), "type": "not checked"})

    def _case(self, query_id: str, elapsed_ms: float) -> Element:
        name = _clean(query_id) or "answer"
        self._names[name] += 1
        unique = name if self._names[name] == 1 else f"{name} #{self._names[name]}"
        case = Element("testcase", {"classname": "citations", "name": unique, "time": f"{elapsed_ms / 1000:.4f}"})
        self._cases.append(case)
        return case

    def write(self) -> None:
        """Write the file."""
        counts = {kind: sum(case.find(kind) is not None for case in self._cases) for kind in ("failure", "error")}
        took = sum(float(case.get("time", "0")) for case in self._cases)
        about = {
            "name": SUITE,
            "tests": str(len(self._cases)),
            "failures": str(counts["failure"]),
            "errors": str(counts["error"]),
            "skipped": "0",
            "time": f"{took:.4f}",
        }
        suites = Element("testsuites", {name: about[name] for name in ("name", "tests", "failures", "errors", "time")})
        SubElement(suites, "testsuite", about).extend(self._cases)
        indent(suites)
        ElementTree(suites).write(self._path, encoding="utf-8", xml_declaration=True)


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)


ANNOTATIONS_HELP = (
    "write the verdicts as annotations of the spans that gave the answers, as Phoenix takes them (the body of POST /v1/span_annotations); "
    "span ids come with a loaded trace"
)


class AnnotationFile:
    """Collects annotations, and writes them at the end. Raises InvalidInput where the file cannot be written."""

    def __init__(self, path: str) -> None:
        self._path = check_writable("--annotations", path)
        self._found: list[dict[str, Any]] = []
        self._without = 0

    def answer(self, checked: CheckedAnswer, span_id: str | None) -> str | None:
        """Those of a checked answer; the id of the span they are of, None where the answer came from none."""
        known = otel_span_id(span_id)
        if known is None:
            self._without += 1
        else:
            self._found += annotations_of(checked, known)
        return known

    def add(self, annotation: dict[str, Any]) -> None:
        """One more."""
        self._found.append(annotation)

    def write(self) -> None:
        """Write the file, and say for how many answers there is no span."""
        write_file("--annotations", self._path, annotations_json(self._found))
        spans = len({one["span_id"] for one in self._found})
        say(f"{counted(len(self._found), 'annotation')} of {counted(spans, 'span')} in {self._path}")
        if self._without:
            say(f"{counted(self._without, 'answer')} came with no OpenTelemetry span id: load the trace with it")


UNKNOWN, OFF_QUESTION, ANY = "unknown", "may_not_answer", "any"


def add_check(parser: ArgumentParser) -> None:
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


def run_check(args: Namespace) -> int:
    """Check each answer and print it as it is made, then the totals. An answer that cannot be checked is named; the others go on."""
    from ctxasm.app.reviews import AnswerCheck, read_asked
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


CHECK = Command(
    "check the citations of recorded answers, claim by claim",
    """`ctxasm check`: are the citations of recorded answers right? Every marker and every claim against what it cites.

FILE has one JSON object a line: query_id, answer (or answer_text_with_markers) and sources, a list of {n, text, title?};
it may be the folder or .zip of a bundle, or - for standard input. A record without sources is checked against the
context that is assembled for its query from a loaded dataset. Without FILE the recorded answers of the dataset are checked.

Of each claim: support (full, partly, not_found, contradicted) and citation (right, wrong_number, missing, unknown, dropped by
the budget or another stage, inherited from its block), and whether another source disputes it.
""",
    add_check,
    run_check,
)
