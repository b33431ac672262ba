"""Where two texts differ, case and white space aside: by sentences, or by sentences first and then by the words of those. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, NamedTuple

from ctxasm.app.ui.words import number

AROUND = 12
"""Equal words that stay on either side of a difference."""
MOST_WORDS = 600
"""Words of either side of a difference that are compared one by one: comparing grows with the square."""
_WORDS = re.compile(r"\S+\s*|\s+")
_AFTER_SENTENCES = re.compile(r"(?<=[.!?]\s)|(?<=\n)")


class Stretch(NamedTuple):
    """What two texts have in a row: the same words (`a` and `b`, as each writes them), other ones (either may be empty), or a long
    equal run that is left out, of which `a` and `b` say how long it is.
    """

    kind: Literal["same", "changed", "skipped"]
    a: str
    b: str


def word_diff(a: str, b: str) -> tuple[Stretch, ...]:
    """Both texts from their beginnings to their ends."""
    return tuple(_merged(_by_sentences(a, b, _by_words)))


def sentence_diff(a: str, b: str) -> tuple[Stretch, ...]:
    """The same, with whole sentences as what differs."""
    return tuple(_merged(_by_sentences(a, b, lambda one, other: iter((Stretch("changed", one, other),)))))


def shortened(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """The same with only `AROUND` equal words beside each difference; of texts that do not differ, the beginning."""
    last = len(stretches) - 1
    return tuple(
        short
        for at, stretch in enumerate(stretches)
        for short in (_shortened(stretch, at > 0, at < last) if stretch.kind == "same" else (stretch,))
    )


def _by_sentences(text_a: str, text_b: str, replaced: Callable[[str, str], Iterator[Stretch]]) -> Iterator[Stretch]:
    a, b = _AFTER_SENTENCES.split(text_a), _AFTER_SENTENCES.split(text_b)
    for tag, low, high, other_low, other_high in SequenceMatcher(None, _keys(a), _keys(b)).get_opcodes():
        one, other = "".join(a[low:high]), "".join(b[other_low:other_high])
        if tag == "replace":
            yield from replaced(one, other)
        else:
            yield Stretch("same" if tag == "equal" else "changed", one, other)


def _by_words(text_a: str, text_b: str) -> Iterator[Stretch]:
    a, b = _WORDS.findall(text_a), _WORDS.findall(text_b)
    if max(len(a), len(b)) > MOST_WORDS:
        yield Stretch("changed", "".join(a), "".join(b))
        return
    for tag, low, high, other_low, other_high in SequenceMatcher(None, _keys(a), _keys(b), autojunk=False).get_opcodes():
        yield Stretch("same" if tag == "equal" else "changed", "".join(a[low:high]), "".join(b[other_low:other_high]))


def _keys(words: list[str]) -> list[str]:
    return [word.strip().casefold() for word in words]


def _merged(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    for kind, group in groupby((each for each in stretches if each.a or each.b), key=lambda each: each.kind):
        texts = [(each.a, each.b) for each in group]
        yield Stretch(kind, "".join(a for a, _ in texts), "".join(b for _, b in texts))


def _shortened(same: Stretch, after: bool, before: bool) -> tuple[Stretch, ...]:
    """An equal run: what stands near a difference after or before it, the rest skipped."""
    a, b = _WORDS.findall(same.a), _WORDS.findall(same.b)
    head, tail = (AROUND * after, AROUND * before) if after or before else (4 * AROUND, 0)
    if len(a) != len(b) or len(a) <= head + tail + AROUND:
        return (same,)
    said = f"{number(len(a) - head - tail)} equal words"
    parts = (
        Stretch("same", "".join(a[:head]), "".join(b[:head])),
        Stretch("skipped", said, said),
        Stretch("same", "".join(a[len(a) - tail :]), "".join(b[len(b) - tail :])),
    )
    return tuple(part for part in parts if part.a)
