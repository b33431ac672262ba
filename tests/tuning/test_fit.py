"""Fitting the weights of `budget_policy=learned`: what wins is learned, and what it gains is said of other questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ctxasm.__main__ import main
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.values import Features, Weights, read_weights
from ctxasm.config import Config
from ctxasm.data.files import write_bundle
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.tuning.evidence import evidence_states
from ctxasm.tuning.fit import Labelled, Pool, fit, gain_of, is_for_fitting, pools_of, weights_of, weights_toml
from tests.strategies import COUNTER

FILLER = "The quick brown fox jumps over the lazy dog again and again. " * 40
WEIGHTS = Weights(Features(0.5, 0.1, 1.0, 2.0, 0.5, 1.0, -0.5), 1)
WORDS = ("contrast", "allergy", "parking", "visiting", "insurance", "laundry")


def bundle(questions: int) -> Bundle:
    """Questions whose evidence is the last hit: the one that holds their word."""
    documents = tuple(Document(name) for name in "abcdefgh")
    texts = {name: [f"{name}{i} {FILLER}" for i in range(3)] for name in "abcdefgh"}
    for place, word in enumerate(WORDS):
        texts["cdefgh"[place]][1] = f"About {word}: {FILLER}"
    chunks = tuple(Chunk(name, i, text) for name, own in texts.items() for i, text in enumerate(own))
    queries = []
    for number in range(questions):
        at = number % len(WORDS)
        hits = (Hit("a", 1, 3.0, 1), Hit("b", 1, 2.0, 2), Hit("cdefgh"[at], 1, 1.0, 3))
        queries.append(Query(f"What of {WORDS[at]}, number {number}?", hits, f"q{number}", gold=(GoldChunk("cdefgh"[at], 1),)))
    return Bundle("made", documents, chunks, tuple(queries))


def labelled(questions: int) -> list[Labelled]:
    store = MemoryStore(COUNTER)
    store.add(bundle(questions))
    dataset = store.dataset()
    return [Labelled(query, dataset, dataset.document_chunks) for query in dataset.queries()]


def test_what_always_holds_the_evidence_weighs_most() -> None:
    own = labelled(12)
    pools = [pool for each in own for pool in pools_of(each, COUNTER, 1)]
    assert len(pools) == len(own)
    assert all(pool.wanted.sum() == 1 and len(pool.wanted) == 9 for pool in pools)
    found = weights_of(pools, 1, ridge=1.0)
    assert found.features.words > 1
    assert found.window == 1


def test_the_maximum_is_where_the_slope_is_the_ridge() -> None:
    draw = np.random.default_rng(3)
    pools = [Pool(draw.normal(size=(6, len(Features._fields))), np.eye(6)[at % 6]) for at in range(40)]
    found = np.array(weights_of(pools, 3, ridge=2.0).features)
    rows = np.concatenate([pool.features for pool in pools])
    spread = rows.std(0)
    slope = -2.0 * found * spread
    for pool in pools:
        z = (pool.features - rows.mean(0)) / spread
        chances = np.exp(z @ (found * spread))
        slope += z.T @ (pool.wanted - chances / chances.sum())
    assert np.abs(slope).max() < 0.05


def test_the_gain_is_that_of_questions_without_a_part_in_the_fit() -> None:
    own = labelled(24)
    done = fit(own, COUNTER, window=1)
    others = [each for each in own if not is_for_fitting(each.query.query_id)]
    assert (done.questions, done.gain.questions) == (len(own) - len(others), len(others))
    assert done.gain.low <= done.gain.gain <= done.gain.high
    assert gain_of(others, COUNTER, done.weights, done.weights).gain == 0


def test_no_difference_on_few_questions_is_no_proof_of_none() -> None:
    own = labelled(24)
    few, many = (gain_of(some, COUNTER, WEIGHTS, WEIGHTS) for some in (own[:6], own))
    assert few.low < many.low < 0 < many.high < few.high
    assert few.gain == many.gain == 0
    assert gain_of([], COUNTER, WEIGHTS, None)[3:] == (-1.0, 1.0)


@pytest.mark.parametrize("at", [0, 5])
def test_what_is_counted_is_what_an_assembly_holds(at: int) -> None:
    one = labelled(12)[at]
    for limit in (500, 1000, 2000):
        settings = AssemblySettings(budget_policy="learned", pool_window=WEIGHTS.window, max_tokens=limit)
        done = assemble(one.query, one.source, settings, COUNTER, weights=WEIGHTS)
        whole = all(state.state == "found" for state in evidence_states(done, {name: one.chunks(name) for name in "abcdefgh"}))
        assert gain_of([one], COUNTER, WEIGHTS, WEIGHTS, (limit,)).after == whole


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 20 labelled questions with hits, got 5"):
        fit(labelled(5), COUNTER)
    with pytest.raises(InvalidInput, match="nothing can be fitted"):
        weights_of([], 3)


def test_the_command_writes_weights_that_an_assembly_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'f.db'}")
    write_bundle(bundle(24), tmp_path / "made")
    assert main(["load", str(tmp_path / "made")]) == 0
    file = tmp_path / "weights.toml"
    assert main(["fit", "--out", str(file)]) == 0
    said = capsys.readouterr().err
    assert "all evidence is in" in said
    assert "weights.toml written" in said
    found = read_weights(file.read_text(encoding="utf-8"))
    assert weights_toml(found, ()) == "".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[2:])
    monkeypatch.setenv("CTXASM_VALUE_WEIGHTS", str(file))
    assert main(["assemble", "--query-id", "q0", "--preset", "recommended"]) == 0
    monkeypatch.setenv("CTXASM_VALUE_WEIGHTS", str(tmp_path / "none.toml"))
    assert main(["assemble", "--query-id", "q0", "--preset", "recommended"]) == 2
    assert "set CTXASM_VALUE_WEIGHTS" in capsys.readouterr().err
    assert main(["assemble", "--query-id", "q0"]) == 0
    assert Config("sqlite://").value_weights is None
