"""An estimate never lets a context outgrow its limit: it is at least the true count of any kind of text, and usable for prose."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.text.tokens import open_counter
from ctxasm.text.tokens.estimate import EstimateCounter

ESTIMATE = EstimateCounter("r50k_base", "none here")
RANDOM = random.Random(22)


def drawn(letters: str, count: int) -> str:
    return "".join(RANDOM.choices(letters, k=count))


ENGLISH = (
    "Visitors are welcome on the ward every day from two in the afternoon until eight in the evening. Please come to the front "
    "desk first, where somebody will tell you which room to go to, and leave your coat and bag in a locker. Children may visit "
    "when an adult stays with them. If you feel ill yourself, do not come: call the ward, and we will find another day that suits "
    "you and the patient. "
)
DUTCH = (
    "Bezoekers zijn elke dag welkom op de verpleegafdeling, van twee uur 's middags tot acht uur 's avonds. Meld u eerst bij de "
    "balie in de hal; daar hoort u naar welke kamer u kunt gaan. Kinderen mogen mee zolang er een volwassene bij blijft. Voelt u "
    "zich ziek, kom dan niet langs maar bel de verpleegkundige: samen zoeken we een ander moment dat de patiënt en uzelf beter "
    "uitkomt. "
)
CODE = """def share(parts, limit=None):
    total = 0
    for name, size in parts.items():
        if size is None or size < 0:
            raise ValueError(f"{name!r}: {size}")
        total += size
    return {k: v / max(total, 1) for k, v in parts.items()}
"""
TEXTS = {
    "English": ENGLISH,
    "Dutch": DUTCH,
    "code": CODE,
    "table": "| item | count | price |\n|------|------:|------:|\n| bolts | 1,250 | 0.12 |\n| nuts | 980 | 0.09 |\n" * 4,
    "digits": drawn(string.digits, 300),
    "hex": drawn("0123456789abcdef", 300),
    "base64": base64.b64encode(RANDOM.randbytes(300)).decode(),
    "keys": "\n".join(f"sk-{drawn(string.ascii_letters + string.digits, 40)}" for _ in range(8)),
    "letters": drawn(string.ascii_lowercase, 300),
    "capitals": drawn(string.ascii_uppercase, 300),
    "signs": drawn(string.punctuation, 300),
    "blanks": "".join(f"{' ' * (at % 13)}x\n\t" for at in range(60)),
    "Korean": "방문객은 매일 오후 두 시부터 저녁 여덟 시까지 병동을 방문할 수 있습니다. " * 5,
    "Japanese": "面会は毎日午後二時から夜八時までです。受付にお越しください。" * 5,
    "Greek": "Οι επισκέπτες είναι ευπρόσδεκτοι κάθε μέρα στον θάλαμο. " * 5,
    "Arabic": "مرحبا بالزوار كل يوم في القسم من الثانية حتى الثامنة. " * 5,
    "emoji": "🙂🚑👩‍⚕️🏥✅ " * 12,
}
R50K = {
    "English": 87,
    "Dutch": 152,
    "code": 111,
    "table": 160,
    "digits": 126,
    "hex": 175,
    "base64": 304,
    "keys": 264,
    "letters": 186,
    "capitals": 190,
    "signs": 239,
    "blanks": 465,
    "Korean": 426,
    "Japanese": 240,
    "Greek": 321,
    "Arabic": 256,
    "emoji": 206,
}
"""What r50k_base counts, whose vocabulary is not at hand everywhere."""


@pytest.mark.parametrize("name", TEXTS)
def test_the_estimate_is_at_least_the_true_count(name: str) -> None:
    text = TEXTS[name]
    estimate = ESTIMATE.count(text)
    assert estimate >= R50K[name]
    for encoding in ("cl100k_base", "o200k_base"):
        assert estimate >= open_counter(encoding).count(text)


@pytest.mark.parametrize("name", ["English", "Dutch", "code", "table"])
def test_the_estimate_of_what_is_mostly_read_is_below_twice_the_count(name: str) -> None:
    assert ESTIMATE.count(TEXTS[name]) < 2 * R50K[name]


@given(st.lists(st.text(max_size=12), max_size=8))
def test_parts_add_up_to_the_whole(parts: list[str]) -> None:
    tally = ESTIMATE.tally()
    assert sum(map(tally.add, parts)) == tally.total == ESTIMATE.count("".join(parts))


@given(st.text(st.characters(min_codepoint=128), max_size=40))
def test_characters_of_other_scripts_cost_their_bytes(text: str) -> None:
    assert ESTIMATE.count(text) == len(text.encode("utf-8", "surrogatepass"))
