"""Search by the database over a large made corpus: `pytest -m bench -s tests/bench/test_retrieval_scale.py`.

CTXASM_BENCH_CHUNKS chunks (default 50,000) of 200 words each, drawn from 120,000 made words as often as words are (Zipf), written
straight into the tables. Words are searched by every database; vectors are random unit vectors of 256 dimensions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert, update

from ctxasm.model.records import Bundle, Document
from ctxasm.retrieval.analyser import analyser
from ctxasm.store.database import Store
from ctxasm.store.schema import INDEX_BITS, chunks, datasets
from ctxasm.store.search import SearchTables
from ctxasm.store.search_vectors import make_vectors, search_vectors
from ctxasm.store.search_words import make_words, search_words
from ctxasm.text.chunk_facts import duplicate_key
from ctxasm.text.tokens.counter import open_counter
from tests.bench.tables import show

pytestmark = pytest.mark.bench
CHUNKS = int(os.environ.get("CTXASM_BENCH_CHUNKS") or 50_000)
PER_DOCUMENT, WORDS_OF_A_CHUNK, KNOWN_WORDS, DIMENSIONS, STEP = 40, 200, 120_000, 256, 2000
SYLLABLES = re.findall("..", "bakelominuravowizafegohujikrlumonepo")
RANKS = {
    "three rare words": (5000, 8000, 50_000),
    "one rare word": (5000,),
    "rare and frequent": (5000, 500, 5),
    "four frequent words": (2, 3, 5, 9),
}


def made_word(number: int) -> str:
    word = ""
    while True:
        word += SYLLABLES[number % len(SYLLABLES)]
        number //= len(SYLLABLES)
        if not number:
            return word


VOCABULARY = np.array([made_word(number) for number in range(KNOWN_WORDS)], dtype=object)


def texts() -> Iterator[list[str]]:
    draw = np.random.default_rng(7)
    often = np.cumsum(1 / np.arange(1, KNOWN_WORDS + 1))
    for _ in range(0, CHUNKS, STEP):
        numbers = np.searchsorted(often / often[-1], draw.random((STEP, WORDS_OF_A_CHUNK)))
        yield [" ".join(row) for row in VOCABULARY[numbers]]


@pytest.fixture(params=["sqlite", "postgresql"])
def tables(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[SearchTables]:
    url = f"sqlite:///{tmp_path / 'large.db'}" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with Store(url, open_counter()) as store:
        store.add(Bundle("large", tuple(Document(f"d{number}") for number in range(CHUNKS // PER_DOCUMENT))))
        first, place = SearchTables(store, "large").low, 0
        for batch in texts():
            rows = []
            for text in batch:
                at = first + ((place // PER_DOCUMENT) << INDEX_BITS) + place % PER_DOCUMENT
                rows.append({"place": at, "text": text, "duplicate_key": duplicate_key(text), "content_hash": b""})
                place += 1
            with store._connections.writing() as connection:
                connection.execute(insert(chunks), rows)
        with store._connections.writing() as connection:
            connection.execute(update(datasets).values(chunks=CHUNKS))
        yield SearchTables(store, "large")


def timed(ask: Any) -> list[float]:
    times = []
    for _ in range(7):
        began = perf_counter()
        ask()
        times.append((perf_counter() - began) * 1000)
    return [sorted(times)[3], max(times)]


def test_words(tables: SearchTables, capsys: pytest.CaptureFixture[str]) -> None:
    own = analyser("nl")
    began = perf_counter()
    rows = ((batch.places, [own.words(chunk.text) for chunk in batch.chunks]) for batch in tables.batches())
    made = make_words(tables, "words|", rows)
    rate = CHUNKS / (perf_counter() - began)
    found = []
    for name, ranks in RANKS.items():
        words = own.question(" ".join(VOCABULARY[list(ranks)])).words
        found.append([name, *timed(lambda words=words: search_words(tables, made, words, 200))])
    with capsys.disabled():
        show(f"{made.kind}: {CHUNKS} chunks, {rate:.0f} indexed a second; milliseconds", ("question", "median", "highest"), found)


def test_vectors(tables: SearchTables, capsys: pytest.CaptureFixture[str]) -> None:
    draw = np.random.default_rng(3)

    def rows() -> Iterator[tuple[list[int], Any]]:
        for batch in tables.batches():
            vectors = draw.normal(size=(len(batch.places), DIMENSIONS)).astype(np.float32)
            yield batch.places, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    began = perf_counter()
    made = make_vectors(tables, "vectors|", rows())
    rate = CHUNKS / (perf_counter() - began)
    question = draw.normal(size=DIMENSIONS).astype(np.float32)
    times = timed(lambda: search_vectors(tables, made, question / np.linalg.norm(question), 200))
    with capsys.disabled():
        title = f"{made.kind}: {CHUNKS} vectors of {DIMENSIONS}, {rate:.0f} kept a second; milliseconds"
        show(title, ("", "median", "highest"), [["nearest 200", *times]])
