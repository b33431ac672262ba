"""Claims that copy a sentence, or a stretch of it, but for a few words. In a copy every edit is meant: two words or figures that were
exchanged, a denial that was put in or taken out, a doubt that was left out.

A claim is laid beside a sentence by its pairs of neighbours. Where two stretches of a claim were exchanged, four pairs are new in it, and
putting them back makes four pairs that the sentence has.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.operators import Operator
from ctxasm.citations.lexical.order import BEING, MOST_MOVED, SKIPPED
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.words import Stems, Tongue
from ctxasm.model.records import make_record
from ctxasm.model.support import Gated, GateKind
from ctxasm.text.terms import folded

LONGEST = 6
"""Words of a stretch that may have been exchanged with another one."""
LEAST_ALIKE = 0.6
"""Share of the pairs of a claim that its sentence must have for it to be a copy."""
LEAST_COPIED = 6
"""Words of a claim that stands in a sentence but for two of them."""
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[;\n]")
_BUT = frozenset(("but", "maar", "aber", "sondern", "while", "terwijl", "wahrend"))
MOST_VERBS = 2
"""Words between subject and object where a Dutch or German sentence begins with the object."""
_TURNING = ("hedge", "quantifier", "modal")
_EDGE = ""

Pair = tuple[str, str]


class Token(NamedTuple):
    """A word or figure at characters, folded; a sign that parts is an edge."""

    start: int
    end: int
    plain: str


def find_edits(matter: Matter) -> Iterator[Gated]:
    """What was edited in a claim that copies one of its sentences; the first edit only."""
    ours = matter.parts.once(_own, matter.evidence)
    for at in matter.numbers:
        theirs, pairs = matter.evidence.once(_copied, at)
        new = [place for place in range(len(ours) + 1) if _pair(ours, place) not in pairs]
        if len(new) > (1 - LEAST_ALIKE) * (len(ours) + 1) + 4:
            continue
        found = (
            _two_places(matter, at, ours, theirs) or _exchanged(matter, at, ours, theirs, pairs, new) or _turned(matter, at, ours, theirs)
        )
        if found is not None:
            yield found
            return


def _own(parts: Parts, _: Evidence) -> list[Token]:
    return _tokens(parts.text, 0, len(parts.text))


def _copied(evidence: Evidence, at: int) -> tuple[list[Token], frozenset[Pair]]:
    """The tokens of a sentence, and its pairs of neighbours."""
    tokens = _tokens(evidence.text(at), *evidence.span(at))
    return tokens, _pairs(tokens)


def _tokens(text: str, low: int, high: int) -> list[Token]:
    found = ((*match.span(), folded(match.group())) for match in _TOKEN.finditer(text, low, high))
    return [make_record(Token, (start, end, _EDGE if plain in ";\n" else plain)) for start, end, plain in found if plain not in SKIPPED]


def _pair(tokens: Sequence[Token], place: int) -> Pair:
    """The neighbours on both sides of a place; an edge where there is none."""
    return _before(tokens, place), tokens[place].plain if place < len(tokens) else _EDGE


def _before(tokens: Sequence[Token], place: int) -> str:
    return tokens[place - 1].plain if place else _EDGE


def _pairs(tokens: Sequence[Token]) -> frozenset[Pair]:
    return frozenset(_pair(tokens, place) for place in range(len(tokens) + 1))


def _two_places(matter: Matter, at: int, ours: Sequence[Token], theirs: Sequence[Token]) -> Gated | None:
    """Two words or figures of a sentence that changed places, between neighbours that may be alike: the pairs do not tell."""
    if len(ours) < LEAST_COPIED:
        return None
    for shift in range(len(theirs) - len(ours) + 1):
        other = [place for place, token in enumerate(ours) if token.plain != theirs[place + shift].plain][:3]
        if len(other) == 2 and all(ours[a].plain == theirs[b + shift].plain for a, b in (other, other[::-1])):
            low, high = other
            weigh = all(_weighs(matter, [ours[place]]) for place in other)
            if weigh and not _means_the_same(matter, ours, (low, low + 1), (high, high + 1)):
                return Gated("roles", matter.parts.text[ours[low].start : ours[high].end], _span(matter, at, theirs))
    return None


def _exchanged(
    matter: Matter, at: int, ours: Sequence[Token], theirs: Sequence[Token], pairs: frozenset[Pair], new: Sequence[int]
) -> Gated | None:
    """Two stretches of the claim that changed places."""
    tried = [place for place in new[:MOST_MOVED] if place <= len(ours)]
    stretches = [(low, high) for place, low in enumerate(tried) for high in tried[place + 1 :] if high - low <= LONGEST]
    stretches = [(low, high) for low, high in stretches if _weighs(matter, ours[low:high])]
    ends: dict[int, list[int]] = {}
    for low, high in stretches:
        ends.setdefault(low, []).append(high)
    for low, high in stretches:
        before = _before(ours, low)
        for first in ends:
            if first < high or (before, ours[first].plain) not in pairs:
                continue
            if first == high and not _is_compound(matter.parts.text, ours[high - 1], ours[high]):
                continue
            if first > high and (ours[first - 1].plain, ours[low].plain) not in pairs:
                continue
            inner = ours[high if first > high else low].plain
            for last in ends[first]:
                joints = (ours[last - 1].plain, inner), (ours[high - 1].plain, _pair(ours, last)[1])
                if all(joint in pairs for joint in joints) and not _means_the_same(matter, ours, (low, high), (first, last)):
                    return Gated("roles", matter.parts.text[ours[low].start : ours[last - 1].end], _span(matter, at, theirs))
    return None


def _weighs(matter: Matter, tokens: Sequence[Token]) -> bool:
    """Whether a stretch has a name, another word with content, or a figure."""
    stems, text = matter.evidence.stems, matter.parts.text
    return any(stems.key(text[token.start : token.end]) for token in tokens)


def _is_compound(text: str, one: Token, other: Token) -> bool:
    return text[one.end : other.start] in ("-", "–")


def _means_the_same(matter: Matter, ours: Sequence[Token], one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether the order tells nothing: around "is", in two clauses that "but" joins, or where Dutch or German begins with what is not
    the subject."""
    text, tongue = matter.parts.text, matter.evidence.stems.tongue
    between = {token.plain for token in ours[one[1] : other[0]]}
    denied = one[0] > 0 and matter.evidence.stems.kept[ours[one[0] - 1].plain].denies
    if between and (between <= BEING or (between <= _BUT and not denied)):
        return True
    if tongue == "en" or one[0] > 0 or other[0] - one[1] > MOST_VERBS:
        return False
    return not all(_is_bare_name(text, ours[low:high], tongue) for low, high in (one, other))


