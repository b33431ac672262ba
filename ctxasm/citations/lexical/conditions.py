"""Words that narrow what is said: exceptions, conditions and words such as "always" and "only"."""

from __future__ import annotations

import re

from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.text.terms import folded

_EXCEPTING = re.compile(
    r"\b(?:behalve|uitgezonderd|tenzij|met uitzondering van|except|excluding|unless|other than|apart from|ausser|außer|sofern nicht)\b",
    re.IGNORECASE,
)
_NARROWING = re.compile(
    r"\b(?:alleen|enkel|slechts|uitsluitend|pas|only|just|nur|als|wanneer|indien|mits|if|when|wenn|falls|anders|otherwise|sonst)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[;:()\n]|\b(?:but|then|maar|dan|aber|dann)\b", re.IGNORECASE)
"""What ends a list of exceptions."""
_STRONG = (
    frozenset(("altijd", "steeds", "always", "immer", "constantly")),
    frozenset(("alleen", "enkel", "uitsluitend", "slechts", "only", "exclusively", "solely", "nur")),
    frozenset(("alle", "allemaal", "iedereen", "all", "everyone", "everybody", "everything", "alles")),
)
"""Words that say more than the same claim without them."""


def is_narrowed(matter: Matter, at: int) -> bool:
    """Whether the claim or a sentence of its sources has an exception or a condition: what differs may then be meant so."""
    sentence = matter.evidence.sentences[at]
    texts = (matter.parts.text, matter.text(at)[sentence.start : sentence.end])
    return any(_EXCEPTING.search(text) or _NARROWING.search(text) for text in texts)


def rests_on_exception(matter: Matter) -> bool:
    """Whether the sources have a word of weight of the claim only in what they except, and the claim names no exception."""
    if _EXCEPTING.search(matter.parts.text):
        return False
    excepted = free = 0
    for clause in matter.clauses:
        if _is_excepted(matter, clause):
            excepted |= clause.mask
        else:
            free |= clause.mask
    return bool(excepted & ~free & matter.parts.heavy)


def _is_excepted(matter: Matter, clause: Clause) -> bool:
    """Whether a clause begins with an exception, or goes on with a list of them ("except in A, the ward B and C")."""
    text, sentence = matter.text(clause.sentence), matter.evidence.sentences[clause.sentence]
    before = sentence.start
    for other in matter.clauses:
        if other.sentence == clause.sentence and other.source.segment < clause.source.segment:
            before = max(before, other.source.end)
    for found in _EXCEPTING.finditer(text, max(before, sentence.start), clause.source.end):
        own = found.start() >= clause.source.start - 24 and found.end() <= clause.source.end
        listed = found.start() > sentence.start and not _GOES_ON.search(text, found.end(), clause.source.end)
        if own or listed:
            return True
    return False


def overstates(matter: Matter) -> bool:
    """Whether the claim says "always", "only" or "all" where its sources do not."""
    ours = {folded(word) for word in re.findall(r"[^\W\d_]+", matter.parts.text)}
    wanted = [group for group in _STRONG if group & ours]
    if not wanted:
        return False
    theirs: set[str] = set()
    for at in matter.numbers:
        sentence = matter.evidence.sentences[at]
        theirs |= {folded(word) for word in re.findall(r"[^\W\d_]+", matter.text(at)[sentence.start : sentence.end])}
    return any(not group & theirs for group in wanted)
