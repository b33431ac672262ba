"""What a claim denies and its sources affirm, or the other way round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.parts import Stretch
from ctxasm.citations.lexical.polarity import Said, without_prefix
from ctxasm.model.support import Conflict, ConflictKind

_FORBIDDING = frozenset(("§may", "§must"))
"""Concepts whose opposite denies what a clause is about ("forbidden")."""
ABOUT = 0.6
"""The share of a claim's clause that a clause must hold to contradict it."""
_CLOSING = frozenset(("§open",))
"""Concepts whose light word, "closed", no source may lack."""
SHARED = 2
"""Words of weight that a clause must share with a claim to speak of it."""
_REFUSING = frozenset(("§may", "§must", "§stop", "§accept"))
"""Concepts whose opposite is a denial in itself: "forbidden", "stop"."""
_RELATING = frozenset(("§before", "§more"))
"""Concepts that say how two things stand to each other."""


def has_signs(matter: Matter) -> bool:
    """Whether the claim or its windows deny anything, or have a word that says the opposite of another: else nothing is found."""
    return matter.parts.has_signs or any(matter.evidence.has_signs(at) for at in matter.numbers)


def denied_conflicts(matter: Matter, stretch: Stretch) -> Iterator[Conflict | None]:
    """A concept that a clause of the claim affirms and the source, on the same matter, denies, or the other way round.

    None where an exception, a condition or another clause of the same sentence may explain it.
    """
    every = matter.signed
    inside = [said for said in matter.said if stretch.start <= said.end and said.start < stretch.end]
    for ours in inside:
        base = without_prefix(ours.concept, matter.evidence.stems)
        if (ours.concept, -ours.sign) not in every and (base, ours.sign) not in every:
            continue
        if any(other.concept == ours.concept and other.sign != ours.sign for other in inside):
            continue
        own = sum(1 << bit for bit, word in enumerate(matter.parts.words) if ours.start <= word.start < ours.end)
        theirs = _said(matter, stretch.mask & ~own)
        known, sign = theirs.get(ours.concept), ours.sign
        if known is None and base in theirs:
            known, sign = theirs[base], -sign
        if known is not None and sign not in known:
            kind: ConflictKind = "opposite" if ours.concept.startswith("§") or sign != ours.sign else "negation"
            at, said = known[-sign]
            alike = kind == "negation" or ours.concept in _REFUSING or (ours.denied and sign == ours.sign)
            around = matter.said if _is_listed(matter, ours) else _around(matter, ours)
            if not alike or not (_refuses(around) and _refuses(_beside(matter, at, said))):
                open_to_doubt = matter.is_narrowed(at) or _says_both(matter, at, said.concept) or not _is_about(matter, at, said, stretch)
                open_to_doubt = open_to_doubt or _is_turned_round(matter, ours, at, said)
                yield None if open_to_doubt else matter.conflict(kind, ours, at, said)


def _is_about(matter: Matter, at: int, said: Said, stretch: Stretch) -> bool:
    """Whether the clause that says otherwise holds most of the claim's clause: two words of weight and `ABOUT` of all."""
    clause, heavy = _clause_of(matter, at, said), stretch.mask & matter.parts.heavy
    if clause is None:
        return False
    held = clause.mask & heavy
    return held.bit_count() >= SHARED and matter.parts.weight(held) >= ABOUT * matter.parts.weight(heavy)


def _says_both(matter: Matter, at: int, concept: str) -> bool:
    """Whether a sentence affirms and denies the same concept."""
    return len({said.sign for said in matter.evidence.said(at) if said.concept == concept}) > 1


def _is_turned_round(matter: Matter, ours: Said, at: int, theirs: Said) -> bool:
    """Whether what stands on either side of a relation stands on the other side of its opposite: "A after B", "B before A"."""
    if ours.concept not in _RELATING:
        return False
    words = [word for clause in matter.clauses if clause.sentence == at for word in clause.source.words]
    left = right = 0
    for word in words:
        bits = matter.parts.forms.get(word.key, 0) & matter.parts.heavy
        left |= bits if word.end <= theirs.start else 0
        right |= bits if word.start >= theirs.end else 0
    before, after = matter.between(0, ours.start), matter.between(ours.end, len(matter.parts.text))
    return bool(before & ~after & right & ~left and after & ~before & left & ~right)


def _refuses(said: Sequence[Said]) -> bool:
    """Whether anything is denied, or refused by a word of its own: two clauses that both do may put it on different words."""
    return any((one.denied and not one.bare) or (one.sign < 0 and one.concept in _FORBIDDING) for one in said)


