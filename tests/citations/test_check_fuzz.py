"""Laws of a check over answers and sources full of odd white space, halves of characters, control characters and markers.

`CTXASM_FUZZ_INPUTS=100000 pytest -m slow tests/citations/test_check_fuzz.py` for a hundred thousand answers, from number
CTXASM_FUZZ_FIRST on.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from test_alignment import SENTENCES, check, check_laws

from ctxasm.app.commands.check_report import claim_lines
from ctxasm.app.ui.ask.answer import Stretch, checked_pieces
from ctxasm.citations.markers import SILENT, MarkerParser
from ctxasm.citations.report import CheckedAnswer
from ctxasm.llm.redaction import SurrogateJoiner, joined
from tests.citations.marker_soup import AROUND, HALVES, WHOLE

FIRST, INPUTS = int(os.environ.get("CTXASM_FUZZ_FIRST", "0")), int(os.environ.get("CTXASM_FUZZ_INPUTS", "2000"))
SEED = 20261122
BLANKS = (
    *(" ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\x0b", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0"),
    *("\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200b", "\u2060", "\ufeff", "\xad"),
    *("\u200e", "\u202e", "\n" + " " * 110, " " * 300, "\n\t" * 60),
)
CONTROL = ("\0", "\x01", "\x07", "\x08", "\x1a", "\x1b[31m", "\x7f", "\x80", "\x9f", "\ufffd", "\ufffe", "\uffff", "\U0010ffff", "\ue000")
SURROGATES = ("\ud83d", "\ude00", "\ude00\ud83d", "\ud800", "\udfff", "😀", "👩‍👩‍👧", "\U00010000")
WORDS = (
    *("12 345", "12\xa0345", "€\u202f12,50", "3 mei\u20282019", "20.00\xa0uur", "7\u2009%", "zeven", "niet", "geen"),
    *("never", "Jansen", "dr\xa0.", "A\u3000.", "e\u0301e\u0301n", "İstanbul", "STRASSE", "straße", "ﬁets", "٣", "½"),
    *("²", "ǅ", "汉字。", "שלום", "x" * 200, "d.w.z.", "www.zol.be/a?b=[1]", "a@b.nl", "“", "”", '"', "'", "(", ")", "**"),
    *("_", "`", "|", ":", ";", "…", "—", "-", "- ", "1. ", "> ", "# ", "| a | b |\n|---|---|\n| c | d |", "?", "!"),
)


def text_of(chance: random.Random, sentences: Sequence[str], marked: bool) -> str:
    """A few of these sentences with odd things between and inside their words."""
    pieces, odds = list[str](), chance.choice((0.02, 0.1, 0.3))
    odd = (BLANKS, CONTROL, SURROGATES, WORDS, *((WHOLE, WHOLE, HALVES, AROUND) if marked else ()))
    for _ in range(chance.choice((0, 1, 2, 4, 8))):
        words = re.split("( )", chance.choice(sentences)) if chance.random() < 0.8 else []
        for word in words:
            pieces.append(chance.choice(BLANKS) if word == " " and chance.random() < odds else word)
            if chance.random() < odds / 4:
                pieces.append(chance.choice(chance.choice(odd)))
        pieces.append(chance.choice(("", "", f" [{chance.randint(1, 3)}]")) if marked else "")
        pieces.append(chance.choice((".", ". ", ".\n", "\xa0. ", "?", "", "\u3000.", ".\ud83d")))
        pieces += [chance.choice(chance.choice(odd)) for _ in range(chance.choice((0, 0, 1, 3)))]
    return "".join(pieces)


SECOND, FIRST_HALF = re.compile("[\udc00-\udfff]"), re.compile("[\ud800-\udbff]")


def lonely(text: str, number: int) -> str:
    """`text` with first halves alone, or second ones: both would be one character in JSON once the marker between them goes."""
    return (SECOND if number % 2 else FIRST_HALF).sub("", text)


def check_places(checked: CheckedAnswer, sources: list[dict[str, Any]]) -> None:
    """Every offset is where it says it is."""
    answer, texts = checked.answer, {source["n"]: source["text"] for source in sources}
    last = 0
    for marker, *_ in checked.markers:
        assert last <= marker.start < marker.end <= len(answer)
        assert answer[marker.start : marker.end] == marker.text
        last = marker.end
    last = 0
    for claim in checked.claims:
        own = answer[claim.claim.start : claim.claim.end]
        assert last <= claim.claim.start < claim.claim.end <= len(answer)
        assert own == own.strip()
        assert is_spread(claim.claim.text, own)
        last = claim.claim.end
        supports = [*claim.support, *filter(None, (claim.better_support, claim.summary_support, claim.conflict))]
        for found in supports:
            assert 0 <= found.start < found.end <= len(texts[found.number])
            assert texts[found.number][found.start : found.end].strip()
        if claim.conflict is not None:
            there = texts[claim.conflict.number][claim.conflict.start : claim.conflict.end]
            assert there.split() == claim.conflict.source.split()
        assert not any(re.search("[\r\n]", line) for line in claim_lines(claim, checked, texts))
    stretches = "".join(piece.text for piece in checked_pieces(checked, {}) if isinstance(piece, Stretch))
    assert stretches == "".join(without(answer, [(m.start, m.end) for m, *_ in checked.markers if m.form not in SILENT]))


def is_spread(text: str, over: str) -> bool:
    """Whether the letters and figures of `text` stand in `over`, in their order."""
    rest = iter(over)
    return all(char in rest for char in text if char.isalnum())


def without(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    at = 0
    for low, high in spans:
        yield text[at:low]
        at = high
    yield text[at:]


def check_stream(answer: str, numbers: frozenset[int], chance: random.Random) -> None:
    """The answer as a server may cut it, through its characters too, is the whole answer with the same markers."""
    halves, streamed, whole = SurrogateJoiner(), MarkerParser(), MarkerParser()
    data = answer.encode("utf-16-le", "surrogatepass")
    cuts = sorted({0, len(data), *(2 * chance.randrange(len(data) // 2 + 1) for _ in range(chance.choice((0, 1, 5, 40))))})
    events: tuple[Any, ...] = ()
    for low, high in pairwise(cuts):
        events += streamed.feed(halves.feed(data[low:high].decode("utf-16-le", "surrogatepass")))
        streamed.text.encode()
        assert streamed.decided <= len(streamed.text)
    events += streamed.feed(halves.rest()) + streamed.finish()
    assert streamed.text == joined(answer)
    assert events == whole.feed(joined(answer)) + whole.finish()
    assert streamed.listed == whole.listed


def check_one(number: int) -> None:
    chance = random.Random(f"{SEED} {number}")
    sentences, titles = chance.sample(SENTENCES, 3), ("", "T", *BLANKS, *SURROGATES)
    answer, voice, marked = text_of(chance, sentences, True), chance.random() < 0.1, chance.random() < 0.9
    texts = [lonely(text_of(chance, sentences, False), number) for _ in range(chance.randint(0, 3))]
    sources = [{"n": n, "text": text, "title": chance.choice(titles)} for n, text in enumerate(texts, 1)]
    try:
        checked = check(lonely(answer, number), sources, voice=voice, marked=marked)
        check_laws(checked)
        check_places(checked, sources)
        check_stream(answer, frozenset(source["n"] for source in sources), chance)
        if number % 10 == 0:
            assert check(lonely(answer, number), sources, voice=voice, marked=marked) == checked
    except BaseException as error:
        error.add_note(f"check_one({number}): {answer!r} {sources!r}")
        raise


def test_odd_answers_and_sources_keep_the_laws() -> None:
    for number in range(150):
        check_one(number)


@pytest.mark.slow
def test_many_odd_answers_and_sources_keep_the_laws() -> None:
    for number in range(FIRST, FIRST + INPUTS):
        check_one(number)
    print(f"{INPUTS:,} answers from number {FIRST:,} on")
