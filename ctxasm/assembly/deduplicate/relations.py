"""Which candidates say the same, worked out once for an assembly: exactly, in nearly the same words, or in meaning.

A pair has one relation, the strongest: exact before near before semantic. Neighbours in a document are only ever exact
copies: what else they share is overlap. A chunk that stands word for word inside another leaves when that one is kept, never
the other way round: the larger one says more. Near and semantic copies must say the same figures, names and negations.

`dedup_keep=newest`: of copies in documents of different dates the newer one stays, whatever its score and whatever fits; an
older text next to its successor, or instead of it, would be the stale answer winning by luck. There a change of figures is
no reason to keep both, where the documents are editions of one another (same title but for its numbers, else same source).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from ctxasm.assembly.deduplicate.links import Link, links_of
from ctxasm.assembly.steps import NO_RELATIONS, Related, Relations
from ctxasm.model.events import Likeness, Promoted
from ctxasm.model.ports import ChunkVectors
from ctxasm.model.records import Document
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.chunk_facts import duplicate_key
from ctxasm.text.dates import Period, period_of

_STRONGEST_FIRST: tuple[Likeness, ...] = ("exact", "near", "semantic")
STRENGTH: Mapping[Likeness, int] = {likeness: place for place, likeness in enumerate(_STRONGEST_FIRST)}


def relations_of(
    candidates: Mapping[Key, Candidate],
    settings: AssemblySettings,
    vectors: ChunkVectors | None = None,
    documents: Mapping[str, Document] | None = None,
) -> Relations:
    """All relations between `candidates` that the settings ask for. `documents` is needed for their dates only.

    Raises InvalidInput where semantic copies are asked for and `vectors` is None or cannot be had.
    """
    if not (settings.dedup_exact or settings.dedup_near or settings.dedup_semantic):
        return NO_RELATIONS
    keys = {_key_of(candidate) for candidate in candidates.values()}
    if len(keys) == len(candidates) and not (settings.dedup_near or settings.dedup_semantic):
        return NO_RELATIONS
    groups = list(_different_texts(candidates.values()).values())
    links = links_of([group[0].chunk for group in groups], settings, vectors)
    if all(len(group) == 1 for group in groups) and not links:
        return NO_RELATIONS
    same: Likeness = "exact" if settings.dedup_exact else "near" if settings.dedup_near else "semantic"
    web = _Web(groups, links, same)
    editions = _Editions(documents or {}) if settings.dedup_keep == "newest" else None
    superseded = _superseded(web, editions) if editions else {}
    return Relations(_copies(web, superseded, editions), superseded)


def promote(candidates: Mapping[Key, Candidate], relations: Relations) -> tuple[Mapping[Key, Candidate], tuple[Promoted, ...]]:
    """The candidates with each successor at the score and rank of the best chunk that it stands for, where that stood better."""
    promoted: dict[Key, tuple[Candidate, Key]] = {}
    for older, (newer, _, _) in sorted(relations.superseded.items()):
        old, new = candidates[older], promoted[newer][0] if newer in promoted else candidates[newer]
        if (-old.score, old.rank) < (-new.score, new.rank):
            promoted[newer] = new._replace(score=old.score, rank=min(old.rank, new.rank)), older
    if not promoted:
        return candidates, ()
    events = tuple(Promoted(*newer, *older, new.score) for newer, (new, older) in sorted(promoted.items()))
    return {key: promoted[key][0] if key in promoted else candidate for key, candidate in candidates.items()}, events


def _different_texts(candidates: Iterable[Candidate]) -> dict[bytes, list[Candidate]]:
    groups: dict[bytes, list[Candidate]] = {}
    for candidate in sorted(candidates, key=attrgetter("key")):
        groups.setdefault(_key_of(candidate), []).append(candidate)
    return groups


def _key_of(candidate: Candidate) -> bytes:
    return candidate.chunk.duplicate_key or duplicate_key(candidate.chunk.text)


class _Web:
    """The links between texts, as relations between the chunks that have them."""

    def __init__(self, groups: Sequence[Sequence[Candidate]], links: Sequence[Link], same: Likeness) -> None:
        self.groups, self.same = groups, same
        self.candidates = {candidate.key: candidate for group in groups for candidate in group}
        self.group_of = {candidate.key: at for at, group in enumerate(groups) for candidate in group}
        self.linked: dict[int, list[tuple[Link, int]]] = {}
        for link in links:
            self.linked.setdefault(link.first, []).append((link, link.second))
            self.linked.setdefault(link.second, []).append((link, link.first))

    def around(self, key: Key) -> Iterator[tuple[Related, Link | None]]:
        """Every chunk of another document that is linked to this one, with the link (None: the same text)."""
        at = self.group_of[key]
        for other in self.groups[at]:
            if other.key[0] != key[0]:
                yield Related(other.key, self.same, 1.0), None
        for link, there in self.linked.get(at, ()):
            for other in self.groups[there]:
                if other.key[0] != key[0]:
                    yield Related(other.key, link.likeness, link.similarity), link


def neighbours(one: Key, other: Key) -> bool:
    """Whether two chunks stand next to each other in a document."""
    return one[0] == other[0] and abs(one[1] - other[1]) == 1


def _copies(web: _Web, superseded: Mapping[Key, Related], editions: _Editions | None) -> dict[Key, tuple[Related, ...]]:
    """What leaves with each chunk that is kept: first its exact copies, then the most alike.

    A successor leaves only for the former, and nothing newer for an older text that it stands inside.
    """
    successors = {related.key for related in superseded.values()}
    copies: dict[Key, tuple[Related, ...]] = {}
    for at, group in enumerate(web.groups):
        left = [candidate.key for candidate in group if candidate.key not in superseded]
        linked = sorted(
            [
                Related(other.key, link.likeness, link.similarity)
                for link, there in web.linked.get(at, ())
                if link.agreed and (link.mutual or link.first == at)
                for other in web.groups[there]
                if other.key not in superseded and other.key not in successors
            ],
            key=lambda related: (STRENGTH[related.likeness], -related.similarity, related.key),
        )
        everything = (*(Related(key, web.same, 1.0) for key in left), *linked)
        if len(everything) > 1:
            for key in left:
                copies[key] = tuple([related for related in everything if _may_leave(key, related, web.same, editions)])
    return copies


def _may_leave(key: Key, related: Related, same: Likeness, editions: _Editions | None) -> bool:
    if related.likeness == same == "exact":
        return True
    return not neighbours(key, related.key) and not (editions and editions.is_newer(related.key, key))


class _Editions:
    """What the dates and names of documents say about which of two chunks is of the newer edition."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents

    def period(self, key: Key) -> Period | None:
        document = self._documents.get(key[0])
        return period_of(document.date) if document else None

    def is_newer(self, one: Key, other: Key) -> bool:
        """Whether both are dated and the first is certainly of a later date."""
        first, second = self.period(one), self.period(other)
        return first is not None and second is not None and first.is_after(second)

    def of_one(self, one: Key, other: Key) -> bool:
        """Whether two documents are editions of one another, by their titles, without titles by their sources."""
        first, second = self._documents.get(one[0]), self._documents.get(other[0])
        if first is None or second is None:
            return False
        if first.title and second.title:
            return name_of(first.title) == name_of(second.title) != ""
        last = [(document.source or document.document_id).rstrip("/").rpartition("/")[2] for document in (first, second)]
        return name_of(last[0]) == name_of(last[1]) != ""


