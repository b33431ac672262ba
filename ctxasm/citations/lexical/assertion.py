"""Whether sentences say what they hold: questions, myths and headings do not; what stands there word for word is said."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.lexicon import Table, reading_words
from ctxasm.citations.lexical.windows import Window
from ctxasm.citations.lexical.words import LETTERS, read_words
from ctxasm.model.support import Gated
from ctxasm.text.terms import folded

MOST_LETTERS = 120
LONGEST_HEADING = 8
"""Words of a line without a stop at its end that is a heading, not a text."""
_LINE = re.compile(r"[^\n]+")
_LABEL = re.compile(r"[-*•#>\s]*+([^\W\d_]++(?:\s++[^\W\d_]++)?+)\**+(?:\s*+\d++)?+\s*+:")
_HEADING = re.compile(r"(?![-*•|>]\s)(?P<marks>#*+)\s*+(?P<number>(?:\d{1,3}|[a-z])[.)]\s++)?+(?P<text>[^|]++)(?<![.!?;,])")
_UNMARKED, _NUMBERED = 7, 8
"""The rank of a heading without "#", and of one that begins with a number: an item of a list, but for what it says of itself."""


def find_unasserted(matter: Matter) -> Iterator[Gated]:
    """A word of weight or a figure of the claim that only sentences hold which do not say it; of a question, where the other sentences
    add nothing to what it holds but its topic."""
    unsaid = {at: why for at in matter.numbers if (why := matter.evidence.once(reason, at))}
    if not unsaid:
        return
    topics = topics_of(matter)
    counted = matter.parts.heavy | matter.parts.all_quantities or matter.parts.everything
    said = 0
    for at in matter.numbers:
        said |= matter.held(at) if at not in unsaid else 0
    for at, why in unsaid.items():
        alone = matter.held(at) & counted & ~said
        if alone and not (why.endswith("?") and said & counted & ~topics & ~matter.held(at)):
            yield Gated("hedge", "", why)
            return


def reason(evidence: Evidence, at: int) -> str:
    """Why a sentence does not say what it holds: the question, the label before it or the heading above it; empty where it does."""
    text, (low, high) = evidence.text(at), evidence.span(at)
    known = reading_words(evidence.stems.tongue)
    if text[low:high].rstrip(' "”»').endswith("?"):
        words = [folded(match.group()) for match in LETTERS.finditer(text, low, high)]
        answer = LETTERS.search(text, high)
        is_open = not words or any(word in known["asking"] for word in words[:2])
        is_yes = answer is not None and folded(answer.group()) in known["agreeing"]
        return "" if is_open or is_yes else text[low:high].strip()
    label = _LABEL.match(text, low, high)
    if label is not None and (is_doubted := _reads(label[1], known)) is not None:
        return label[1] if is_doubted else ""
    headings = evidence.once(_headings, evidence.of_source[evidence.sentences[at].source].start)
    above = bisect_right(headings, (max(low, text.rfind("\n", low, high)), "\uffff")) - 1
    return headings[above][1] if above >= 0 else ""


def read_heading(line: str) -> re.Match[str] | None:
    """A line as a heading: few words without a stop, under `text`; None for another line."""
    heading = _HEADING.fullmatch(line.strip()) if len(line) <= MOST_LETTERS else None
    return heading if heading is not None and len(heading["text"].split()) <= LONGEST_HEADING else None


def topics_of(matter: Matter) -> int:
    """The words of the claim that the title of a source holds, or the heading at its head: all of its sentences may be about them."""
    evidence, topics = matter.evidence, 0
    for source in {window.source for window in matter.windows}:
        for key in evidence.titles[source] | evidence.once(_heading, evidence.of_source[source].start):
            topics |= matter.parts.forms.get(key, 0)
    return topics & ~matter.parts.all_quantities


def _heading(evidence: Evidence, first: int) -> frozenset[str]:
    """The words of the line that the source of a sentence begins with, if that is a heading."""
    text = evidence.text(first).strip()
    line, _, rest = text.partition("\n")
    is_one = bool(rest) and read_heading(line) is not None
    return frozenset(word.key for word in read_words(line, 0, len(line), evidence.stems)) if is_one else frozenset()


def _headings(evidence: Evidence, first: int) -> list[tuple[int, str]]:
    """Where each heading of the source of a sentence ends, with the words of it, or of one above it, that say that what follows is not
    so: a heading ends what stands under those of its rank or a lower one."""
    known, found = reading_words(evidence.stems.tongue), list[tuple[int, str]]()
    above: list[tuple[int, str]] = []
    for line in _LINE.finditer(evidence.text(first)):
        if (heading := read_heading(line.group())) is None:
            continue
        rank = len(heading["marks"]) or (_NUMBERED if heading["number"] else _UNMARKED)
        while above and above[-1][0] >= rank:
            above.pop()
        is_doubted = _reads(heading["text"], known)
        inherited = above[-1][1] if above else ""
        above.append((rank, inherited if is_doubted is None else heading["text"] if is_doubted else ""))
        found.append((line.end(), above[-1][1]))
    return found


def _reads(words: str, known: dict[str, Table]) -> bool | None:
    """Whether a label or heading says that what follows is not so (True) or is so (False); None where it says neither."""
    plain = [folded(word) for word in LETTERS.findall(words)]
    if any(word in known["affirming"] for word in plain):
        return False
    alone = bool(plain) and all(word in known["doubting_alone"] for word in plain)
    return True if alone or any(word in known["doubting"] for word in plain) else None


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
