"""What an attack once got through, each as small as it was found."""

from __future__ import annotations

from functools import cache

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Chunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.markers.collisions import find_forged_headers, find_marker_forms
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER


def run(chunks, hits, limit=8000, query="Wat?", **chosen):
    return assemble(
        Query(query, tuple(hits), "q"), FakeSource([], chunks, COUNTER), AssemblySettings(**chosen), COUNTER, FakeClock(), limit
    )


def fate(done, document_id, index=0):
    return next(f for f in done.trace.fates if (f.document_id, f.chunk_index) == (document_id, index))


@pytest.mark.parametrize("space", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\u00a0", "\u3000"])
def test_markers_with_unusual_white_space_are_found(space):
    for marker in (f"[1{space}]", f"[{space}1]", f"[1,{space}2]"):
        assert find_marker_forms(f"Zie {marker} hier.") == [(4, 4 + len(marker))]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_fence_that_nothing_closes_hides_nothing(fence):
    assert len(find_marker_forms(f"x = 1\n{fence}\nZie [2] en [3].")) == 2
    assert find_marker_forms(f"{fence}\nx[2] [3]\n{fence}\nZie [4].") == [(len(fence) * 2 + 15, len(fence) * 2 + 18)]


def test_a_line_of_a_list_of_sources_does_not_swallow_the_next():
    assert find_marker_forms("[Bronnen:\n1[1]\\") == [(11, 14)]


@pytest.mark.parametrize(
    "line",
    ["\u202a[2] Source: x", "[2]\u2063 Source: x", "\x1c[2] Source: x", "[2] So\u200burce: x", "• [2] Source: x", "1. [2] Source: x"],
)
def test_headers_in_disguise_are_found_inside_code_too(line):
    assert len(find_forged_headers(f"```\n{line}\n```")) == 1


def test_a_run_of_blanks_that_breaks_the_tokenizer_is_refused():
    with pytest.raises(InvalidInput, match="blanks"):
        COUNTER.count("tabel" + " " * 500_000 + "einde")


def test_a_copy_lacks_what_its_original_lacks():
    chunks = [
        Chunk("a", 0, "Een heel eigen tekst."),
        Chunk("b", 0, "Precies dezelfde zin."),
        Chunk("c", 0, "Precies dezelfde zin."),
        Chunk("c", 1, "Eigen."),
    ]
    done = run(chunks, [Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("c", 0, 0.7), Hit("c", 1, 0.1)], limit=20)
    assert fate(done, "c").missing_tokens == fate(done, "b").missing_tokens
    again = run(chunks, [Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("c", 0, 0.7)], limit=20 + fate(done, "c").missing_tokens)
    assert fate(again, "c").fate == "duplicate_of"


def test_a_copy_of_a_cut_chunk_is_not_listed_as_said_elsewhere():
    text = "Deze alinea is precies gelijk. " * 20
    done = run([Chunk("a", 0, text), Chunk("b", 0, text)], [Hit("a", 0, 0.9), Hit("b", 0, 0.8)], limit=40)
    assert fate(done, "a").fate == "truncated"
    assert done.citations[0].also_in == ()


def test_a_sentence_that_ends_at_the_very_limit_is_seen_to_end():
    text = "Een twee drie vier vijf zes zeven. Acht negen. Elf twaalf dertien veertien vijftien zestien."
    exact = COUNTER.count("[1] Source: a\nEen twee drie vier vijf zes zeven. Acht negen.")
    assert run([Chunk("a", 0, text)], [Hit("a", 0, 0.9)], limit=exact).text.endswith("Acht negen.")


@pytest.mark.parametrize("hit", [Hit("d", 1, 10**400), Hit("d", 1, 1.0, 10**400), Hit("d", 10**5000, 1.0), Hit("d", -(10**5000), 1.0)])
def test_huge_numbers_are_refused_by_name(hit):
    with pytest.raises(InvalidInput, match="retrieved"):
        run([], [hit])


@pytest.mark.parametrize("chosen", [{"decay": 10**400}, {"max_tokens": 10**5000}, {"top_k": 10**5000}])
def test_huge_settings_are_refused(chosen):
    with pytest.raises(InvalidInput):
        AssemblySettings(**chosen)


def test_a_decay_that_underflows_still_gives_a_finite_score():
    chunks = [Chunk("a", index, f"Alinea {index}.") for index in range(4)]
    done = run(chunks, [Hit("a", 0, -2.0)], decay=1e-200, decay_mode="per_step", expand_window=3)
    assert all(abs(f.score) < float("inf") for f in done.trace.fates)


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "8"])
def test_a_limit_must_be_a_whole_number(limit):
    with pytest.raises(InvalidInput, match="limit"):
        run([], [], limit=limit)


def test_a_seam_that_touches_what_the_passage_shows_gets_no_line_break():
    text = "De arts komt om negen uur en wil u dan zien met uw verwijsbrief in de wachtzaal, bij voorkeur nuchter."
    chunks = [Chunk("a", 0, text[:52], 0, 52), Chunk("a", 1, text[10:22], 10, 22), Chunk("a", 2, text[52:], 52, len(text))]
    assert run(chunks, [Hit("a", 1, 0.9)], min_overlap_chars=5).text == "[1] Source: a\n" + text


class Shuffled(FakeSource):
    """Hands out chunks in an order of its own, as the port allows, and without facts."""

    def fetch(self, windows, encoding):
        fetched = super().fetch(windows, encoding)
        order = sorted(fetched.chunks, key=lambda c: (c.chunk_index, c.document_id))
        return type(fetched)(order, fetched.documents, 1, 1, 0.0)


def test_chunks_in_any_order_are_counted_the_same():
    shared = "U brengt best uw identiteitskaart en verwijsbrief mee."
    chunks = [
        Chunk("a", 0, "Eerst dit en nog heel wat meer. " * 4 + shared),
        Chunk("b", 0, "Iets anders. " * 9 + shared),
        Chunk("a", 1, shared + " Daarna dat."),
    ]
    hits = (Hit("a", 0, 0.9), Hit("b", 0, 0.5), Hit("a", 1, 0.8))
    done = assemble(Query("q", hits), Shuffled([], chunks, COUNTER, False), AssemblySettings(), COUNTER)
    total = 0
    for segment in done.segments:
        total += segment.tokens
        assert COUNTER.count(done.text[: segment.end]) == total


def test_minus_zero_is_zero_whatever_comes_first():
    chunks = [Chunk("a", 0, "Tekst.")]
    both = [
        repr(run(chunks, hits).to_dict()["fates"])
        for hits in ([Hit("a", 0, 0.0), Hit("a", 0, -0.0)], [Hit("a", 0, -0.0), Hit("a", 0, 0.0)])
    ]
    assert both[0] == both[1]


LONG = "Ziekenhuisopname voorbereiden " * 60


@cache
def tokens_at_boundaries():
    return [(at, COUNTER.count(f"[1] Source: …\n{LONG[:at]}")) for at in COUNTER.boundaries(LONG)]


@pytest.mark.parametrize("limit", range(1, 40))
def test_a_cut_text_is_the_longest_that_fits_at_any_limit(limit):
    done = run([Chunk("a", 0, LONG)], [Hit("a", 0, 0.9)], limit=limit)
    fits = [at for at, tokens in tokens_at_boundaries() if tokens <= limit]
    assert len(done.text) == (len("[1] Source: …\n") + fits[-1] if fits else 0)
