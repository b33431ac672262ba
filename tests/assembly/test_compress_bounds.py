"""The bounds of compressing: what just fits, what just does not, and what lies at the very edge of a unit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ctxasm.assembly.compress import oversized, replace_chunks
from ctxasm.assembly.extract_sentences import LOOKED_BEYOND, ExtractiveCompressor, fill, fitting_units
from ctxasm.assembly.model_compressor import ModelCompressor, compress_messages, repeated_spans
from ctxasm.assembly.passages import Piece
from ctxasm.assembly.render import traced
from ctxasm.assembly.stages import Extract, KeptSpan, compressed_text
from ctxasm.llm.client import Pieces, Produce
from ctxasm.model.errors import InvalidInput
from ctxasm.model.kept import Kept
from ctxasm.model.messages import Cancel, Message
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.results import Candidate
from ctxasm.model.settings import AssemblySettings
from tests.strategies import COUNTER

MARK = "[…]"
GAP = f"\n{MARK}\n"


class Replies:
    """A model that always says the same; counts its calls."""

    def __init__(self, reply: str) -> None:
        self.reply, self.calls, self.most = reply, 0, 0

    def __call__(self, messages: Sequence[Message], *, max_tokens: int, cancel: Cancel | None) -> Pieces:
        self.calls, self.most = self.calls + 1, max_tokens
        return Pieces(self._produce())

    def _produce(self) -> Produce:
        yield self.reply
        return "stop"


def by_model(model: Replies, text: str, most: int, kept: Kept[str] | None = None) -> Extract | None:
    compressor = ModelCompressor(model, "mini", MARK, kept=kept)
    return compressor.compress("Wat kost parkeren?", [FetchedChunk("d", 0, text)], most, COUNTER)[0]


@pytest.mark.parametrize("at_once", [1, 32])
def test_calls_at_once_within_the_bounds_are_taken(at_once: int) -> None:
    ModelCompressor(Replies("x"), "mini", MARK, at_once=at_once)


@pytest.mark.parametrize("at_once", [0, 33])
def test_calls_at_once_beyond_them_are_refused(at_once: int) -> None:
    with pytest.raises(InvalidInput, match="between 1 and 32"):
        ModelCompressor(Replies("x"), "mini", MARK, at_once=at_once)


def test_what_is_kept_needs_no_call() -> None:
    kept, model = Kept[str](10), Replies("Parkeren kost 2 euro.")
    text = "Welkom. Parkeren kost 2 euro."
    assert by_model(model, text, 20, kept) == by_model(model, text, 20, kept)
    assert model.calls == 1


def test_a_reply_may_have_sixty_four_tokens_more_than_the_limit() -> None:
    model = Replies("Parkeren kost 2 euro.")
    by_model(model, "Welkom. Parkeren kost 2 euro.", 20)
    assert model.most == 84


def test_the_last_piece_of_a_sentence_that_is_too_long_counts_as_copied() -> None:
    long = "Het parkeren " + "langs de weg " * 30 + "kost 2 euro"
    extract = by_model(Replies(long), long, 24)
    assert extract is not None
    assert extract.spans[-1].end == len(long)


def test_the_words_that_a_model_may_use_follow_from_the_limit() -> None:
    assert "At most 60 words" in compress_messages("q", "t", 100)[0].content
    assert "At most 5 words" in compress_messages("q", "t", 1)[0].content


def test_sentences_with_white_space_between_them_are_one_span() -> None:
    text = "Een. Twee.\n\nDrie."
    extract = by_model(Replies("Een.\nTwee.\nDrie."), text, 20)
    assert extract is not None
    assert extract.spans == (KeptSpan(0, len(text)),)


def test_only_sentences_that_were_touched_are_kept() -> None:
    text = "Een auto. Twee fietsen. Drie bussen. Vier treinen."
    extract = by_model(Replies("Twee fietsen."), text, 40)
    assert extract is not None
    assert compressed_text(text, extract, MARK).replace(MARK, "").strip() == "Twee fietsen."


# What a reply repeats


def test_two_sentences_in_another_order_are_put_back() -> None:
    text = "De balie is open. Het park is dicht."
    assert repeated_spans(text, "Het park is dicht. De balie is open.") == (KeptSpan(0, 17), KeptSpan(18, 36))


@pytest.mark.parametrize(("last", "end"), [("Drie bussen.", 36), ("Drie bussen. Vier treinen.", 50)])
def test_what_is_repeated_twice_stands_there_once(last: str, end: int) -> None:
    text = "Een auto. Twee fietsen. Drie bussen. Vier treinen."
    assert repeated_spans(text, f"Een auto.\nDrie bussen.\n{last}") == (KeptSpan(0, 9), KeptSpan(24, end))


def test_a_sentence_beside_one_that_is_not_there_repeats_nothing() -> None:
    assert repeated_spans("De balie is open. Het park is dicht.", "De balie is open. Het park is open.") is None


def test_a_part_of_a_word_is_no_repetition_at_either_end() -> None:
    assert repeated_spans("parkeerterrein", "parkeer") is None
    assert repeated_spans("parkeerterrein", "terrein") is None
    assert repeated_spans("parkeer-terrein", "parkeer") == (KeptSpan(0, 7),)
    assert repeated_spans("de (balie) is", "(balie)") == (KeptSpan(3, 10),)


def test_only_a_first_line_may_announce() -> None:
    text = "De balie is open. Het park is dicht."
    assert repeated_spans(text, "Hier is het:\nDe balie is open.") == (KeptSpan(0, 17),)
    assert repeated_spans(text, "De balie is open.\nEn verder:\nHet park is dicht.") is None


# What fills the room


def filled(text: str, ratings: Sequence[float], most: int) -> list[str]:
    units = fitting_units(text, most, COUNTER)
    return [text[span.start : span.end] for span in fill(text, units, ratings, most, GAP, COUNTER)]


def test_a_gap_is_paid_for_between_what_stands_apart_and_not_between_neighbours() -> None:
    text = "Een auto. Twee fietsen. Drie bussen."
    apart = COUNTER.count("Een auto. ") + COUNTER.count("Drie bussen.") + COUNTER.count(GAP)
    assert filled(text, [1, 0.1, 1], apart) == ["Een auto.", "Drie bussen."]
    assert filled(text, [1, 0.1, 1], apart - 1) != ["Een auto.", "Drie bussen."]


def test_what_closes_a_gap_gives_its_mark_back() -> None:
    text = "Een auto. Twee fietsen. Drie bussen."
    assert COUNTER.count(text) < sum(map(COUNTER.count, ("Een auto. ", "Twee fietsen. ", "Drie bussen."))) + COUNTER.count(GAP)
    assert filled(text, [1, 0.1, 1], sum(map(COUNTER.count, ("Een auto. ", "Twee fietsen. ", "Drie bussen."))) + COUNTER.count(GAP)) == [
        text
    ]


def test_what_comes_to_the_limit_exactly_is_whole() -> None:
    text = "Een auto. Twee fietsen. Drie bussen."
    assert filled(text, [1, 1, 1], sum(map(COUNTER.count, ("Een auto. ", "Twee fietsen. ", "Drie bussen.")))) == [text]


def test_a_unit_that_says_nothing_of_the_question_is_never_kept() -> None:
    assert filled("Een auto. Twee fietsen.", [1, -0.1], 100) == ["Een auto."]


def test_white_space_after_a_unit_counts_up_to_a_bound() -> None:
    text = "Een auto." + " " * (3 * LOOKED_BEYOND) + "Twee fietsen."
    units = [(0, 9), (9 + 3 * LOOKED_BEYOND, len(text))]
    most = COUNTER.count("Een auto." + " " * LOOKED_BEYOND)
    assert fill(text, units, [1, 0.5], most, GAP, COUNTER)[0].start == 0


def test_where_not_one_character_fits_nothing_is_kept() -> None:
    assert fill("\U0001f9d1‍\U0001f680", [(0, 3)], [1.0], 1, GAP, COUNTER) == ()
    assert fill("woord", [(0, 5)], [1.0], 1, GAP, COUNTER)


# What stands in place of a chunk


def candidate(index: int, text: str, retrieved: bool = True) -> Candidate:
    chunk = FetchedChunk("d", index, text, token_count=COUNTER.count(text))
    return Candidate(chunk, retrieved, 1.0, index + 1)


def test_an_extract_as_large_as_its_chunk_changes_nothing() -> None:
    chunk = candidate(0, "Een auto.")
    whole = Extract("extractive", (KeptSpan(0, 9),))
    assert replace_chunks({chunk.key: chunk}, {chunk.key: whole}, MARK, COUNTER).candidates == {chunk.key: chunk}


@pytest.mark.parametrize(("chars", "is_over"), [(500, False), (501, True)])
def test_one_character_too_many_is_too_many(chars: int, is_over: bool) -> None:
    chunk = candidate(0, ("Een auto. " * 60)[: chars - 1] + ".")
    settings = AssemblySettings(max_chars=500, max_chunk_tokens=20)
    assert oversized({chunk.key: chunk}, 8000, settings) == ((chunk.key,) if is_over else ())


def test_an_overlap_lives_on_where_both_still_show_it_whole() -> None:
    shared = "Neem de tram tot aan het eindpunt van de lijn."
    first = candidate(0, "Een heel lang begin zonder nut. " * 9 + shared)
    second = candidate(1, shared + " En dan nog een heel lang einde zonder nut." * 9)
    given = {first.key: first, second.key: second}
    start = len(first.chunk.text) - len(shared)

    def seam(low: int, high: int) -> tuple[int | None, str | None]:
        extracts = {
            first.key: Extract("extractive", (KeptSpan(low, len(first.chunk.text)),)),
            second.key: Extract("extractive", (KeptSpan(0, high),)),
        }
        chunk = replace_chunks(given, extracts, MARK, COUNTER).candidates[second.key].chunk
        return chunk.overlap_chars, chunk.overlap_kind

    assert seam(start, len(shared)) == (len(shared), "text")
    assert seam(start + 1, len(shared)) == (0, "none")


def test_an_overlap_whose_last_blank_was_left_out_is_none() -> None:
    shared = "Neem de tram tot aan het eindpunt van de lijn. "
    first, second = candidate(0, "Een heel lang begin zonder nut. " * 9 + shared), candidate(1, shared + "Loop dan verder. " * 9)
    end = len(first.chunk.text)
    for last, seam in ((end, (len(shared), "text")), (end - 1, (0, "none"))):
        extracts = {first.key: Extract("model", (KeptSpan(end - len(shared) - 31, last),))}
        chunk = replace_chunks({first.key: first, second.key: second}, extracts, MARK, COUNTER).candidates[second.key].chunk
        assert (chunk.overlap_chars, chunk.overlap_kind) == seam


def test_words_of_three_letters_say_little_and_of_four_much() -> None:
    text = "De bus is er. De boot is er. Dat is al."
    (boat,) = ExtractiveCompressor(MARK).compress("boot", [FetchedChunk("d", 0, text)], 6, COUNTER)
    assert boat is not None
    assert "boot" in compressed_text(text, boat, MARK)


def test_what_is_left_of_a_shortened_chunk_is_shared_and_its_gaps_are_not() -> None:
    extract, shared = Extract("extractive", (KeptSpan(0, 4), KeptSpan(9, 12))), (("a", 1),)
    shown = compressed_text("Ja.  Nee. Ho.", extract, MARK)
    pieces = traced("a", [Piece("chunk", shown, None, None, 0, 0, len(shown), shared)], {("a", 0): extract}, MARK)
    assert [(piece.kind, piece.low, piece.high, piece.shared_with) for piece in pieces] == [
        ("chunk", 0, 4, shared),
        ("gap", None, None, ()),
        ("chunk", 9, 12, shared),
    ]