_OF_AN_EDITION = re.compile(
    r"[\d\W_]+|\b(?:v|versie|version|edition|editie|rev|revision|herziening|draft|concept|final|definitief|"
    r"archief|archive)\b"
)


def name_of(title: str) -> str:
    """A title without what tells editions apart: numbers, dates, punctuation, the words for version, draft and archive."""
    words = re.sub(r"[\W_]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)", " ", title.lower())
    return " ".join(_OF_AN_EDITION.sub(" ", words).split())


def _superseded(web: _Web, editions: _Editions) -> dict[Key, Related]:
    """Each older copy with the newest that stands for it. One that is itself superseded stands for nothing: no chains."""
    periods = {key: period for key in web.candidates if (period := editions.period(key))}
    found: dict[Key, Related] = {}
    for key in sorted(periods, key=lambda key: periods[key].first, reverse=True):
        newer = [
            related
            for related, link in web.around(key)
            if related.key in periods
            and related.key not in found
            and periods[related.key].is_after(periods[key])
            and _stands_for(web, link, key, related.key, editions)
        ]
        if newer:
            found[key] = min(newer, key=lambda r: (-periods[r.key].first.timestamp(), STRENGTH[r.likeness], -r.similarity, r.key))
    return found


def _stands_for(web: _Web, link: Link | None, older: Key, newer: Key, editions: _Editions) -> bool:
    """Whether a newer chunk may stand for an older one: not one that says less, nor one of another name that says otherwise."""
    if link is None:
        return True
    if not link.mutual:
        return web.group_of[newer] == link.first
    return link.agreed or editions.of_one(older, newer)
