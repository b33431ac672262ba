"""Canonical questions become queries with their chunk as gold: so a corpus without labels can be tuned."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.data.enrich.enriching import EnrichOptions, enrich
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import GoldChunk, Hit, Query
from ctxasm.retrieval.canonical_questions import questions_as_queries
from tests.data.enrich.corpus import long_bundle, small_bundle, workbench_with


def finding(question: str) -> Query:
    return Query(question, (Hit("cardio", 1, 2.0, 1),), "typed-x", search_method="bm25_only", bm25_matches=1, metadata={"notes": []})


def enriched(workbench: Workbench) -> Workbench:
    enrich(workbench)
    return workbench


def test_each_question_has_the_chunk_it_was_made_for_as_gold_and_hits() -> None:
    workbench = enriched(workbench_with(small_bundle(queries=(Query("Eigen vraag?", query_id="q1"),))))
    made = questions_as_queries(workbench, search=finding)
    queries = {query.query: query for query in workbench.dataset().queries() if query.query_id != "q1"}
    assert len(queries) == len(made.saved) > 5
    found = queries["Waar moet ik zijn?"]
    assert found.gold == (GoldChunk("cardio", 2, "made"),)
    assert found.metadata["made_by"] == "extractive"
    assert (found.search_method, found.retrieved) == ("bm25_only", (Hit("cardio", 1, 2.0, 1),))
    assert found.query_id.startswith("made-")
    assert workbench.query(None, "q1").query == "Eigen vraag?"


def test_a_real_search_finds_them() -> None:
    workbench = enriched(workbench_with(small_bundle()))
    made = questions_as_queries(workbench, limit=4)
    assert all(query.retrieved and query.metadata["indexed_text"] == "raw" for query in made.saved)


def test_the_choice_goes_round_the_documents_and_is_the_same_every_time() -> None:
    workbench = enriched(workbench_with(long_bundle(12, 6)))
    made = questions_as_queries(workbench, limit=24, search=finding)
    assert set(Counter(query.gold[0].document_id for query in made.saved).values()) == {2}
    again = questions_as_queries(workbench, limit=24, search=finding)
    assert [query.query_id for query in again.saved] == [query.query_id for query in made.saved]
    assert again.removed == 0
    fewer = questions_as_queries(workbench, limit=6, search=finding)
    assert {query.query_id for query in fewer.saved} < {query.query_id for query in made.saved}
    assert fewer.removed == 18
    assert len(workbench.dataset().queries()) == 6


def test_a_question_that_several_chunks_answer_or_that_was_asked_is_left_out() -> None:
    bundle = long_bundle(4, 1)
    same = tuple(
        chunk.__class__(chunk.document_id, 0, "Waar is de balie?\n\nDe balie is beneden bij de ingang.") for chunk in bundle.chunks[:2]
    )
    asked = Query("WAAR is de lift", query_id="q")
    lift = bundle.chunks[2].__class__("d002", 0, "Waar is de lift?\n\nDe lift is rechts van de wachtzaal.")
    workbench = enriched(workbench_with(bundle.__class__("lang", bundle.documents, (*same, lift, bundle.chunks[3]), (asked,))))
    made = questions_as_queries(workbench, search=finding)
    texts = [query.query for query in made.saved]
    assert "Waar is de balie?" not in texts
    assert "Waar is de lift?" not in texts
    assert made.ambiguous >= 2
    assert len(set(texts)) == len(texts) > 0


def test_cancelled_saves_nothing() -> None:
    workbench = enriched(workbench_with(small_bundle()))
    heard: list[object] = []
    made = questions_as_queries(workbench, None, None, finding, heard.append, lambda: len(heard) > 2)
    assert made.cancelled
    assert workbench.dataset().queries() == []


def test_what_cannot_be_made_is_said() -> None:
    workbench = workbench_with(small_bundle())
    with pytest.raises(InvalidInput, match="ctxasm enrich --data klein"):
        questions_as_queries(workbench, search=finding)
    enrich(workbench, None, EnrichOptions(questions=False))
    with pytest.raises(InvalidInput, match="limit must be"):
        questions_as_queries(workbench, limit=0, search=finding)


def test_made_queries_that_came_back_with_an_export_count_as_asked() -> None:
    workbench = enriched(workbench_with(long_bundle(4, 4)))
    made = questions_as_queries(workbench, limit=6, search=finding)
    (info,) = workbench.datasets()
    bundle = workbench.dataset().bundle()
    workbench.store.add(replace(bundle, queries=made.saved), info.name)
    later = questions_as_queries(workbench, limit=6, search=finding)
    assert len(later.saved) == 6
    assert not {query.query for query in later.saved} & {query.query for query in made.saved}
    assert len(workbench.dataset().queries()) == 12