def _is_listed(matter: Matter, ours: Said) -> bool:
    """Whether the clause of the claim that holds a word has no other, as in a list: "tea and milk may not be sold"."""
    spans = [(low, high) for low, high in matter.spans if low <= ours.start < high]
    return sum(low <= word.start < high for low, high in spans for word in matter.words) == 1


def _around(matter: Matter, ours: Said) -> list[Said]:
    """What the clauses of the claim that hold some words say."""
    spans = [(low, high) for low, high in matter.spans if low <= ours.end and ours.start < high]
    return [said for said in matter.said if any(low <= said.end and said.start < high for low, high in spans)]


def _beside(matter: Matter, at: int, said: Said) -> list[Said]:
    """What the clause that holds some words says."""
    clause = _clause_of(matter, at, said)
    if clause is None:
        return []
    return [other for other in matter.evidence.said(at) if clause.source.start <= other.end and other.start < clause.source.end]


def _clause_of(matter: Matter, at: int, said: Said) -> Clause | None:
    for clause in matter.clauses:
        if clause.sentence == at and clause.source.start <= said.end and said.start < clause.source.end:
            return clause
    return None


def _said(matter: Matter, others: int) -> dict[str | None, dict[int, tuple[int, Said]]]:
    """What the source says on the matter of some bits: by concept, by sign, the sentence and the words."""
    found: dict[str | None, dict[int, tuple[int, Said]]] = {}
    for clause in matter.same_clauses(others):
        for said in matter.evidence.said(clause.sentence):
            if clause.source.start <= said.end and said.start < clause.source.end:
                found.setdefault(said.concept, {}).setdefault(said.sign, (clause.sentence, said))
    return found


def lonely_denials(matter: Matter) -> int:
    """Denials that stand alone, as bits of the claim, or 1 where they are no bits of it.

    Of the claim where its sources deny nothing; of the sources, in a clause that is needed, where the claim denies nothing; of
    either where the other only affirms the same concept.
    """
    ours = [said for said in matter.said if said.denied and said.concept != "§more"]
    concepts = {said.concept for said in ours}
    every = [(at, said) for at in matter.numbers for said in matter.evidence.said(at)]
    theirs = [(at, said) for at, said in every if said.denied or (said.sign < 0 and said.concept in concepts | _REFUSING)]
    closing = {said.concept for said in matter.said if said.sign < 0} & _CLOSING
    if not theirs and closing - {said.concept for _, said in every}:
        return 1
    if ours and not theirs:
        return matter.bits(frozenset(concepts)) or 1
    affirms = not any(said.sign < 0 for said in matter.said)
    if theirs and affirms and any(matter.is_needed(clause) for clause in matter.clauses if _is_denied(matter, clause, theirs)):
        return 1
    known = {(said.concept, said.sign) for _, said in every}
    opposed = [said for said in matter.said if (said.concept, -said.sign) in known and (said.concept, said.sign) not in known]
    return matter.bits(frozenset(said.concept for said in opposed if _is_opposed(matter, said, every)))


def _is_opposed(matter: Matter, ours: Said, every: Sequence[tuple[int, Said]]) -> bool:
    """Whether a clause that says the opposite speaks of the claim, and does not refuse in other words what the claim denies."""
    for at, theirs in every:
        if (theirs.concept, theirs.sign) == (ours.concept, -ours.sign):
            clause = _clause_of(matter, at, theirs)
            shared = clause is not None and (
                (clause.mask & matter.parts.heavy).bit_count() >= SHARED or not matter.has_other_words(clause, matter.parts.everything)
            )
            if shared and not (_refuses(_around(matter, ours)) and _refuses(_beside(matter, at, theirs))):
                return True
    return False


def _is_denied(matter: Matter, clause: Clause, denials: Sequence[tuple[int, Said]]) -> bool:
    """Whether a clause denies anything; one word of a list ("Tea, coffee and milk may not") does where the list goes on to."""
    if len(clause.source.words) > 1:
        return _denies(clause, denials)
    place = clause.sentence, clause.source.segment
    return any(_denies(other, denials) for other in matter.clauses if (other.sentence, other.source.segment) == place)


def _denies(clause: Clause, denials: Sequence[tuple[int, Said]]) -> bool:
    return any(at == clause.sentence and clause.source.start <= said.start < clause.source.end for at, said in denials)
