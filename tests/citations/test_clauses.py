"""Which clauses of a sentence cite for themselves, what markers of a block cover, and what is no claim."""

from __future__ import annotations

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.answer_text import is_small_talk
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.claims import split_claims
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.markers import MarkerParser
from tests.growth import is_linear

CLAUSES = {
    "joined": (
        "The pool opens at 6.30 [1], while towels are free [2].",
        [("The pool opens at 6.30", (1,)), ("towels are free.", (2,))],
    ),
    "a semicolon": (
        "Het bad opent om 6.30 uur [1]; handdoeken zijn gratis [2].",
        [("Het bad opent om 6.30 uur", (1,)), ("handdoeken zijn gratis.", (2,))],
    ),
    "a dash": ("Das Bad öffnet früh [1] – Handtücher sind gratis [2].", [("Das Bad öffnet früh", (1,)), ("Handtücher sind gratis.", (2,))]),
    "brackets": (
        "A ticket costs nine euros [1] (free on Mondays [2]).",
        [("A ticket costs nine euros", (1,)), ("free on Mondays).", (2,))],
    ),
    "a fragment": (
        "The pool opens at 6.30 [1] and at 9.00 on Sundays [2].",
        [("The pool opens at 6.30", (1,)), ("at 9.00 on Sundays.", (2,))],
    ),
    "markers inside their clauses": (
        "The pool [1] opens at 6.30, and the sauna [2] at nine.",
        [("The pool opens at 6.30", (1,)), ("the sauna at nine.", (2,))],
    ),
    "sources that are named first": (
        "According to [1], the pool is open, while according to [2] it is closed.",
        [("the pool is open", (1,)), ("it is closed.", (2,))],
    ),
    "a cause stays": (
        "The pool is closed [1] because the pump is broken [2].",
        [("The pool is closed", (1,)), ("because the pump is broken.", (2,))],
    ),
    "names share what is said": ("Ghent [1] and Bruges [2] have canals.", [("Ghent have canals.", (1,)), ("Bruges have canals.", (2,))]),
    "names at the end": ("Canals run through Ghent [1] and Bruges [2].", [("Canals run through Ghent", (1,)), ("Bruges.", (2,))]),
    "three": (
        "One is red [1], two is blue [2, 3], and three is green [4].",
        [("One is red", (1,)), ("two is blue", (2, 3)), ("three is green.", (4,))],
    ),
    "an end without a marker": (
        "The pool is open [1], a ticket costs nine euros [2] and the sauna is closed.",
        [("The pool is open", (1,)), ("a ticket costs nine euros and the sauna is closed.", (2,))],
    ),
    "cells": ("| Pool | 6.30 [1] | 20.00 [2] |", [("Pool | 6.30", (1,)), ("20.00", (2,))]),
    "one statement, two markers in a row": ("The pool and the sauna are open [1][2].", []),
    "one statement, markers on two words": ("The pool [1] opened in 2012 [2].", []),
    "no clause on one side": ("However [1], the pool is open [2].", []),
    "only a word parts them": (
        "The pool [1] opens at 6.30 and the sauna [2] at nine.",
        [("The pool opens at 6.30", (1,)), ("the sauna at nine.", (2,))],
    ),
    "nothing parts them": ("The pool [1] beside the sauna [2] opens at 6.30.", []),
    "one marker": ("The pool is open [1], while the sauna is closed.", []),
}


