"""What the reader of an answer is given: pieces that join to the text, chips with verdicts, spans that may be marked, rows, filters."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.ask.answer_pieces import Chip, Stretch, answer_pieces, before_assembly, judged_citation, stale_numbers
from ctxasm.app.ui.ask.claim_rows import claim_rows, filters
from ctxasm.app.ui.ask.context_cards import context_cards
from ctxasm.app.ui.ask.reader import reader_data
from ctxasm.app.ui.frame.session_records import KeptAnswer
from ctxasm.citations.markers import parse_markers, resolve
from ctxasm.model.results import PreCitation
from tests.app.ui.builders import HOSTILE, assembled, empty, hostile
from tests.app.ui.checked_builders import checked, conflict, of_every_kind, support

HINT = ("No answer yet", "Press Ask.")


def told(check) -> KeptAnswer:
    return KeptAnswer("s", "m", False, check.answer, check.markers, True, True, check=check)


def chips_of(check) -> list[Chip]:
    pieces = answer_pieces(check.answer, check.markers, check.claims, threshold=check.threshold)
    return [piece for piece in pieces if isinstance(piece, Chip)]


def test_chips_wear_the_verdict_of_their_citation():
    chips = chips_of(of_every_kind(assembled()))
    assert [(chip.label, chip.mark) for chip in chips] == [
        ("2", "✓"), ("2", "≠"), ("1", "→3"), ("2", "◐"), ("1", "?"), ("2", "?"), ("9", "✗"), ("8", "⌀"),
    ]  # fmt: skip
    assert [chip.known for chip in chips] == [True] * 6 + [False] * 2
    assert chips[2].spoken == "Source 1, points elsewhere, found in 3"


def test_a_citation_that_adds_nothing_does_not_spoil_the_one_that_carries():
    done = assembled()
    full = checked(
        done, "Neem uw kaart mee [2][1].", [{"verdict": "partly", "support": (support(done, 2, "Neem uw kaart mee"),), "idle": (1,)}]
    )
    carried = full.claims[0]
    assert [judged_citation(number, carried, 0.6).verdict for number in (2, 1)] == ["supported", "unsupported"]
    assert judged_citation(1, replace(carried, better=3), 0.6) == ("elsewhere", 3)
    part = replace(carried, support=(carried.support[0]._replace(score=0.5),))
    assert judged_citation(2, part, 0.6).verdict == "partly"


def test_only_the_source_that_contradicts_is_marked_so():
    done = assembled()
    fields = {"verdict": "contradicted", "conflict": conflict(done, 3, "3 euro", "2 euro"), "support": (support(done, 2, "welkom"),)}
    claim = checked(done, "Het kost 3 euro [3][2][1].", [fields]).claims[0]
    assert [judged_citation(number, claim, 0.6).verdict for number in (3, 2, 1)] == ["contradicted", "partly", "unsupported"]


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
    assert [piece.text for piece in pieces if isinstance(piece, Stretch) and piece.clash] == ["8 tot 22 uur"]


@given(st.lists(st.sampled_from(["Zin een. ", "[1]", "[99]", " [1-3] ", "\n- ", "é👍", "[", "Uur."]), max_size=12), st.integers(0, 60))
def test_pieces_join_to_the_answer_without_its_markers(parts, end):
    answer = "".join(parts)
    markers = resolve(parse_markers(answer), assembled_once().citations)
    pieces = answer_pieces(answer, markers, end=min(end, len(answer)))
    kept = [m.marker for m in markers if m.marker.end <= min(end, len(answer))]
    rest, at = "", 0
    for marker in kept:
        rest, at = rest + answer[at : marker.start], marker.end
    assert "".join(piece.text for piece in pieces if isinstance(piece, Stretch)) == rest + answer[at : min(end, len(answer))]
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
    pieces = [piece for card in context_cards(done, cuts) for piece in card.pieces]
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
    assert [row.neighbour for row in rows].count("Carried by an added neighbour, not by a hit.") == 1
    assert rows[3].neighbour
    assert rows[3].spans[0].added
    assert rows[4].sources == ((2, "Bezoek"),)
    assert rows[3].missing == ("geld",)
    assert rows[0].quotes == ((2, "welkom van 14 tot 20 uur"),)
    assert rows[7].says.startswith("[8] would be “MRI-onderzoek”")


def test_filters_count_their_rows():
    rows = claim_rows(of_every_kind(assembled()), assembled())
    shown = {choice.label: choice.total for choice in filters(rows)}
    assert (shown["all"], shown["only problems"], shown["supported"]) == (8, 7, 1)
    assert [choice.label for choice in filters(rows[:1])] == ["all", "only problems"]
    assert filters(rows[:1])[1].total == 0


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
    assert told["says"] == "3 of 4 citations would be wrong."
    assert len(told["which"]) == 2
    assert before_assembly([])["says"] == "The answer cites no source."


def test_the_data_is_json_and_names_its_version():
    done = assembled()
    data = reader_data(done, ((told(of_every_kind(done)),),), HINT)
    assert json.loads(json.dumps(data)) == data
    assert data["version"] == reader_data(done, ((told(of_every_kind(done)),),), HINT)["version"]
    assert data["version"] != reader_data(done, (), HINT)["version"]
    (pane,) = data["attempts"][0]
    assert pane["summary"].startswith("8 claims: 1 supported")
    assert [claim["name"] for claim in pane["claims"]][:2] == ["supported", "contradicted"]


def test_every_marked_span_can_be_marked_with_whole_pieces():
    done = assembled()
    data = reader_data(done, ((told(of_every_kind(done)),),), HINT)
    parts = [part for card in data["cards"] for part in card["parts"]]
    for claim in data["attempts"][0][0]["claims"]:
        for span in claim["spans"]:
            start, end = span["start"], span["end"]
            assert "".join(part["text"] for part in parts if part["start"] >= start and part["end"] <= end) == done.text[start:end]


def test_what_did_not_arrive_is_said():
    done = assembled()
    cut = KeptAnswer("s", "m", True, "Half een", done=True, error="The server closed the connection.", unchecked="no model")
    (pane,) = reader_data(done, ((cut,),), HINT)["attempts"][0]
    assert pane["panel"]["text"] == "The server closed the connection."
    assert pane["unchecked"] == "No model"
    assert (pane["summary"], pane["figures"], pane["claims"]) == ("", [], [])
    (never,) = reader_data(empty(), ((KeptAnswer("s", "m", True, "Niets.", done=True, called=False),),), HINT)["attempts"][0]
    assert never["panel"]["id"] == "ctx-not-called"


def test_hostile_text_stays_data():
    done = hostile()
    check = checked(
        done, f"{HOSTILE[:25]}. Gevonden [1].", [{"verdict": "uncited"}, {"verdict": "supported", "support": (support(done, 1, "eerste"),)}]
    )
    data = json.loads(json.dumps(reader_data(done, ((told(check),),), HINT)))
    assert data["cards"][0]["title"] in HOSTILE or data["cards"][0]["title"].endswith("…")
    assert data["attempts"][0][0]["pieces"][0]["text"].startswith("<script>")
