"""How fast a great many chunks load, in what memory, and whether a query over them is as fast as over few.

`pytest -m bench -s tests/bench/test_scale.py` loads 50,000 chunks; CTXASM_BENCH_CHUNKS=1000000 the million (3 GB of disk for each
database). Printed beside what bare tiktoken counts on all cores in the same run: that ratio holds on any machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter
from ctxasm.text.tokens.vocabulary import load_encoding
from tests.bench.scale import PER_DOCUMENT, distinct_chunks, documents, random_queries
from tests.bench.tables import show
from tests.real_data import load_real, real_folder

pytestmark = pytest.mark.bench
CHUNKS = int(os.environ.get("CTXASM_BENCH_CHUNKS", "50000"))
FEW = 10_000
ROOT = Path(__file__).resolve().parents[2]
LOADER = """
import json, sys, time
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter
from tests.bench.scale import distinct_chunks, documents
url, chunks = sys.argv[1], int(sys.argv[2])
counter = open_counter()
counter.count("ready")
with Store(url, counter) as store:
    began = time.perf_counter()
    info = store.add_stream("scale", documents(chunks), distinct_chunks(chunks))
    seconds = time.perf_counter() - began
status = dict(line.split(":", 1) for line in open("/proc/self/status")) if sys.platform == "linux" else {}
memory = int(status.get("VmHWM", "0 kB").split()[0]) / 1024
import resource
helpers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(json.dumps({"chunks": info.chunks, "seconds": seconds, "memory": memory, "helper": helpers}))
"""


def load_apart(url: str, chunks: int, fast: bool) -> dict[str, Any]:
    """Load in a process of its own, so that its memory is only that of the load."""
    environment = {**os.environ, "CTXASM_FAST_COUNTER": "1" if fast else "0", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADER, url, str(chunks)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def bare_tiktoken(chunks: int) -> float:
    """Chunks a second that tiktoken alone counts on all cores: by its own batch call."""
    texts = [chunk.text for chunk in islice(distinct_chunks(chunks), min(chunks, 20_000))]
    vocabulary, cores = load_encoding("cl100k_base"), os.cpu_count() or 1
    began = time.perf_counter()
    sum(map(len, vocabulary.encode_ordinary_batch(texts, num_threads=cores)))
    return len(texts) / (time.perf_counter() - began)


def average_tokens() -> float:
    texts = [chunk.text for chunk in distinct_chunks(2000)]
    return sum(open_counter().count_many(texts)) / len(texts)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_load(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/scale.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    rows = []
    bare = bare_tiktoken(CHUNKS)
    for fast in (False, True):
        found = load_apart(url, CHUNKS, fast)
        speed = found["chunks"] / found["seconds"]
        counter = "toktok" if fast else "tiktoken"
        rows.append(
            (counter, f"{found['seconds']:.1f}", f"{speed:,.0f}", f"{speed / bare:.2f}", f"{found['memory']:.0f}", f"{found['helper']:.0f}")
        )
    title = (
        f"{kind}: {CHUNKS:,} chunks of {average_tokens():.0f} tokens; bare tiktoken counts {bare:,.0f} chunks/s on {os.cpu_count()} cores"
    )
    show(title, ("counted by", "s", "chunks/s", "× bare", "peak MB", "a helper"), rows)
    with Store(url, open_counter()) as store:
        compare_queries(store, CHUNKS)


def compare_queries(store: Store, chunks: int) -> None:
    """The same queries' time over the large corpus and over a small one in the same database, in turns."""
    store.add_stream("few", documents(FEW), distinct_chunks(FEW))
    sizes = {"scale": chunks, "few": FEW}
    sources = {name: store.dataset(name) for name in sizes}
    rows = []
    for hits in (7, 20, 100):
        times: dict[str, list[float]] = {name: [] for name in sizes}
        queries = {name: random_queries(size, hits, 60) for name, size in sizes.items()}
        for number in range(60):
            for name, source in sources.items():
                began = time.perf_counter()
                assembly = assemble(queries[name][number], source, AssemblySettings(), counter=open_counter())
                if number >= 10:
                    times[name].append((time.perf_counter() - began) * 1000)
                assert assembly.token_count > 0
        large, small = (statistics.median(times[name]) for name in ("scale", "few"))
        rows.append((hits, f"{small:.2f}", f"{large:.2f}", f"{large / small:.2f}"))
    show("assembling a query, median ms", ("hits", f"over {FEW:,}", f"over {chunks:,}", "ratio"), rows)


@pytest.mark.skipif(real_folder() is None, reason="the real bundles lie beside the project")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_real_bundle_from_nothing(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The whole command, in a process of its own, into a database that is not there yet."""
    url = f"sqlite:///{tmp_path}/real.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    folder = real_folder()
    assert folder is not None
    began = time.perf_counter()
    command = [sys.executable, "-m", "ctxasm", "load", str(folder / "debfaq-nl"), "--db", url]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    seconds = time.perf_counter() - began
    assert done.returncode == 0, done.stderr
    show(f"{kind}: ctxasm load debfaq-nl into a new database", ("chunks", "s"), [(len(load_real("debfaq-nl").chunks), f"{seconds:.2f}")])


def test_the_corpus_repeats_nothing() -> None:
    texts = [chunk.text for chunk in distinct_chunks(5000)]
    assert len(set(texts)) == len(texts) == 5000
    assert len(list(documents(5000))) == 5000 // PER_DOCUMENT
