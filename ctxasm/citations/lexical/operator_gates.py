"""A claim is refused where a word that turns what is said stands in it and not in the stretch that carries it, or the other way round
(see `operators`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise, takewhile
from operator import or_
from typing import NamedTuple, cast

from ctxasm.citations.lexical.around import arounds
from ctxasm.citations.lexical.clause_subjects import Clause, Matter, operators_of
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.lexicon import reading_words
from ctxasm.citations.lexical.operators import Meaning, Operator, is_hinted
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.quantities import Quantity, read_quantities
from ctxasm.citations.lexical.words import LETTERS, Stems, read_words
from ctxasm.model.support import Gated, GateKind
from ctxasm.text.terms import folded

ALIKE = 0.9
"""Sentences that hold this share of what the best one holds carry a clause as well: it is refused only if all of them refuse it."""
LEAST_MORE = 0.12
"""Share of a clause that a further sentence must add to be read with the best one."""
_WEAK: frozenset[Meaning] = frozenset(
    (
        *(("modal", "may"), ("quantifier", "some"), ("quantifier", "usual"), ("condition", "when")),
        *(("time", "at_first"), ("time", "during"), ("exception", "include")),
        *(("condition", "case"), ("hedge", "planned"), ("comparison", "about")),
        *(("quantifier", "part"), ("hedge", "said"), ("hedge", "told"), ("condition", "then")),
    )
)
"""What a claim may add: it then says no more than its source, unless the source has another meaning of the same kind."""
_FREE: frozenset[Meaning] = frozenset(
    (
        *(("modal", "must"), ("modal", "should"), ("quantifier", "all"), ("quantifier", "only"), ("quantifier", "many")),
        *(("quantifier", "exactly"), ("quantifier", "usual"), ("quantifier", "both"), ("hedge", "certain"), ("modal", "free")),
        *(("comparison", "equal"), ("exception", "include"), ("condition", "when")),
        ("hedge", "told"),
    )
)
"""What a claim may leave out and still say no more than its source."""
_ASKED = frozenset((("modal", "must"), ("modal", "should")))
_POLITE = frozenset(("please", "bitte", "gelieve", "always", "altijd", "immer"))
_LETTING = frozenset(("let", "laat", "lassen", "lass", "leave", "make", "zorg", "sorgen"))
_BEFORE_NOUN = (["the"], ["its"], ["their"], ["his"], ["her"], ["de"], ["het"], ["der"], ["die"], ["das"])
_GOES_ON = re.compile(r"\b(?:that|dat|dass|and|en|und|but|maar|aber),?\s*$", re.IGNORECASE)
"""What ends a clause that goes on behind the next one: "They say that, unless it rains, …"."""
_TURNS = re.compile(r"\b(?:but|maar|aber|doch|sondern|while|terwijl|whereas)\s*$", re.IGNORECASE)
"""What a hedge does not reach over."""
_LEAD = re.compile(r"\s*(?:[-*•]\s*)?(?:Among|For|Unter|Bei|Für|Voor|Onder|Bij)\s+([^,.;:\n]{3,60}),")
"""For whom, before the comma at the head of a sentence."""
_WIDE = frozenset(("condition", "exception", "hedge"))
"""Kinds whose words bear on more than their own clause."""
_FAR = _WIDE | {"qualifier"}
"""Kinds whose words the claim may have in another clause."""
_PLACED = frozenset(("modal", "quantifier", "time", "comparison"))
"""Kinds whose words bear on the next word."""
_ON_ITS_WORD: frozenset[Meaning] = frozenset((("quantifier", "all"), ("quantifier", "only")))
"""What a source must say of the same word: "all members may use the courts" is more than "members may use all courts"."""
_SIGN = re.compile(r"[,;:.!?()\n]")
_LISTED = re.compile(r"\s+(?:and|en|und|or|oder)\s+")
"""What stands between two words that a word such as "every" both bears on: "all staff and visitors"."""
_EACH = re.compile(r"every|each|elke?|iedere?|jede[mnrs]?", re.IGNORECASE)
"""What never stands behind its word."""
_LEADING = frozenset(("cause", "condition", "time"))
"""Kinds whose words stand before the cause, condition or time itself."""
SPEAKS = 2
"""Words of weight, beside that cause, that a sentence which speaks of the same shares with the claim."""
_PLAIN = frozenset(("quantifier", "modal", "hedge"))
"""Kinds whose words bear on the next clause where nothing follows them in their own: "possibly because of the loss"."""
_LOOSE = frozenset(("cause", "time", "comparison", "unit"))
"""Kinds that belong to a detail: a claim may leave out the word together with the detail."""
_SAME: dict[Meaning, frozenset[Meaning]] = {
    ("modal", "may"): frozenset((("hedge", "likely"),)),
    ("hedge", "likely"): frozenset((("modal", "may"), ("hedge", "unclear"), ("hedge", "planned"), ("hedge", "said"))),
    ("hedge", "said"): frozenset((("hedge", "told"), ("hedge", "likely"))),
    ("hedge", "told"): frozenset((("hedge", "said"),)),
    ("comparison", "than"): frozenset((("comparison", "above"), ("comparison", "below"))),
    ("comparison", "above"): frozenset((("comparison", "than"),)),
    ("comparison", "below"): frozenset((("comparison", "than"),)),
    ("cause", "because"): frozenset((("cause", "causing"),)),
    ("cause", "causing"): frozenset((("cause", "because"),)),
    ("modal", "should"): frozenset((("modal", "must"), ("hedge", "planned"))),
    ("condition", "if"): frozenset((("condition", "only_if"), ("condition", "when"), ("condition", "then"), ("time", "after"))),
    ("condition", "when"): frozenset((("condition", "if"), ("condition", "then"), ("time", "after"))),
    ("time", "after"): frozenset((("condition", "when"),)),
}
"""Meanings of a source that do for one of the claim."""


class _Beside(NamedTuple):
    """The keys of the next words with content behind a word, and of the one just before it; it `begins` where there is none."""

    after: tuple[str, ...]
    before: str
    begins: bool


def find_gates(matter: Matter) -> tuple[Gated, ...]:
    """The words that keep a claim from being carried, each once."""
    ours = matter.operators
    found: list[Gated] = [*_led(matter), *_on_days(matter)]
    before, waiting, last = 0, list[Operator](), list[dict[int, int]]()
    for stretch in matter.parts.clauses:
        inside = [*waiting, *(op for op in ours if before <= op.start < stretch.end)]
        before = stretch.end
        own = [word.key for word in matter.parts.words if any(op.start <= word.start < op.end for op in inside)]
        ways = list(_ways(matter, stretch.mask & ~matter.bits(frozenset(own))))
        waiting = [] if ways else inside
        if ways:
            fewest = min(map(len, ways))
            last = [way for way in ways if len(way) == fewest]
            found += _least(matter, inside, ours, last)
    if waiting and last:  # "that is certain" at the end says nothing of its own
        found += _least(matter, waiting, ours, last)
    found += _borne_elsewhere(matter)
    return tuple(dict.fromkeys(found))


def _least(matter: Matter, inside: Sequence[Operator], ours: Sequence[Operator], ways: Sequence[Mapping[int, int]]) -> list[Gated]:
    """What gates a clause in the way in which least does."""
    return min((_gates(matter, inside, ours, way) for way in ways), key=len)


def _borne_elsewhere(matter: Matter) -> Iterator[Gated]:
    """A word such as "because" that the claim has before another word than its sources: "late because of the wind" where engineers were
    missing."""
    parts, light = matter.parts, matter.evidence.stems.light
    leading = {(op.meaning, word.key): op for op in matter.operators if op.kind in _LEADING and (word := matter.next_word(op.end))}
    borne: dict[Meaning, list[tuple[int, Operator, list[str]]]] = {meaning: [] for meaning, _ in leading}
    for at in matter.numbers if leading else ():
        for other in matter.evidence.operators(at):
            if other.meaning in borne:
                borne[other.meaning].append((at, other, _borne(matter, at, other)))
    led = {meaning: reduce(or_, (parts.forms.get(key, 0) for *_, keys in each for key in keys), 0) for meaning, each in borne.items()}
    for (meaning, key), op in leading.items():
        bit = matter.bits(frozenset((key,))) & parts.heavy & ~led[meaning]
        for at, other, keys in borne[meaning] if bit else ():
            heavy = next((each for each in keys if each not in light), None)
            speaks_of_it = (matter.held(at) & parts.heavy & ~bit).bit_count() >= SPEAKS
            if speaks_of_it and heavy and not parts.forms.get(heavy, 0):
                yield Gated(cast(GateKind, op.kind), _claim(matter, op), _source(matter, at, other))
                return


def _borne(matter: Matter, at: int, op: Operator) -> list[str]:
    """The keys of the words behind a word of a source, in its clause or the next; of one that stands within its clause ("late because
    crews slept, and in storms") in all that follow, up to a sign such as ";"."""
    after = [clause.source for clause in matter.clauses if clause.sentence == at and clause.source.end > op.end]
    is_within = not matter.evidence.once(_beside, at)[op.end].begins
    following = [source for source in after if source.segment == after[0].segment] if is_within else after[:1]
    return [word.key for source in following for word in source.words if word.start >= op.end]


def _led(matter: Matter) -> Iterator[Gated]:
    """For whom a sentence says something, before its comma, where the claim says it without: "Among women, the drug works"."""
    for at in matter.numbers:
        text, (low, high) = matter.text(at), matter.evidence.span(at)
        lead = _LEAD.match(text, low, high)
        words = list(read_words(text, lead.start(1), lead.end(), matter.evidence.stems)) if lead else []
        if lead is None or any(matter.parts.forms.get(word.key, 0) for word in words):
            continue
        weighs = any(word.key not in matter.evidence.stems.light for word in words)
        if weighs and any(matter.is_needed(clause) for clause in matter.clauses if clause.sentence == at):
            yield Gated("qualifier", "", text[lead.start() : lead.end(1)])


def _on_days(matter: Matter) -> Iterator[Gated]:
    """Days of the week that a clause says something of, where the claim says it of any day and gives no other figure."""
    timed = bool(matter.parts.quantities) or any(op.kind == "qualifier" for op in matter.operators)
    if timed or (_tells(matter, "past") and not _tells(matter, "present")):
        return
    for clause in matter.clauses:
        day = next((each for each in clause.source.quantities if each.kind == "weekday"), None)
        if day is not None and not matter.parts.heavy & ~clause.mask:
            yield Gated("qualifier", "", matter.text(clause.sentence)[day.start : day.end])
            return


def _ways(matter: Matter, mask: int) -> Iterator[dict[int, int]]:
    """The sentences that carry some bits of the claim, with those that each of them adds, in each way that is as good as the best."""
    parts = matter.parts
    held = {at: matter.held(at) & mask for at in matter.numbers}
    best = max((parts.weight(each) for each in held.values()), default=0.0)
    if not best:
        return
    for first in matter.numbers:
        if parts.weight(held[first]) >= ALIKE * best:
            way, covered = {first: held[first]}, held[first]
            while True:
                more = max(matter.numbers, key=lambda at: parts.weight(held[at] & ~covered))
                if parts.weight(held[more] & ~covered) < LEAST_MORE * parts.weight(mask):
                    break
                way[more] = held[more] & ~covered
                covered |= held[more]
            yield way


def _gates(matter: Matter, inside: Sequence[Operator], ours: Sequence[Operator], way: Mapping[int, int]) -> list[Gated]:
    """What gates a clause of the claim (its words: `inside`) in the sentences that carry it."""
    first = next(iter(way))
    theirs = [(at, op) for at in way for op in matter.evidence.operators(at)]
    scoped = [(at, op) for at, op in theirs if _bears_on(matter, way[at], at, op, least=1 if at == first else 2)]
    return [*_added(matter, inside, theirs, scoped, way), *_left_out(matter, inside, ours, scoped)]


def _added(
    matter: Matter,
    inside: Sequence[Operator],
    theirs: Sequence[tuple[int, Operator]],
    scoped: Sequence[tuple[int, Operator]],
    way: Mapping[int, int],
) -> Iterator[Gated]:
    """Words of the claim that the sentences do not have, or not on the same word."""
    meant = {op.meaning for _, op in theirs}
    for op in inside:
        if op.meaning == ("time", "before") and any(_ends_range(matter, at) for at in way):
            continue
        does = frozenset((op.meaning,)) | _SAME.get(op.meaning, frozenset())
        placed = _on_the_same_word(matter, op, theirs)
        if placed and not any(other.meaning in does for _, other in placed):
            yield Gated(cast(GateKind, op.kind), _claim(matter, op), _source(matter, *placed[0]))
        moved = op.meaning in _ON_ITS_WORD and not placed and _is_moved(matter, op, theirs, way)
        if placed or (meant & does and not moved) or (op.meaning in _ASKED and any(_asks(matter, at, op) for at in way)):
            continue
        rivals = [(at, other) for at, other in scoped if other.kind == op.kind]
        hinted = (is_hinted(op.meaning, matter.text(at), *matter.evidence.span(at), matter.evidence.stems.tongue) for at in way)
        if rivals or moved or not (op.meaning in _WEAK or any(hinted)):
            yield Gated(cast(GateKind, op.kind), _claim(matter, op), _source(matter, *rivals[0]) if rivals else "")


def _ends_range(matter: Matter, at: int) -> bool:
    """Whether a figure of a sentence ends a range, which says "until" without a word for it."""
    return any(around.end == "high" for _, around in matter.evidence.once(arounds, at))


def _left_out(
    matter: Matter, inside: Sequence[Operator], ours: Sequence[Operator], scoped: Sequence[tuple[int, Operator]]
) -> Iterator[Gated]:
    """Words of the sentences, bearing on what the claim takes from them, that the claim does not have."""
    said, known = {op.meaning for op in ours}, {op.meaning for _, op in scoped}
    for at, op in scoped:
        near = ours if op.kind in _FAR else inside
        does = (
            op.meaning in said
            or (op.kind == "qualifier" and any(one.kind == op.kind and one.meaning in known for one in near))
            or any(op.meaning in _SAME.get(one.meaning, ()) for one in near if one.meaning not in known)
        )
        free = op.meaning in _FREE and not (op.value == "only" and _leaves_out(matter, at, op))
        free = free and not (op.value == "should" and _tells(matter, "past") and (_tells(matter, "done") or not _tells(matter, "present")))
        free = free or (op.value == "planned" and (not _tells(matter, "past") or _tells(matter, "coming")))
        free = free or (op.value == "then" and _is_told_before(matter, at, op))
        free = free or (op.kind == "qualifier" and _tells(matter, "past") and not _tells(matter, "present"))
        if not (does or free or (op.kind in _LOOSE and op.value != "instead")):
            yield Gated(cast(GateKind, op.kind), "", _source(matter, at, op))


def _on_the_same_word(matter: Matter, op: Operator, theirs: Sequence[tuple[int, Operator]]) -> list[tuple[int, Operator]]:
    """The words of its kind that stand before the same word with content in the source; of a rate, behind the same figure."""
    if op.kind == "unit":
        own = [figure for figure in matter.parts.quantities if figure.end + 1 == op.start]
        return [(at, other) for at, other in theirs if other.kind == op.kind and _is_behind(matter, own, at, other)]
    if op.kind not in _PLACED:
        return []
    word = matter.next_word(op.end)
    bit = matter.bits(frozenset((word.key,))) if word else 0
    found: list[tuple[int, Operator]] = []
    for at, other in theirs if bit else ():
        if other.kind == op.kind and matter.parts.forms.get(matter.evidence.once(_following, at)[other.end], 0) & bit:
            found.append((at, other))
    return found


def _is_moved(matter: Matter, op: Operator, theirs: Sequence[tuple[int, Operator]], way: Mapping[int, int]) -> bool:
    """Whether the sentences hold the word of weight behind a word of the claim, but none that means the same bears on it there."""
    ours = matter.parts.once(_beside_own, matter.evidence)[op.end]
    bit = matter.bits(frozenset(ours.after[:1])) & matter.parts.heavy & reduce(or_, way.values())
    same = [(at, other) for at, other in theirs if other.meaning == op.meaning] if bit else []
    return bool(bit) and not any(_bears_on_it(matter, bit, ours, at, other) for at, other in same)


def _bears_on_it(matter: Matter, bit: int, ours: _Beside, at: int, op: Operator) -> bool:
    """Whether a word of a sentence bears on the word of a bit, which stands behind one of the claim that means the same. It may be on the
    other side of it ("only accepts", "accepts only"), but where one of them begins its text ("only members swim")."""
    near, forms = matter.evidence.once(_beside, at)[op.end], matter.parts.forms
    is_only = op.value == "only"
    after = near.after[:1] if is_only and near.begins and not ours.begins else near.after
    if bit & reduce(or_, (forms.get(key, 0) for key in after), 0):
        return True
    if bit & forms.get(near.before, 0) and not _EACH.fullmatch(matter.text(at), op.start, op.end):
        return not (is_only and ours.begins and near.after)
    before = matter.bits(frozenset((ours.before,)))
    return not near.begins and bool(before & reduce(or_, (forms.get(key, 0) for key in near.after[:1]), 0))


def _beside_own(parts: Parts, evidence: Evidence) -> dict[int, _Beside]:
    """What stands beside the words of the claim."""
    return _read_beside(parts.text, 0, len(parts.text), parts.once(operators_of, evidence), evidence.stems)


def _beside(evidence: Evidence, at: int) -> dict[int, _Beside]:
    """What stands beside the words of a sentence."""
    return _read_beside(evidence.text(at), *evidence.span(at), evidence.operators(at), evidence.stems)


def _read_beside(text: str, low: int, high: int, operators: Sequence[Operator], stems: Stems) -> dict[int, _Beside]:
    """What stands beside some words of a text, by where these end: nothing behind a sign that parts, and a second word only where the
    first is a figure, or in a list with it, or narrows "only members" to "only old members"."""
    words = list(read_words(text, low, high, stems))
    starts, found = [word.start for word in words], dict[int, _Beside]()
    for op in operators:
        first, place = bisect_left(starts, op.end), bisect_left(starts, op.start)
        before = words[place - 1] if place else None
        after = [word.key for word in words[first : first + 1] if not _SIGN.search(text, op.end, word.start)]
        for one, two in pairwise(words[first : first + 2] if after else ()):
            narrows = text[one.end : two.start].isspace() and (op.value == "only" or one.key.isdigit())
            after += [two.key] if narrows or _LISTED.fullmatch(text, one.end, two.start) else []
        is_beside = before is not None and text[before.end : op.start].isspace()
        found[op.end] = _Beside(tuple(after), before.key if before and is_beside else "", not is_beside)
    return found


def _is_behind(matter: Matter, own: Sequence[Quantity], at: int, rate: Operator) -> bool:
    """Whether a rate stands behind a figure of its sentence that agrees with one of the claim."""
    figures = [figure for figure in matter.evidence.quantities(at) if figure.end + 1 == rate.start]
    return any(ours.agrees(theirs) for ours in own for theirs in figures)


def _following(evidence: Evidence, at: int) -> dict[int, str]:
    """The key of the next word with content behind each operator of a sentence, by where that ends; empty where there is none."""
    words = list(read_words(evidence.text(at), *evidence.span(at), evidence.stems))
    starts = [word.start for word in words]
    places = {op.end: bisect_left(starts, op.end) for op in evidence.operators(at)}
    return {end: words[place].key if place < len(words) else "" for end, place in places.items()}


def _asks(matter: Matter, at: int, op: Operator) -> bool:
    """Whether a sentence asks for what the claim says must be done: it begins with the verb, or with one such as "let"."""
    low, high = matter.evidence.span(at)
    text, stems = matter.text(at), matter.evidence.stems
    begun = [match for match in LETTERS.finditer(text, low, high) if folded(match.group()) not in _POLITE][:1]
    if not begun or folded(begun[0].group()) in _LETTING:
        return bool(begun)
    first = matter.parts.forms.get(stems.key(begun[0].group()), 0)
    end = next((high for low, high in matter.spans if low <= op.start < high), op.end)
    after = [word.key for word in matter.words if op.end <= word.start < end]
    verb = after[:1] if stems.tongue == "en" else after[:1] + after[-1:]
    return bool(first & matter.bits(frozenset(verb)))


def _bears_on(matter: Matter, mask: int, at: int, op: Operator, least: int) -> bool:
    """Whether a word of a source bears on what the claim takes from its sentence."""
    clauses = [clause for clause in matter.clauses if clause.sentence == at]
    own = next((place for place, clause in enumerate(clauses) if op.start < clause.source.end), None)
    if own is None:
        return False
    scope = _scope(matter.text(at), clauses, own, op)
    held = 0
    for clause in scope:
        held |= clause.mask
    elsewhere = 0
    for clause in clauses:
        elsewhere |= clause.mask if clause.source.segment != clauses[own].source.segment and clause not in scope else 0
    counted = matter.parts.heavy | matter.parts.all_quantities or matter.parts.everything
    if (held & mask & ~elsewhere & counted).bit_count() < least:
        return False
    if (op.kind in ("quantifier", "modal") and op.value != "only") or op.value == "instead":
        behind = clauses[own : own + 1] if op.value == "instead" else clauses[own:]  # "the fair takes place": "findet statt"
        figures = [figure for clause in behind for figure in clause.source.quantities]
        words = [word for clause in behind for word in clause.source.words if word.start >= op.end]
        after = [word for word in words if not any(each.start <= word.start < each.end for each in figures)]
        return bool(matter.parts.forms.get(after[0].key, 0)) if after else op.kind == "modal"
    return True


def _tells(matter: Matter, tense: str) -> bool:
    """Whether the claim has a word of a tense: it tells of what was done, or says what is so."""
    known = reading_words(matter.evidence.stems.tongue)[tense]
    return any(word in known for word in matter.parts.once(_plain, matter.evidence))


def _plain(parts: Parts, _: Evidence) -> frozenset[str]:
    """The words of the claim, folded."""
    return frozenset(folded(word) for word in LETTERS.findall(parts.text))


def _is_told_before(matter: Matter, at: int, op: Operator) -> bool:
    """Whether the claim has a word of weight of what stands before "then", in whatever words it makes a condition of that."""
    before = [clause for clause in matter.clauses if clause.sentence == at and clause.source.end <= op.start]
    return any(clause.mask & matter.parts.heavy for clause in before)


def _leaves_out(matter: Matter, at: int, op: Operator) -> bool:
    """Whether the claim leaves out what a word such as "only" stands before: "only members", where the claim has "members" without it, says
    no more, nor does "the only venue"; "only on Sundays", where it has no Sundays, does."""
    low, high = matter.evidence.span(at)
    text = matter.text(at)
    if text[low : op.start].split()[-1:] in _BEFORE_NOUN:
        return False
    word = next(read_words(text, op.end, high, matter.evidence.stems), None)
    figure = next(iter(read_quantities(text, op.end, high)), None)
    if figure is not None and (word is None or figure.start <= word.start):
        return not any(ours.agrees(figure) for ours in matter.parts.quantities)
    return word is not None and not matter.parts.forms.get(word.key, 0)


def _scope(text: str, clauses: Sequence[Clause], own: int, op: Operator) -> Sequence[Clause]:
    """The clauses that a word bears on."""
    segment = clauses[own].source.segment
    if op.kind in _PLAIN and not any(word.start >= op.end for word in clauses[own].source.words):
        return clauses[own : own + 2]
    if op.kind not in _WIDE:
        return clauses[own : own + 1]
    begins = not any(word.start < op.start for word in clauses[own].source.words)
    after = [clause for clause in clauses[own + 1 :] if clause.source.segment == segment]
    if op.kind == "hedge":
        return [
            clauses[own],
            *takewhile(lambda clause: not _TURNS.search(text[: clause.source.start].rstrip(), clauses[own].source.start), after),
        ]
    before = [clause for clause in clauses[:own] if clause.source.segment == segment] if begins else []
    if (
        before
        and before[-1].source.words
        and op.value != "only"
        and _GOES_ON.search(text, before[-1].source.start, clauses[own].source.start)
    ):
        before = []
    return [*before[-1:], clauses[own], *(after if begins and not before else [])]


def _claim(matter: Matter, op: Operator) -> str:
    return matter.parts.text[op.start : op.end]


def _source(matter: Matter, at: int, op: Operator) -> str:
    return matter.text(at)[op.start : op.end]
