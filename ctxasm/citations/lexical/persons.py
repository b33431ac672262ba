"""Whom a claim puts in the place of a pronoun: a name that the source has only after the pronoun, or "his" for "her"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.words import Tongue
from ctxasm.model.support import Gated

_SUBJECTS: dict[Tongue, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:he|she|it|they)\b", re.IGNORECASE),
    "nl": re.compile(r"\b(?:hij|zij|ze)\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:er|sie)\b", re.IGNORECASE),
}
_OWNERS = ("his zijn sein seine seinen seinem seiner seines", "her haar ihr ihre ihren ihrem ihrer ihres their hun", "its")
"""Words that say whose something is, those of one owner together; German and Dutch have one for "her" and "their"."""
_OWNER_OF = {word: owner for owner, words in enumerate(_OWNERS) for word in words.split()}
_OWNED = re.compile(rf"\b({'|'.join(_OWNER_OF)})\s+(\w+)", re.IGNORECASE)


def find_persons(matter: Matter) -> Iterator[Gated]:
    """A name for a pronoun that stands before it, or another owner of the same."""
    yield from _named_later(matter)
    yield from _owners(matter)


def _named_later(matter: Matter) -> Iterator[Gated]:
    """A clause of the claim with words of a sentence that has a pronoun, all others being first told of in a later one."""
    parts, evidence = matter.parts, matter.evidence
    pronoun = _SUBJECTS[evidence.stems.tongue]
    if pronoun.search(parts.text):
        return
    for low, high in matter.spans:
        bits = matter.between(low, high) & (parts.heavy | parts.all_quantities)
        for clause in matter.clauses:
            at, text, held = clause.sentence, matter.text(clause.sentence), clause.mask & bits
            named = bits & parts.heavy & ~matter.held(at)
            speaks_of_it = named and parts.weight(held) > parts.weight(named)
            if not speaks_of_it or not pronoun.search(text, clause.source.start, clause.source.end):
                continue
            told = [place for form, mask in parts.forms.items() if mask & named for place in evidence.postings.get(form, ())]
            if min(told, default=at) > at and _is_of_one_source(matter, at, named):
                yield Gated("roles", parts.text[low:high].strip(), text[clause.source.start : clause.source.end].strip())
                return


def _is_of_one_source(matter: Matter, at: int, bits: int) -> bool:
    """Whether the sentences that hold some bits are of the source of another sentence."""
    sentences = matter.evidence.sentences
    return all(sentences[other].source == sentences[at].source for other in matter.numbers if matter.held(other) & bits)


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
