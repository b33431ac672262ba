"""`ctxasm search`, `assemble` and `ask`: from a question to its hits, its context, and an answer."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.answering.asking import AnswerResult, Piece
from ctxasm.answering.prompts import PROMPT_STYLES, PromptChoice
from ctxasm.answering.sent_tokens import sent_line
from ctxasm.app.commands.common import (
    Command,
    add_dataset,
    add_history,
    add_settings,
    as_json,
    loaded_workbench,
    parse_number,
    require_data,
    say,
    say_compression,
    say_zones,
    settings_of,
    show,
    terminal_progress,
    with_history,
    workbench_of,
)
from ctxasm.app.parts import equipment
from ctxasm.citations.declined import is_refusal
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.records import Query
from ctxasm.model.regular_files import read_regular, write_file
from ctxasm.model.results import Assembly, Citation
from ctxasm.model.search import ENGINES, INDEXED_TEXTS, LANGUAGES, METHODS, SearchOptions
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import EvidenceState
from ctxasm.tuning.statistics import FEWEST, paired_difference

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.model.ports import FetchedChunk


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
    settings, workbench = settings_of(args), loaded_workbench(args)
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
        write_file(
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


SHOWN_CHARS = 160
METHOD_HELP = (
    "default: hybrid, words (BM25) and meaning (vectors) fused by reciprocal rank, k = 60; the vectors of wordllama weigh 0.1 of BM25, "
    "those of multilingual-e5-small 0.7, others as much as BM25"
)


def add_search(parser: ArgumentParser) -> None:
    """QUESTION or --file, how to search, --save, --assemble with settings, --format, --data, --db."""
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="what to search for")
    parser.add_argument(
        "--file", metavar="FILE", help="search for every question of a file: one a line, or JSON, JSON Lines, CSV or Parquet with a column"
    )
    parser.add_argument("--method", choices=METHODS, default="hybrid", help=METHOD_HELP)
    parser.add_argument("--text", choices=INDEXED_TEXTS, default="raw", help="what is indexed of a chunk (default: raw, its text)")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="hits (default: 20)")
    parser.add_argument("--language", choices=LANGUAGES, default="auto", help="of the corpus, for its stems and stop words (default: auto)")
    parser.add_argument("--embedder", metavar="NAME", help="default: wordllama, or the endpoint that CTXASM_EMBED_MODEL names")
    parser.add_argument("--rerank", metavar="NAME", nargs="?", const="cross-encoder", help="judge the hits again: cross-encoder or llm")
    parser.add_argument("--engine", choices=ENGINES, default="auto", help="search in memory or by the database (default: by size)")
    parser.add_argument("--save", action="store_true", help="keep the question with its hits among the queries of the dataset")
    parser.add_argument("--assemble", action="store_true", help="print the context that is assembled of the hits")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_settings(parser)
    add_dataset(parser)


def run_search(args: Namespace) -> int:
    """Search; print the hits, or the context made of them."""
    from ctxasm.retrieval.searching import save_query, search

    if (args.question is None) == (args.file is None):
        raise InvalidInput("search takes either a QUESTION or --file with questions")
    if args.file is not None and args.assemble:
        raise InvalidInput("--assemble is for one QUESTION: save those of a file with --save, then use `ctxasm assemble --all`")
    if not args.assemble and (args.assignments or args.preset or args.settings):
        raise InvalidInput("--set, --settings and --preset are for assembling: add --assemble")
    named = {"embedder": args.embedder, "reranker": args.rerank, "engine": args.engine}
    options = SearchOptions(args.method, args.text, args.limit, args.language, **named)
    workbench = loaded_workbench(args)
    dataset = workbench.dataset(args.data).info.name
    if args.file is not None:
        return _searched_file(workbench, dataset, options, args)
    began = perf_counter()
    with terminal_progress() as report:
        query = search(workbench, args.question, dataset, options, report)
    elapsed_ms = (perf_counter() - began) * 1000
    for note in query.metadata["notes"]:
        say(note)
    if args.save:
        query = save_query(workbench, dataset, query)
    if args.assemble:
        _assembled(workbench, query, dataset, args)
    elif args.format == "json":
        print(as_json(as_record(query)))
    else:
        _listed(workbench, query, dataset, elapsed_ms)
    if args.save:
        say(f"saved to {dataset} as {query.query_id}")
    return 0


def _searched_file(workbench: Workbench, dataset: str, options: SearchOptions, args: Namespace) -> int:
    """Search for each question of a file; print a line each, or JSON Lines. An id of the file stays unless another question has it."""
    from ctxasm.data.files.loading import limits_of
    from ctxasm.data.files.questions import read_questions
    from ctxasm.retrieval.searching import loaded_ids, save_query, search

    asked, notes = read_questions(args.file, limits_of(workbench.config))
    loaded = loaded_ids(workbench, dataset) if args.save else set[str]()
    has_id = {saved.query_id: saved.query for saved in workbench.store.saved_queries(dataset)} if args.save else {}
    taken = [
        one for one in asked if one.query_id in loaded or (one.query_id and has_id.setdefault(one.query_id, one.question) != one.question)
    ]
    said = dict.fromkeys(notes)
    if taken:
        first = f"the first {shown(taken[0].query_id)} in line {taken[0].line}"
        said[f"{counted(len(taken), 'question')} with the id of another question got an id of its own ({first})"] = None
    with terminal_progress() as report:
        for one in asked:
            query = search(workbench, one.question, dataset, options, report)
            if one.query_id is not None and one not in taken:
                query = replace(query, query_id=one.query_id)
            said |= dict.fromkeys(query.metadata["notes"])
            if args.save:
                query = save_query(workbench, dataset, query)
            if args.format == "json":
                print(as_json(as_record(query), indent=None))
            else:
                best = query.retrieved[0] if query.retrieved else None
                found = f"best {best.document_id}:{best.chunk_index}" if best is not None else "nothing found"
                show(f"{query.query_id}\t{counted(len(query.retrieved), 'hit')}\t{found}\t{' '.join(query.query.split())}")
    for note in said:
        say(note)
    say(f"searched {dataset} for {counted(len(asked), 'question')}{', all saved' if args.save else '; --save keeps them'}")
    return 0


def as_record(query: Query) -> dict[str, Any]:
    """The query as a line of `retrievals.jsonl`, with its text."""
    hits = [
        {"document_id": hit.document_id, "chunk_index": hit.chunk_index, "score": hit.score, "rank": hit.rank, "scores": dict(hit.scores)}
        for hit in query.retrieved
    ]
    figures = {name: getattr(query, name) for name in ("search_method", "bm25_matches", "best_similarity")}
    return {"query_id": query.query_id, "query": query.query, "retrieved": hits, **figures, "metadata": dict(query.metadata)}


def _listed(workbench: Workbench, query: Query, dataset: str, elapsed_ms: float) -> None:
    chunks = _chunks(workbench, query, dataset)
    for hit in query.retrieved:
        chunk = chunks.get((hit.document_id, hit.chunk_index))
        words = " ".join(chunk.text.split()) if chunk else ""
        short = words if len(words) <= SHOWN_CHARS else words[: SHOWN_CHARS - 1] + "…"
        scores = " ".join(f"{name} {score:g}" for name, score in hit.scores.items())
        show(f"{hit.rank}. {hit.document_id} {hit.chunk_index}  ({scores})")
        show(f"   {short}")
    matches = f", {query.bm25_matches} share a word with the question" if query.bm25_matches is not None else ""
    similar = f", best similarity {query.best_similarity:g}" if query.best_similarity is not None else ""
    fusion = query.metadata["fusion"]
    fused = f", fused by reciprocal rank (k = {fusion['k']}), vectors weighing {fusion['vector']:g} of BM25" if fusion else ""
    hits = counted(len(query.retrieved), "hit")
    say(f"{hits} in {dataset} ({query.search_method}, {elapsed_ms:.0f} ms){fused}{matches}{similar}")


def _chunks(workbench: Workbench, query: Query, dataset: str) -> dict[tuple[str, int], FetchedChunk]:
    from ctxasm.model.ports import Window

    windows = [Window(hit.document_id, hit.chunk_index, hit.chunk_index) for hit in query.retrieved]
    fetched = workbench.dataset(dataset).fetch(windows, "")
    return {(chunk.document_id, chunk.chunk_index): chunk for chunk in fetched.chunks}


def _assembled(workbench: Workbench, query: Query, dataset: str, args: Namespace) -> None:
    assembly = workbench.assemble(query, settings_of(args), dataset)
    if args.format == "json":
        print(as_json(assembly.to_dict()))
        return
    show(assembly.text)
    say(described(assembly))
    say_zones(assembly)
    say_compression(assembly)


SEARCH = Command(
    "search a dataset for a typed question, or for a file of them: BM25, vectors, or both",
    """`ctxasm search`: find chunks for a typed question, or for each of a file, and on request assemble them or save the question.

