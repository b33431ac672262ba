"""The bookend guide: bookends, duplicates, a budget that skips, and the baseline it argues against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ctxasm.assembly.compress import oversized
from ctxasm.assembly.deduplicate import promote, relations_of
from ctxasm.assembly.order import auto, bookend
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.presets import preset
from ctxasm.model.records import Chunk, Document, Hit
from ctxasm.model.settings import AssemblySettings
from tests.sources.worked import LETTER, cited, duplicates, fate, run, sized


def fit_chunks_to_budget(sizes: list[int], budget: int) -> list[int]:
    """The guide's function over sizes: the places of the chunks that fit."""
    fitted, used = [], 0
    for place, tokens in enumerate(sizes):
        if used + tokens <= budget:
            fitted.append(place)
            used += tokens
    return fitted


@pytest.mark.parametrize("budget", [500, 600, 750, 900])
@pytest.mark.parametrize("sizes", [(300, 400, 150, 100), (450, 60, 300, 40), (100, 700, 200, 300)])
def test_greedy_skip_takes_what_the_guide_takes(sizes: tuple[int, ...], budget: int) -> None:
    """What does not fit is passed over, never cut. (There it walks the bookend order, which drops the second best first; here by score.)"""
    chunks, hits = sized(dict(zip("abcd", sizes, strict=True)))
    done = run(chunks, hits, budget, **{**LETTER, "budget_policy": "greedy_skip"})
    assert cited(done) == ["abcd"[place] for place in fit_chunks_to_budget(list(sizes), budget)]
    assert not [f for f in done.trace.fates if f.fate == "truncated"]


def test_what_was_excluded_is_told_with_its_tokens() -> None:
    """The guide prints how many chunks and tokens were left out: an accounting per chunk here, with what it lacks."""
    chunks, hits = sized({"a": 300, "b": 400, "c": 150})
    done = run(chunks, hits, 500, **{**LETTER, "budget_policy": "greedy_skip"})
    left = fate(done, "b")
    assert (left.fate, left.reason, left.tokens) == ("dropped", "budget", 400)
    assert left.missing_tokens
    again = run(chunks, hits, 500 + left.missing_tokens, **{**LETTER, "budget_policy": "greedy_skip"})
    assert "b" in cited(again)


def test_five_blocks_are_bookended() -> None:
    """[A, B, C, D, E] → [A, C, D, E, B]."""
    assert bookend("ABCDE") == list("ACDEB")
    assert [bookend("ABCDEFG"[:n])[0] for n in range(1, 8)] == ["A"] * 7
    chunks, hits = sized(dict.fromkeys("abcde", 30))
    assert cited(run(chunks, hits, ordering="bookend", citation_unit="chunk")) == list("acdeb")


@pytest.mark.parametrize(("names", "order"), [("abc", "abc"), ("abcd", "acdb"), ("a", "a")])
def test_up_to_three_blocks_stand_by_relevance(names: str, order: str) -> None:
    assert auto(names) == list(order)
    chunks, hits = sized(dict.fromkeys(names, 30))
    assert cited(run(chunks, hits, ordering="auto", citation_unit="chunk")) == list(order)


def test_of_two_copies_the_better_scored_stays_and_is_found_despite_white_space_at_its_ends() -> None:
    text = "Een allergie voor contraststof meldt u op voorhand aan de arts."
    done = run([Chunk("a", 0, text + "\n"), Chunk("b", 0, "  " + text)], [Hit("a", 0, 0.4), Hit("b", 0, 0.9)])
    assert cited(done) == ["b"]
    assert fate(done, "a").of == ("b", 0)


def test_concatenate_and_send_is_the_baseline() -> None:
    """`assemble_context_naive`: retrieval order, nothing removed, no limit; the overshoot is shown."""
    chunks, hits = sized({"a": 300, "b": 400, "c": 150})
    done = run(chunks, hits, 500, **preset("baseline").changed())
    assert cited(done) == ["a", "b", "c"]
    assert done.overshoot_tokens == done.token_count - 500 > 0


