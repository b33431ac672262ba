"""Comparisons with their two sides: "A is older than B", "as old as B", "B instead of A". A claim may say a comparison of its source
the other way round ("B is younger than A"), but not with one of the two turned only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.lexicon import signs
from ctxasm.citations.lexical.operators import LEAST_COMPARED, Operator
from ctxasm.citations.lexical.words import Stems, read_words
from ctxasm.model.support import Gated
from ctxasm.text.number_words import begins_figure
from ctxasm.text.terms import folded

_WORD = re.compile(r"[^\W_]+")
_PARTING = r"[;:()\n]|\.\s|\.$|\s[-–—]\s|\b(?:and|en|und|but|maar|aber|while|terwijl|whereas)\b"
_STOP = re.compile(_PARTING, re.IGNORECASE)
_RIGHT_STOP = re.compile(rf",|{_PARTING}", re.IGNORECASE)
_BACK = 4
"""Words before "than" among which the comparative stands."""
_LONGEST_SIDE = 400
"""How far around a comparison its sides are looked for, in characters."""
_MOST = 50
"""Comparisons of a claim that are held against those of its source: it need not be a sentence, and each is held against each."""
_SCALED = frozenset(re.findall(r"\w+", "twice half thrice times double keer maal half dubbel mal doppelt halb dreifach"))
"""What makes "as … as" unequal."""
_ARTICLES = frozenset(("a", "an", "een", "ein", "eine", "einen", "einem", "einer"))
Relation = Literal["same", "turned", "converse", "unequal", "other"]


class Compared(NamedTuple):
    """A comparison at characters `start` to `end`: the bits of the claim that its two sides hold, each without what both hold.

    `by` is what is compared by (a concept, or the key of an adjective), `sign` the direction, `words` those before "than" or within
    "as … as". Of the latter `scaled` says that it is "twice as … as". Of "instead of" the right side is what is not so.
    """

    kind: Literal["than", "equal", "instead"]
    by: str
    sign: int
    words: frozenset[str]
    scaled: bool
    left: int
    right: int
    start: int
    end: int


def find_compared(matter: Matter) -> Iterator[Gated]:
    """A comparison of the claim that no sentence has, where one has it with its sides or its direction turned; and what the claim says
    although a sentence only says it is not so."""
    theirs = _theirs(matter)
    ours = _ours(matter)
    for one in ours:
        found = [(relation_of(one, other), at, other) for at, other in theirs]
        if any(relation in ("same", "converse") for relation, _, _ in found):
            continue
        wrong = next(((at, other) for relation, at, other in found if relation in ("turned", "unequal")), None)
        if wrong is not None:
            at, other = wrong
            yield Gated("comparison", matter.parts.text[one.start : one.end], matter.text(at)[other.start : other.end])
            return
    if not any(one.kind == "instead" for one in ours) and not any(said.denied for said in matter.said):
        yield from _rejected(matter, theirs)


def is_converse(matter: Matter) -> bool:
    """Whether the claim is a comparison of its source said the other way round: then no word of it is an opposite."""
    theirs = _theirs(matter)
    return any(relation_of(one, other) == "converse" for one in _ours(matter) for _, other in theirs)


def relation_of(one: Compared, other: Compared) -> Relation:
    """How a comparison stands to another one."""
    together = bool(one.right & other.right)
    crossed = not together and bool(one.right & other.left or one.left & other.right)
    if not (together or crossed):
        return "other"
    if one.kind != other.kind:
        alike = any(a.startswith(b) or b.startswith(a) for a in one.words for b in other.words)
        return "unequal" if alike and "instead" not in (one.kind, other.kind) else "other"
    if one.kind == "equal":
        return "same" if together or not (one.scaled or other.scaled) else "turned"
    if one.by != other.by:
        return "other"
    return ("same" if together else "converse") if together is (one.sign == other.sign) else "turned"


def _ours(matter: Matter) -> list[Compared]:
    text = matter.parts.text
    return list(islice(_read(matter, text, (0, len(text)), matter.operators), _MOST))


def _theirs(matter: Matter) -> list[tuple[int, Compared]]:
    found = ((at, _read(matter, matter.text(at), matter.evidence.span(at), matter.evidence.operators(at))) for at in matter.numbers)
    return [(at, one) for at, each in found for one in each]


def _read(matter: Matter, text: str, span: tuple[int, int], operators: Sequence[Operator]) -> Iterator[Compared]:
    """The comparisons of a text whose right side is no mere figure, which is a limit."""
    for op in operators:
        low, high = max(span[0], op.start - _LONGEST_SIDE), min(span[1], op.end + _LONGEST_SIDE)
        if op.kind != "comparison" or op.value not in ("than", "above", "below", "instead", "equal") or _is_limit(text, op.end, high):
            continue
        stop = _RIGHT_STOP.search(text, op.end, high)
        start = max((stop.end() for stop in _STOP.finditer(text, low, op.start)), default=low)
        end = op.start if op.value in ("than", "instead") else op.end
        words = [folded(match.group()) for match in _WORD.finditer(text, start, end)][-_BACK:]
        told = frozenset(word for word in words if matter.evidence.stems.key(word))
        left = _held(matter, text, start, op.start)
        right = _held(matter, text, op.end, stop.start() if stop else high)
        both = left & right
        left, right = left & ~both, right & ~both
        if op.value == "instead":
            yield Compared("instead", "", 1, told, scaled=False, left=left, right=right, start=op.start, end=op.end)
        elif op.value == "equal":
            scaled = bool(_SCALED.intersection(folded(match.group()) for match in _WORD.finditer(text, start, op.start)))
            yield Compared("equal", "", 1, told, scaled=scaled, left=left, right=right, start=op.start, end=op.end)
        elif (by := _comparative(words, matter.evidence.stems)) is not None:
            yield Compared("than", *by, told, scaled=False, left=left, right=right, start=op.start, end=op.end)


def _is_limit(text: str, at: int, high: int) -> bool:
    """Whether what is compared with is a figure, no year."""
    following = _WORD.search(text, at, high)
    plain = folded(following.group()) if following else ""
    if plain.isdigit():
        return not re.fullmatch(r"[12]\d{3}", plain)
    return not plain or (plain not in _ARTICLES and begins_figure(plain))


def _comparative(words: Sequence[str], stems: Stems) -> tuple[str, int] | None:
    """What is compared by, from the words before "than": "more" or "longer", else the nearest other comparative."""
    known = (signs().signed.get(word, ("", 0)) for word in reversed(words))
    more = next((found for found in known if found[0] == "§more"), None)
    other = next((word for word in reversed(words) if len(word) > LEAST_COMPARED and word.endswith("er")), None)
    return more or ((stems.key(other), 1) if other else None)


def _held(matter: Matter, text: str, low: int, high: int) -> int:
    """The bits of the claim, of weight or figures, between two characters of it or of a source."""
    return matter.held_between(text, low, high) & (matter.parts.heavy | matter.parts.all_quantities)


def _rejected(matter: Matter, theirs: Sequence[tuple[int, Compared]]) -> Iterator[Gated]:
    """A word of the claim that its sentences have only as what is not so: "stone", where they have "brick rather than stone"."""
    for at, other in theirs:
        if other.kind != "instead":
            continue
        text, (low, high) = matter.text(at), matter.evidence.span(at)
        word = next(read_words(text, other.end, high, matter.evidence.stems), None)
        first = matter.parts.forms.get(word.key, 0) & other.right if word else 0
        around = _held(matter, text, low, other.start) | (_held(matter, text, word.end, high) if word else 0)
        beside = matter.evidence.of_source[matter.evidence.sentences[at].source]
        if word and first & ~around and not any(each in beside and each != at for each in matter.evidence.postings[word.key]):
            yield Gated("comparison", matter.parts.text.strip(), text[other.start : word.end])
            return
