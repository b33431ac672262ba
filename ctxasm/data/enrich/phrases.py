"""The phrases that tell a chunk from the other chunks of its document, without a model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from ctxasm.text.language import STOP_WORDS
from ctxasm.text.terms import stem

_RUN = re.compile(r"[^\W_](?:[\w'’@+-]|[./:](?=\w))*")
_CAMEL = re.compile(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{2,}(?![^\W\d_A-Z])")
MOST_WORDS = 3
"""Words of a phrase."""


def key_phrases(texts: Sequence[str], most: int = 6) -> list[list[str]]:
    """For each text of one document at most `most` phrases, the most telling first; what all texts hold tells nothing.

    A phrase is a run of words with content inside a clause (as RAKE takes them: Rose, Engel, Cramer and Cowley 2010), rated by
    tf-idf over the texts. Takes time linear in the texts.
    """
    found = [_phrases(text) for text in texts]
    stems = [Counter(stem(word.lower()) for phrase in own for word in phrase) for own in found]
    holding = Counter(word for own in stems for word in own)
    worth = {word: math.log(1 + len(texts) / (held + 0.5)) for word, held in holding.items()}
    return [_best(own, counts, worth, most) for own, counts in zip(found, stems, strict=True)]


def _phrases(text: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    run: list[str] = []
    last = 0
    for match in _RUN.finditer(text):
        word = match[0]
        joined = text[last : match.start()] in (" ", "\n")
        last = match.end()
        is_content = word.lower() not in STOP_WORDS and len(word) > 2 and not word.isdigit()
        if run and not (joined and is_content and len(run) < MOST_WORDS):
            found.append(tuple(run))
            run = []
        if is_content:
            run.append(word)
    return [*found, tuple(run)] if run else found


def _best(phrases: Sequence[tuple[str, ...]], counts: Counter[str], worth: dict[str, float], most: int) -> list[str]:
    """The best of one text; a phrase whose words were said does not come again."""
    rated: dict[tuple[str, ...], tuple[float, int]] = {}
    for place, phrase in enumerate(phrases):
        words = [stem(word.lower()) for word in phrase]
        score = sum(math.sqrt(counts[word]) * worth[word] for word in words) / math.sqrt(len(words))
        rated.setdefault(phrase, (score, -place))
    said: set[str] = set()
    chosen: list[str] = []
    for phrase in sorted(rated, key=lambda one: rated[one], reverse=True):
        own = {stem(word.lower()) for word in phrase}
        if not own & said:
            chosen.append(" ".join(phrase))
            said |= own
        if len(chosen) == most:
            break
    return chosen


def spoken(name: str) -> str:
    """The words in the name of a thing in program text: `runTarget` and `run_target` are "run target"; else nothing."""
    parts = [part for piece in name.split("_") for part in _CAMEL.findall(piece)]
    return " ".join(part.lower() for part in parts) if len(parts) > 1 else ""
