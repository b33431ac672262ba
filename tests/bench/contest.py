"""Runs every system on every question of a corpus, and notes what its context holds."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Literal, NamedTuple

from ctxasm.model.records import Bundle, Query
from tests.bench.found_text import Corpus, holds_evidence
from tests.bench.peers.ours import Ours, prepare
from tests.bench.peers.peer import BUDGETS, Peer, Way, count, cut
from tests.real_data import REAL, load_real

Half = Literal["tune", "judge"]
HALVES: tuple[Half, ...] = ("tune", "judge")
OURS = "ctxasm"
PACKAGES = {OURS: "ctxasm", "literal rule": "ctxasm", "LlamaIndex": "llama_index", "LangChain": "langchain_classic", "Haystack": "haystack"}
SYSTEMS = tuple(name for name, package in PACKAGES.items() if find_spec(package) is not None)
"""Those that are installed: the extra `bench` brings the last three."""
MOST = int(os.environ.get("CTXASM_BENCH_QUERIES", "40"))
"""Questions of a corpus, at most (0: all). Which ones says a digest of their ids."""
CORPORA = os.environ.get("CTXASM_BENCH_CORPORA", ",".join(REAL)).split(",")
"""The corpora, by name."""
HITS = int(os.environ.get("CTXASM_BENCH_HITS", "20"))
"""Hits of a question, for every system alike."""


class Outcome(NamedTuple):
    """One context. `whole`: it holds the evidence as it stands; `fits`: within its first `limit` tokens."""

    system: str
    way: Way
    limit: int
    query_id: str
    half: Half
    whole: bool
    fits: bool
    tokens: int


def half_of(query_id: str) -> Half:
    """The half that a question is in."""
    return "judge" if digest(query_id) % 2 else "tune"


def digest(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def chosen_queries(bundle: Bundle, most: int = MOST) -> list[Query]:
    """The labelled questions of the bench, as many of either half, each with its first hits; `most` 0: all."""
    labelled = sorted((q for q in bundle.queries if q.retrieved and q.is_labelled), key=lambda q: digest(q.query_id))
    most = -(-most // 2) or len(labelled)
    return [
        replace(q, retrieved=q.retrieved[:HITS]) for half in HALVES for q in [q for q in labelled if half_of(q.query_id) == half][:most]
    ]


FEW: dict[str, Sequence[Way]] = {
    OURS: (
        Way("drop_documents", 1),
        Way("greedy_skip", 1),
        Way("segments", 3),
        Way("segments", 6),
        Way("learned", 3),
        Way("learned", 6),
    ),
    "literal rule": (Way("literal", 0), Way("literal", 1)),
    "LlamaIndex": (Way("PrevNext, compact", 0), Way("PrevNext, compact", 1), Way("AutoMerging, compact", 0)),
    "LangChain": (Way("trim_messages", 0), Way("trim_messages, partial", 0)),
    "Haystack": (Way("hits, ½ words", 0), Way("hits, ¾ words", 0), Way("windows, ½ words", 1)),
}
"""The ways that can be run on all questions in a few minutes: the first, second or third of each system where all were run on some."""


def contest(names: Iterable[str], few: bool = False) -> dict[str, list[Outcome]]:
    """The outcomes by corpus, on all cores. `few`: those ways alone, on all questions."""
    names = tuple(name for name in names if name in CORPORA)
    prepare(names)
    tasks = [(name, system) for system in SYSTEMS for name in names]
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        found = list(pool.map(partial(run, few=few), *zip(*tasks, strict=True)))
    return {name: [o for (of, _), each in zip(tasks, found, strict=True) if of == name for o in each] for name in names}


def run(name: str, system: str, few: bool = False) -> list[Outcome]:
    """All ways of one system on one corpus."""
    corpus = Corpus(load_real(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = load(system)(corpus)
        queries, ways = (chosen_queries(corpus.bundle, 0), FEW[system]) if few else (chosen_queries(corpus.bundle), peer.ways)
        return [o for query in queries for way in ways for o in outcomes(system, peer, way, query, corpus)]


def load(system: str) -> Callable[[Corpus], Peer]:
    """The class of a system; its package is imported here and nowhere else."""
    match system:
        case "LlamaIndex":
            from tests.bench.peers.llamaindex import LlamaIndex

            return LlamaIndex
        case "LangChain":
            from tests.bench.peers.langchain import LangChain

            return LangChain
        case "Haystack":
            from tests.bench.peers.haystack import Haystack

            return Haystack
        case "literal rule":
            from tests.bench.peers.literal_rule import LiteralRule

            return LiteralRule
        case _:
            return Ours


def outcomes(system: str, peer: Peer, way: Way, query: Query, corpus: Corpus) -> Sequence[Outcome]:
    """One way on one question, at every limit."""
    gathered = peer.gather(way, query)
    judged: dict[str, bool] = {}

    def holds(text: str) -> bool:
        if text not in judged:
            judged[text] = holds_evidence(text, query, corpus)
        return judged[text]

    found = []
    for limit in BUDGETS:
        text = peer.fit(way, gathered, limit)
        tokens = count(text)
        whole = holds(text)
        fits = whole and (tokens <= limit or holds(cut(text, limit)))
        found.append(Outcome(system, way, limit, query.query_id, half_of(query.query_id), whole, fits, tokens))
    return found
