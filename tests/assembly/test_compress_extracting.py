"""Compression by the question's words: what is kept, exactly how much, and in what time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.assembly import extract_sentences
from ctxasm.assembly.extract_sentences import ExtractiveCompressor, Reader, Row, fill, nearness, rate, reader_of, shorten, weights_of
from ctxasm.assembly.stages import Extract, compressed_text, cuts_head, cuts_tail, gap_between, pieces_of
from ctxasm.model.characters import is_visible
from ctxasm.model.ports import FetchedChunk
from ctxasm.text.terms import inverse_frequency
from ctxasm.text.tokens.counter import ExactCounter
from ctxasm.text.tokens.vocabulary import load_encoding
from ctxasm.text.units import units_of
from tests.examples import examples
from tests.growth import is_linear
from tests.strategies import COUNTER, WORDS

MARK = "[…]"


def compressed(question: str, *texts: str, most: int = 60, mark: str = MARK) -> list[Extract]:
    chunks = [FetchedChunk("d", index, text) for index, text in enumerate(texts)]
    found = ExtractiveCompressor(mark).compress(question, chunks, most, COUNTER)
    assert None not in found
    return [extract for extract in found if extract is not None]


def left_of(question: str, text: str, most: int = 60, mark: str = MARK) -> str:
    return compressed_text(text, compressed(question, text, most=most, mark=mark)[0], mark)


FILLER = "Het ziekenhuis ligt aan de rand van het stadspark. "
PARKING = "Parkeren kost 2,50 euro per uur. "


# Laws ---------------------------------------------------------------------------------------------------------------------

TEXTS = st.lists(WORDS, min_size=1, max_size=80).map("".join)
QUESTIONS = st.sampled_from(["Wanneer komt de arts?", "Wat kost 45 minuten?", "identiteitskaart", "de het een", "的时间", "argv[1] `x`"])


@given(QUESTIONS, st.lists(TEXTS, min_size=1, max_size=4), st.integers(20, 120), st.sampled_from([MARK, "", "[1]", "---"]))
@settings(max_examples=examples(150))
def test_what_is_kept_fits_stands_in_order_and_maps_back_to_the_original(question: str, texts: list[str], most: int, mark: str) -> None:
    gap = gap_between(mark)
    for text, extract in zip(texts, compressed(question, *texts, most=most, mark=mark), strict=True):
        shorter = compressed_text(text, extract, mark)
        assert COUNTER.count(shorter) <= most
        assert is_visible(shorter) == is_visible(text)
        ends = [0, *(end for span in extract.spans for end in span), len(text)]
        assert ends == sorted(ends)
        assert all(start < end for start, end in extract.spans)
        parts = pieces_of(extract, mark, 0, len(shorter))
        assert "".join(shorter[part.low : part.high] for part in parts) == shorter
        for part in parts:
            assert shorter[part.low : part.high] == (gap if part.start is None else text[part.start : part.end])
        assert cuts_head(text, extract) == is_visible(text[: ends[1]])
        assert cuts_tail(text, extract) == is_visible(text[ends[-2] :])


@given(QUESTIONS, TEXTS, st.integers(20, 80), st.data())
@settings(max_examples=examples(80))
def test_any_part_of_the_compressed_text_maps_back(question: str, text: str, most: int, data: st.DataObject) -> None:
    extract = compressed(question, text, most=most)[0]
    shorter = compressed_text(text, extract, MARK)
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(shorter))] * 2)))
    parts = pieces_of(extract, MARK, low, high)
    assert "".join(shorter[part.low : part.high] for part in parts) == shorter[low:high]
    assert all(text[part.start : part.end] == shorter[part.low : part.high] for part in parts if part.start is not None)


@given(QUESTIONS, st.lists(TEXTS, min_size=2, max_size=4), st.integers(20, 80))
@settings(max_examples=examples(60))
def test_equal_texts_are_compressed_equally_whatever_their_order(question: str, texts: list[str], most: int) -> None:
    found = dict(zip(texts, compressed(question, *texts, most=most), strict=True))
    assert dict(zip(reversed(texts), compressed(question, *reversed(texts), most=most), strict=True)) == found
    first, *_, last = compressed(question, *texts, texts[0], most=most)
    assert first == last


@given(TEXTS)
@settings(max_examples=examples(150))
def test_units_are_disjoint_and_hold_every_visible_character(text: str) -> None:
    units = units_of(text)
    flat = [place for unit in units for place in unit]
    assert flat == sorted(flat)
    assert "".join("".join(text[start:end].split()) for start, end in units) == "".join(text.split())


@given(QUESTIONS, TEXTS, st.integers(60, 120))
@settings(max_examples=examples(100))
def test_a_sentence_that_fits_is_kept_whole_or_not_at_all(question: str, text: str, most: int) -> None:
    extract = compressed(question, text, most=most)[0]
    for start, end in units_of(text):
        if COUNTER.count(text[start:end]) <= most and is_visible(text[start:end]):
            inside = sum(max(0, min(end, high) - max(start, low)) for low, high in extract.spans)
            assert inside in (0, end - start)


class Dear(ExactCounter):
    """A counter for which a text costs more than its parts together."""

    def __init__(self) -> None:
        super().__init__(load_encoding("cl100k_base"))

    def count(self, text: str) -> int:
        return super().count(text) ** 2 // 10


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(10, 200))
@settings(max_examples=examples(60))
def test_the_whole_is_counted_whatever_its_parts_come_to(sizes: list[int], most: int) -> None:
    text = "".join("woord " * size + "\n\n" for size in sizes)
    counter = Dear()
    kept = fill(text, units_of(text), [float(size % 4) for size in sizes], most, "\n", counter)
    assert counter.count("\n".join(text[start:end] for start, end in kept)) <= most


def test_earlier_units_stand_above_later_ones_that_are_as_near() -> None:
    ratings = rate([(0, 10), (2000, 2010), (9000, 9010)], [Row({}, False)] * 3, [1.0])
    assert ratings == sorted(ratings, reverse=True)
    assert len(set(ratings)) == 3


def test_the_weight_of_a_word_falls_to_its_eth_part_in_so_many_characters() -> None:
    """1,200 from end to end after it, 600 from start to start before it; what both say counts once."""
    rows = [Row({}, False), Row({0: 1.0}, False), Row({}, False)]
    assert nearness([(0, 100), (600, 700), (1890, 1900)], rows, [2.0]) == pytest.approx([2 / math.e, 2, 2 / math.e])


def test_a_word_weighs_by_how_many_units_hold_it_and_nothing_where_none_does() -> None:
    rows = [[Row({0: 1.0}, False)], [Row({0: 0.5, 1: 1.0}, False), Row({}, False)]]
    assert weights_of(3, rows) == [inverse_frequency(3, 2), inverse_frequency(3, 1), 0.0]


def test_what_the_head_of_a_chunk_and_a_fact_are_worth() -> None:
    assert rate([(1500, 1600)], [Row({0: 1.0}, True)], [2.0]) == [pytest.approx(2 * 1.05 + 1 / math.e, abs=1e-9)]
    assert rate([(0, 10)], [Row({}, True)], [2.0]) == [1.0]


def test_the_words_of_a_question_are_also_the_parts_of_a_name() -> None:
    asked = reader_of("rugPijnTest covid19 MRIPlan x 5 停车费 停").asked
    assert asked == ("rugpijntes", "rug", "pijn", "test", "covid19", "mriplan", "mri", "plan", "5", "停车", "车费", "停")
    assert set(reader_of("pijn").row("rugPijnTest", (0, 11)).met) == {0}


@pytest.mark.parametrize(("least", "kept"), [(0.25, True), (0.26, False)])
def test_a_unit_is_kept_that_is_near_to_just_the_share_that_is_asked_for(least: float, kept: bool) -> None:
    words = ["hematologie", "oncologie", "radiologie", "cardiologie"]
    found = shorten(" ".join(words), words, [[(0, len(word))] for word in words], 20, "+", COUNTER, least)
    assert [bool(spans) for spans in found] == [kept] * 4


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["bed arts pil", "mond hart huid", "oog voet knie", "nier tand borst", "dag nek"], [True] * 4 + [False]),  # 3 of 14 words
        (["bed arts", "pil mond", "hart huid", "oog voet", "knie nier", "tand"], [False] * 6),  # 2 of 11
    ],
)
def test_what_filters_keeps_what_is_near_to_a_fifth_of_the_question(texts: list[str], kept: list[bool]) -> None:
    chunks = [FetchedChunk("d", index, text) for index, text in enumerate(texts)]
    found = ExtractiveCompressor(MARK, True).compress(" ".join(texts), chunks, 60, COUNTER)
    assert [extract is not None for extract in found] == kept


CODE = ["int a = 1;", "int b = 2;"]
PROSE = ["Deze zin loopt over\ndrie regels die alle\nbij elkaar horen.", "Kort\nis deze.", "En nog een zin die\nook verder loopt."]
FENCED = ["```", "zomaar wat", "woorden hier", "en nog meer", "en daarna ook", "```"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n".join(CODE) + "\n\n" + " ".join(PROSE), [*CODE, *PROSE]),
        (" ".join(PROSE) + "\n\n" + "\n".join(FENCED) + "\n\n" + " ".join(PROSE), [*PROSE, *FENCED, *PROSE]),
    ],
)
def test_each_paragraph_is_taken_by_sentences_or_by_lines(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in units_of(text)] == expected


# What it keeps ------------------------------------------------------------------------------------------------------------


def test_the_sentences_around_a_match_come_with_it() -> None:
    near = ["Voor de ingang staan palen. ", PARKING, "Dat geldt niet op zondag. "]
    text = FILLER * 8 + "".join(near) + FILLER * 8
    kept = left_of("Wat kost parkeren?", text)
    assert "".join(near).strip() in kept
    assert not kept.startswith(FILLER)
    assert COUNTER.count(kept) <= 60


def test_rare_words_weigh_more_than_common_ones() -> None:
    common = "De afdeling is open en de afdeling is groot. "
    text = common * 12 + "De afdeling hematologie ligt op verdieping 4. " + common * 12
    assert "hematologie ligt op verdieping 4." in left_of("Waar ligt de afdeling hematologie?", text)


def test_inflections_and_compounds_are_found() -> None:
    text = FILLER * 10 + "De bezoekuren zijn van 14 tot 20 uur. " + FILLER * 10
    assert "van 14 tot 20 uur" in left_of("Wanneer mag ik op bezoek?", text)
    assert "van 14 tot 20 uur" in left_of("Wat is het bezoekuur?", text)


def test_a_chunk_without_a_word_of_the_question_keeps_its_head() -> None:
    text = "".join(f"Zin nummer {number} gaat over iets anders. " for number in range(40))
    kept = left_of("Hoeveel olifanten wonen in Artis?", text)
    assert text.startswith(kept)
    assert COUNTER.count(kept) > 40


@pytest.mark.parametrize(
    "fact", ["Dat duurt 45 minuten. ", "Dat mag nooit alleen. ", "Niemand hoeft daar te zijn. ", "That isn't covered at all. "]
)
def test_of_equally_near_sentences_the_one_with_a_fact_stays(fact: str) -> None:
    other = "Daar is altijd iemand. "
    for text in (other + PARKING + fact, fact + PARKING + other):
        most = COUNTER.count(PARKING + fact) + 4
        assert fact.strip() in left_of("Hoe betaal ik parkeren?", FILLER * 9 + text + FILLER * 9, max(20, most))


def test_the_lines_of_code_are_kept_whole_with_their_indentation() -> None:
    lines = [f"    let value_{number} = compute({number});" for number in range(60)]
    lines[40:42] = ["fn run_target(input: &Input) -> ExitKind {", "        self.executor.run_target(input)"]
    text = "\n".join(lines)
    spans = compressed("What does run_target do?", text, most=80)[0].spans
    kept = [line for start, end in spans for line in text[start:end].split("\n")]
    assert lines[40] in kept
    assert lines[41] in kept
    assert set(kept) <= set(lines)


def test_the_rows_of_a_table_are_kept_whole() -> None:
    rows = ["| dienst | route |", "| --- | --- |", *(f"| dienst {number} | route {number * 10} |" for number in range(50))]
    rows[30] = "| hematologie | route 999 |"
    text = "\n".join(rows)
    spans = compressed("Welke route naar hematologie?", text)[0].spans
    kept = [row for start, end in spans for row in text[start:end].split("\n")]
    assert rows[30] in kept
    assert set(kept) <= set(rows)


def test_a_sentence_that_is_too_long_is_cut_between_words_around_the_best_ones() -> None:
    text = " en ".join(f"kamer{number} is {number} meter" for number in range(300)) + "."
    text = text.replace("kamer150 is 150 meter", "kamer150 heeft hematologie op 150 meter")
    kept = left_of("Waar is hematologie?", text)
    assert "hematologie op 150 meter" in kept
    assert set(kept.replace(MARK, " ").split()) <= set(text.split())


def test_a_text_without_spaces_is_found_by_pairs_of_characters_and_cut_anywhere() -> None:
    text = "医院位于市中心的公园旁边" * 30 + "停车费每小时两欧元" + "医院位于市中心的公园旁边" * 30
    assert "停车费每小时两欧元" in left_of("停车费多少？", text)
    assert len(left_of("x", "x" * 5000, 20)) > 20


def test_a_single_character_of_many_tokens_is_kept_where_it_fits() -> None:
    assert left_of("x", "𒀀" * 400, 20).startswith("𒀀")


def test_a_question_of_small_words_only_keeps_the_head() -> None:
    assert left_of("Wat is het?", PARKING + FILLER * 40).startswith(PARKING)


def test_an_empty_gap_mark_leaves_a_line_break() -> None:
    text = PARKING + FILLER * 40 + "Parkeren is gratis op zondag. " + FILLER * 40
    extract = compressed("Wat kost parkeren op zondag?", text, most=50, mark="")[0]
    assert len(extract.spans) >= 2
    assert MARK not in compressed_text(text, extract, "")


def test_what_a_question_has_learned_is_kept_until_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    first = left_of("Wat kost parkeren?", PARKING + FILLER * 20)
    known = reader_of("Wat kost parkeren?")
    assert reader_of("Wat kost parkeren?") is known
    monkeypatch.setattr(extract_sentences, "MAX_KNOWN", 3)
    assert reader_of("Wat kost parkeren?") is not known
    assert left_of("Wat kost parkeren?", PARKING + FILLER * 20) == first


# Time ---------------------------------------------------------------------------------------------------------------------

HOSTILE = {
    "dots": "." * 40_000,
    "dotted": "a. " * 20_000,
    "no end": "woord " * 10_000,
    "no space": "x" * 40_000,
    "lines": "x\n" * 20_000,
    "blank lines": "x\n\n" * 15_000,
    "indented": "  x;\n" * 10_000,
    "bars": "|" * 40_000,
    "quotes": '"' * 40_000,
    "fences": "```\n" * 10_000,
    "blanks": ("x" + " " * 300) * 150,
    "matches": "parkeren " * 5_000,
    "numbers": "1.2.3.4.5. " * 4_000,
    "marks": "é́" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    def work(text: str) -> object:
        units_of.cache_clear()
        (extract,) = compressed("Wat kost parkeren?", text, most=10)
        # What fits is returned as it is, which is another path than the one to measure.
        assert extract is not None
        return extract

    assert is_linear(work, HOSTILE[name])


@pytest.mark.parametrize(("asked", "word", "met"), [("lift", "liftkoker", True), ("bad", "badkamer", False)])
def test_from_four_letters_on_a_word_is_found_in_a_compound(asked: str, word: str, met: bool) -> None:
    assert bool(Reader(asked).row(word, (0, len(word))).met) == met
