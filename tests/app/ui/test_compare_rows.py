"""What Compare draws of two contexts: words, chunks and questions that differ, and a review in which nobody sees whose is whose."""

from __future__ import annotations

import csv
import io
import json
import re

from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.compare.answers import claim_pairs, claims_html
from ctxasm.app.ui.compare.blind import (
    BUTTONS,
    LONGEST_NOTE,
    Part,
    Review,
    is_a_left,
    judgements_csv,
    judgements_json,
    pairs_html,
    preferred,
    shuffled,
    verdict,
)
from ctxasm.app.ui.compare.differences import (
    MOST_CHUNKS,
    NEVER,
    ChunkRow,
    bars_html,
    chunk_rows,
    chunks_html,
    contexts_html,
    diff_html,
    sent_texts,
    settings_html,
)
from ctxasm.app.ui.frame.address import pinned_address, read_pinned
from ctxasm.app.ui.frame.session import SENT
from ctxasm.app.ui.inspect.budget_bar import budget_bar
from ctxasm.app.ui.inspect.change import sent_chunks
from ctxasm.app.ui.widgets.word_diff import MOST_WORDS, sentence_diff, shortened, word_diff
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.tuning.compare_answers import AnswerPair, OneAnswer
from tests.app.ui.builders import HOSTILE, assembled, hostile
from tests.app.ui.checked_builders import checked
from tests.app.ui.test_html import Page
from tests.app.ui.test_inspect_chunks import law
from tests.fakes import FakeClock
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_

TEXTS = st.lists(st.sampled_from(["a", "bb", "Ccc.", "d\n", "é?", "3.5", HOSTILE]), max_size=50).map(" ".join)


@law
@given(TEXTS, TEXTS, st.sampled_from([word_diff, sentence_diff]))
def test_the_stretches_of_a_difference_are_both_texts_whole(a, b, diff):
    stretches = diff(a, b)
    assert ("".join(each.a for each in stretches), "".join(each.b for each in stretches)) == (a, b)
    assert all(each.a.casefold().split() == each.b.casefold().split() for each in stretches if each.kind == "same")
    assert diff(a, a) == ((("same", a, a),) if a else ())
    drawn = Page(diff_html(a, b, HOSTILE))
    assert drawn.open == []
    assert not {"script", "img", "style"} & {tag for tag, _ in drawn.tags}


def test_whole_sentences_that_differ_are_struck_and_underlined():
    page = diff_html("Open van 8 tot 20 uur. Gratis.", "Open van 8 tot 21 uur. Gratis.", "x")
    assert "<del>Open van 8 tot 20 uur. </del><ins>Open van 8 tot 21 uur. </ins>Gratis." in page
    assert [each.b for each in word_diff("Open van 8 tot 20 uur. Gratis.", "Open van 8 tot 21 uur. Gratis.") if each.kind == "changed"] == [
        "21 "
    ]
    assert contexts_html((), "a", "a", "The same.") == '<div class="cx" id="ctx-chunks"><p class="cx-note">The same.</p></div>'
    assert "<del>a</del><ins>b</ins>" in contexts_html((), "a", "b", "Written differently.")


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
    assert {row.key for row in rows if row.change == "A"} == sent_chunks(a) - sent_chunks(b)
    assert {row.key for row in rows if row.change == "B"} == sent_chunks(b) - sent_chunks(a)
    in_a, in_b = sent_texts(a), sent_texts(b)
    both = in_a.keys() & in_b.keys()
    assert (in_a.keys(), in_b.keys()) == (sent_chunks(a), sent_chunks(b))
    assert {row.key for row in rows if row.change == "changed"} == {key for key in both if in_a[key].split() != in_b[key].split()}
    stays = both - {row.key for row in rows if row.change == "moved"}
    written = [[(s.document_id, s.chunk_index) for s in each.segments if s.kind == "chunk"] for each in (a, b)]
    assert len({tuple(dict.fromkeys(key for key in own if key in stays)) for own in written}) == 1
    known = {"A": b, "B": a}
    for row in rows:
        assert row.why
        if row.change in known:
            looked_at = {(fate.document_id, fate.chunk_index) for fate in known[row.change].trace.fates}
            assert (row.why == NEVER) == (row.key not in looked_at)
    assert chunk_rows(a, a) == ()