@pytest.mark.parametrize(("answer", "expected"), CLAUSES.values(), ids=CLAUSES)
def test_clauses_are_what_a_reader_would_cut(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    parser = MarkerParser()
    events = parser.feed(answer) + parser.finish()
    (claim,) = split_claims(answer, events)
    assert [(clause.text, clause.cited) for clause in claim.clauses] == expected


@pytest.mark.parametrize(
    "answer",
    [
        "【4:0†source】 [2].](x;(ID: 1)\u2060] [2]. Open",
        "[1](u) terwijl ## ;[1]Until nine",
        "a [9]b; [1](u)_[1]_",
        "(ID: 4)://a | $[1,2]$| -`[1]`) [1]",
    ],
)
def test_what_says_nothing_is_no_clause(answer: str) -> None:
    parser = MarkerParser()
    found = split_claims(answer, parser.feed(answer) + parser.finish())
    assert all(any(map(str.isalnum, clause.text)) for claim in found for clause in claim.clauses)


@pytest.mark.parametrize("piece", ["a [1], ", "a [1] and ", "[1], ", "a, and ", "A [1] b ", "x [1]; according to [2] ", "| a [1] "])
def test_long_sentences_take_linear_time(piece: str) -> None:
    answer = piece * (40_000 // len(piece))

    def read(text: str) -> None:
        parser = MarkerParser()
        split_claims(text, parser.feed(text) + parser.finish())

    assert is_linear(read, answer)


SOURCES = [
    {"n": 1, "text": "The pool opens at 6.30 on weekdays. On Sundays it opens at nine. A ticket costs nine euros."},
    {"n": 2, "text": "Towels are free for members. A ticket costs nine euros."},
]


def checked(answer: str) -> tuple[CheckedClaim, ...]:
    return check_answer(answer, grounds_of_sources(SOURCES), LexicalScorer()).claims


def told(answer: str) -> list[tuple[str, tuple[int, ...], tuple[int, ...], str]]:
    return [(claim.claim.text, claim.claim.cited, claim.claim.inherited, claim.verdict) for claim in checked(answer)]


OPENS, SUNDAYS, TICKET = "The pool opens at 6.30 on weekdays", "On Sundays it opens at nine", "A ticket costs nine euros"
COVERED = {
    "the end of a paragraph": f"{OPENS}. {TICKET} [1].",
    "behind its last full stop": f"{OPENS}. {TICKET}. [1]",
    "on the line after it": f"{OPENS}. {TICKET}.\n[1]",
    "alone after it": f"{OPENS}. {TICKET}.\n\n[1]",
    "under a label": f"{OPENS}. {TICKET}.\nSource: [1]",
    "the end of a quote": f"> {OPENS}.\n> {TICKET}. [1]",
    "a quote in a sentence": f'The folder states: "{OPENS}. {TICKET}." [1]',
    "after a list": f"- {OPENS}\n- {TICKET}\n\n[1]",
    "a lead-in of a list": f"The rules are [1]:\n- {OPENS}\n- {TICKET}",
    "a lead-in that names its source": f"According to the folder [1]:\n\n1. {OPENS}\n2. {TICKET}",
    "a heading": f"## Hours [1]\n\n{OPENS}.\n\n{TICKET}.",
    "the header of a table": f"| What | Hours [1] |\n|---|---|\n| {OPENS} | |\n| {TICKET} | |",
}


@pytest.mark.parametrize("answer", COVERED.values(), ids=COVERED)
def test_a_marker_of_a_block_covers_it(answer: str) -> None:
    claims = checked(answer)
    assert [claim.claim.text.strip('."') for claim in claims] == [OPENS, TICKET]
    assert [claim.verdict for claim in claims] == ["supported", "supported"]
    assert [(*claim.claim.cited, *claim.claim.inherited) for claim in claims] == [(1,), (1,)]
    assert claims[0].claim.inherited == (1,)
    assert {support.number for claim in claims for support in claim.support} == {1}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"{TICKET} [2]. {OPENS}. {SUNDAYS} [1].", [(2, 0), (0, 1), (1, 0)]),  # back to the marker before
        (f"{OPENS} [1]. {TICKET}.", [(1, 0), (0, 0)]),  # a marker covers nothing behind it
        (f"{OPENS}.\n\n{TICKET} [1].", [(0, 0), (1, 0)]),  # nor another paragraph
        (f"- {OPENS}\n- {SUNDAYS} [1]\n- {TICKET} [2]", [(0, 0), (1, 0), (2, 0)]),  # items that cite for themselves
        (f"## Hours [1]\n\n{OPENS}.\n\n## Prices\n\n{TICKET}.", [(0, 1), (0, 0)]),  # up to the next heading
        (f"The rules [1]:\n- {OPENS}\n\n{TICKET}.", [(0, 1), (0, 0)]),  # up to the end of the list
        (f"| What [1] |\n|---|\n| {OPENS} |\n\n{TICKET}.", [(0, 1), (0, 0)]),
        (f"{OPENS}. The pool [1] is warm.", [(0, 0), (1, 0)]),  # a marker inside a sentence is that sentence's
    ],
)
def test_a_marker_covers_no_more_than_its_block(answer: str, expected: list[tuple[int, int]]) -> None:
    found = [(sum(cited), sum(inherited)) for _, cited, inherited, _ in told(answer)]
    assert found == expected


def test_what_an_inherited_source_does_not_carry_is_uncited_and_what_it_denies_no_contradiction() -> None:
    assert told(f"Dogs are welcome in the garden. {OPENS} [1].")[0] == ("Dogs are welcome in the garden.", (), (1,), "uncited")
    other, _ = checked(f"Towels are free for members. {OPENS} [1].")
    assert (other.verdict, other.better) == ("uncited", 2)
    denied, _ = checked(f"The pool opens at 7.30 on weekdays. {TICKET} [1].")
    assert (denied.verdict, denied.support != ()) == ("partly", True)