def _is_bare_name(text: str, tokens: Sequence[Token], tongue: Tongue) -> bool:
    """Whether a stretch is names only, without the article that German nouns have."""
    before = text[: tokens[0].start].split()[-1:]
    return all(text[token.start].isupper() for token in tokens) and not (tongue == "de" and before and before[0].casefold() in SKIPPED)


def _turned(matter: Matter, at: int, ours: Sequence[Token], theirs: Sequence[Token]) -> Gated | None:
    """A denial, a doubt, an amount or a modal verb that was put in, taken out or exchanged between the same two neighbours."""
    is_told = any(op.meaning == ("hedge", "told") for op in matter.operators)
    stems = matter.evidence.stems
    mine, yours = _turning(ours, matter.operators, stems), _turning(theirs, matter.evidence.operators(at), stems)
    for (here, said), (there, known), in_claim in (((ours, mine), (theirs, yours), True), ((theirs, yours), (ours, mine), False)):
        between = _between(there) if said else {}
        starting = {one[0]: one for one in known}
        seen = set[tuple[str, str, str, str]]()
        for low, high, kind, value in said:
            key = (here[low - 1].plain, here[high].plain, kind, value) if low > 0 and high < len(here) else None
            if key is None or key in seen or (places := between.get(key[:2])) is None:
                continue
            seen.add(key)
            standing = ([starting[place] for place in range(first, last) if place in starting] for first, last in places)
            inside = [[one for one in each if one[1] <= last] for each, (_, last) in zip(standing, places, strict=True)]
            if any((kind, value) == one[2:] for each in inside for one in each):
                continue
            rival = next((one for each in inside for one in each if one[2] == kind), None)
            if (
                rival is not None
                or kind == "negation"
                or (kind == "hedge" and not (in_claim or (is_told and value == "said")) and any(a == b for a, b in places))
            ):
                word, other = _said(matter, at, here, (low, high), in_claim), ""
                if rival is not None:
                    other = _said(matter, at, there, rival[:2], not in_claim)
                return Gated(cast(GateKind, kind), *((word, other) if in_claim else (other, word)))
    return None


def _turning(tokens: Sequence[Token], operators: Sequence[Operator], stems: Stems) -> list[tuple[int, int, str, str]]:
    """The words that turn a sentence, as tokens `low` to `high`, with kind and meaning."""
    found = [(place, place + 1, "negation", "not") for place, token in enumerate(tokens) if stems.kept[token.plain].denies]
    starts, taken = [token.start for token in tokens], {low for low, *_ in found}
    for op in operators:
        inside = range(bisect_left(starts, op.start), bisect_left(starts, op.end))
        if inside and op.kind in _TURNING and taken.isdisjoint(inside):
            found.append((inside[0], inside[-1] + 1, op.kind, op.value))
            taken.add(inside[0])
    return found


def _between(tokens: Sequence[Token]) -> dict[Pair, list[tuple[int, int]]]:
    """What stands between two words, at most three words of it, by the two."""
    found: dict[Pair, list[tuple[int, int]]] = {}
    for low in range(1, len(tokens)):
        for high in range(low, min(low + 4, len(tokens))):
            if tokens[low - 1].plain and tokens[high].plain:
                found.setdefault((tokens[low - 1].plain, tokens[high].plain), []).append((low, high))
    return found


def _said(matter: Matter, at: int, tokens: Sequence[Token], span: tuple[int, int], in_claim: bool) -> str:
    return (matter.parts.text if in_claim else matter.text(at))[tokens[span[0]].start : tokens[span[1] - 1].end]


def _span(matter: Matter, at: int, theirs: Sequence[Token]) -> str:
    return matter.text(at)[theirs[0].start : theirs[-1].end]