def test_the_chunks_of_a_document_with_one_reason_are_one_row():
    row = ChunkRow(("d", 4), "Doc", "A", False, 1000, "No room.", HOSTILE)
    rows = (row, row._replace(key=("e", 1), document="Other"), row._replace(key=("d", 2), retrieved=True), row._replace(key=("d", 3)))
    drawn = chunks_html((*rows, row._replace(key=("d", 9), why="Stale."), row._replace(key=("d", 8), change="B")))
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
    assert drawn.count("data-side=") == len({(row.change, row.key[0], row.why) for row in rows[:MOST_CHUNKS]})


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
    sides = [{"all": part(HOSTILE, one.text), HOSTILE: part(HOSTILE, HOSTILE)}, {"all": part("", other.text)}]
    drawn += pairs_html(*sides, False) + pairs_html(*sides[::-1], True)
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


def test_a_review_is_shuffled_by_its_secret_alone_and_sides_are_a_fair_coin():
    assert sorted(shuffled(IDS, "1")) == sorted(IDS)
    assert shuffled(IDS, "1") == shuffled(IDS[::-1], "1") != shuffled(IDS, "2")
    assert 70 < sum(is_a_left(name, "1") for name in IDS) < 130


def test_who_was_preferred_is_who_stood_there():
    assert [preferred(a_left, side) for a_left in (True, False) for side in BUTTONS] == ["A", "same", "B", "B", "same", "A"]


def test_judgements_are_kept_apart_taken_back_and_shuffled_anew():
    shelf = MemoryStore(COUNTER)
    one, other = Review(shelf, "one"), Review(shelf, "other")
    secret = one.secret()
    assert (len(secret), Review(shelf, "one").secret(), other.secret() != secret) == (32, secret, True)
    for name, who in (("q2", "B"), ("q1", "same"), ("q2", "A")):
        one.judge(name, who, f" {HOSTILE} " + "x" * LONGEST_NOTE)
    assert [each[:2] for each in one.judgements(IDS).values()] == [("q1", "same"), ("q2", "A")]
    assert {len(each.note) for each in one.judgements(IDS).values()} == {LONGEST_NOTE}
    assert other.judgements(IDS) == {}
    one.forget(IDS)
    assert one.judgements(IDS) == {}
    assert one.secret() != secret


def test_judgements_go_out_as_cells_that_are_no_formulas():
    rows = [{"query_id": "q1", "note": "=1+1", "question": "+SUM(A1)"}, {"query_id": "-q2", "note": "@x, y", "question": "When?"}]
    assert [*csv.reader(io.StringIO(judgements_csv(rows)))] == [[*rows[0]], ["q1", "'=1+1", "'+SUM(A1)"], ["'-q2", "'@x, y", "When?"]]
    assert json.loads(judgements_json(rows, "So it is.")) == {"says": "So it is.", "judgements": rows}


def part(title: str, text: str) -> Part:
    return Part(title, text, text)


def cells(drawn: str) -> list[tuple[str, str]]:
    """The side and the text of every cell."""
    return [(side, re.sub("<[^>]*>", "", text)) for side, text in re.findall(r'data-at="(\w+)"[^>]*>(.*?)</div>', drawn)]


def test_both_sides_stand_chunk_beside_chunk():
    left = {1: part("One", "Alike."), 2: part("One", "Open at 8. Free."), 3: Part("Two", "Before. Gone.", "Gone.")}
    right = {1: left[1]._replace(own=""), 2: part("One", "Open at 9. Free."), 4: part("Two", "Came.")}
    drawn = pairs_html(left, right, True)
    assert cells(drawn) == [
        *(("Left", "Open at 8. Free."), ("Right", "Open at 9. Free.")),
        *(("Left", "Gone."), ("Right", "–"), ("Left", "–"), ("Right", "Came.")),
    ]
    assert "1 equal chunk<" in drawn
    assert re.findall("<mark>(.*?)</mark>", drawn) == ["Open at 8. ", "Open at 9. "]
    assert cells(pairs_html(left, right, False))[:2] == [("Left", "Alike."), ("Right", "Alike.")]
    assert re.findall("<h2>(.*?)</h2>", drawn) == ["One", "Two"]


def test_whoever_always_prefers_b_is_told_so_and_a_few_choices_are_noise():
    found = verdict([*["B"] * 20, "same"])
    assert (found.a, found.b, found.same) == (0, 20, 1)
    assert found.result.p < 0.001
    assert 0 < found.result.interval.low < found.result.interval.high
    assert "more than chance explains" in found.sentence
    few = verdict(["B"])
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
