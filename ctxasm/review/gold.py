"""Verdicts become gold evidence: what reviewers call right is what the question needs, with how many of them said so.

A citation is approved where more than half of the reviewers who judged it call it right, in whatever answer to the question. Of the
source it is the chunk that carries the claim; where that is not known, any chunk of the source is enough. What should have been cited is
evidence too. What was approved once and is not any more is taken back; labels from elsewhere are left alone. The labels from before are
kept in the database until the next time, so that `undo_approval` gives them back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import Dataset
from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.kept import key_of
from ctxasm.model.ports import Shelf, Window
from ctxasm.model.records import GoldChunk, Query, alternatives, changed_gold
from ctxasm.model.runs import ANSWER_ITEM, Judgement, Run, RunFilter, RunSource, parts_of_item
from ctxasm.review.judging import ClaimRecord, Gold, claims_of
from ctxasm.store.records import decoding

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SHELF = "gold before"
"""Where the labels are kept that questions had before verdicts became gold, by dataset."""
ALIKE = 0.7
"""The share of the words of a chunk that a source has at least which shows it (or of the words of a source that shows a part of it)."""
Place = tuple[tuple[str, int], ...]
"""Chunks of which any one is enough."""


@dataclass(slots=True)
class _Vote:
    """Who approves a place, and who judged it. `texts` are those of the sources that showed it, `named`: it was not cited."""

    approve: set[str] = field(default_factory=set)
    judge: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    named: bool = False


@dataclass(frozen=True, slots=True)
class GoldReport:
    """What became of the labels of a dataset, in counts by question: `added`, `removed`, and `kept` as they were.

    `refused` places were judged and not approved by more than half. `missing` chunks are not in the dataset (any more), `unknown`
    questions neither.
    """

    dataset: str
    added: Mapping[str, int]
    removed: Mapping[str, int]
    kept: int
    refused: int
    missing: tuple[tuple[str, int], ...]
    unknown: tuple[str, ...]

    def sentence(self) -> str:
        """In one line."""
        parts = [f"{counted(sum(self.added.values()), 'label')} given to {counted(len(self.added), 'question')} of {self.dataset}"]
        parts += [f"{sum(self.removed.values())} taken back"] if self.removed else []
        parts += [f"{self.kept} kept"] if self.kept else []
        parts += [f"{self.refused} judged and not approved"] if self.refused else []
        parts += [f"{counted(len(self.missing), 'chunk')} not in the data any more"] if self.missing else []
        parts += [f"{counted(len(self.unknown), 'question')} not in the dataset"] if self.unknown else []
        return ", ".join(parts)


def approve(datasets: Datasets, dataset: str | None = None) -> GoldReport:
    """Give the questions of a dataset (default: the newest) the evidence that its reviews approve. Raises NotFound, StoreUnavailable."""
    there = fresh(datasets, datasets.dataset(dataset).info.name)
    name, store = there.info.name, datasets.store
    runs = [store.run(entry.run_id) for entry in store.runs(RunFilter(dataset=name))]
    votes = _votes(runs, store.judgements([run.run_id for run in runs]))
    linked = datasets.links.dataset(name) is not None
    added, removed, kept, refused = dict[str, int](), dict[str, int](), 0, 0
    changes: list[tuple[Query, list[GoldChunk], list[GoldChunk]]] = []
    missing, unknown = dict[tuple[str, int], None](), list[str]()
    for query_id in dict.fromkeys(run.query_id for run in runs):
        own = votes.get(query_id, {})
        try:
            query = there.query(query_id)
        except NotFound:
            unknown += [query_id] if own else []
            continue
        held = _held(datasets, there, own)
        missing |= {key: None for place in own for key in place if key not in held}
        approved = [label for place, vote in own.items() if (label := _label([key for key in place if key in held], vote)) is not None]
        refused += sum(not _is_approved(vote) for vote in own.values())
        new, gone = _changes(query, approved)
        kept += len(approved) - len(new)
        if new or gone:
            changes.append((query, new, gone))
    if changes:  # first, so that whatever ends this leaves the way back
        store.keep(SHELF, {key_of(name): _written(changes)})
    for query, new, gone in changes:
        if new:
            store.set_gold(name, query.query_id, new, "add", linked=linked)
            added[query.query_id] = len(new)
        if gone:
            store.set_gold(name, query.query_id, gone, "remove", linked=linked)
            removed[query.query_id] = len(gone)
    return GoldReport(name, added, removed, kept, refused, tuple(missing), tuple(unknown))


@dataclass(frozen=True, slots=True)
class _Approved:
    """The labels of a question before and after verdicts became gold."""

    query_id: str
    before: tuple[GoldChunk, ...]
    after: tuple[GoldChunk, ...]


@cache
def _adapter() -> TypeAdapter[tuple[_Approved, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[_Approved, ...])


def _written(changes: Iterable[tuple[Query, Sequence[GoldChunk], Sequence[GoldChunk]]]) -> str:
    made = [
        _Approved(query.query_id, query.gold, changed_gold(changed_gold(query.gold, new, "add"), gone, "remove"))
        for query, new, gone in changes
    ]
    return _adapter().dump_json(tuple(made), ensure_ascii=True).decode()


class UndoReport(NamedTuple):
    """How many questions have the labels again that they had, and which were labelled anew since: these are left as they are."""

    restored: int
    left: tuple[str, ...]

    def sentence(self) -> str:
        """In one line."""
        changed = f"{counted(len(self.left), 'question')} changed since and left alone: {', '.join(self.left[:5])}" if self.left else ""
        return ", ".join(filter(None, (f"{counted(self.restored, 'question')} labelled as before", changed)))


def can_undo(datasets: Datasets, dataset: str) -> bool:
    """Whether there are labels from before to go back to."""
    return bool(datasets.store.read_kept(SHELF, [key_of(dataset)]))


def forget_approval(shelf: Shelf, dataset: str) -> None:
    """Keep nothing to go back to."""
    shelf.forget(SHELF, [key_of(dataset)])


def undo_approval(datasets: Datasets, dataset: str | None = None) -> UndoReport:
    """Give the questions of a dataset (default: the newest) the labels back that they had before the last `approve`.

    Raises NotFound, InvalidInput where there is nothing to undo, StoreUnavailable.
    """
    there = fresh(datasets, datasets.dataset(dataset).info.name)
    name, store = there.info.name, datasets.store
    text = store.read_kept(SHELF, [key_of(name)]).get(key_of(name))
    if text is None:
        raise InvalidInput(f"no gold of {shown(name)} was made of verdicts since the last undo: there is nothing to undo")
    with decoding("the labels from before"):
        approved = _adapter().validate_json(text)
    linked, restored, left = datasets.links.dataset(name) is not None, 0, list[str]()
    for each in approved:
        try:
            is_unchanged = there.query(each.query_id).gold in (each.after, each.before)
        except NotFound:
            is_unchanged = False
        if is_unchanged:
            store.set_gold(name, each.query_id, each.before, "replace", linked=linked)
            restored += 1
        else:
            left.append(each.query_id)
    forget_approval(store, name)
    return UndoReport(restored, tuple(left))


def labelled_chunks(queries: Iterable[Query], dataset: str) -> Gold:
    """The gold chunks of labelled questions, as `queue` takes them."""
    return {(dataset, query.query_id): frozenset(key for gold in query.gold for key in gold.chunks) for query in queries if query.gold}


def _votes(runs: Sequence[Run], said: Sequence[Judgement]) -> dict[str, dict[Place, _Vote]]:
    """Who approves which places, by question."""
    by_id, claims = {run.run_id: run for run in runs}, {run.run_id: claims_of(run) for run in runs}
    off_question = {(each.run_id, each.reviewer) for each in said if each.answers == "no"}
    votes: dict[str, dict[Place, _Vote]] = {}
    for each in said:
        run = by_id[each.run_id]
        own = votes.setdefault(run.query_id, {})
        if each.item == ANSWER_ITEM:
            for passage in each.should_cite:
                vote = own.setdefault(((passage.document_id, passage.chunk_index),), _Vote(named=True))
                vote.approve.add(each.reviewer)
                vote.judge.add(each.reviewer)
                vote.texts += [passage.text] if passage.text else []
            continue
        parts = parts_of_item(each.item)
        if each.verdict is None or parts is None or (claim := claims[run.run_id].get(parts[0])) is None:
            continue
        source = next((source for source in run.sources if source.number == parts[1]), None)
        if source is not None and (place := _place(source, claim)):
            vote = own.setdefault(place, _Vote())
            vote.texts.append(source.text)
            vote.judge.add(each.reviewer)
            if each.verdict == "right" and (each.run_id, each.reviewer) not in off_question:
                vote.approve.add(each.reviewer)
    return votes


def _place(source: RunSource, claim: ClaimRecord) -> Place:
    """The chunk of a source that carries a claim; where that is not known, all chunks of it."""
    if source.document_id is None:
        return ()
    for support in (*claim.support, *(support for clause in claim.clauses for support in clause.support)):
        if support.number == source.number and support.document_id is not None and support.chunk_index is not None:
            return ((support.document_id, support.chunk_index),)
    return tuple((source.document_id, index) for index in source.chunks)


def _held(datasets: Datasets, there: Dataset, votes: Mapping[Place, _Vote]) -> set[tuple[str, int]]:
    """The chunks of these places that the dataset holds as they were shown: after a new load a number may be that of another text."""
    shown: dict[tuple[str, int], list[str]] = {}
    for place, vote in votes.items():
        for key in place:
            shown.setdefault(key, []).extend(vote.texts)
    windows = [Window(*key, key[1]) for key in shown if key[1] >= 0]
    chunks = there.fetch(windows, datasets.counter().encoding).chunks if windows else ()
    found = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in chunks}
    return {key for key, text in found.items() if not shown[key] or any(_is_alike(text, other) for other in shown[key])}


def _is_alike(chunk: str, source: str) -> bool:
    """Whether a source shows a chunk, or a part of it."""
    one, other = (set(re.findall(r"\w+", text.lower())) for text in (chunk, source))
    return len(one & other) >= ALIKE * min(len(one), len(other))


def _is_approved(vote: _Vote) -> bool:
    return 2 * len(vote.approve) > len(vote.judge)


def _label(keys: Sequence[tuple[str, int]], vote: _Vote) -> GoldChunk | None:
    if not _is_approved(vote):
        return None
    votes = len(vote.approve), len(vote.judge)
    return alternatives(GoldChunk(*key, "hand" if vote.named else "cited", votes=votes) for key in keys)


def _changes(query: Query, approved: Sequence[GoldChunk]) -> tuple[list[GoldChunk], list[GoldChunk]]:
    """What is to be added to the labels of a question, and what of earlier reviews is to be removed."""
    elsewhere = {key for gold in query.gold if gold.votes is None for key in gold.chunks}
    wanted = [label for label in approved if elsewhere.isdisjoint(label.chunks)]
    new = [label for label in wanted if label not in query.gold]
    named = {key for label in wanted for key in label.chunks}
    left = named | elsewhere
    gone = [gold for gold in query.gold if gold.votes is not None and gold not in wanted and left.isdisjoint(gold.chunks)]
    return new, gone