def test_a_heading_or_a_lead_in_is_judged_only_where_its_source_says_so() -> None:
    assert told("## Prices and hours [1]\n\nTowels are free for members [2].") == [("Towels are free for members.", (2,), (), "supported")]
    assert told(f"{OPENS} [1]:\n- {TICKET}")[0][3] == "supported"
    assert told(f"The pool opens at 7.30 on weekdays [1]:\n- {TICKET}")[0][3] == "contradicted"


def test_a_claim_is_as_good_as_its_worst_clause() -> None:
    (right,) = checked("The pool opens at 6.30 on weekdays [1], while towels are free for members [2].")
    assert (right.verdict, [clause.verdict for clause in right.clauses]) == ("supported", ["supported", "supported"])
    (wrong,) = checked("The pool opens at 6.30 on weekdays [2], while towels are free for members [1].")
    assert (wrong.verdict, [(clause.verdict, clause.better) for clause in wrong.clauses]) == (
        "elsewhere",
        [("elsewhere", 1), ("elsewhere", 2)],
    )
    (one,) = checked("The pool opens at 6.30 on weekdays [1], while dogs may swim in the garden [2].")
    assert (one.verdict, [clause.verdict for clause in one.clauses]) == ("partly", ["supported", "unsupported"])
    (unknown,) = checked("The pool opens at 6.30 on weekdays [1], while towels are free for members [7].")
    assert (unknown.verdict, unknown.unknown) == ("unknown_marker", (7,))
    assert [clause.verdict for clause in unknown.clauses] == ["supported", "unknown_marker"]


SHAPES = {
    "lines without full stops": (f"{OPENS} [1]\n{TICKET} [2]", [(OPENS, (1,)), (TICKET, (2,))]),
    "signs instead of lines": (f"✅ {OPENS} [1] 🏊 {TICKET} [2]", [(f"✅ {OPENS}", (1,)), (f"🏊 {TICKET}", (2,))]),
    "markers first": (f"[1] {OPENS}. [2] {TICKET}.", [(f"{OPENS}.", (1,)), (f"{TICKET}.", (2,))]),
    "a bold label and a sentence": (f"**Hours:** {OPENS} [1].", [(f"{OPENS}.", (1,))]),
    "a bold label that is the subject": ("**Tickets**: nine euros [1].", [("Tickets: nine euros.", (1,))]),
    "escaped stars": (r"Rooms marked \*x\* are closed [1].", [("Rooms marked *x* are closed.", (1,))]),
    "a bold full stop": (
        "The pool is closed**.** [1] the sauna is open. [2]",
        [("The pool is closed.", (1,)), ("the sauna is open.", (2,))],
    ),
}


@pytest.mark.parametrize(("answer", "expected"), SHAPES.values(), ids=SHAPES)
def test_odd_shapes_are_read_as_they_are_meant(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(claim.claim.text, claim.claim.cited) for claim in checked(answer)] == expected


@pytest.mark.parametrize(
    "text",
    [
        *("Good question!", "That's a great question.", "Sure!", "I'm happy to help.", "Let me know if you need anything else!"),
        *("I hope this helps.", "If you have any other questions, feel free to ask.", "Feel free to reach out."),
        *("Goede vraag!", "Graag gedaan.", "Laat het gerust weten als u nog vragen heeft.", "Hopelijk helpt dit u verder."),
        *("Als u nog vragen heeft, laat het dan gerust weten.", "Bedankt voor uw vraag!", "Ik help u graag verder."),
        *("Gute Frage!", "Gerne!", "Ich helfe Ihnen gerne weiter.", "Ich hoffe, das hilft Ihnen weiter."),
        *("Wenn Sie noch weitere Fragen haben, melden Sie sich gerne.", "Sagen Sie gerne Bescheid."),
    ],
)
def test_small_talk_is_no_claim(text: str) -> None:
    assert is_small_talk(text)
    assert [claim.claim.text for claim in checked(f"{text} {OPENS} [1].")] == [f"{OPENS}."]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Sure, the pool opens at nine.",
            "I hope that the pool opens at nine.",
            "Let me know how it was at the desk.",
            "In summary, come early.",
        ),
        *(
            "Goede vragen staan op de site.",
            "Laat het bad weten dat u komt.",
            "Als u vragen heeft, bel de balie op 12 34.",
            "Zeker 20 mensen zwemmen.",
        ),
        *("Gute Fragen stehen im Heft.", "Gern gesehen sind Hunde.", "Falls Sie Fragen haben, rufen Sie 12 34 an."),
    ],
)
def test_what_says_something_besides_is_a_claim(text: str) -> None:
    assert not is_small_talk(text)
