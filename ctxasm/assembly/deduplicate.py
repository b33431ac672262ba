"""Stage 2: the same text is shown once. `relations_of` says which candidates say the same, `resolve` which of them stays.

A pair has one relation, the strongest: exact before near before semantic. Neighbours in a document are only ever exact
copies: what else they share is overlap. A chunk that stands word for word inside another leaves when that one is kept, never
the other way round: the larger one says more. Near and semantic copies must say the same figures, names and negations.

`dedup_keep=newest`: of copies in documents of different dates the newer one stays, whatever its score and whatever fits; an
older text next to its successor, or instead of it, would be the stale answer winning by luck. There a change of figures is
no reason to keep both, where the documents are editions of one another (same title but for its numbers, else same source).

Documents are taken best first, and each removes the copies of what it keeps from those still to come. The same is asked again of
any subset that a budget tries, and at last of what is shown (`likeness_of`).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from ctxasm.assembly.near_copies import Link, links_of
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.stages import NO_RELATIONS, Documents, Found, Related, Relations, Resolution, Unique
from ctxasm.model.events import Coincidence, Dropped, Duplicate, Event, Likeness, Merged, NearMiss, Promoted, Stripped
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


def deduplicate(found: Found, settings: AssemblySettings, vectors: ChunkVectors | None) -> Unique:
    """Find what says the same, and show it once."""
    relations = relations_of(found.candidates, settings, vectors, found.documents)
    standing, promoted = promote(found.candidates, relations)
    own = by_document(standing.values())
    resolution = resolve(own, relations)
    return Unique(found, relations, standing, promoted, own, resolution)


def overlap_events(joined: Iterable[Joined]) -> list[Event]:
    """What joining neighbours did, and the near misses it left alone."""
    events: list[Event] = []
    before = 0
    for j in joined:
        key = (j.chunk.document_id, j.chunk.chunk_index)
        if j.merged:
            events.append(Merged(*key, len(j.chunk.text)))
        elif j.start:
            events.append(Stripped(*key, j.start))
        elif j.note == "near_miss":
            events.append(NearMiss(*key, j.shared))
        elif j.note == "coincidence":
            events.append(Coincidence(*key, j.shared, before))
        before = len(j.chunk.text)
    return events


def duplicate_events(resolution: Resolution) -> list[Event]:
    """The copies that left and what they repeat; the neighbours that left with them."""
    events: list[Event] = [Duplicate(*copy, *kept, how, similarity) for copy, (kept, how, similarity) in resolution.likeness.items()]
    return events + [Dropped(*key, "parent_duplicate") for key in sorted(resolution.orphans)]


def originals_of(relations: Relations) -> dict[Key, list[Related]]:
    """What each chunk repeats. Not the other way round: what stands inside a larger chunk repeats it, and not it that."""
    originals: dict[Key, list[Related]] = {}
    for key, copies in relations.copies.items():
        for copy, likeness, similarity in copies:
            if copy != key:
                originals.setdefault(copy, []).append(Related(key, likeness, similarity))
    return originals


def by_document(candidates: Iterable[Candidate]) -> dict[str, dict[int, Candidate]]:
    """Candidates by document, ascending by index inside."""
    documents: dict[str, dict[int, Candidate]] = {}
    for candidate in candidates:
        documents.setdefault(candidate.chunk.document_id, {})[candidate.chunk.chunk_index] = candidate
    return {document_id: dict(sorted(own.items())) for document_id, own in documents.items()}


def resolve(documents: Documents, relations: Relations, order: Sequence[str] | None = None) -> Resolution:
    """The order of the documents and what each shows once copies are gone.

    `relations` may speak of more candidates than `documents` holds (it is worked out once, this runs on many subsets). A
    superseded chunk is never shown, whether or not its successor is among `documents`; a document whose chunk was
    superseded stands right behind the one that has the successor, or later. `order` is the one that the documents stand in, once
    that is fixed.
    """
    if not repeats_itself(documents, relations):
        return _without_copies(documents, order)
    resolving = _Resolving(documents, relations)
    return resolving.resolution() if order is None else resolving.resolution_in(order)


def repeats_itself(documents: Documents, relations: Relations) -> bool:
    """Whether any of these candidates says what another of them says, or is one that a newer chunk stands for."""
    copies, superseded = relations.copies, relations.superseded
    if not copies and not superseded:
        return False
    for document_id, own in documents.items():
        for index in own:
            key = (document_id, index)
            if key in superseded or any(r.key != key and r.key[1] in documents.get(r.key[0], ()) for r in copies.get(key, ())):
                return True
    return False


class _Resolving:
    """Documents being taken one by one, best first. `state` holds what each still has, `likeness` what left."""

    def __init__(self, documents: Documents, relations: Relations) -> None:
        self.copies, self.superseded = relations.copies, relations.superseded
        self.state = {document_id: dict(own) for document_id, own in documents.items()}
        self.likeness: dict[Key, Related] = {}
        self.orphans: set[Key] = set()
        self.scores: dict[str, float] = {}
        self.successors: dict[str, list[Key]] = {}
        self.standing_for_others = {related.key for related in relations.superseded.values()}

    def resolution(self) -> Resolution:
        """Take all documents, the best of those left first; each removes the copies of what it keeps from those still to come."""
        self._retire()
        heap = [(_standing(own), document_id) for document_id, own in self.state.items()]
        heapq.heapify(heap)
        while heap:
            standing, popped = heapq.heappop(heap)
            if popped in self.scores or standing != _standing(self.state[popped]):
                continue
            document_id = self._first_of(popped)
            for changed in self._take(document_id, -standing[0]):
                heapq.heappush(heap, (_standing(self.state[changed]), changed))
            if document_id != popped:
                heapq.heappush(heap, (_standing(self.state[popped]), popped))
        return self._resolved()

    def resolution_in(self, order: Sequence[str]) -> Resolution:
        """Take the documents in this order."""
        self._retire()
        for document_id in order:
            if document_id in self.state:
                self._take(document_id, -_standing(self.state[document_id])[0])
        return self._resolved()

    def _take(self, document_id: str, score: float) -> list[str]:
        """Keep what a document has left; the other documents that lose copies of it."""
        self.scores[document_id] = score
        self.state[document_id] = self._without_own_copies(self.state[document_id])
        return self._remove_elsewhere(self.state[document_id])

    def _resolved(self) -> Resolution:
        order = tuple(self.scores)
        shown = {document_id: tuple(self.state[document_id]) for document_id in order}
        likeness = {copy: self._as_kept(copy, related) for copy, related in self.likeness.items()}
        duplicates = {copy: related.key for copy, related in likeness.items()}
        return Resolution(order, shown, duplicates, frozenset(self.orphans), self.scores, likeness)

    def _retire(self) -> None:
        """Superseded chunks leave first of all, with neighbours that only they brought."""
        changed: dict[str, None] = {}
        for older, newer in self.superseded.items():
            document_id, index = older
            if index in self.state.get(document_id, ()):
                del self.state[document_id][index]
                self.likeness[older] = newer
                changed[document_id] = None
                self.successors.setdefault(document_id, []).append(newer.key)
        self._drop_orphans(changed)

    def _first_of(self, document_id: str) -> str:
        """The document to take now: those with successors of its chunks come before it (each newer, so there is no circle)."""
        while waiting := {key[0] for key in self.successors.get(document_id, ()) if self._is_coming(key)}:
            document_id = min(waiting, key=lambda other: (_standing(self.state[other]), other))
        return document_id

    def _is_coming(self, key: Key) -> bool:
        return key[0] not in self.scores and key[1] in self.state.get(key[0], ())

    def _without_own_copies(self, own: dict[int, Candidate]) -> dict[int, Candidate]:
        """A document's own repeats: of those that repeat each other the better-scored stays, of equals the lower index.

        What stands inside another chunk leaves even where it scores better: whoever holds it comes first.
        """
        repeats = {index: inside for index, c in own.items() if (inside := self._inside(c.key, own))}
        if not repeats:
            return own
        holders: dict[int, list[int]] = {}
        for index, inside in repeats.items():
            for other in inside:
                if index not in repeats.get(other, ()):
                    holders.setdefault(other, []).append(index)
        kept = dict(own)
        rank = {c.chunk.chunk_index: (-c.score, c.chunk.chunk_index) for c in own.values()}
        # Larger texts hold smaller ones, so that those no chunk holds come first, and so on.
        for index in _holders_first(sorted(own, key=rank.__getitem__), holders):
            for other, related in repeats.get(index, {}).items() if index in kept else ():
                if other in kept:
                    del kept[other]
                    self.likeness[related.key] = related._replace(key=own[index].key)
        return kept

    def _inside(self, key: Key, own: Mapping[int, Candidate]) -> dict[int, Related]:
        """The chunks of the same document that leave when this one is kept."""
        return {r.key[1]: r for r in self.copies.get(key, ()) if r.key[0] == key[0] and r.key[1] in own and r.key != key}

    def _remove_elsewhere(self, own: Mapping[int, Candidate]) -> list[str]:
        """Remove the copies of kept chunks from documents still to come, with neighbours that only they brought.

        A copy of several kept chunks is one of the chunk that it is most like.
        """
        claims: dict[Key, Related] = {}
        for candidate in own.values():
            for other in self.copies.get(candidate.key, ()):
                if self._is_coming(other.key) and (other.key not in claims or _strength(other) < _strength(claims[other.key])):
                    claims[other.key] = other._replace(key=candidate.key)
        changed: dict[str, None] = {}
        for copy in claims:
            del self.state[copy[0]][copy[1]]
            changed[copy[0]] = None
        self.likeness |= claims
        self._drop_orphans(changed)
        return list(changed)

    def _drop_orphans(self, changed: Iterable[str]) -> None:
        """Neighbours leave with the last hit that brought them, unless they stand for an older chunk."""
        for document_id in changed:
            there = self.state[document_id]
            for index, candidate in list(there.items()):
                if candidate.retrieved or candidate.key in self.standing_for_others:
                    continue
                if all((document_id, parent) in self.likeness for parent in candidate.parents):
                    del there[index]
                    self.orphans.add((document_id, index))

    def _as_kept(self, copy: Key, related: Related) -> Related:
        """What a superseded chunk repeats: its successor, or where that left, the copy of the same text that is kept.

        Of the chunks of one text, itself among them, one at most is kept.
        """
        if copy not in self.superseded:
            return related
        if related.key in self.likeness:
            return related._replace(key=self.likeness[related.key].key)
        exact = (r.key for r in self.copies.get(related.key, ()) if r.likeness == "exact" and r.key[1] in self.state.get(r.key[0], ()))
        return related._replace(key=next(exact, related.key))


def _strength(related: Related) -> tuple[int, float]:
    return STRENGTH[related.likeness], -related.similarity


def _holders_first(indexes: Iterable[int], holders: Mapping[int, Iterable[int]]) -> Iterable[int]:
    """The same order, except that the chunks that hold a chunk come before it."""
    done: dict[int, None] = {}
    for index in indexes:
        stack = [index]
        while stack:
            waiting = [holder for holder in holders.get(stack[-1], ()) if holder not in done]
            if waiting:
                stack += waiting
            else:
                done[stack.pop()] = None
    return done


def _standing(own: Mapping[int, Candidate]) -> tuple[float, int]:
    """What documents are ordered by: best score first, then best rank; one without chunks comes last."""
    if not own:
        return (float("inf"), 0)
    return (-max(c.score for c in own.values()), min(c.rank for c in own.values()))


def _without_copies(documents: Documents, fixed: Sequence[str] | None) -> Resolution:
    standings = {document_id: _standing(own) for document_id, own in documents.items()}
    if fixed is None:
        order = tuple(sorted(documents, key=lambda document_id: (*standings[document_id], document_id)))
    else:
        order = tuple([document_id for document_id in fixed if document_id in documents])
    shown = {document_id: tuple(documents[document_id]) for document_id in order}
    return Resolution(order, shown, {}, frozenset(), {document_id: -standings[document_id][0] for document_id in order}, {})


NOTHING_ALIKE: Mapping[Key, Related] = {}


def likeness_of(resolution: Resolution, relations: Relations, shown: Sequence[Joined], candidates: Iterable[Key]) -> Mapping[Key, Related]:
    """Every candidate that is not shown and repeats a chunk that is shown whole, with that chunk.

    Of several the one that deduplication named, else the first in the text, the most alike.
    """
    if not relations.copies and not relations.superseded:
        return NOTHING_ALIKE
    there = {(j.chunk.document_id, j.chunk.chunk_index) for j in shown}
    whole = {(j.chunk.document_id, j.chunk.chunk_index): at for at, j in enumerate(shown) if j.end == len(j.chunk.text)}
    likeness = {copy: related for copy, related in resolution.likeness.items() if related.key in whole and copy not in there}
    repeated = Repeated(relations)
    documents = {document_id: place for place, document_id in enumerate(dict.fromkeys(key[0] for key in whole))}
    for key in candidates:
        if key not in there and key not in likeness and (options := [each for each in repeated.by(key) if each.key in whole]):
            likeness[key] = min(options, key=lambda r: (documents[r.key[0]], STRENGTH[r.likeness], -r.similarity, whole[r.key]))
    return likeness


class Repeated:
    """What each chunk repeats; of one that a newer chunk stands for, that one and what it repeats."""

    def __init__(self, relations: Relations) -> None:
        self.originals, self.superseded = originals_of(relations), relations.superseded

    def by(self, key: Key) -> list[Related]:
        """The chunks whose presence makes this one superfluous."""
        newer = self.superseded.get(key)
        if newer is None:
            return self.originals.get(key, [])
        return [newer, *(newer._replace(key=original.key) for original in self.originals.get(newer.key, ()))]
