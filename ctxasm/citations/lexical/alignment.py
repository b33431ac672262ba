"""One alignment of a claim with the sentences that carry it, and what differs between the two.

The tokens of the claim are laid along those of the sentences by dynamic programming: each token on one that means the same or on none, at
the least cost of leaving out, going back and changing the sentence. What the cheapest way leaves over, adds or moves are the differences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from ctxasm.citations.lexical.around import Around, arounds
from ctxasm.citations.lexical.assertion import reason
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.lexicon import reading_words
from ctxasm.citations.lexical.operators import Meaning, Operator
from ctxasm.citations.lexical.parts import Parts, is_name
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.quantity import TO
from ctxasm.citations.lexical.windows import union
from ctxasm.citations.lexical.words import LETTERS, SUBJECTS, Stems, read_all
from ctxasm.text.terms import folded

TokenKind = Literal["word", "light", "sign", "figure", "operator"]
WEIGHTY = frozenset(("word", "figure", "sign"))
REWORDED = "reworded"
"""The sort of difference of a claim that follows one sentence in other words."""
NEGATION: Meaning = ("negation", "not")
WEAK: frozenset[Meaning] = frozenset(
    (
        *(("modal", "may"), ("quantifier", "some"), ("quantifier", "usual"), ("condition", "when")),
        *(("time", "at_first"), ("time", "during"), ("exception", "include")),
        *(("condition", "case"), ("hedge", "planned"), ("comparison", "about")),
        *(("quantifier", "part"), ("hedge", "said"), ("hedge", "told"), ("condition", "then")),
    )
)
"""Operators that a claim may add: it then says no more than its source."""
FREE: frozenset[Meaning] = frozenset(
    (
        *(("modal", "must"), ("modal", "should"), ("quantifier", "all"), ("quantifier", "only"), ("quantifier", "many")),
        *(("quantifier", "exactly"), ("quantifier", "usual"), ("quantifier", "both"), ("hedge", "certain"), ("modal", "free")),
        *(("comparison", "equal"), ("exception", "include"), ("condition", "when")),
        ("hedge", "told"),
    )
)
"""Operators that a claim may leave out: it then says no more than its source."""
SAME: dict[Meaning, frozenset[Meaning]] = {
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
SKIPPED = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "de",
        "het",
        "een",
        "en",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "eines",
        "und",
        "oder",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "wordt",
        "worden",
        "werd",
        "werden",
        "geworden",
        "wird",
        "wurde",
        "wurden",
        "zijn",
        "ist",
        "sind",
        "war",
        "waren",
        "hat",
        "hatte",
        "heeft",
        "had",
        "has",
        "have",
    ]
)
"""Articles, what only joins, and forms of "to be": between two words they tell nothing."""
TRIVIAL = frozenset(("small words changed", "preposition gone", "clause changed, clause", "clause changed, clauses"))
"""Sorts of differences that alone are none: "we" for "wij", one clause out of a sentence; nor is one place in another order where
nothing else differs ("In winter the beach is closed")."""
SENTENCE = 2
"""Tokens of the shortest claim that says something of something: a shorter one answers a question, and leaves out all but that."""
DEFINITE = frozenset(("the", "de", "het", "der", "die", "das"))
HOURS = frozenset(("uur", "uhr", "h", "hrs"))
"""Words behind a time of day that add nothing to it."""
_RANGE = re.compile(rf"\s*{TO}\s*", re.IGNORECASE)
_WIDE = frozenset(("condition", "exception", "hedge", "negation"))
"""Operators that bear on more than their own clause."""

LEFT_OUT = {"word": 3.0, "light": 0.5, "sign": 2.0, "figure": 4.0, "operator": 1.5}
"""What it costs to lay a token of the claim on nothing."""
SKIPPED_WORD, SKIPPED_OPERATOR, NEXT_CLAUSE, BACK, AGAIN = 0.25, 0.5, 0.3, 2.0, 0.6
"""What it costs to pass over a word of weight or an operator of a sentence, and to go to another clause, back, or to the same token."""
NEXT_SENTENCE, WITHIN_CLAUSE, BEFORE_ENTRY = 0.5, 2.0, 0.3
"""What it costs to change the sentence between clauses of the claim or within one, and for each word of weight before the entry."""
LEAD = 0.2
"""What each word of weight before the first token costs."""
NEAR = 3
"""Places that two neighbours of a swapped word are apart at most."""
MOST_CANDIDATES, MOST_STATES, MOST_TOKENS = 8, 24, 400
"""Tokens tried for one of the claim, ways kept, and tokens of a claim that are aligned: what is longer is a list, and time is bounded."""


class Token(NamedTuple):
    """A word, figure or operator at characters `start` to `end`. `key` is that of a word, `value` what it means: its key, the concept and
    sign of a word that has an opposite, the quantity, or the meaning of the operator. `small` are the words without content before it."""

    start: int
    end: int
    kind: TokenKind
    value: Any
    key: str
    small: tuple[str, ...] = ()


class Place(NamedTuple):
    """A token of sentence number `sentence` in its clause and segment."""

    token: Token
    sentence: int
    clause: int
    segment: int


class Difference(NamedTuple):
    """A difference of some sort, the words of the claim and those of the source it is about, and how much of it there is."""

    sort: str
    claim: str = ""
    source: str = ""
    amount: float = 1.0


def read_tokens(text: str, low: int, high: int, figures: Sequence[Quantity], operators: Sequence[Operator], stems: Stems) -> list[Token]:
    """Words with content, figures, operators and denials between two characters, in order; a word that is part of a figure or an operator
    stands for nothing else."""
    found = [Token(figure.start, figure.end, "figure", figure, "") for figure in figures]
    found += [Token(op.start, op.end, "operator", op.meaning, "") for op in operators if not _joins_range(text, figures, op)]
    taken = sorted((token.start, token.end) for token in found)
    starts = [start for start, _ in taken]
    light, small = stems.light, list[tuple[int, str]]()
    for start, end, read in read_all(text, low, high, stems):
        place = bisect_right(starts, start) - 1
        if place >= 0 and (start < taken[place][1] or (read.plain in HOURS and text[taken[place][1] : start].isspace())):
            continue
        if read.denies:
            found.append(Token(start, end, "operator", NEGATION, ""))
        elif read.concept.startswith("§") and read.concept not in ("§may", "§must"):
            found.append(Token(start, end, "sign", (read.concept, read.sign), read.key))
        elif read.key:
            found.append(Token(start, end, "light" if read.key in light else "word", read.key, read.key))
        elif read.plain not in SKIPPED:
            small.append((start, read.plain))
    return _with_small_words(sorted(found, key=lambda token: token[:2]), small)


def _joins_range(text: str, figures: Sequence[Quantity], op: Operator) -> bool:
    """Whether a word such as "until" only joins the two ends of a range, which a dash does as well."""
    ends = bisect_right(figures, op.start, key=lambda figure: figure.start)
    return 0 < ends < len(figures) and _RANGE.fullmatch(text, figures[ends - 1].end, figures[ends].start) is not None


def _with_small_words(tokens: list[Token], small: Sequence[tuple[int, str]]) -> list[Token]:
    at, found = 0, []
    for token in tokens:
        before = at
        while at < len(small) and small[at][0] < token.start:
            at += 1
        found.append(token._replace(small=tuple(word for _, word in small[before:at])) if at > before else token)
    return found


def _claim_tokens(parts: Parts, evidence: Evidence) -> list[Token]:
    from ctxasm.citations.lexical.clause_subjects import operators_of

    operators = parts.once(operators_of, evidence)
    return read_tokens(parts.text, 0, len(parts.text), parts.quantities, operators, evidence.stems)[:MOST_TOKENS]


def _sentence_tokens(evidence: Evidence, at: int) -> list[Place]:
    clauses = evidence.clauses(at)
    starts = [clause.start for clause in clauses]
    tokens = read_tokens(evidence.text(at), *evidence.span(at), evidence.quantities(at), evidence.operators(at), evidence.stems)
    found = []
    for token in tokens:
        place = max(0, bisect_right(starts, token.start) - 1)
        found.append(Place(token, at, place, clauses[place].segment if clauses else 0))
    return found


class Alignment:
    """A claim laid along the sentences of its windows that say what they hold. `path` gives the place of each token, None for none."""

    def __init__(self, matter: Matter) -> None:
        self.matter = matter
        parts, evidence = matter.parts, matter.evidence
        self.tokens: list[Token] = parts.once(_claim_tokens, evidence)
        asserted = [at for at in matter.numbers if not evidence.once(reason, at)]
        self.places: list[Place] = [place for at in asserted for place in evidence.once(_sentence_tokens, at)]
        self.spans = [bisect_right(parts.spans, (token.start, len(parts.text) + 1)) for token in self.tokens]
        self.bits = [parts.forms.get(place.token.key, 0) if place.token.key else 0 for place in self.places]
        self._weighty = [0, *accumulate(place.token.kind == "word" for place in self.places)]
        self._turning = [0, *accumulate(place.token.kind == "operator" and place.token.value not in FREE for place in self.places)]
        self._first: dict[int, int] = {}
        for at, place in enumerate(self.places):
            self._first.setdefault(place.sentence, at)
        candidates = self._candidates()
        self.cost, self.path = self._align(candidates)
        self.used = {at for at in self.path if at is not None}
        self.elsewhere = self._operators_elsewhere(candidates)

    def words_between(self, low: int, high: int) -> int:
        """Words of weight at the places from `low` to before `high`."""
        return self._weighty[high] - self._weighty[low] if high > low else 0

    def words_before(self, at: int) -> int:
        """Words of weight of its sentence before a place."""
        return self.words_between(self._first[self.places[at].sentence], at)

    def own_words_before(self, at: int, used: Collection[int]) -> int:
        """Words of weight of its clause before a place that the claim leaves out."""
        first, clause = self._first[self.places[at].sentence], self.places[at].clause
        before = (there for there in range(first, at) if there not in used and self.places[there].clause == clause)
        return sum(self.places[there].token.kind == "word" for there in before)

    def claim_words(self, token: Token) -> str:
        return self.matter.parts.text[token.start : token.end]

    def lead_of(self, at: int) -> str:
        """The text of a clause up to a place."""
        first, clause = self._first[self.places[at].sentence], self.places[at].clause
        return self.source_words(next(there for there in range(first, at + 1) if self.places[there].clause == clause), at)

    def source_words(self, one: int, other: int) -> str:
        """The text of a sentence from one place to another."""
        first, last = sorted((self.places[one].token, self.places[other].token))[:2] if one != other else (self.places[one].token,) * 2
        return self.matter.text(self.places[one].sentence)[first.start : last.end]

    def _candidates(self) -> list[list[int]]:
        """The places that mean the same as each token."""
        by_bit: dict[int, list[int]] = {}
        by_kind: dict[str, list[int]] = {}
        for at, place in enumerate(self.places):
            by_kind.setdefault(place.token.kind, []).append(at)
            bits = self.bits[at]
            while bits:
                by_bit.setdefault(bits & -bits, []).append(at)
                bits &= bits - 1
        own = {word.key: 1 << bit for bit, word in enumerate(self.matter.parts.words)}
        found = []
        for token in self.tokens:
            if token.kind in ("word", "light"):
                same = by_bit.get(own.get(token.key, 0), [])
            elif token.kind == "sign":
                same = [at for at in by_kind.get("sign", ()) if self.places[at].token.value == token.value]
                same += [at for at in by_bit.get(own.get(token.key, 0), ()) if self.places[at].token.kind != "sign"]
            elif token.kind == "figure":
                same = [at for at in by_kind.get("figure", ()) if _entails(self.places[at].token.value, token.value)]
            else:
                does = SAME.get(token.value, frozenset())
                same = [at for at in by_kind.get("operator", ()) if (other := self.places[at].token.value) == token.value or other in does]
            found.append(same[:MOST_CANDIDATES])
        return found

    def _operators_elsewhere(self, candidates: Sequence[Sequence[int]]) -> dict[int, int]:
        """The places of operators that are laid on none, but stand in a sentence that is used."""
        sentences, found = {self.places[at].sentence for at in self.used}, dict[int, int]()
        for number, at in enumerate(self.path):
            if at is None and self.tokens[number].kind == "operator":
                free = (place for place in candidates[number] if place not in self.used and place not in found.values())
                place = next((place for place in free if self.places[place].sentence in sentences), None)
                if place is not None:
                    found[number] = place
        return found

    def next_weighty(self, number: int) -> int | None:
        """The place of the next token of weight behind one of the claim that is laid on any."""
        behind = zip(self.path[number + 1 :], self.tokens[number + 1 :], strict=True)
        return next((at for at, token in behind if token.kind in WEIGHTY and at is not None), None)

    def next_weighty_place(self, at: int) -> int | None:
        """The next place of weight in the clause of a place."""
        clause = self.places[at].sentence, self.places[at].clause
        behind = (there for there in range(at + 1, len(self.places)) if self.places[there].token.kind in WEIGHTY)
        return next((there for there in behind if (self.places[there].sentence, self.places[there].clause) == clause), None)

    def _align(self, candidates: Sequence[Sequence[int]]) -> tuple[float, list[int | None]]:
        """The cheapest way through the candidates, by the place that was used last."""
        states: dict[int | None, tuple[float, int, Any]] = {None: (0.0, -1, None)}  # cost, the token that was laid last, the way there
        for number, same in enumerate(candidates):
            left = LEFT_OUT[self.tokens[number].kind]
            following: dict[int | None, tuple[float, int, Any]] = {
                last: (cost + left, laid, (None, way)) for last, (cost, laid, way) in states.items()
            }
            for at in same:
                cost, way = min(
                    ((cost + self._step(number, last, laid, at), way) for last, (cost, laid, way) in states.items()), key=lambda one: one[0]
                )
                if at not in following or cost < following[at][0]:
                    following[at] = cost, number, (at, way)
            if len(following) > MOST_STATES:
                following = dict(sorted(following.items(), key=lambda item: item[1][0])[:MOST_STATES])
            states = following
        cost, _, way = min(states.values(), key=lambda state: state[0])
        path: list[int | None] = []
        while way is not None:
            at, way = way
            path.append(at)
        return cost, path[::-1]

    def _step(self, number: int, last: int | None, laid: int, at: int) -> float:
        """What it costs to lay a token on a place after another one was used."""
        if last is None:
            return LEAD * self.words_before(at)
        one, other = self.places[last], self.places[at]
        if one.sentence != other.sentence:
            change = NEXT_SENTENCE if self.spans[number] != self.spans[laid] else WITHIN_CLAUSE
            return change + BEFORE_ENTRY * self.words_before(at)
        if at <= last:
            return BACK if at != last else AGAIN
        skipped = SKIPPED_WORD * self.words_between(last + 1, at) + SKIPPED_OPERATOR * (self._turning[at] - self._turning[last + 1])
        return skipped + NEXT_CLAUSE * (one.clause != other.clause)


def _entails(theirs: Quantity, ours: Quantity) -> bool:
    """Whether a figure of a source does for one of the claim: a date with a day does for the year, not the other way round."""
    return ours.agrees(theirs) and not (ours.kind == "date" and _date_parts(ours) - _date_parts(theirs))


def _date_parts(figure: Quantity) -> set[tuple[str, str]]:
    if figure.kind == "date":
        return {part for value in figure.values for part in zip("ymd", str(value).split("-"), strict=False) if "?" not in part[1]}
    if figure.kind == "month":
        return {("m", str(value)) for value in figure.values}
    return {("y", f"{value:.0f}") for value in figure.floats}


def differences(alignment: Alignment) -> Iterator[Difference]:
    """What differs between a claim and the sentences along which it is laid."""
    if len(alignment.tokens) < SENTENCE:
        yield from _around_figures(alignment)
        return
    found = [*_claim_side(alignment), *_source_side(alignment), *_around_figures(alignment), *_pronouns(alignment)]
    serious = [one.sort for one in found if one.sort not in TRIVIAL]
    if not serious or (len(serious) == 1 and serious[0].startswith("order changed")):
        return
    yield from found
    used = {alignment.places[at].sentence for at in alignment.used}
    if len(used) <= 1:
        low, high = alignment.matter.evidence.span(used.pop()) if used else (0, 0)
        yield Difference(
            REWORDED, alignment.matter.parts.text, alignment.matter.text(alignment.places[0].sentence)[low:high] if high else ""
        )
    if missing := 1 - alignment.matter.parts.share(union(alignment.matter.windows)):
        yield Difference("missing share", alignment.matter.parts.text, "", missing)


def _claim_side(alignment: Alignment) -> Iterator[Difference]:
    """What the claim adds, and where it leaves the order of its sentences."""
    tokens, places, spans = alignment.tokens, alignment.places, alignment.spans
    used = alignment.used
    last = laid = None
    clauses = {(places[at].sentence, places[at].segment) for at in used}
    rivals = {
        place.token.value[0]: alignment.source_words(at, at)
        for at, place in enumerate(places)
        if place.token.kind == "operator"
        and at not in used | {*alignment.elsewhere.values()}
        and (place.sentence, place.segment) in clauses
    }
    for number, at in enumerate(alignment.path):
        token = tokens[number]
        words = alignment.claim_words(token)
        if at is None:
            if number in alignment.elsewhere:
                yield Difference(f"{token.value[0]} moved", words, alignment.source_words(*[alignment.elsewhere[number]] * 2))
            elif token.kind == "operator":
                rival = rivals.get(token.value[0], "")
                yield Difference("weak added" if token.value in WEAK else f"{token.value[0]} added", words, rival)
                if rival:
                    yield Difference(f"{token.value[0]} replaced", words, rival)
            else:
                yield Difference(f"{token.kind} unplaced", words)
            continue
        if last is None or laid is None:
            stands_in = _stands_for_subject(alignment)
            if alignment.own_words_before(at, used) and not stands_in:
                yield Difference("lead left out", words, alignment.lead_of(at))
            before = places[at - 1] if at and at - 1 not in used and places[at - 1].sentence == places[at].sentence else None
            if before is not None and before.token.kind in ("word", "light", "sign") and _adjoins(alignment, at) and not stands_in:
                yield Difference("first modifier dropped", words, alignment.source_words(at - 1, at))
        else:
            where = "clauses" if spans[number] != spans[laid] else "clause"
            one, other = places[last], places[at]
            if one.sentence != other.sentence:
                yield Difference(f"sentence changed, {where}", words)
                if alignment.own_words_before(at, used):
                    yield Difference(f"subject left out, {where}", words, alignment.lead_of(at))
            elif at < last:
                yield Difference(f"order changed, {where}", words, alignment.source_words(at, last))
            else:
                yield from _gap(alignment, laid, number, last, at, used)
                skipped = alignment.words_between(last + 1, at)
                if skipped:
                    yield Difference(f"words skipped, {where}", words, alignment.source_words(last, at), min(skipped, 3))
                if one.clause != other.clause:
                    yield Difference(f"clause changed, {where}", words)
        if token.kind == "operator":
            theirs = alignment.next_weighty_place(at)
            if theirs is not None and theirs != alignment.next_weighty(number):
                yield Difference(f"{token.value[0]} moved", words, alignment.source_words(at, theirs))
        last, laid = at, number
    yield from _exchanged(alignment)
    yield from _scope(alignment)


def _exchanged(alignment: Alignment) -> Iterator[Difference]:
    """Words and figures from elsewhere, between two neighbours that stand beside each other: what an exchange leaves."""
    tokens, places = alignment.tokens, alignment.places
    laid = [(number, at) for number, at in enumerate(alignment.path) if at is not None]
    for (before, one), (number, at), (after, other) in zip(laid, laid[1:], laid[2:], strict=False):
        if tokens[number].kind not in ("word", "figure", "sign") or places[one].sentence != places[other].sentence:
            continue
        beside = 0 < other - one <= NEAR and after - before <= NEAR
        if beside and not (one < at < other):
            yield Difference(f"exchanged {tokens[number].kind}", alignment.claim_words(tokens[number]), alignment.source_words(one, other))


def _scope(alignment: Alignment) -> Iterator[Difference]:
    """For whom, where or when a sentence says something, before its comma, of which the claim has nothing: "For members, entry is free"."""
    evidence, used = alignment.matter.evidence, alignment.used
    placing = reading_words(evidence.stems.tongue)["placing"]
    for sentence in sorted({alignment.places[at].sentence for at in used}):
        clauses, text = evidence.clauses(sentence), alignment.matter.text(sentence)
        taken = {alignment.places[at].clause for at in used if alignment.places[at].sentence == sentence}
        first = LETTERS.search(text, *evidence.span(sentence))
        if len(clauses) > 1 and 0 not in taken and first is not None and folded(first.group()) in placing and text[clauses[0].end] == ",":
            yield Difference("scope left out", "", text[first.start() : clauses[0].end])


_STRENGTH: tuple[TokenKind, ...] = ("figure", "operator", "sign", "word", "light")


def _gap(alignment: Alignment, laid: int, number: int, last: int, at: int, used: Collection[int]) -> Iterator[Difference]:
    """What stands between two neighbours in the claim and between them in the sentence."""
    tokens, places = alignment.tokens, alignment.places
    ours = {token.kind for token in tokens[laid + 1 : number]}
    theirs = {places[there].token.kind for there in range(last + 1, at) if there not in used}
    mine = next((kind for kind in _STRENGTH if kind in ours), None)
    yours = next((kind for kind in _STRENGTH if kind in theirs), None)
    claim = alignment.matter.parts.text[tokens[laid].start : tokens[number].end]
    source = alignment.source_words(last, at)
    if mine and yours:
        yield Difference(f"{mine} for {yours}", claim, source)
    elif mine:
        yield Difference(f"{mine} inserted", claim, source)
    elif yours:
        yield Difference(f"{yours} dropped", claim, source)
        if at == last + 2 and yours in ("word", "light", "sign") and tokens[number].kind in WEIGHTY and _adjoins(alignment, at):
            yield Difference("modifier dropped", claim, source)
    elif tokens[number].small != places[at].token.small and not tokens[laid].kind == tokens[number].kind == "figure":
        one, other = tokens[number].small, places[at].token.small
        placing = reading_words(alignment.matter.evidence.stems.tongue)["placing"]
        here, there = [w for w in one if w in placing], [w for w in other if w in placing]
        sort = "small words changed" if here == there else "preposition changed" if one and other else "preposition gone"
        yield Difference(sort, claim, source)


def _adjoins(alignment: Alignment, at: int) -> bool:
    """Whether only a blank or hyphen parts a place from the one before it."""
    one, other = alignment.places[at - 1], alignment.places[at]
    return alignment.matter.text(other.sentence)[one.token.end : other.token.start] in (" ", "-")


def _source_side(alignment: Alignment) -> Iterator[Difference]:
    """What stands in the clauses that the claim uses, and not in it."""
    tokens, places = alignment.tokens, alignment.places
    used = alignment.used
    weighty = [places[at] for at in used if places[at].token.kind in ("word", "figure")] or [places[at] for at in used]
    clauses = {(place.sentence, place.clause) for place in weighty}
    segments = {(place.sentence, place.segment) for place in weighty}
    signs = {token.value for token in tokens if token.kind == "sign"}
    subject = _lead(alignment) if _stands_for_subject(alignment) else range(0)
    last: dict[tuple[int, int], int] = {}
    for at in used:
        clause = places[at].sentence, places[at].clause
        last[clause] = max(at, last.get(clause, at))
    for at, place in enumerate(places):
        token = place.token
        if at in used or at in alignment.elsewhere.values() or (at in subject and token.kind == "word"):
            continue
        in_clause, in_segment = (place.sentence, place.clause) in clauses, (place.sentence, place.segment) in segments
        words = alignment.source_words(at, at)
        if token.kind == "operator":
            if in_clause:
                yield Difference(f"free {token.value[0]} left out" if token.value in FREE else f"{token.value[0]} left out", "", words)
            elif in_segment and token.value[0] in _WIDE:
                yield Difference(f"{token.value[0]} left out nearby", "", words)
        elif token.kind == "sign" and in_clause:
            yield Difference("sign left out", "", words)
            if (token.value[0], -token.value[1]) in signs:
                yield Difference("opposite", "", words)
        elif token.kind == "word" and in_clause and not alignment.bits[at]:
            yield Difference("word left out" if at < last.get((place.sentence, place.clause), at) else "tail left out", "", words)
        elif token.kind == "figure" and in_clause:
            yield Difference("figure left out", "", words)


def _around_figures(alignment: Alignment) -> Iterator[Difference]:
    """Figures with another limit, end of a range or side before them."""
    matter = alignment.matter
    theirs: dict[tuple[int, int], Around] = {}
    for at in matter.numbers:
        theirs |= {(at, figure.start): around for figure, around in matter.evidence.once(arounds, at)}
    laid = {
        alignment.tokens[number].start: at
        for number, at in enumerate(alignment.path)
        if at is not None and alignment.tokens[number].kind == "figure"
    }
    for figure, ours in matter.around:
        if figure.start not in laid:
            continue
        here = laid[figure.start]
        place = alignment.places[here]
        other = theirs.get((place.sentence, place.token.start))
        for name in ("limit", "end", "side"):
            same_range = name == "side" and ours.end and other is not None and ours.end == other.end
            if other is not None and not same_range and getattr(ours, name) != getattr(other, name):
                yield Difference(f"{name} of a figure", matter.parts.text[figure.start : figure.end], alignment.source_words(here, here))


def _pronouns(alignment: Alignment) -> Iterator[Difference]:
    """Sentences that begin with a pronoun, whose subject stands elsewhere."""
    matter, pronouns = alignment.matter, _pronouns_of(alignment)
    for at in sorted({alignment.places[place].sentence for place in alignment.path if place is not None}):
        low, high = matter.evidence.span(at)
        word = _first_word(matter.text(at), low, high)
        if word in pronouns and word != _first_word(matter.parts.text, 0, len(matter.parts.text)):
            yield Difference("pronoun", "", word)


def _stands_for_subject(alignment: Alignment) -> bool:
    """Whether the claim begins with what stands for the subject of its sentence: "It opens" for "The museum opens", "The museum opens"
    for "The Fenholm museum opens"."""
    matter = alignment.matter
    word = _first_word(matter.parts.text, 0, len(matter.parts.text))
    lead = (alignment.places[at] for at in _lead(alignment))
    tongue = matter.evidence.stems.tongue
    return word in _pronouns_of(alignment) or (
        word in DEFINITE and any(is_name(matter.text(one.sentence), one.token.start, one.token.end, tongue) for one in lead)
    )


def _lead(alignment: Alignment) -> range:
    """The places of its clause before the first that is used."""
    first = next((at for at in alignment.path if at is not None), None)
    if first is None:
        return range(0)
    place = alignment.places[first]
    return range(next(at for at in range(first + 1) if alignment.places[at][1:3] == place[1:3]), first)


def _pronouns_of(alignment: Alignment) -> set[str]:
    """Pronouns that stand for a subject."""
    return {*SUBJECTS[alignment.matter.evidence.stems.tongue], "es"}


def _first_word(text: str, low: int, high: int) -> str:
    """The first word between two characters, folded."""
    match = LETTERS.search(text, low, high)
    return folded(match.group()) if match else ""
