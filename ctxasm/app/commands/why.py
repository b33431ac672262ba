"""`ctxasm why`: where the fact went that an answer of production lacks."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ctxasm.app.commands.check import ANNOTATIONS_HELP, AnnotationFile
from ctxasm.app.commands.common import (
    Command,
    add_dataset,
    add_settings,
    as_json,
    parse_mapping,
    require_data,
    say,
    settings_of,
    show,
    workbench_of,
)
from ctxasm.model.amounts import counted, percent
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import standard_input

if TYPE_CHECKING:
    from ctxasm.app.why import Cases
    from ctxasm.app.workbench import Workbench
    from ctxasm.tuning.why_results import Why


def add_why(parser: ArgumentParser) -> None:
    """FILE, --map, --fact, --query, how to check and print, settings, --data, --db."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="a trace, a log, or a prompt with its answer; - for standard input")
    parser.add_argument(
        "--map",
        dest="columns",
        metavar="FIELD=PATH",
        action="append",
        default=[],
        help="as of `load`: where FILE has a field, such as prompt=request.messages or hits=results[*]",
    )
    parser.add_argument(
        "--fact",
        metavar="TEXT",
        help="what the answer should have said (default: the expected passages of the question, else its reference answer, else what of "
        "the answer nothing carries)",
    )
    parser.add_argument("--query", metavar="ID", help="the question, where there are several (default: all)")
    parser.add_argument("--scorer", metavar="NAME", default="lexical", help="as of `check` (default: lexical)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON: the sentences, both sides, the check")
    parser.add_argument("--annotations", metavar="OUT", help=ANNOTATIONS_HELP)
    add_settings(parser)
    add_dataset(parser)


def run_why(args: Namespace) -> int:
    """Say it of each answer, as it is found."""
    from ctxasm.app.why import explain_case
    from ctxasm.citations.phoenix import fact_annotation

    workbench, settings = workbench_of(args), settings_of(args)
    scorer = workbench.open_scorer(args.scorer)
    found = _cases(workbench, args)
    cases = found.cases if args.query is None else (found.named(args.query),)
    annotations = AnnotationFile(args.annotations) if args.annotations is not None else None
    told: list[dict[str, Any]] = []
    refused = 0
    for case in cases:
        try:
            why = explain_case(workbench, case, settings, found.source, found.dataset, args.fact, scorer)
        except InvalidInput as error:
            if len(cases) == 1:
                raise
            refused += 1
            say(f"query {shown(case.query.query_id)}: {error}")
            continue
        if args.json:
            told.append(why.to_dict())
        else:
            _show(why, alone=len(cases) == 1)
        if annotations is not None and (span := annotations.answer(why.checked, why.recorded.span_id)) is not None:
            for number, fact in enumerate(why.facts):
                annotations.add(fact_annotation(span, fact.outcome, fact.sentence, fact.text, number))
    if args.json:
        show(as_json({"answers": told}, indent=None))
    if annotations is not None:
        annotations.write()
    return 2 if refused else 0


def _cases(workbench: Workbench, args: Namespace) -> Cases:
    from ctxasm.app.why import cases_in, recorded_cases
    from ctxasm.data.files.loading import files_at, one_mapping

    columns = parse_mapping(args.columns)
    if args.file is None:
        if columns:
            raise InvalidInput("--map says where a FILE has its fields, got no FILE: give the log, or map when it is loaded")
        require_data(workbench)
        return recorded_cases(workbench, args.data)
    files = files_at([args.file], workbench.config, lambda most: standard_input().read(most))
    found = cases_in(workbench, files, args.data, one_mapping(columns))
    for note in found.notes:
        say(f"note: {note}")
    return found


def _show(why: Why, alone: bool) -> None:
    query = why.assembly.query
    if not alone:
        show(f"{query.query_id}: {why.sentence}")
        return
    show(why.sentence)
    for fact in why.facts if len(why.facts) > 1 else ():
        show(f"  {fact.outcome.replace('_', ' ')}: {fact.sentence}")
    if why.is_recorded:
        in_it = ", ".join(
            f"[{one.number}] {one.document_id} #{one.chunk_index}{'' if one.share == 1 else f' ({percent(one.share)} of it)'}"
            for one in why.sent
        )
        messages = counted(len(why.recorded.prompt), "message")
        show(f"A, as sent: {messages} with {len(why.sent)} of {len(query.retrieved)} hits: {in_it or 'none'}")
    else:
        against = f"so the answer is held against its {len(query.retrieved)} hits, in their order"
        show(f"A: no prompt is recorded (where FILE has one: --map prompt=PATH), {against}")
    blocks = ", ".join(f"[{one.number}] {one.document_id} #{', #'.join(map(str, one.chunk_indexes))}" for one in why.assembly.citations)
    show(f"B, these settings: {why.assembly.token_count:,} of {why.assembly.limit:,} tokens: {blocks or 'nothing'}")


WHY = Command(
    "say where the fact went that a recorded answer lacks: the prompt that was sent beside the one of these settings",
    """`ctxasm why`: where did the fact go that an answer of production lacks?

FILE is a trace or log of any form that `ctxasm load` recognises (LangSmith, Phoenix, Langfuse, OpenTelemetry, Haystack, …), or a prompt
with its answer; - is standard input. A is the prompt that was sent, as the trace has it; B what the settings here would send from the
same hits. One sentence an answer: never retrieved; retrieved but not in the prompt that was sent; present but not cited; cited by the
wrong number; contradicted; and what B does with it. Without FILE it is asked of the answers that the dataset records.
""",
    add_why,
    run_why,
)
