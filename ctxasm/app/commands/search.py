"""`ctxasm search`: find chunks for a typed question, or for each of a file, and on request assemble them or save the question.

The first search of a dataset makes an index and, for the method vector or hybrid, embeds its chunks; vectors are kept in the database.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ctxasm.app.commands.assemble import described
from ctxasm.app.commands.common import (
    Command,
    add_dataset,
    add_settings,
    as_json,
    require_data,
    say,
    say_compression,
    say_zones,
    settings_of,
    show,
    terminal_progress,
    workbench_of,
)
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import Query
from ctxasm.model.search import ENGINES, INDEXED_TEXTS, LANGUAGES, METHODS, SearchOptions

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.model.ports import FetchedChunk

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
    workbench = workbench_of(args)
    require_data(workbench)
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
