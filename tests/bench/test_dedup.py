"""Duplicates on real chunks: time, what MinHash libraries find of the same, and what each threshold takes for one text.

`pytest -m bench -s tests/bench/test_dedup.py`; the parts about meaning need wordllama, those about MinHash datasketch or rensa.
Documents are split in halves by a digest of their name, and both are reported; the thresholds were chosen with both halves in view.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import pytest

from ctxasm.assembly.deduplicate import by_document, neighbours, relations_of, resolve
from ctxasm.assembly.near_copies import Words, facts_of, say_the_same
from ctxasm.llm.embedding import THRESHOLDS
from ctxasm.llm.embedding.local import open_vectors
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.results import Candidate
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import Store
from ctxasm.text.chunk_facts import duplicate_key
from ctxasm.text.tokens import open_counter
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="no real bundles beside the project")]
needs_wordllama = pytest.mark.skipif(not find_spec("wordllama"), reason="wordllama is not installed")


@cache
def stored(name: str) -> tuple[FetchedChunk, ...]:
    return tuple(
        FetchedChunk(c.document_id, c.chunk_index, c.text, duplicate_key=duplicate_key(c.text)) for c in load_real(name).chunks if c.text
    )


def mixed(count: int) -> list[FetchedChunk]:
    """Chunks of all corpora in turn: documents are named apart already."""
    every = [stored(name) for name in REAL]
    found = [own[at] for at in range(max(len(own) for own in every)) for own in every if at < len(own)]
    return found[:count]


def candidates(chunks: list[FetchedChunk]) -> dict[tuple[str, int], Candidate]:
    return {(c.document_id, c.chunk_index): Candidate(c, True, 1 / rank, rank) for rank, c in enumerate(chunks, 1)}


def best_of(action: Callable[[], object], times: int = 9) -> tuple[float, float]:
    """The shortest and the middle time in milliseconds, of the processor: a busy machine makes it wait, not work."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        action()
        taken.append((time.process_time() - began) * 1000)
    return min(taken), sorted(taken)[times // 2]


def test_near_duplicates_of_2000_chunks() -> None:
    settings = AssemblySettings().replace(dedup_near=True)
    rows = []
    for count in (50, 200, 2000):
        found = candidates(mixed(count))

        def work(found: dict[tuple[str, int], Candidate] = found) -> object:
            facts_of.cache_clear()
            relations = relations_of(found, settings)
            return resolve(by_document(found.values()), relations)

        shortest, middle = best_of(work)
        relations = relations_of(found, settings)
        rows.append((count, f"{shortest:.1f}", f"{middle:.1f}", sum(len(own) for own in relations.copies.values())))
    show("near duplicates, cold", ("chunks", "ms, shortest", "ms, middle", "related"), rows)
    assert float(rows[-1][1]) <= 150


def minhash() -> Iterator[tuple[str, Callable[[list[frozenset[str]]], set[tuple[int, int]]]]]:
    def datasketch(sets: list[frozenset[str]]) -> set[tuple[int, int]]:
        library = import_module("datasketch")
        index = library.MinHashLSH(threshold=0.9, num_perm=128)
        hashes = library.MinHash.bulk([[word.encode() for word in own] for own in sets], num_perm=128)
        made = list(hashes)
        for at, one in enumerate(made):
            index.insert(at, one)
        return {(min(at, other), max(at, other)) for at, one in enumerate(made) for other in index.query(one) if other != at}

    def rensa(sets: list[frozenset[str]]) -> set[tuple[int, int]]:
        library = import_module("rensa")
        index = library.RMinHashLSH(threshold=0.9, num_perm=128, num_bands=16)
        made = []
        for at, own in enumerate(sets):
            made.append(library.RMinHash(num_perm=128, seed=42))
            made[-1].update(sorted(own))
            index.insert(at, made[-1])
        return {(min(at, other), max(at, other)) for at, one in enumerate(made) for other in index.query(one) if other != at}

    for name, find in (("datasketch", datasketch), ("rensa", rensa)):
        if find_spec(name):
            yield name, find


def test_beside_minhash() -> None:
    texts = [chunk.text for chunk in mixed(2000)]
    sets = [frozenset(text.lower().split()) for text in texts]
    wanted = {(a, b) for a, b in combinations(range(len(sets)), 2) if len(sets[a] & sets[b]) >= 0.9 * len(sets[a] | sets[b]) > 0}
    ours = {(pair.first, pair.second) for pair in Words(texts).alike(0.9)}
    rows = [("all pairs", "", len(wanted), 0, 0)]
    rows.append(("this join", f"{best_of(lambda: Words(texts).alike(0.9), 5)[0]:.0f}", len(ours), len(wanted - ours), len(ours - wanted)))
    for name, find in minhash():
        found = find(sets)
        rows.append((name, f"{best_of(lambda find=find: find(sets), 3)[0]:.0f}", len(found), len(wanted - found), len(found - wanted)))
    show("2,000 chunks, Jaccard 0.9", ("way", "ms", "pairs", "missed", "false"), rows)
    assert ours == wanted


@needs_wordllama
def test_meaning_of_200_chunks_with_stored_vectors(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'v.db'}", open_counter()) as store:
        vectors = open_vectors(store, "wordllama")
        settings = AssemblySettings().replace(dedup_semantic=True)
        rows = []
        for name in REAL:
            found = candidates(list(stored(name)[:200]))
            began = time.perf_counter()
            relations_of(found, settings, vectors)
            cold = (time.perf_counter() - began) * 1000
            shortest, middle = best_of(lambda found=found: relations_of(found, settings, vectors), 15)
            rows.append((name, f"{cold:.0f}", f"{shortest:.1f}", f"{middle:.1f}"))
    show("meaning, 200 chunks", ("corpus", "ms, first time", "ms, stored, shortest", "middle"), rows)
    assert min(float(row[2]) for row in rows) <= 10


def half_of(document_id: str) -> int:
    return hashlib.blake2b(document_id.encode()).digest()[0] & 1


@needs_wordllama
def test_what_each_threshold_takes_for_one_text(tmp_path: Path) -> None:
    """Pairs above a cosine that neither are near copies nor neighbours, and those of them that also agree on all facts."""
    steps = (0.85, 0.9, 0.92, 0.94, THRESHOLDS["wordllama"], 0.98)
    rows = []
    with Store(f"sqlite:///{tmp_path / 'v.db'}", open_counter()) as store:
        vectors = open_vectors(store, "wordllama")
        for name in REAL:
            different = list({chunk.duplicate_key: chunk for chunk in stored(name)}.values())
            for half in (0, 1):
                chunks = [chunk for chunk in different if half_of(chunk.document_id) == half]
                words = Words([chunk.text for chunk in chunks])
                near = {(p.first, p.second) for p in words.alike(0.9)} | {(min(p[:2]), max(p[:2])) for p in words.inside()}
                rows_of = vectors.vectors(chunks)
                cosines = rows_of @ rows_of.T
                counted = {step: [0, 0] for step in steps}
                for first, second in zip(*(cosines >= steps[0]).nonzero(), strict=True):
                    one, other = chunks[first], chunks[second]
                    if first >= second or (first, second) in near or neighbours((one[0], one[1]), (other[0], other[1])):
                        continue
                    agreed = cosines[first, second] >= 0.9 and say_the_same(one.text, other.text)
                    for step in steps:
                        if cosines[first, second] >= step:
                            counted[step][0] += 1
                            counted[step][1] += agreed
                rows.append((f"{name}, half {half + 1}", len(chunks), *(f"{many} / {agreed}" for many, agreed in counted.values())))
    show("wordllama: pairs / of them agreeing (counted from .9)", ("corpus", "chunks", *map(str, steps)), rows)
    assert rows
