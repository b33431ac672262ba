"""Golden contexts of the sample: the very bytes. Rewrite them with CTXASM_REWRITE_GOLDEN=1 and read the difference."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.data.files import load_bundle
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.memory import MemorySource
from tests.strategies import COUNTER

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = {
    "cardio-duur-meebrengen": {"top_k": 3},
    "contrast-allergie": {"top_k": 5, "max_tokens": 2000},
    "valpreventie-bronnen": {"top_k": 2, "citation_unit": "passage"},
    "verblijf-veiligheid": {"max_tokens": 1000},
    "bezoek-intensieve": {"top_k": 4, "citation_unit": "chunk", "expand_window": 0},
    "en-visiting-hours": {"enabled": False, "top_k": 3},
}


@cache
def sample():
    return load_bundle(Path(__file__).parents[2] / "sample_data" / "hospital-nl")


@pytest.mark.parametrize("query_id", CASES)
def test_the_context_is_what_it_was(query_id):
    bundle = sample()
    query = next(q for q in bundle.queries if q.query_id == query_id)
    done = assemble(query, MemorySource(bundle.documents, bundle.chunks, COUNTER), AssemblySettings(**CASES[query_id]), COUNTER)
    file = GOLDEN / f"{query_id}.txt"
    if os.environ.get("CTXASM_REWRITE_GOLDEN"):
        file.write_text(done.text, encoding="utf-8", newline="")
    assert file.read_bytes().decode() == done.text
