"""Whom a claim puts in the place of a pronoun: a name that the source has only after the pronoun, or "his" for "her"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from operator import or_

from ctxasm.citations.lexical.asserted import topics_of
from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.words import Tongue
from ctxasm.model.support import Gated

_SUBJECTS: dict[Tongue, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:he|she|it|they)\b", re.IGNORECASE),
    "nl": re.compile(r"\b(?:hij|zij|ze)\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:er|sie)\b", re.IGNORECASE),
}
SPEAKS = 2
"""Words of the claim in a sentence that says the same of somebody."""
LONGEST_PERSON = 4
"""Words of a name with what somebody is."""
_NAME = re.compile(r"\b(?=([^\W\d_a-zäöü][\w'’-]+)(?:\s+(?:van|de|den|der|von|ter|of|di|la|le))*\s+([^\W\d_a-zäöü][\w'’-]+))")
_OWNERS = ("his zijn sein seine seinen seinem seiner seines", "her haar ihr ihre ihren ihrem ihrer ihres their hun", "its")
"""Words that say whose something is, those of one owner together; German and Dutch have one for "her" and "their"."""
_OWNER_OF = {word: owner for owner, words in enumerate(_OWNERS) for word in words.split()}
_OWNED = re.compile(rf"\b({'|'.join(_OWNER_OF)})\s+(\w+)", re.IGNORECASE)


def find_persons(matter: Matter) -> Iterator[Gated]:
    """A name for a pronoun that cannot stand for it, or another owner of the same."""
    yield from _misnamed(matter)
    yield from _owners(matter)


def _misnamed(matter: Matter) -> Iterator[Gated]:
    """A clause of the claim with words of a sentence that has a pronoun, all others being told of in a later one only, or before another
    person was named."""
    parts, evidence = matter.parts, matter.evidence
    pronoun = _SUBJECTS[evidence.stems.tongue]
    if pronoun.search(parts.text):
        return
    topics = topics_of(matter)
    for low, high in matter.spans:
        bits = matter.between(low, high) & ~topics
        for clause in matter.clauses if bits else ():
            at, text = clause.sentence, matter.text(clause.sentence)
            named = bits & parts.heavy & ~matter.held(at)
            if not (clause.mask & bits and 0 < named.bit_count() <= LONGEST_PERSON and matter.held(at).bit_count() >= SPEAKS):
                continue
            found = pronoun.search(text, clause.source.start, clause.source.end)
            if found is None or _held_before(matter, clause, found.start()) & parts.names:
                continue
            if not _may_be_meant(matter, at, found.start(), named):
                yield Gated("roles", parts.text[low:high].strip(), text[clause.source.start : clause.source.end].strip())
                return


def _held_before(matter: Matter, clause: Clause, end: int) -> int:
    """The bits that a clause holds before a character."""
    return reduce(or_, (matter.parts.forms.get(word.key, 0) for word in clause.source.words if word.start < end), 0)


def _may_be_meant(matter: Matter, at: int, start: int, named: int) -> bool:
    """Whether a pronoun at a character of a sentence may stand for some words of the claim: one of them is told of before it, and no other
    person between. What another source tells of, or none, is not asked."""
    evidence = matter.evidence
    source = evidence.of_source[evidence.sentences[at].source]
    told = {place for form, mask in matter.parts.forms.items() if mask & named for place in evidence.postings.get(form, ())}
    if not told or not told <= {*source}:
        return True
    before = [place for place in told if place < at]
    if not before:
        return False
    between = range(max(before) + 1, at + 1)
    return not any(_names_a_person(matter, place, start if place == at else evidence.sentences[place].end) for place in between)


def _names_a_person(matter: Matter, at: int, end: int) -> bool:
    """Whether a sentence has, before a character, two words with content next to each other that begin with capitals."""
    key = matter.evidence.stems.key
    return any(key(match[1]) and key(match[2]) for match in _NAME.finditer(matter.text(at), matter.evidence.span(at)[0], end))


def _owners(matter: Matter) -> Iterator[Gated]:
    """ "His logbooks" where the sources have "her logbooks" only."""
    key = matter.evidence.stems.key
    theirs: dict[str, dict[int, str]] = {}
    for at in matter.numbers:
        for match in _OWNED.finditer(matter.text(at), *matter.evidence.span(at)):
            theirs.setdefault(key(match[2]), {})[_OWNER_OF[match[1].casefold()]] = match.group()
    for match in _OWNED.finditer(matter.parts.text):
        known = theirs.get(key(match[2]))
        if known and _OWNER_OF[match[1].casefold()] not in known:
            yield Gated("roles", match.group(), next(iter(known.values())))
            return
