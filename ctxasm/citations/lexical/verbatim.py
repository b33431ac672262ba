"""Claims that stand word for word in a source."""

from __future__ import annotations

import re

from ctxasm.citations.lexical.asserted import reason
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.windows import Window

_STOPS = ".!?;:()| -*•"
_GOES_ON = (" (", " - ")
"""What follows may be an exception: "open (except on Mondays)"."""
_JOIN = re.compile(r"[,;] (?:and|en|und) |; ")
"""What makes one claim of two sentences."""
LEAST_JOINED = 4
"""Words of each of them."""


def is_verbatim(matter: Matter) -> bool:
    """Whether the claim stands word for word in one of its windows, from one stop to another, or is two such joined: then nothing can stand
    against it."""
    claim = _plain(matter.parts.text).strip(_STOPS)
    texts = [(window, _window(matter, window.first, window.last)) for window in matter.windows]

    def is_said(each: str) -> bool:
        return any(_stands(each, text) and _asserts(matter, window) for window, text in texts)

    if is_said(claim):
        return True
    joined = [(claim[: join.start()], claim[join.end() :]) for join in _JOIN.finditer(claim)]
    long = [pair for pair in joined if all(len(each.split()) >= LEAST_JOINED for each in pair)]
    return any(all(map(is_said, pair)) for pair in long)


def _asserts(matter: Matter, window: Window) -> bool:
    return not any(matter.evidence.once(reason, at) for at in range(window.first, window.last + 1))


def _window(matter: Matter, first: int, last: int) -> str:
    start, end = matter.evidence.sentences[first].start, matter.evidence.sentences[last].end
    return _plain(matter.text(first)[start:end])


def _stands(claim: str, text: str) -> bool:
    at = text.find(claim)
    if at < 0:
        return False
    before, after = text[:at], text[at + len(claim) :]
    stops = before.rstrip(" ")[-1:] in _STOPS and after.lstrip(" ")[:1] in _STOPS
    return stops and not _is_in_word(before, after) and not after.startswith(_GOES_ON)


def _is_in_word(before: str, after: str) -> bool:
    """Whether a hyphen joins what stands there to a word: "non-smokers" does not say "smokers"."""
    return before.endswith("-") or after.startswith("-")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
