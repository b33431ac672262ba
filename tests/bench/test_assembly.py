"""Whole assembly with full trace beside the literal pipeline and a bare version: `pytest -m bench -s tests/bench/test_assembly.py`."""

from __future__ import annotations

import os
import sqlite3

import psycopg
import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter
from ctxasm.text.tokens.vocabulary import load_encoding
from tests.bench.bare import assemble_bare
from tests.bench.corpora import bundles, made_bundle, random_queries
from tests.bench.literal import assemble_literally, create_literal
from tests.bench.tables import in_turns, show

pytestmark = pytest.mark.bench
COUNTER, ENCODING, SETTINGS = open_counter(), load_encoding("cl100k_base"), AssemblySettings()
SIZES = (7, 20, 100)


def compare(store, literal, bundle, name, rows, rounds) -> None:
    dataset = store.dataset(bundle.name)
    for k in SIZES:
        queries = random_queries(bundle, k, rounds)
        same = 0
        for query in queries[:10]:
            bare, full = assemble_bare(query, dataset, COUNTER), assemble(query, dataset, SETTINGS, COUNTER)
            assert COUNTER.count(full.text) == full.token_count
            assert full.trace.fetch.statements == 1
            if bare is not None:
                assert bare == (full.text, full.token_count)
                same += 1
        times = in_turns(
            {
                "literal": lambda i, q=queries: assemble_literally(q[i], literal, ENCODING),
                "bare": lambda i, q=queries: assemble_bare(q[i], dataset, COUNTER),
                "full": lambda i, q=queries: assemble(q[i], dataset, SETTINGS, COUNTER),
            },
            rounds,
        )
        rows.append(
            (
                bundle.name,
                name,
                k,
                times["literal"],
                times["bare"],
                times["full"],
                times["full"] / times["literal"],
                times["full"] / times["bare"],
                f"{same}/10",
            )
        )


def test_whole_assembly_with_full_trace(tmp_path, capsys, postgres_url):
    rows: list = []
    made = made_bundle(10_000, "made")
    for bundle in (*bundles(), made):
        with Store(f"sqlite:///{tmp_path / 'bench.db'}", COUNTER) as store:
            store.add(bundle)
            connection = sqlite3.connect(tmp_path / f"{bundle.name}.literal.db")
            compare(store, create_literal(connection, "?", bundle), bundle, "sqlite", rows, 16)
            connection.close()
    with Store(postgres_url, COUNTER) as store, psycopg.connect(plain(postgres_url)) as connection:
        store.add(made)
        compare(store, create_literal(connection, "%s", made), made, "postgresql", rows, 16)
    with capsys.disabled():
        show(
            "Whole assembly with full trace, milliseconds (median of 30, in turns)",
            ("corpus", "store", "k", "literal", "bare", "full", "full/literal", "full/bare", "bare applies"),
            rows,
        )


def plain(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


class Bare:
    """A dataset that hands out no stored facts."""

    def __init__(self, dataset) -> None:
        self.dataset = dataset

    def fetch(self, windows, encoding):
        return self.dataset.fetch(windows, "none stored")


def test_cold_without_stored_counts(tmp_path, capsys):
    rows = []
    for bundle in bundles():
        with Store(f"sqlite:///{tmp_path / bundle.name}.db", COUNTER) as store:
            store.add(bundle)
            dataset = store.dataset(bundle.name)
            cold = Bare(dataset)
            for k in SIZES:
                queries = random_queries(bundle, k, 15, seed=2)
                times = in_turns(
                    {
                        "tiktoken": lambda i, q=queries, d=dataset: one_pass(d, q[i]),
                        "cold": lambda i, q=queries, c=cold: assemble(q[i], c, SETTINGS, COUNTER),
                    },
                    15,
                )
                rows.append((bundle.name, k, times["tiktoken"], times["cold"], times["cold"] / times["tiktoken"]))
    with capsys.disabled():
        show("Cold: no stored counts, beside one tiktoken pass over the text fetched", ("corpus", "k", "tiktoken", "cold", "ratio"), rows)


def one_pass(dataset, query) -> int:
    from ctxasm.assembly.expand import plan_expansion

    fetched = dataset.fetch(plan_expansion(query.retrieved, 1), "cl100k_base")
    return sum(len(ENCODING.encode_ordinary(chunk.text)) for chunk in fetched.chunks)


class Fast:
    """Counts by length: for filling a large table, where only the time of reading it is measured."""

    encoding, exact = "cl100k_base", True
    count = staticmethod(lambda text: len(text) // 4)
    count_many = staticmethod(lambda texts: [len(text) // 4 for text in texts])
    has_seam = staticmethod(lambda text: True)
    merge = staticmethod(lambda text, at, left, right: left + right)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_flat_from_ten_thousand_to_a_million_chunks(kind, tmp_path, capsys, postgres_url):
    rows = []
    sizes = (10_000, int(os.environ.get("CTXASM_BENCH_CHUNKS", "100000")))
    made = {size: made_bundle(size, f"made{size}") for size in sizes}
    with Store(f"sqlite:///{tmp_path / 'large.db'}" if kind == "sqlite" else postgres_url, Fast()) as store:
        for bundle in made.values():
            store.add(bundle)
        for k in SIZES:
            queries = {size: random_queries(bundle, k, 40, seed=3) for size, bundle in made.items()}
            datasets = {size: store.dataset(bundle.name) for size, bundle in made.items()}
            times = in_turns(
                {str(size): lambda i, q=queries[size], d=datasets[size]: assemble(q[i], d, SETTINGS, COUNTER) for size in sizes}, 40
            )
            small, large = (times[str(size)] for size in sizes)
            rows.append((kind, k, small, large, large / small))
    with capsys.disabled():
        show(f"Assembly over {sizes[0]:,} and over {sizes[1]:,} stored chunks", ("store", "k", "small", "large", "ratio"), rows)
