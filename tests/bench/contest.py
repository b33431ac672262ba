"""Runs every system on every question of a corpus, and notes what its context holds."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Literal, NamedTuple

from ctxasm.model.records import Bundle, Query
from tests.bench.found_text import Corpus, holds_evidence
from tests.bench.peers.ours import Ours
from tests.bench.peers.peer import BUDGETS, Peer, Way, count, cut
from tests.real_data import load_real

Half = Literal["tune", "judge"]
HALVES: tuple[Half, ...] = ("tune", "judge")
OURS = "ctxasm"
PACKAGES = {OURS: "ctxasm", "literal rule": "ctxasm", "LlamaIndex": "llama_index", "LangChain": "langchain_classic", "Haystack": "haystack"}
SYSTEMS = tuple(name for name, package in PACKAGES.items() if find_spec(package) is not None)
"""Those that are installed: the extra `bench` brings the last three."""
MOST = int(os.environ.get("CTXASM_BENCH_QUERIES", "40"))
"""Questions of a corpus, at most (0: all). Which ones says a digest of their ids."""
HITS = int(os.environ.get("CTXASM_BENCH_HITS", "20"))
"""Hits of a question, for every system alike."""


class Outcome(NamedTuple):
    """One context. `fits`: the evidence is within its first `limit` tokens; `lost_at`: for ours, the stages that lost some."""

    system: str
    way: Way
    limit: int
    query_id: str
    half: Half
    whole: bool
    fits: bool
    tokens: int
    lost_at: str


def half_of(query_id: str) -> Half:
    """The half that a question is in."""
    return "judge" if digest(query_id) % 2 else "tune"


def digest(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def chosen_queries(bundle: Bundle) -> list[Query]:
    """The labelled questions of the bench, as many of either half, each with its first hits."""
    labelled = sorted((q for q in bundle.queries if q.retrieved and (q.spans or q.gold)), key=lambda q: digest(q.query_id))
    most = -(-MOST // 2) or len(labelled)
    return [
        replace(q, retrieved=q.retrieved[:HITS]) for half in HALVES for q in [q for q in labelled if half_of(q.query_id) == half][:most]
    ]


def contest(names: Iterable[str]) -> dict[str, list[Outcome]]:
    """The outcomes by corpus, on all cores."""
    names = tuple(names)
    tasks = [(name, system) for system in SYSTEMS for name in names]
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        found = list(pool.map(run, *zip(*tasks, strict=True)))
    return {name: [o for (of, _), each in zip(tasks, found, strict=True) if of == name for o in each] for name in names}


def run(name: str, system: str) -> list[Outcome]:
    """All ways of one system on one corpus."""
    corpus = Corpus(load_real(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = load(system)(corpus)
        return [o for query in chosen_queries(corpus.bundle) for way in peer.ways for o in outcomes(system, peer, way, query, corpus)]


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
        lost_at = peer.stages[query.query_id, way, limit] if isinstance(peer, Ours) else ""
        tokens = count(text)
        whole = holds(text)
        fits = whole and (tokens <= limit or holds(cut(text, limit)))
        found.append(Outcome(system, way, limit, query.query_id, half_of(query.query_id), whole, fits, tokens, lost_at))
    return found