The first search of a dataset makes an index and, for the method vector or hybrid, embeds its chunks; vectors are kept in the database.
""",
    add_search,
    run_search,
)


MAX_ANSWER_TOKENS = 32_000


def add_ask(parser: ArgumentParser) -> None:
    """--query-id, --model and how it answers, the prompt, --history, settings, --data, --db."""
    parser.add_argument("--query-id", metavar="ID", required=True, help="the query to answer")
    add_asking(parser)
    parser.add_argument("--keep", action="store_true", help="keep the answer, checked, in the history (`ctxasm history`)")
    parser.add_argument("--author", metavar="NAME", default="", help="with --keep: who keeps it")
    add_history(parser)
    add_settings(parser)
    add_dataset(parser)


def add_asking(parser: ArgumentParser) -> None:
    """--model and how it answers, and the prompt."""
    parser.add_argument(
        "--model", metavar="NAME", help="extractive (no key needed), openai (the configured endpoint), or scripted:MODE, which misbehaves"
    )
    parser.add_argument("--temperature", metavar="T", default="0", help="0 to 2 (default: 0)")
    parser.add_argument("--max-answer-tokens", metavar="N", default="512", help=f"1 to {MAX_ANSWER_TOKENS} (default: 512)")
    parser.add_argument("--prompt", metavar="STYLE", default="grounded", help=f"{', '.join(PROMPT_STYLES)} (default: grounded)")
    parser.add_argument("--answer-first", action="store_true", help="ask for the answer itself in the first sentence")
    parser.add_argument("--instructions", metavar="TEXT", default="", help="your own instructions, added to the rules of the prompt")


class Asked(NamedTuple):
    """What `add_asking` took."""

    choice: PromptChoice
    temperature: float
    max_tokens: int


def asked_of(args: Namespace) -> Asked:
    """How to ask. Raises InvalidInput."""
    temperature = parse_number("temperature", args.temperature, 0, 2)
    longest = int(parse_number("max-answer-tokens", args.max_answer_tokens, 1, MAX_ANSWER_TOKENS))
    return Asked(PromptChoice(args.prompt, args.answer_first, args.instructions), temperature, longest)


def run_ask(args: Namespace) -> int:
    """Print the answer as it comes, then its sources. What had arrived before a failure stays printed."""
    choice, temperature, longest = asked_of(args)
    settings, workbench = settings_of(args), workbench_of(args)
    model = workbench.open_model(args.model)
    require_data(workbench)
    dataset = workbench.dataset(args.data).info.name
    query = with_history(workbench.query(dataset, args.query_id), args.history)
    assembly = workbench.assemble(query, settings, dataset, choice, model)
    say(f"{model.name}: {described(assembly)}")
    say_zones(assembly)
    say_compression(assembly)
    if assembly.zones is not None and longest > (reserved := assembly.zones.tokens_of("answer")):
        say(f"max-answer-tokens is {longest}, more than answer_tokens reserves ({reserved}): set answer_tokens={longest}")
    result: AnswerResult | None = None
    for event in workbench.ask(assembly, model, choice, temperature=temperature, max_tokens=longest):
        if isinstance(event, Piece):
            show(event.text, end="")
        elif isinstance(event, AnswerResult):
            result = event
    assert result is not None, "asking always ends with a result"
    if result.text:
        show("" if result.called else result.text)
    _show_sources(result, assembly.citations)
    for line in (result.note, result.caution, sent_line(result.sent) if result.sent else None):
        if line:
            say(line)
    workbench.zones.ratios.learn(result.model, result.sent)
    if args.keep:
        from ctxasm.app.reviews import keep_answer
        from ctxasm.review.runs import Parameters

        checked = workbench.check(assembly, result.text, cut=not result.complete)
        run = keep_answer(workbench, assembly, result, checked, Parameters(choice, temperature, longest), dataset, author=args.author)
        say(f"kept as run {run.run_id}")
    if result.error:
        raise ModelUnavailable(result.error, result.text)
    return 0


def _show_sources(result: AnswerResult, citations: Iterable[Citation]) -> None:
    """The cited entries in number order (of an answer without markers: all), then the numbers that no source has."""
    cited = {number for marker in result.markers for number in marker.known}
    if not result.marked and not is_refusal(result.text):
        citations = tuple(citations)
        cited = {citation.number for citation in citations}
    unknown = sorted({number for marker in result.markers for number in marker.unknown})
    if cited or unknown:
        show("")
    for citation in citations:
        if citation.number in cited:
            show(f"[{citation.number}] {citation.title or citation.document_id} ({citation.ref})")
            show(f"    {' '.join(citation.snippet.split())}")
    for number in unknown:
        show(f"[{number}] unknown: the context has no source of this number")


ASK = Command(
    "answer a query from its context, and list the sources that the answer cites",
    """`ctxasm ask`: an answer from the assembled context, streamed, with its markers resolved below it.

Below a spoken answer stand all blocks of its context, unless it declines to answer.
""",
    add_ask,
    run_ask,
)
