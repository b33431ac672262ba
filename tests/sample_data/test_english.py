"""The English sample: what a newcomer meets. Its questions are ordinary ones, on which the settings visibly differ at 2,000 tokens."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ctxasm import AssemblySettings, Comparison, assemble, check, compare, load_bundle, preset
from ctxasm.model.records import Bundle
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens.counter import open_counter

SAMPLE = Path(__file__).parents[2] / "sample_data"


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return load_bundle(SAMPLE / "hospital-en")


@pytest.fixture(scope="module")
def store(bundle: Bundle) -> MemoryStore:
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(bundle)
    return store


def of_both(store: MemoryStore, a: AssemblySettings, b: AssemblySettings) -> Comparison:
    found = compare(a, b, store)
    print(found.sentence())
    return found


def test_the_promised_numbers_are_there(bundle: Bundle) -> None:
    labelled = [query for query in bundle.queries if query.spans]
    assert len(bundle.documents) >= 25
    assert len(labelled) >= 40
    assert all(query.answer for query in bundle.queries)
    assert sum(bool(query.history) for query in bundle.queries) >= 2
    assert sum("no_answer" in query.metadata["shows"] for query in bundle.queries) >= 1
    assert all(document.title and document.source and document.summary and document.date for document in bundle.documents)


def test_all_of_it_is_english(bundle: Bundle) -> None:
    assert {query.metadata["language"] for query in bundle.queries} == {"en"}
    assert {document.metadata["language"] for document in bundle.documents} == {"en"}


def test_every_question_has_twenty_real_hits(bundle: Bundle) -> None:
    for query in bundle.queries:
        assert [hit.rank for hit in query.retrieved] == list(range(1, 21))
        scores = [hit.score for hit in query.retrieved]
        assert scores == sorted(scores, reverse=True)
        assert query.bm25_matches == sum("bm25" in hit.scores for hit in query.retrieved)


def test_the_preset_holds_more_than_the_five_stages(store: MemoryStore) -> None:
    found = of_both(store, AssemblySettings(max_tokens=2000), preset("recommended").replace(max_tokens=2000))
    assert found.result.interval.low > 0
    assert found.whole_a < 0.8 * found.labelled


def test_a_limit_costs_evidence(store: MemoryStore) -> None:
    for low, high in ((1000, 2000), (2000, 4000)):
        assert of_both(store, AssemblySettings(max_tokens=low), AssemblySettings(max_tokens=high)).result.interval.low > 0


def test_a_window_helps_few_hits_and_crowds_a_small_limit(store: MemoryStore) -> None:
    few = of_both(store, AssemblySettings(top_k=5, enabled=False), AssemblySettings(top_k=5, max_tokens=2000))
    assert few.result.interval.low > 0
    narrow, wide = (AssemblySettings(max_tokens=2000, expand_window=window) for window in (0, 2))
    crowded = of_both(store, wide, narrow)
    assert crowded.result.interval.low > 0


def test_the_older_editions_disagree(bundle: Bundle) -> None:
    dates = {document.document_id: document.date or "" for document in bundle.documents}
    texts: dict[str, str] = {}
    for chunk in bundle.chunks:
        texts[chunk.document_id] = texts.get(chunk.document_id, "") + chunk.text
    for old, new, before, after in (
        ("visiting-hours-2023", "visiting-hours-2026", "from 3 to 7.30 p.m.", "from 2 to 8 p.m."),
        ("price-list-2024", "price-list-2026", "€ 61.00", "€ 68.00"),
        ("isolation-policy-2024", "isolation-policy", "within four hours", "within two hours"),
    ):
        assert dates[old] < dates[new]
        assert before in texts[old]
        assert before not in texts[new]
        assert after in texts[new]


def test_the_recorded_answers_show_each_kind(bundle: Bundle, store: MemoryStore) -> None:
    dataset = store.dataset()
    verdicts: dict[str, list[str]] = {}
    for recorded in bundle.answers:
        checked = check(assemble(dataset.query(recorded.query_id), store, AssemblySettings()), recorded.answer)
        verdicts[recorded.query_id] = [claim.verdict for claim in checked.claims]
    assert verdicts["child-operation-cold"] == ["supported", "contradicted"]  # a wrong number
    assert verdicts["visiting-ordinary-ward"] == ["elsewhere"]  # the older edition, cited as the newer one
    assert verdicts["parents-sleep-meals"][-1] == "unsupported"  # a citation that assembly moved
    assert verdicts["hip-sleep-drive"] == ["supported", "supported", "uncited"]
    assert verdicts["dialysis-holiday"] == ["supported", "supported"]
    assert verdicts["dental-implant"] == ["declined"]


def test_assembly_pays_for_the_question_of_show_me(bundle: Bundle) -> None:
    gains = runpy.run_path(str(SAMPLE / "gains.py"))["gains"](bundle, open_counter("cl100k_base"), hits=(3,), limits=(8000,))
    (gain,) = [gain for gain in gains if gain.query_id == "child-operation-cold"]
    assert gain.found_without < gain.pieces
    assert gain.stages == ("expand",)
