"""Whom a claim puts in the place of a pronoun: a name that the source has only after the pronoun, or "his" for "her"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import reduce
from itertools import islice
from operator import or_

from ctxasm.citations.lexical.asserted import topics_of
from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.words import LETTERS, SUBJECTS
from ctxasm.model.support import Gated

_SUBJECTS = {tongue: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE) for tongue, words in SUBJECTS.items()}
SPEAKS = 2
"""Words of the claim in a sentence that says the same of somebody."""
LONGEST_PERSON = 4
"""Words of a name with what somebody is."""
_NAME = re.compile(r"\b(?=([^\W\d_a-zäöü][\w'’-]+)(?:\s+(?:van|de|den|der|von|ter|of|di|la|le))*\s+([^\W\d_a-zäöü][\w'’-]+))")
_PLACED = re.compile(
    r"\b(?i:in|im|at|near|during|op|bij|tijdens|bei|beim|während)\s+(?:(?i:the|de|het|der|den|dem|des)\s+)?"
    r"(?:[^\W\d_a-zäöü][\w'’-]*\s+)*$"
)
"""What makes a name behind it a place or time, whatever it begins with: "in North America", "during the Spanish Civil War"."""
LONGEST_PLACE = 60
"""Characters before a name that it is looked for in."""
_OWNERS = ("his zijn sein seine seinen seinem seiner seines", "her haar ihr ihre ihren ihrem ihrer ihres")
"""Words that say whose something is, those of one owner together; "their" and "its" may say the same of either."""
_OWNER_OF = {word: owner for owner, words in enumerate(_OWNERS) for word in words.split()}
_OWNED = re.compile(rf"\b(?:({'|'.join(_OWNER_OF)})\s+(?:or|of|oder)\s+)?({'|'.join(_OWNER_OF)})\s+(\w+)", re.IGNORECASE)


_SEXES = ("he him himself hij", "she herself zij ze")
_SEX_OF = {word: sex for sex, words in enumerate(_SEXES) for word in words.split()}
_SEX_THERE = _SEX_OF | {"his": 0, "hem": 0, "her": 1, "hers": 1}
"""Of a source also what may be said of somebody else: it only keeps from refusing."""


def find_persons(matter: Matter) -> Iterator[Gated]:
    """A name for a pronoun that cannot stand for it, or another owner of the same."""
    yield from _misnamed(matter)
    yield from _owners(matter)
    yield from _other_sex(matter)


def _misnamed(matter: Matter) -> Iterator[Gated]:
    """A clause of the claim with words of a sentence that has a pronoun, all others being told of in a later one only, or before another
    person was named."""
    parts = matter.parts
    if _SUBJECTS[matter.evidence.stems.tongue].search(parts.text):
        return
    pronouns = list(_pronouns(matter))
    topics = topics_of(matter) if pronouns else 0
    meant: dict[tuple[int, int], bool] = {}
    for (low, high), held in zip(matter.spans, matter.in_spans, strict=True) if pronouns else ():
        bits = held & ~topics
        for clause, start in pronouns:
            named = bits & parts.heavy & ~matter.held(clause.sentence)
            if not (clause.mask & bits and 0 < named.bit_count() <= LONGEST_PERSON):
                continue
            if (start, named) not in meant:
                meant[start, named] = _may_be_meant(matter, clause.sentence, start, named)
            if not meant[start, named]:
                yield Gated("roles", parts.text[low:high].strip(), _text_of(matter, clause))
                return


def _pronouns(matter: Matter) -> Iterator[tuple[Clause, int]]:
    """The clauses with a pronoun and none of the claim's names before it, and where that stands, in sentences that hold enough."""
    pronoun = _SUBJECTS[matter.evidence.stems.tongue]
    for clause in matter.clauses:
        found = pronoun.search(matter.text(clause.sentence), clause.source.start, clause.source.end)
        if found is None or matter.held(clause.sentence).bit_count() < SPEAKS:
            continue
        if not _held_before(matter, clause, found.start()) & matter.parts.names:
            yield clause, found.start()


def _held_before(matter: Matter, clause: Clause, end: int) -> int:
    """The bits that a clause holds before a character."""
    return reduce(or_, (matter.parts.forms.get(word.key, 0) for word in clause.source.words if word.start < end), 0)


def _text_of(matter: Matter, clause: Clause) -> str:
    return matter.text(clause.sentence)[clause.source.start : clause.source.end].strip()


def _may_be_meant(matter: Matter, at: int, start: int, named: int) -> bool:
    """Whether a pronoun at a character of a sentence may stand for some words of the claim: one of them is told of before it, and no other
    person between. What another source tells of, or none, is not asked."""
    evidence = matter.evidence
    source = evidence.of_source[evidence.sentences[at].source]
    told = {place for form, mask in matter.parts.forms.items() if mask & named for place in evidence.postings.get(form, ())}
    if not told or min(told) < source.start or max(told) >= source.stop:
        return True
    last = max((place for place in told if place < at), default=None)
    if last is None:
        return False
    persons = evidence.once(_persons, source.start)
    after = bisect_left(persons, (last + 1, 0))
    return after == len(persons) or persons[after] > (at, start)


def _persons(evidence: Evidence, first: int) -> list[tuple[int, int]]:
    """The sentences, of the source of one, that name a person, with where the first such name ends: two words with content next to each
    other that begin with capitals, and no place."""
    key, found = evidence.stems.key, list[tuple[int, int]]()
    for at in evidence.of_source[evidence.sentences[first].source]:
        text, (low, high) = evidence.text(at), evidence.span(at)
        names = (match for match in _NAME.finditer(text, low, high) if key(match[1]) and key(match[2]))
        persons = (match for match in names if not _PLACED.search(text[max(low, match.start() - LONGEST_PLACE) : match.start()]))
        found += ((at, match.end(2)) for match in islice(persons, 1))
    return found


def _owners(matter: Matter) -> Iterator[Gated]:
    """ "His logbooks" where the sources have "her logbooks" only; in Dutch of somebody who is named, for a town is either."""
    key = matter.evidence.stems.key
    if matter.evidence.stems.tongue == "nl" and not _NAME.search(matter.parts.text):
        return
    theirs: dict[str, dict[int, str]] = {}
    for at in matter.numbers:
        for match in _OWNED.finditer(matter.text(at), *matter.evidence.span(at)):
            theirs.setdefault(key(match[3]), {}).update(dict.fromkeys(_owners_in(match), match.group()))
    for match in _OWNED.finditer(matter.parts.text):
        known = theirs.get(key(match[3]))
        if known and known.keys().isdisjoint(_owners_in(match)):
            yield Gated("roles", match.group(), next(iter(known.values())))
            return


def _owners_in(match: re.Match[str]) -> set[int]:
    """One owner, or two: "his or her card"."""
    return {_OWNER_OF[word.casefold()] for word in match.groups()[:2] if word}


def _other_sex(matter: Matter) -> Iterator[Gated]:
    """ "He" where the sources have "she" only."""
    said = {sex: word for word in LETTERS.findall(matter.parts.text) if (sex := _SEX_OF.get(word.casefold())) is not None}
    if len(said) != 1 or matter.evidence.stems.tongue == "de":
        return
    ((sex, ours),) = said.items()
    there = [word for at in matter.numbers for word in LETTERS.findall(matter.text(at), *matter.evidence.span(at))]
    sexes = {other: word for word in there if (other := _SEX_THERE.get(word.casefold())) is not None}
    told = next((word for word in there if _SEX_OF.get(word.casefold(), sex) != sex), "")
    if told and sex not in sexes:
        yield Gated("roles", ours, told)
