"""What Compare draws of two contexts: words, chunks and questions that differ, and a review in which nobody sees whose is whose."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.compare.blind import chosen, is_a_left, shuffled, verdict
from ctxasm.app.ui.compare.blind_review import contexts_html
from ctxasm.app.ui.compare.claim_flips import claim_pairs, claims_html
from ctxasm.app.ui.compare.differences import MOST_CHUNKS, NEVER, ChunkRow, bars_html, chunk_rows, chunks_html, settings_html, texts_html
from ctxasm.app.ui.frame.pinned import pinned_address, read_pinned
from ctxasm.app.ui.frame.session_records import SENT
from ctxasm.app.ui.inspect.budget_bar import budget_bar
from ctxasm.app.ui.inspect.change import sent_chunks
from ctxasm.app.ui.widgets.word_diff import MOST_WORDS, shortened, word_diff
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.compare_answers import AnswerPair, OneAnswer
from tests.app.ui.builders import HOSTILE, assembled, hostile
from tests.app.ui.checked_builders import checked
from tests.app.ui.test_html import Page
from tests.app.ui.test_inspect_chunks import law
from tests.fakes import FakeClock
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_

TEXTS = st.lists(st.sampled_from(["a", "bb", "Ccc.", "d\n", "é?", "3.5", HOSTILE]), max_size=50).map(" ".join)


@law
@given(TEXTS, TEXTS)
def test_the_stretches_of_a_difference_are_both_texts_whole(a, b):
    stretches = word_diff(a, b)
    assert ("".join(each.a for each in stretches), "".join(each.b for each in stretches)) == (a, b)
    assert all(each.a.casefold().split() == each.b.casefold().split() for each in stretches if each.kind == "same")
    assert word_diff(a, a) == ((("same", a, a),) if a else ())
    drawn = Page(texts_html(a, b, HOSTILE, "x"))
    assert drawn.open == []
    assert not {"script", "img", "style"} & {tag for tag, _ in drawn.tags}


def test_only_the_words_that_differ_are_struck_and_underlined():
    page = texts_html("Open van 8 tot 20 uur. Gratis.", "Open van 8 tot 21 uur. Gratis.", "Contexts", "x")
    assert "<del>20 </del><ins>21 </ins>" in page
    assert "the same, word for word" in texts_html("Open. Dicht.", "open.  dicht.", "Contexts", "x")


def test_long_texts_that_share_nothing_are_compared_at_once():
    a, b = " ".join(["een"] * 3 * MOST_WORDS), " ".join(["twee"] * 3 * MOST_WORDS)
    assert [each.kind for each in word_diff(a, b)] == ["changed"]


def test_of_a_long_equal_run_only_what_is_beside_a_difference_stays():
    same = " ".join(f"w{n}" for n in range(200))
    kinds = [each.kind for each in shortened(word_diff(f"{same} oud", f"{same} nieuw"))]
    assert kinds == ["skipped", "same", "changed"]
    same = " ".join(f"w{n}." for n in range(1212))
    assert shortened(word_diff(f"{same} oud", f"{same} nieuw"))[0].b == "1,200 equal words"


@law
@given(cases(), settings_(), settings_(), LIMITS)
def test_rows_are_the_chunks_that_only_one_holds_with_why_the_other_lacks_them(case: Case, one, other, limit):
    a, b = (assemble(case.query, case.source(), each, COUNTER, FakeClock(), limit) for each in (one, other))
    rows = chunk_rows(a, b)
    assert {row.key for row in rows if row.side == "A"} == sent_chunks(a) - sent_chunks(b)
    assert {row.key for row in rows if row.side == "B"} == sent_chunks(b) - sent_chunks(a)
    assert {row.key for row in rows if row.side == "both"} <= sent_chunks(a) & sent_chunks(b)
    known = {"A": b, "B": a}
    for row in rows:
        assert row.why
        if row.side in known:
            looked_at = {(fate.document_id, fate.chunk_index) for fate in known[row.side].trace.fates}
            assert (row.why == NEVER) == (row.key not in looked_at)
    assert chunk_rows(a, a) == ()


def test_the_chunks_of_a_document_with_one_reason_are_one_row():
    row = ChunkRow(("d", 4), "Doc", "A", False, 1000, "No room.", HOSTILE)
    rows = (row, row._replace(key=("e", 1), document="Other"), row._replace(key=("d", 2), retrieved=True), row._replace(key=("d", 3)))
    drawn = chunks_html((*rows, row._replace(key=("d", 9), why="Stale."), row._replace(key=("d", 8), side="B")))
    said = [" ".join(re.sub("<[^>]*>", " ", each.split("<div")[0]).split()) for each in re.findall("<tr>(.*?)</tr>", drawn, re.DOTALL)[1:]]
    assert [each.split(" #")[0] for each in said] == ["● A Doc, 3 chunks", "● A Other", "● A Doc", "◆ B Doc"]
    assert ">1 found<" in drawn
    assert '<td class="num">3,000</td>' in drawn
    assert re.findall(r"<summary>(#\d+, \w+), 1,000 tokens", drawn) == ["#2, found", "#3, neighbour", "#4, neighbour"]
    assert drawn.count("cx-quote") == 6


@law
@given(cases(), settings_(), settings_(), LIMITS)
def test_every_chunk_that_differs_can_be_opened_in_one_row(case: Case, one, other, limit):
    rows = chunk_rows(*(assemble(case.query, case.source(), each, COUNTER, FakeClock(), limit) for each in (one, other)))
    drawn = chunks_html(rows)
    assert drawn.count("cx-quote") == min(len(rows), MOST_CHUNKS)
    assert drawn.count("data-side=") == len({(row.side, row.key[0], row.why) for row in rows[:MOST_CHUNKS]})


def test_two_bars_lie_on_one_axis():
    page = Page(bars_html(budget_bar(assembled(limit=230)), budget_bar(assembled(limit=400)), "s"))
    sides = [attrs for _, attrs in page.tags if attrs.get("class") == "cx-versus-bar"]
    assert [side["data-side"] for side in sides] == ["A", "B"]
    limits = [attrs["style"] for _, attrs in page.tags if "data-limit" in attrs and "left" in attrs.get("style", "")]
    at_230, at_400 = (float(style.split("min(")[1].split("%")[0]) for style in limits)
    assert abs(at_400 / at_230 - 400 / 230) < 0.01


def test_what_attacks_arrives_as_text():
    one, other = hostile(), assembled()
    drawn = settings_html(AssemblySettings(gap_mark=HOSTILE[:60]), AssemblySettings()) + chunks_html(chunk_rows(one, other))
    drawn += contexts_html(one.text, other.text, False) + contexts_html(one.text, other.text, True)
    page = Page(drawn)
    assert page.open == []
    assert not {"script", "img", "style"} & {tag for tag, _ in page.tags}


@law
@given(settings_())
def test_a_pinned_setting_comes_back_from_its_address(settings):
    assert read_pinned(pinned_address(settings)) == (settings, ())


def test_an_address_says_what_of_a_cannot_be_used():
    assert read_pinned({}) == (None, ())
    assert pinned_address(None) == {}
    assert read_pinned(pinned_address(SENT)) == (SENT, ())
    settings, rejected = read_pinned({"a": "w=99&mt=2000"})
    assert settings == AssemblySettings(max_tokens=2000)
    assert rejected[0].startswith("of A, expand_window")
    for text in ("", "nonsense", "&".join("w=1" for _ in range(500)), HOSTILE):
        settings, rejected = read_pinned({"a": text})
        assert settings is None
        assert "A must be settings" in rejected[0]


IDS = [f"q{n}" for n in range(200)]


def test_a_review_is_shuffled_by_its_seed_alone_and_sides_are_a_fair_coin():
    assert sorted(shuffled(IDS, 1)) == sorted(IDS)
    assert shuffled(IDS, 1) == shuffled(IDS[::-1], 1) != shuffled(IDS, 2)
    assert 70 < sum(is_a_left(name, 1) for name in IDS) < 130


def test_who_was_preferred_is_who_stood_there():
    for name in IDS:
        left = "A" if is_a_left(name, 3) else "B"
        assert chosen(name, 3, "left") == left != chosen(name, 3, "right")
        assert chosen(name, 3, "same") == "same"


def test_whoever_always_prefers_b_is_told_so_and_a_few_choices_are_noise():
    found = verdict(dict.fromkeys(IDS[:20], "B") | {"other": "same", "equal": "alike"})
    assert (found.a, found.b, found.same) == (0, 20, 1)
    assert found.result.p < 0.001
    assert 0 < found.result.interval.low < found.result.interval.high
    assert "more than chance explains" in found.sentence
    few = verdict({"q1": "B"})
    assert few.result.p == 1.0
    assert few.result.interval.low < 0
    assert "too few questions to tell" in few.sentence


def one_answer(done, text, judged):
    check = checked(done, text, judged)
    return OneAnswer(text, check, 0, 0, 10, 5, True, True)


def test_statements_are_paired_by_their_words_and_those_with_another_verdict_come_first():
    done = assembled()
    a = one_answer(
        done,
        "Een uur kost 2 euro [3]. De receptie is open van 8 tot 20 uur [2]. Honden mogen mee [2].",
        [{"verdict": "supported"}, {"verdict": "supported"}, {"verdict": "unsupported"}],
    )
    b = one_answer(
        done,
        "De receptie is open van 8 tot 20 uur [1]. Een uur kost 2 euro [3]. Bel gerust.",
        [{"verdict": "contradicted"}, {"verdict": "supported"}, {"verdict": "uncited"}],
    )
    pairs = claim_pairs(a.checked, b.checked)
    said = [tuple(side.claim.text.split()[0] if side else None for side in pair) for pair in pairs]
    assert said == [("De", "De"), ("Honden", None), (None, "Bel"), ("Een", "Een")]
    assert [pair.flipped for pair in pairs] == [True, False, False, False]
    drawn = claims_html(AnswerPair("q", a, b))
    assert "1 statement with another verdict, 1 with the same" in drawn
    assert "Een uur" not in drawn
    attack = one_answer(done, f"{HOSTILE[:25]}.", [{"verdict": "uncited"}])
    page = Page(claims_html(AnswerPair("q", attack, b)))
    assert page.open == []
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