def test_numbered_blocks_are_joined_by_a_rule() -> None:
    """`citation_format`: `[i] Source: …` and the text, `"\\n\\n---\\n\\n"` between them."""
    chosen = {**preset("bookend").changed(), "dedup_semantic": False}
    chunks = [Chunk(name, 0, f"Tekst van {name}.") for name in "abcde"]
    done = run(chunks, [Hit(name, 0, 1.0 - at / 10) for at, name in enumerate("abcde")], **chosen)
    blocks = [f"[{number}] Source: {name}\nTekst van {name}." for number, name in enumerate("acdeb", 1)]
    assert done.text == "\n\n---\n\n".join(blocks)


class Turned:
    """Vectors of an embedder that calls a cosine of 0.92 the same: each of a given cosine to the first, none near another."""

    name, threshold = "turned", 0.92

    def __init__(self, cosines: Mapping[str, float]) -> None:
        self.cosines = cosines

    def vectors(self, chunks: Sequence[FetchedChunk]) -> Any:
        np = pytest.importorskip("numpy")
        rows = np.zeros((len(chunks), 1 + len(self.cosines)), "float32")
        for row, chunk in zip(rows, chunks, strict=True):
            cosine = self.cosines[chunk.document_id]
            row[0], row[1 + list(self.cosines).index(chunk.document_id)] = cosine, (1 - cosine**2) ** 0.5
        return rows


@pytest.mark.parametrize(("threshold", "left"), [(None, {"b"}), (0.90, {"b", "c"}), (0.95, set()), (0.99, set())])
def test_semantic_duplicates_from_a_cosine_of_092(threshold: float | None, left: set[str]) -> None:
    """`dedup_pipeline`: exact first, then greedily by score whatever lies within the threshold of what is kept."""
    texts = {"a": "Bezoek is welkom tot de avond.", "b": "U mag overdag langskomen.", "c": "Wie komt, vertrekt tijdig."}
    chunks = [*(Chunk(name, 0, text) for name, text in texts.items()), Chunk("d", 0, texts["a"])]
    hits = [Hit(name, 0, 1.0 - place / 10) for place, name in enumerate("abcd")]
    candidates = run(chunks, hits).trace.candidates
    vectors = Turned({"a": 1.0, "b": 0.93, "c": 0.91, "d": 1.0})
    gone = duplicates(candidates, vectors, dedup_semantic=True, semantic_threshold=threshold)
    assert gone == {("d", 0): ("a", 0), **{(name, 0): ("a", 0) for name in left}}


def test_the_newer_version_stands_for_the_older_whatever_the_scores() -> None:
    """The staleness gap: there the higher score stays, which may be the old version's."""
    old = "De parking kost twee euro per uur, met een maximum van acht euro per dag, betaalbaar aan elke automaat op het gelijkvloers."
    documents = [Document("x", "Parkeren", date="2024-01-10"), Document("y", "Parkeren", date="2026-03-01")]
    chunks = [Chunk("x", 0, old), Chunk("y", 0, old.replace("twee", "drie"))]
    candidates = run(chunks, [Hit("x", 0, 0.9), Hit("y", 0, 0.7)], documents=documents).trace.candidates
    settings = AssemblySettings(dedup_near=True, dedup_keep="newest", near_threshold=0.85)
    relations = relations_of(candidates, settings, None, {d.document_id: d for d in documents})
    assert set(relations.superseded) == {("x", 0)}
    promoted, _ = promote(candidates, relations)
    assert promoted["y", 0].score == 0.9


def test_only_chunks_above_the_size_and_only_when_it_is_tight_are_compressed() -> None:
    """`selective_compress`: what is below the floor leaves first, then chunks above `max_chunk_tokens` are compressed to it.

    Its code compresses every one of them, its words only what is less relevant: here the worst, until all fits.
    """
    chunks, hits = sized({"a": 60, "b": 200, "c": 30, "d": 90})
    settings = AssemblySettings(compression="extractive", max_chunk_tokens=50, relevance_floor=0.975)
    done = run(chunks, hits, relevance_floor=0.975, expand_window=0)
    assert fate(done, "d").reason == "floor"
    assert oversized(done.trace.candidates, 290, settings) == ()
    assert oversized(done.trace.candidates, 280, settings) == (("b", 0),)
    assert oversized(done.trace.candidates, 120, settings) == (("a", 0), ("b", 0))
    assert AssemblySettings().max_chunk_tokens == 2000
