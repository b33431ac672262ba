"""How long a fetch takes: printed, not judged. Run with `pytest -m bench -s tests/store/test_latency.py`."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path

import pytest
from sqlalchemy import make_url

from ctxasm.model.ports import TokenCounter, Window
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.store.database import Store

ENCODING = "cl100k_base"
CHUNKS_A_DOCUMENT = 20
ROUNDS = 200


class Constant:
    """A counter that costs nothing: the tokens of these texts do not matter here."""

    encoding, exact = ENCODING, True

    def count_many(self, texts: list[str]) -> list[int]:
        return [350] * len(texts)

    def merge(self, _text: str, _at: int, left: int, right: int) -> int:
        return left + right

    def has_seam(self, _text: str) -> bool:
        return True


def large_bundle(chunks: int) -> Bundle:
    """`chunks` of about 1,400 characters, as 350 tokens are."""
    numbers = random.Random(5)
    words = ["".join(numbers.choices("abcdefghijklmnop", k=numbers.randint(2, 9))) for _ in range(3000)]
    documents = chunks // CHUNKS_A_DOCUMENT
    return Bundle(
        "large",
        tuple(Document(f"doc_{d}", f"Title {d}", f"{d}.html", "A summary of the page. " * 10) for d in range(documents)),
        tuple(
            Chunk(f"doc_{d}", c, " ".join(numbers.choices(words, k=220)), page_number=c, section="Section")
            for d in range(documents)
            for c in range(CHUNKS_A_DOCUMENT)
        ),
    )


def median_ms(store: Store, hits: int, documents: int, *, fresh: bool) -> float:
    """Median time of a fetch of `hits` windows of three chunks, documents remembered or (`fresh`) read as well."""
    numbers, dataset, times = random.Random(hits), store.dataset(), []
    rounds = []
    for _ in range(ROUNDS):
        names = numbers.sample(range(documents), hits)
        rounds.append([Window(f"doc_{d}", low := numbers.randrange(CHUNKS_A_DOCUMENT - 2), low + 2) for d in names])
    for windows in rounds + rounds:
        if fresh:
            dataset._version.remembered.clear()
        started = time.perf_counter()
        fetched = dataset.fetch(windows, ENCODING)
        times.append(time.perf_counter() - started)
        assert (len(fetched.chunks), fetched.statements) == (3 * hits, 1)
    return statistics.median(times[ROUNDS:]) * 1000


@pytest.mark.bench
@pytest.mark.parametrize("chunks", [10_000, 100_000])
def test_fetch(shared_url: str, chunks: int, tmp_path: Path) -> None:
    counter: TokenCounter = Constant()  # type: ignore[assignment]
    with Store(shared_url, counter) as store:
        bundle = large_bundle(chunks)
        started = time.perf_counter()
        store.add(bundle)
        loaded = time.perf_counter() - started
        print(f"\n{make_url(shared_url).get_backend_name()}, {chunks:,} chunks, loaded in {loaded:.1f} s without counting")
        print(f"{'hits':>5} {'rows':>5} {'fetch, ms':>10} {'and documents':>14}")
        for hits in (7, 20, 100):
            # The same 500 documents at every size: what grows is the table, not what is read of it.
            fetch, both = (median_ms(store, hits, 500, fresh=fresh) for fresh in (False, True))
            print(f"{hits:>5} {3 * hits:>5} {fetch:>10.3f} {both:>14.3f}")
