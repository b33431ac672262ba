"""What the reader of an answer is given: pieces that join to the text, chips with verdicts, spans that may be marked, rows, filters."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.answering.sent_tokens import SentTokens
from ctxasm.app.ui.ask.answer import (
    AROUND,
    LONGEST_AFTER,
    LONGEST_BEFORE,
    AnswerText,
    Chip,
    SourceName,
    answer_lines,
    answer_pieces,
    around,
    before_assembly,
    checked_pieces,
    choices,
    claim_rows,
    context_cards,
    judged_citation,
    stale_numbers,
)
from ctxasm.app.ui.ask.reader import reader_data
from ctxasm.app.ui.frame.session import KeptAnswer
from ctxasm.app.ui.markup import Expected
from ctxasm.citations.checked import Disputed, Withheld
from ctxasm.citations.figures import cited_passages, used_passages, without_shares
from ctxasm.citations.markers import parse_markers, resolve
from ctxasm.model.messages import Usage
from ctxasm.model.records import GoldChunk, Span
from ctxasm.model.results import PreCitation
from tests.app.ui.builders import HOSTILE, assembled, empty, hostile
from tests.app.ui.checked_builders import checked, conflict, of_every_kind, support


def told(check) -> KeptAnswer:
    return KeptAnswer("m", True, check.answer, check.markers, True, True, check=check)


def chips_of(check) -> list[Chip]:
    pieces = answer_pieces(check.answer, check.markers, check.claims, threshold=check.threshold)
    return [piece for piece in pieces if isinstance(piece, Chip)]


def test_chips_wear_the_verdict_of_their_citation():
    chips = chips_of(of_every_kind(assembled()))
    assert [(chip.label, chip.mark) for chip in chips] == [
        ("2", "✓"), ("2", "≠"), ("1", "→3"), ("2", "◐"), ("1", "?"), ("2", "?"), ("9", "✗"), ("8", "⌀"),
    ]  # fmt: skip
    assert [chip.known for chip in chips] == [True] * 6 + [False] * 2
    assert chips[2].spoken == "Source 1, wrong number, found in 3"


def test_a_citation_that_adds_nothing_does_not_spoil_the_one_that_carries():
    done = assembled()
    full = checked(
        done,
        "Neem uw kaart mee [2][1].",
        [{"verdict": "partly", "support": (support(done, 2, "Neem uw kaart mee"),), "idle": (1,), "carried": True}],
    )
    carried = full.claims[0]
    assert [judged_citation(number, carried, 0.6).part for number in (2, 1)] == ["right", "not_found"]
    assert judged_citation(1, replace(carried, better=3), 0.6) == ("wrong_number", 3)
    part = replace(carried, carried=False)
    assert judged_citation(2, part, 0.6).part == "partly"


def test_only_the_source_that_contradicts_is_marked_so():
    done = assembled()
    fields = {"verdict": "contradicted", "conflict": conflict(done, 3, "3 euro", "2 euro"), "support": (support(done, 2, "welkom"),)}
    claim = checked(done, "Het kost 3 euro [3][2][1].", [fields]).claims[0]
    assert [judged_citation(number, claim, 0.6).part for number in (3, 2, 1)] == ["contradicted", "partly", "not_found"]


def test_a_marker_that_claims_share_shows_the_worst():
    done = assembled()
    check = checked(
        done, "Een. Twee [2].", [{"verdict": "unsupported"}, {"verdict": "supported", "support": (support(done, 2, "welkom"),)}]
    )
    first = replace(check.claims[0], claim=check.claims[0].claim._replace(markers=(0,), cited=(2,)))
    assert [chip.mark for chip in chips_of(replace(check, claims=(first, check.claims[1])))] == ["?"]


def test_the_words_that_clash_are_a_stretch_of_their_own():
    check = of_every_kind(assembled())
    pieces = answer_pieces(check.answer, check.markers, check.claims)
    assert [piece.text for piece in pieces if isinstance(piece, AnswerText) and piece.clash] == ["8 tot 22 uur"]


@given(st.lists(st.sampled_from(["Zin een. ", "[1]", "[99]", " [1-3] ", "\n- ", "é👍", "[", "Uur."]), max_size=12), st.integers(0, 60))
def test_pieces_join_to_the_answer_without_its_markers(parts, end):
    answer = "".join(parts)
    markers = resolve(parse_markers(answer), assembled_once().citations)
    pieces = answer_pieces(answer, markers, end=min(end, len(answer)))
    kept = [m.marker for m in markers if m.marker.end <= min(end, len(answer))]
    rest, at = "", 0
    for marker in kept:
        rest, at = rest + answer[at : marker.start], marker.end
    assert "".join(piece.text for piece in pieces if isinstance(piece, AnswerText)) == rest + answer[at : min(end, len(answer))]
    assert sum(isinstance(piece, Chip) for piece in pieces) == sum(max(1, len(marker.numbers)) for marker in kept)


_ONCE = []


def assembled_once():
    if not _ONCE:
        _ONCE.append(assembled())
    return _ONCE[0]


@pytest.mark.parametrize("make", [assembled, hostile, empty, lambda: assembled(limit=230)])
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_cards_hold_the_whole_context_and_every_cut_is_an_edge(make, step):
    done = make()
    cuts = range(0, len(done.text) + 1, step)
    pieces = [piece for card in context_cards(done, cuts) for piece in card.parts]
    assert all(done.text[piece.start : piece.end] == piece.text for piece in pieces)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(done.text.split())
    edges = {edge for piece in pieces for edge in (piece.start, piece.end)}
    assert all(cut in edges for cut in cuts if done.text[cut : cut + 1].strip())


def test_what_is_marked_is_what_was_found_and_nothing_else():
    done = assembled()
    rows = claim_rows(of_every_kind(done), done)
    marked = [[(span.number, span.kind, done.text[span.start : span.end]) for span in row.spans] for row in rows]
    assert marked == [
        [(2, "support", "welkom van 14 tot 20 uur")],
        [(2, "clash", "8 tot 20 uur")],
        [(3, "better", "Een uur kost 2 euro")],
        [(2, "part", "Neem uw kaart mee")],
        [], [], [], [],
    ]  # fmt: skip
    assert [span.added for row in rows for span in row.spans] == [True, False, False, True]
    assert rows[4].sources == (SourceName(2, "Bezoek"),)
    assert rows[0].says == ""
    assert rows[3].says == "Only part of it is in [2]; [1] has none of it. Missing: geld."
    assert rows[7].says.startswith("[8] would be “MRI-onderzoek”")


def test_the_head_line_counts_and_filters():
    rows = claim_rows(of_every_kind(assembled()), assembled())
    assert [choice.label for choice in choices(rows)][:3] == ["8 claims", "1 supported", "1 partly"]
    assert [choice.label for choice in choices([rows[0]] * 2000)] == ["2,000 claims", "2,000 supported"]
    assert [choice.part for choice in choices(rows[:1])] == ["", "full"]
    assert choices([replace(rows[0], parts=("declined",))]) == choices([]) == ()


def test_an_answer_is_a_line_for_each_claim_and_for_what_states_nothing():
    done = assembled()
    answer = "## Bezoek\nDe uren zijn:\n- U bent welkom van 14 tot 20 uur [2].\n- Een uur kost 2 euro [1]!\n\nTot dan?"
    first, second = answer.index("U bent"), answer.index("Een uur")
    check = checked(done, "U bent welkom van 14 tot 20 uur [2]. Een uur kost 2 euro [1]!", [{"verdict": "unsupported"}] * 2)
    ends = (answer.index(" [2]"), answer.index(" [1]"))
    claims = [
        replace(claim, claim=claim.claim._replace(start=start, end=end))
        for claim, start, end in zip(check.claims, (first, second), ends, strict=True)
    ]
    pieces = answer_pieces(answer, resolve(parse_markers(answer), done.citations), claims)
    lines = [
        (line.claim, "".join(getattr(piece, "text", None) or f"[{piece.label}]" for piece in line.pieces)) for line in answer_lines(pieces)
    ]
    assert lines == [
        (None, "Bezoek"),
        (None, "De uren zijn:"),
        (0, "U bent welkom van 14 tot 20 uur[2]."),
        (1, "Een uur kost 2 euro[1]!"),
        (None, "Tot dan?"),
    ]


def test_what_was_not_checked_is_read_line_by_line_with_its_chips():
    answer = "Eerst dit [1] en dan dat.\n\nEn nog iets [2]."
    lines = answer_lines(answer_pieces(answer, resolve(parse_markers(answer), assembled_once().citations)))
    assert [[getattr(piece, "text", None) or piece.label for piece in line.pieces] for line in lines] == [
        ["Eerst dit", "1", " en dan dat."],
        ["En nog iets", "2", "."],
    ]


def test_no_word_of_an_answer_is_lost_between_its_lines():
    check = of_every_kind(assembled())
    pieces = checked_pieces(check, {})
    words = "".join(piece.text for piece in pieces if isinstance(piece, AnswerText))
    lined = "".join(piece.text for line in answer_lines(pieces) for piece in line.pieces if isinstance(piece, AnswerText))
    assert "".join(lined.split()) == "".join(words.split())
    assert [line.claim for line in answer_lines(pieces)] == list(range(8))


def test_a_passage_is_the_mark_with_three_sentences_on_either_side():
    text = " ".join(f"Zin {at}." for at in range(10))
    ends = [text.index(f"Zin {at}.") + len(f"Zin {at}.") for at in range(10)]
    sentences = tuple((end - len(f"Zin {at}."), end) for at, end in enumerate(ends))
    assert AROUND == 3
    assert text[slice(*around(sentences, text, *sentences[5]))] == "Zin 2. Zin 3. Zin 4. Zin 5. Zin 6. Zin 7. Zin 8."
    assert text[slice(*around(sentences, text, *sentences[0]))] == "Zin 0. Zin 1. Zin 2. Zin 3."
    assert text[slice(*around(sentences, text, sentences[4][0] + 4, sentences[5][1]))] == text[sentences[1][0] : sentences[8][1]]
    assert text[slice(*around(sentences, text, *sentences[9]))] == "Zin 6. Zin 7. Zin 8. Zin 9."
    assert around((), text, 3, 9) == (3, 9)


def test_a_passage_stays_short_where_nothing_ends_a_sentence():
    text = "woord " * 600
    low, high = around(((0, len(text)),), text, 1800, 1805)
    assert LONGEST_BEFORE - 6 <= 1800 - low <= LONGEST_BEFORE
    assert LONGEST_AFTER - 6 <= high - 1805 <= LONGEST_AFTER
    unbroken = "x" * 4000
    assert around(((0, 4000),), unbroken, 1800, 1805) == (1800, 1805)


def test_a_mark_knows_section_page_and_whether_it_was_found():
    done = assembled()
    spans = [span for row in claim_rows(of_every_kind(done), done) for span in row.spans]
    candidates = {key: candidate.chunk for key, candidate in done.trace.candidates.items()}
    assert any(chunk.section or chunk.page_number for chunk in candidates.values()) == any(span.where for span in spans)
    assert all(span.low <= span.start < span.end <= span.high for span in spans)


def test_the_passages_that_the_labels_expect_are_counted_where_a_claim_stands_on_them():
    done = assembled()
    hours = support(done, 2, "welkom van 14 tot 20 uur")
    carried = checked(done, "U bent welkom van 14 tot 20 uur [2].", [{"verdict": "supported", "support": (hours,)}])
    key = next((s.document_id, s.chunk_index) for s in done.segments if s.kind == "chunk" and s.start <= hours.context_start < s.end)

    def used(check, **labels):
        return used_passages(replace(done, query=replace(done.query, **labels)), check)

    assert used(carried, gold=(GoldChunk(*key),), spans=()) == (1, 1)
    assert used(carried, gold=(GoldChunk(*key), GoldChunk("nergens", 0)), spans=()) == (1, 2)
    assert used(carried, gold=(), spans=()) == (0, 0)
    against = replace(carried, claims=(replace(carried.claims[0], verdict="contradicted"),))
    assert used(against, gold=(GoldChunk(*key),), spans=()) == (0, 1)
    elsewhere = replace(carried, claims=(replace(carried.claims[0], verdict="elsewhere", support=(), better_support=hours),))
    assert used(elsewhere, gold=(GoldChunk(*key),), spans=()) == (1, 1)


def test_a_span_is_used_by_its_very_characters_also_in_a_copy():
    done = assembled()
    hours = support(done, 2, "welkom van 14 tot 20 uur")
    carried = checked(done, "U bent welkom van 14 tot 20 uur [2].", [{"verdict": "supported", "support": (hours,)}])
    candidates = done.trace.candidates
    placed = {
        key: replace_chunk(candidate, start=1000 * at, end=1000 * at + len(candidate.chunk.text))
        for at, (key, candidate) in enumerate(candidates.items())
    }
    trace = replace(done.trace, candidates=placed)
    segment = next(s for s in done.segments if s.kind == "chunk" and s.start <= hours.context_start < s.end)
    key = (segment.document_id, segment.chunk_index)
    at = placed[key].chunk.start + segment.chunk_start + hours.context_start - segment.start

    def used(span):
        return used_passages(replace(done, trace=trace, query=replace(done.query, spans=(span,), gold=())), carried)

    assert used(Span(key[0], at, at + 5)) == (1, 1)
    assert used(Span(key[0], at - 5, at)) == (0, 1)
    assert used(Span("nergens", 0, 5, also=(Span(key[0], at + 2, at + 3),))) == (1, 1)
    copies = [(f.document_id, f.chunk_index) for f in done.trace.fates if f.of is not None]
    same = [copy for copy in copies if candidates[copy].chunk.text == candidates[key].chunk.text]
    for copy in same:
        assert used(Span(copy[0], placed[copy].chunk.start, placed[copy].chunk.start + len(candidates[copy].chunk.text))) == (1, 1)


def replace_chunk(candidate, **fields):
    return candidate._replace(chunk=candidate.chunk._replace(**fields))


def test_citations_built_before_assembly_point_elsewhere():
    done = assembled()
    swapped = replace(done, trace=replace(done.trace, before_assembly=(PreCitation(1, "scan"), PreCitation(2, "park"))))
    stale = stale_numbers(swapped)
    # Block 2 shows the sentence that park has too: park is not wrong for it.
    assert 1 not in stale
    assert 2 not in stale
    assert stale[3] == "[3] would have pointed to nothing"
    wrong = replace(
        done, trace=replace(done.trace, before_assembly=(PreCitation(1, "visit"), PreCitation(2, "scan"), PreCitation(3, "park")))
    )
    assert stale_numbers(wrong) == {1: "[1] would have pointed to “Bezoek”", 2: "[2] would have pointed to “MRI-onderzoek”"}
    answer = "A [1]. B [3]. C [2]. D [1]. E [9]."
    pieces = answer_pieces(answer, resolve(parse_markers(answer), done.citations), stale=stale_numbers(wrong))
    told = before_assembly([piece for piece in pieces if isinstance(piece, Chip)])
    assert told.says == "3 of 4 citations would be wrong."
    assert len(told.which) == 2
    assert before_assembly([]).says == "The answer cites no source."


def test_the_data_is_json_and_names_its_version():
    done = assembled()
    data = reader_data(done, ((told(of_every_kind(done)),),))
    assert json.loads(json.dumps(data)) == data
    assert data["version"] == reader_data(done, ((told(of_every_kind(done)),),))["version"]
    assert data["version"] != reader_data(done, ())["version"]
    (pane,) = data["attempts"][0]
    assert pane["summary"].startswith("8 claims: 1 supported")
    assert [claim["name"] for claim in pane["claims"]][:2] == ["supported", "contradicted"]
    assert [figure["value"] for figure in pane["figures"]] == ["50 %", "67 %", "–"]


def test_no_share_stands_over_what_only_quotes_was_cut_or_declines():
    done = assembled()
    whole = told(of_every_kind(done))
    declined = checked(done, "Dat staat er niet in.", [{"verdict": "declined"}])
    declined = replace(declined, figures=without_shares(declined.figures, "declined"))
    assert whole.check is not None
    withheld = [without_shares(whole.check.figures, why) for why in get_args(Withheld)]
    for answer in (*(replace(whole, check=replace(whole.check, figures=figures)) for figures in withheld), replace(whole, check=declined)):
        (pane,) = reader_data(done, ((answer,),))["attempts"][0]
        assert pane["figures"] == []
    assert pane["summary"].startswith("Declined")
    assert pane["choices"] == []


def test_every_marked_span_can_be_marked_with_whole_pieces():
    done = assembled()
    data = reader_data(done, ((told(of_every_kind(done)),),))
    parts = [part for card in data["cards"] for part in card["parts"]]
    for claim in data["attempts"][0][0]["claims"]:
        for span in claim["spans"]:
            start, end = span["start"], span["end"]
            assert "".join(part["text"] for part in parts if part["start"] >= start and part["end"] <= end) == done.text[start:end]
            edges = {part["start"] for part in parts} | {part["end"] for part in parts}
            assert {span["low"], span["high"]} <= edges


def test_what_did_not_arrive_is_said():
    done = assembled()
    cut = KeptAnswer("m", True, "Half een", done=True, error="The server closed the connection.", unchecked="no model")
    (pane,) = reader_data(done, ((cut,),))["attempts"][0]
    assert pane["panel"]["text"] == "The server closed the connection."
    assert pane["unchecked"] == "No model"
    assert (pane["summary"], pane["figures"], pane["claims"]) == ("", [], [])
    (never,) = reader_data(empty(), ((KeptAnswer("m", True, "Niets.", done=True, called=False),),))["attempts"][0]
    assert never["panel"]["id"] == "ctx-not-called"


def test_the_servers_own_count_stands_beside_ours_and_a_prompt_that_it_cut_is_said():
    sent = SentTokens(2_050, "cl100k_base", True, 9_000, Usage(2_310, 40))
    whole = KeptAnswer("m", True, "Ja.", done=True, complete=True, sent=sent)
    (pane,) = reader_data(assembled(), ((whole,),))["attempts"][0]
    assert "2,050 tokens sent in cl100k_base, 2,310 by its server (1.13 times)" in pane["how"]
    assert pane["panel"] is None
    (cautious,) = reader_data(assembled(), ((replace(whole, caution="It seems cut."),),))["attempts"][0]
    assert (cautious["panel"]["id"], cautious["panel"]["text"]) == ("ctx-caution", "It seems cut.")


def test_hostile_text_stays_data():
    done = hostile()
    check = checked(
        done, f"{HOSTILE[:25]}. Gevonden [1].", [{"verdict": "uncited"}, {"verdict": "supported", "support": (support(done, 1, "eerste"),)}]
    )
    data = json.loads(json.dumps(reader_data(done, ((told(check),),))))
    assert data["cards"][0]["title"] in HOSTILE or data["cards"][0]["title"].endswith("…")
    assert data["attempts"][0][0]["lines"][0]["pieces"][0]["text"].startswith("<script>")


def test_an_expected_passage_that_no_claim_uses_is_led_to_where_the_context_holds_it():
    done = assembled()
    hours = support(done, 2, "welkom van 14 tot 20 uur")
    price = support(done, 3, "Een uur kost 2 euro")
    (key,) = [(s.document_id, s.chunk_index) for s in done.segments if s.kind == "chunk" and s.start <= price.context_start < s.end]
    wants = replace(done, query=replace(done.query, gold=(GoldChunk(*key), GoldChunk("nergens", 0)), spans=()))
    carried = checked(wants, "U bent welkom van 14 tot 20 uur [2].", [{"verdict": "supported", "support": (hours,)}])
    carried = replace(carried, passages=used_passages(wants, carried))
    (pane,) = reader_data(wants, ((told(carried),),))["attempts"][0]
    assert (pane["uses"], pane["missed"]) == ("uses 0 of 2 expected passages, 1 not in the context", True)
    ((unused),) = pane["unused"]
    assert (unused["number"], unused["kind"]) == (3, "unused")
    assert unused["start"] <= price.context_start < price.context_end <= unused["end"]
    used = checked(wants, "Een uur kost 2 euro [3].", [{"verdict": "supported", "support": (price,)}])
    used = replace(used, passages=used_passages(wants, used))
    (pane,) = reader_data(wants, ((told(used),),))["attempts"][0]
    assert (pane["uses"], pane["unused"]) == ("uses 1 of 2 expected passages, 1 not in the context", [])


def test_beside_an_answer_that_declines_stands_what_it_did_not_use():
    done = assembled()
    declined = checked(done, "Dat staat er niet in.", [{"verdict": "declined"}])

    def shown(query):
        asks = replace(done, query=replace(done.query, gold=(), spans=(), **query))
        (pane,) = reader_data(asks, ((told(replace(declined, passages=used_passages(asks, declined))),),))["attempts"][0]
        return pane["uses"], [(span["kind"], span["number"], done.text[span["start"] : span["end"]]) for span in pane["unused"]]

    assert shown({"query": "Wat kost een uur parkeren?"}) == ("nearest passage", [("nearest", 3, "Een uur kost 2 euro.")])
    uses, ((kind, _, text),) = shown({"query": "Zebra?"})
    best = done.query.retrieved[0]
    assert (uses, kind) == ("nearest passage", "nearest")
    assert text in done.trace.candidates[best.document_id, best.chunk_index].chunk.text
    assert shown({"query": "Zebra?", "retrieved": ()}) == ("", [])
    wants = replace(done, query=replace(done.query, gold=(GoldChunk(best.document_id, best.chunk_index),), spans=()))
    (pane,) = reader_data(wants, ((told(replace(declined, passages=used_passages(wants, declined))),),))["attempts"][0]
    assert (pane["uses"], [span["kind"] for span in pane["unused"]]) == ("uses 0 of 1 expected passages", ["unused"])


def test_the_reference_answer_stands_beside_where_there_is_one():
    done = assembled()
    assert reader_data(replace(done, query=replace(done.query, answer="Om 14 uur.")), ())["reference"] == "Om 14 uur."
    assert reader_data(replace(done, query=replace(done.query, answer=None)), ())["reference"] == ""


def test_a_claim_says_of_each_passage_whether_it_is_expected_and_by_whom():
    done = assembled()
    check = checked(
        done, "U bent welkom van 14 tot 20 uur [2].", [{"verdict": "supported", "support": (support(done, 2, "welkom van 14 tot 20 uur"),)}]
    )
    (key,) = cited_passages(done, check.claims[0])
    states = [Expected(), Expected(frozenset({key})), Expected(frozenset(), frozenset({key})), Expected(frozenset({key}), frozenset({key}))]
    told_of = [reader_data(done, ((told(check),),), marks)["attempts"][0][0]["claims"][0]["passages"] for marks in states]
    assert [(one["expected"], one["fixed"]) for (one,) in told_of] == [(False, False), (True, False), (True, True), (True, False)]
    assert json.loads(told_of[0][0]["click"]) == [*key, "expected"]


def test_a_disputed_claim_opens_the_source_that_says_otherwise():
    done = assembled()
    hours = support(done, 2, "welkom van 14 tot 20 uur")
    against = Disputed(conflict(done, 3, "14", "2 euro"), support(done, 3, "Een uur kost 2 euro"), "2026", "newer")
    check = checked(done, "U bent welkom van 14 tot 20 uur [2][3].", [{"verdict": "supported", "support": (hours,), "disputed": against}])
    (row,) = claim_rows(check, done)
    assert (row.parts, row.name) == (("disputed", "right"), "supported, disputed")
    assert row.says == "Disputed by [3], newer (2026): “14” here, “2 euro” there."
    assert [(span.number, span.kind) for span in row.spans] == [(2, "support"), (3, "clash"), (3, "part")]
    assert [judged_citation(number, check.claims[0], 0.6).part for number in (2, 3)] == ["right", "disputed"]
    assert [choice.label for choice in choices((row,))] == ["1 claim", "1 disputed"]
    plain = checked(done, check.answer, [{"verdict": "supported", "support": (hours,)}])
    assert [len(cited_passages(done, each.claims[0])) for each in (plain, check)] == [1, 0]  # nobody approves what is disputed
