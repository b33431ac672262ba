"""Claims of an answer and the markers they carry: the matrix, the laws, hostile answers, and real ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.answer_text import STAND_IN
from ctxasm.citations.checked import Claim
from ctxasm.citations.claims import split_claims
from ctxasm.citations.markers import MarkerEvent, MarkerParser, parse_markers
from tests.growth import is_linear
from tests.real_data import real_folder


def parsed(answer: str) -> tuple[tuple[MarkerEvent, ...], list[MarkerEvent]]:
    parser = MarkerParser()
    return parser.feed(answer) + parser.finish(), parser.listed


def claims(answer: str) -> tuple[Claim, ...]:
    return split_claims(answer, *parsed(answer))


def told(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.cited) for claim in claims(answer)]


COVERED = {
    "Dutch: before the full stop": (
        "De poli is open tot 20.00 uur [1]. De balie sluit eerder [2].",
        [("De poli is open tot 20.00 uur.", (1,)), ("De balie sluit eerder.", (2,))],
    ),
    "Dutch: straight after it": (
        "De poli sluit om 20.00 uur. [1] De balie sluit eerder.",
        [("De poli sluit om 20.00 uur.", (1,)), ("De balie sluit eerder.", ())],
    ),
    "Dutch: glued on both sides": (
        "De poli sluit om 20.00 uur.[1]De balie sluit eerder.[2]",
        [("De poli sluit om 20.00 uur.", (1,)), ("De balie sluit eerder.", (2,))],
    ),
    "Dutch: abbreviations survive": (
        "Vraag bv. dr. Jansen [1] om ca. 3,5 ml. Dat mag, d.w.z. overdag [2].",
        [("Vraag bv. dr. Jansen om ca. 3,5 ml.", (1,)), ("Dat mag, d.w.z. overdag.", (2,))],
    ),
    "Dutch: glued on both sides, three times": (
        "Bel eerst. [1]De poli sluit. [2]De balie is open. [3]De kliniek niet.",
        [("Bel eerst.", (1,)), ("De poli sluit.", (2,)), ("De balie is open.", (3,)), ("De kliniek niet.", ())],
    ),
    "a table without edges": ("Day | Hours\n--|--\nFriday | 8 [1]", [("Day | Hours", ()), ("Friday | 8", (1,))]),
    "English: several in a row": (
        "Visits end at 8 p.m. [1][2] [3]. Bring a pass, e.g. a card [4, 5].",
        [("Visits end at 8 p.m.", (1, 2, 3)), ("Bring a pass, e.g. a card.", (4, 5))],
    ),
    "English: in the middle": (
        "The ward [1] closes at eight, and the desk [2] at five.",
        [("The ward closes at eight, and the desk at five.", (1, 2))],
    ),
    "English: it speaks": (
        "Visits are free. [1] says that parking costs 3.50 euro. Nobody disagrees.",
        [("Visits are free.", ()), ("parking costs 3.50 euro.", (1,)), ("Nobody disagrees.", ())],
    ),
    "English: according to": (
        "According to [1], the ward is closed. In context [2], it is mentioned that it is open. It is free, according to [3].",
        [("the ward is closed.", (1,)), ("it is open.", (2,)), ("It is free.", (3,))],
    ),
    "English: based on it, at the end": ("The dose is based on [1].", [("The dose is based on.", (1,))]),
    "English: given contexts": ("Based on the given contexts, it closes at eight [1].", [("it closes at eight.", (1,))]),
    "Dutch: volgens": ("De deur is dicht. Volgens [1] is de poli open.", [("De deur is dicht.", ()), ("is de poli open.", (1,))]),
    "German: in the sentence and after it": (
        "Dr. Müller kommt am 3. Mai [1]. Das gilt z.B. hier.[2] Laut [3] ist es offen.",
        [("Dr. Müller kommt am 3. Mai.", (1,)), ("Das gilt z.B. hier.", (2,)), ("ist es offen.", (3,))],
    ),
    "German: after a quote": (
        "„Es ist offen.“ [1] Sie lächelte.",
        [("„Es ist offen.“", (1,)), ("Sie lächelte.", ())],
    ),
    "other marks": (
        "It rains [1]! It pours.[2] “It ends.” [3] Then sun… [4]",
        [("It rains!", (1,)), ("It pours.", (2,)), ("“It ends.”", (3,)), ("Then sun…", (4,))],
    ),
    "a full stop on both sides": ("De deur is dicht. [1]. De poli is open.", [("De deur is dicht.", (1,)), ("De poli is open.", ())]),
    "a forgotten full stop": (
        "The ward closes at eight [1] The desk closes at five [2]",
        [("The ward closes at eight.", (1,)), ("The desk closes at five", (2,))],
    ),
    "brackets and bold around it": (
        "De poli is open ([1]). De balie ook **[2]**. Het lab niet (zie bron [3] en [4]). De kliniek (context [5]).",
        [("De poli is open.", (1,)), ("De balie ook.", (2,)), ("Het lab niet.", (3, 4)), ("De kliniek.", (5,))],
    ),
    "other forms": (
        'De poli is open【1†source】. De balie ook.[^2] Ja<sup>3</sup>. <cite id="4">Het lab niet.</cite> Punt [5](https://a.nl/b).',
        [("De poli is open.", (1,)), ("De balie ook.", (2,)), ("Ja.", (3,)), ("Het lab niet.", (4,)), ("Punt.", (5,))],
    ),
    "alone at the end of a paragraph": (
        "De poli is open. De balie is dicht.\n[1][2]\n\nDe kliniek ook.",
        [("De poli is open.", ()), ("De balie is dicht.", (1, 2)), ("De kliniek ook.", ())],
    ),
    "alone in a paragraph": ("De poli is open.\n\n[1]\n\nDe balie ook.", [("De poli is open.", (1,)), ("De balie ook.", ())]),
    "under a label": ("Bezoek tot 20.00 uur.\nBron: [1]", [("Bezoek tot 20.00 uur.", (1,))]),
    "first of all": ("[1]\n\nDe poli is open.", [("De poli is open.", (1,))]),
    "first on each line": (
        "[1] De poli is open\n[2] De balie is dicht",
        [("De poli is open", (1,)), ("De balie is dicht", (2,))],
    ),
    "in and after items": (
        "- **Bezoek:** tot 20.00 uur [1]\n- Neem bv. een pas mee. [2]\n  - [3] Genest, `met code`\n1) Bel dr. Jansen.\n   [4]\n2) Wacht.",
        [
            ("Bezoek: tot 20.00 uur", (1,)),
            ("Neem bv. een pas mee.", (2,)),
            ("Genest, met code", (3,)),
            ("Bel dr. Jansen.", (4,)),
            ("Wacht.", ()),
        ],
    ),
    "an item of two sentences": (
        "* De poli is open. De balie is dicht [1].\n* [ ] Bel.",
        [("De poli is open.", ()), ("De balie is dicht.", (1,)), ("Bel.", ())],
    ),
    "an item that is only a marker": ("De poli is open:\n- acht uur\n- [1]", [("De poli is open:", ()), ("acht uur", (1,))]),
    "an unknown and a malformed one": ("De poli is open [99]. De balie ook [3-1].", [("De poli is open.", (99,)), ("De balie ook.", ())]),
    "two names of one number": ("De poli is open [1] en vrij [2, 1].", [("De poli is open en vrij.", (1, 2))]),
    "Windows line ends": (
        "De poli is open [1].\r\n\r\n- Bezoek tot acht [2]\r\n- Bel eerst\r\n",
        [("De poli is open.", (1,)), ("Bezoek tot acht", (2,)), ("Bel eerst", ())],
    ),
    "a wrapped sentence": (
        "De poliklinieken van het ziekenhuis zijn op werkdagen open tot\nhalf zes in de middag [1]. De balie niet.",
        [("De poliklinieken van het ziekenhuis zijn op werkdagen open tot half zes in de middag.", (1,)), ("De balie niet.", ())],
    ),
    "a quotation": ("> De poli is open [1].\n> De balie\n> is dicht [2].", [("De poli is open.", (1,)), ("De balie is dicht.", (2,))]),
    "thinking": ("<think>De poli [1]. Of niet?\n- ja</think>De poli is open [2].", [("De poli is open.", (2,))]),
    "thinking in code is none": ("Schrijf `<think>` zo [1]. Klaar.", [("Schrijf <think> zo.", (1,)), ("Klaar.", ())]),
    "code": (
        "Zo werkt het [1]:\n\n```python\nx = y[1]  # Dit is geen zin.\n```\n\n    a[2]\n\nKlaar.",
        [("Zo werkt het:", (1,)), ("Klaar.", ())],
    ),
    "code in a sentence": ("Gebruik `a[1].B` hier [3].", [("Gebruik a[1].B hier.", (3,))]),
    "a list of sources": (
        "De poli is open [1]. De balie ook [2].\n\n**Bronnen:**\n\n[1] Huisregels 2024. Pagina 3.\n- [2] Folder\n  vervolg",
        [("De poli is open.", (1,)), ("De balie ook.", (2,))],
    ),
    "link definitions": ("De poli is open [1].\n\n[1]: https://a.nl", [("De poli is open.", (1,))]),
    "asides": ("De poli is open [1]. [Online]. [Accessed: 2 May] [2].", [("De poli is open.", (1, 2))]),
    "right to left and emoji": ("هل هو مفتوح؟ نعم [1]. 😀 Ja [2]!", [("هل هو مفتوح؟", ()), ("نعم.", (1,)), ("😀 Ja!", (2,))]),
    "Chinese": ("价格是五元[1]。它很便宜。[2]", [("价格是五元。", (1,)), ("它很便宜。", (2,))]),
    "markup and arithmetic": (
        "Zie [de *site*](https://a.nl/x_y) voor **2*3** en 5 * 3 van __alles__ <b>nu</b> [1].",
        [("Zie de site voor 2*3 en 5 * 3 van alles nu.", (1,))],
    ),
}


@pytest.mark.parametrize(("answer", "expected"), COVERED.values(), ids=COVERED)
def test_each_marker_belongs_to_the_claim_a_reader_gives_it(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert told(answer) == expected
    check_laws(answer)


TABLE = (
    "Tijden:\n\n| Afdeling | Sluit | Bron |\n|---|:-:|---|\n| **Poli** | 17.00 uur | [1] |\n| Balie | 18.00 uur [2] | |\n\nDat was het. [3]"
)
KINDS = {
    "headings": ("# Bezoek [1]\nTekst.\n\nTijden\n======\n**Balie**\nTot acht.", ["heading", "sentence", "heading", "heading", "sentence"]),
    "lead-ins": ("De regels zijn:\n- Kom op tijd\n- Neem mee:\n  - een pas", ["lead_in", "item", "lead_in", "item"]),
    "questions": ("Wat kost het? Niets.\n- En wat nog?", ["question", "sentence", "question"]),
    "a quoted question": ('"Is it open?" "It is."', ["question", "sentence"]),
    "yes and no": ("Yes. It is open. Nee!", ["sentence"]),
    "what says that something follows": ("The rules are as follows. Hier sind die Regeln.", ["lead_in", "lead_in"]),
    "table": (TABLE, ["lead_in", "heading", "row", "row", "sentence"]),
    "table without edges": ("Poli | Sluit\n--- | ---\nA | 17.00", ["heading", "row"]),
    "a short line before a list": ("Openingstijden\n- Poli tot acht", ["heading", "item"]),
    "a bold line alone is an answer": ("**17.00 uur**", ["sentence"]),
    "a bold sentence is a sentence": ("**De poli is dicht.**\n\nKom morgen.", ["sentence", "sentence"]),
    "a short answer": ("Amsterdam [1]", ["sentence"]),
    "a year at the start of a line": ("Het was in het jaar\n1998. Daarna niet.", ["sentence", "sentence"]),
    "a rule": ("Een.\n\n---\n\nTwee.", ["sentence", "sentence"]),
}


@pytest.mark.parametrize(("answer", "expected"), KINDS.values(), ids=KINDS)
def test_claims_have_their_kind(answer: str, expected: list[str]) -> None:
    assert [claim.kind for claim in claims(answer)] == expected
    check_laws(answer)


@pytest.mark.parametrize("blank", [" ", "\xa0", "\u202f", "\u3000", "\x1c"])
def test_a_row_and_a_heading_lie_without_the_blanks_around_them(blank: str) -> None:
    answer = f"Poli | Sluit\n--- | ---\n{blank}| A | 17.00 |{blank}[1]\n\nDe poli is open.\n\n#{blank}Balie{blank}[2]\n"
    for claim in claims(answer):
        own = answer[claim.start : claim.end]
        assert own.strip("| \t") == own.strip() == own


def test_a_row_is_one_claim_with_its_cells() -> None:
    assert told(TABLE) == [
        ("Tijden:", ()),
        ("Afdeling | Sluit | Bron", ()),
        ("Poli | 17.00 uur", (1,)),
        ("Balie | 18.00 uur", (2,)),
        ("Dat was het.", (3,)),
    ]


def test_a_lead_in_or_heading_keeps_its_markers() -> None:
    assert told("## Bezoek [1]\n\nDe regels zijn [2]:\n- Kom") == [("Bezoek", (1,)), ("De regels zijn:", (2,)), ("Kom", ())]
    assert not any(claim.states for claim in claims("## Bezoek [1]\n\nDe regels zijn [2]:"))


def test_a_claim_stands_where_its_sentence_stands() -> None:
    answer = "Kom. De **poli** is open [1]. \n- Bezoek tot 20.00 uur. [2]"
    assert [answer[claim.start : claim.end] for claim in claims(answer)] == ["Kom.", "De **poli** is open [1].", "Bezoek tot 20.00 uur."]
    assert [claim.markers for claim in claims(answer)] == [(), (0,), (1,)]


@pytest.mark.parametrize(
    "answer", ["", " \n\t\r\n", "[1]", "[1][2]\n\n[3]", "```\nx\n```", "<think>Ja.</think>", "---", "Bron: [1]", "**", "||"]
)
def test_what_says_nothing_has_no_claims(answer: str) -> None:
    assert claims(answer) == ()


PIECES = [
    *(
        "De poli",
        " is open",
        "tot 20.00 uur",
        ". ",
        "! ",
        "[1]",
        "[2, 3]",
        " ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "2. ",
        "## ",
        "> ",
        "**",
        "*",
        "_",
    ),
    *("`", "```\n", "~~~", "<think>", "</think>", "(", ")", '"', "“", "”", "Bron: ", "Sources:\n", "[1]: x", "\r\n", "    ", "[", "]"),
    *("[3-1]", "according to ", "volgens ", "In ", ",", ":", "?", '<cite id="1">', "</cite>", "<sup>2</sup>", "\\", "é", "😀", "(ID: 4)"),
    *("[^1]", "dr. ", "p.m. ", "---", "===", "[a](b)", "[1](u)", "![x](y)", "|", "| ", " |", "|---|", "\n|", "The ", STAND_IN),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_every_marker_belongs_to_exactly_one_claim(answer: str) -> None:
    check_laws(answer)


@given(st.text(alphabet="aB1. \n[]-*|#>`(:", max_size=60))
def test_any_answer_has_lawful_claims(answer: str) -> None:
    check_laws(answer)


def check_clauses(claim: Claim, markers: tuple[MarkerEvent, ...]) -> None:
    assert len(claim.clauses) != 1
    last = claim.start
    for clause in claim.clauses:
        assert last <= clause.start < clause.end <= claim.end
        assert clause.kind == "clause"
        assert any(map(str.isalnum, clause.text))
        assert not parse_markers(clause.text) or all(marker.form == "malformed" for marker in parse_markers(clause.text))
        assert STAND_IN not in clause.text
        assert clause.markers
        assert clause.cited == tuple(dict.fromkeys(number for at in clause.markers for number in markers[at].numbers))
        last = clause.end
    if claim.clauses:
        assert tuple(at for clause in claim.clauses for at in clause.markers) == claim.markers


def check_laws(answer: str) -> None:
    markers, listed = parsed(answer)
    found = split_claims(answer, markers, listed)
    last = 0
    for claim in found:
        assert last <= claim.start < claim.end <= len(answer)
        assert claim.text
        assert claim.text == " ".join(claim.text.split())
        assert all(marker.form == "malformed" for marker in parse_markers(claim.text))
        assert STAND_IN not in claim.text
        assert claim.cited == tuple(dict.fromkeys(number for at in claim.markers for number in markers[at].numbers))
        last = claim.end
        check_clauses(claim, markers)
    if found:
        assert sorted(at for claim in found for at in claim.markers) == list(range(len(markers)))
    assert split_claims(answer, markers, listed) == found


HOSTILE = {
    "sentences": "De poli is open tot 20.00 uur [1]. " * 1000,
    "markers": "[1]" * 10_000,
    "brackets": "([1])" * 4000,
    "open brackets": "[" * 40_000,
    "nested items": "".join("  " * (depth % 50) + "- a [1]\n" for depth in range(800)),
    "bullets in a bullet": "- " * 20_000,
    "quotes": ">" * 40_000,
    "rows": "|a|[1]|\n" * 2000,
    "bars": "|" * 40_000,
    "bold": "**a" * 10_000,
    "ticks": "`a" * 15_000,
    "thinking": "<think>a</think>" * 3000,
    "links": "[a](" * 10_000,
    "paragraphs": "a [1].\n\n" * 2000,
    "quoted": '"[1]' * 2500,
    "sources": "Sources:\n" + "[1] x\n" * 5000,
    "blanks": "[1]" + " " * 40_000 + "x.",
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_take_linear_time(answer: str) -> None:
    assert is_linear(lambda text: split_claims(text, *parsed(text)), answer)


def test_real_answers_keep_the_laws_and_their_labels_find_their_references() -> None:
    folder = real_folder()
    file = folder / "cited-hagrid" / "answers.jsonl" if folder else None
    if file is None or not file.is_file():
        pytest.skip("the bundle cited-hagrid is not beside the project")
    labels = 0
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        answer = record["answer_text_with_markers"]
        check_laws(answer)
        found = claims(answer)
        for label in (label for label in record["labels"] if label["cites"]):
            touched = [claim for claim in found if claim.start < label["end"] and claim.end > label["start"]]
            assert set(label["cites"]) <= {number for claim in touched for number in claim.cited}
            labels += 1
    assert labels >= 441


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("De poli is open. [1] de balie ook. [2]", [("De poli is open.", (1,)), ("de balie ook.", (2,))]),
        (
            "Wachttijd tot 2 uur; [1] Wat u afspreekt, noteert de arts. [3]",
            [("Wachttijd tot 2 uur;", (1,)), ("Wat u afspreekt, noteert de arts.", (3,))],
        ),
        ("It opens at 8 p.m. [1] and closes at ten.", [("It opens at 8 p.m. and closes at ten.", (1,))]),
        ("It ended there. [1] and then more [2].", [("It ended there.", (1,)), ("and then more.", (2,))]),
        ("The desk opens. [1] says that it closes.", [("The desk opens.", ()), ("it closes.", (1,))]),
    ],
)
def test_a_marker_after_a_full_stop_closes_it_although_the_next_begins_small(
    answer: str, claims: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(claim.text, claim.cited) for claim in split_claims(answer, parse_markers(answer))] == claims
