"""Judgements of two contexts or answers that stand beside each other without their names, kept in the database."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from ctxasm.model.kept import key_of
from ctxasm.model.ports import Shelf
from ctxasm.store.records import decoding

SHELF = "blind reviews"
"""Where judgements are kept, each under its review and its question, and for each review its dataset, and the secret that decides who
stands where."""
LONGEST_NOTE = 500
Preferred = Literal["A", "B", "same", ""]
"""What a person preferred; nothing where the judgement was taken back: of it the note stays."""


class Judgement(NamedTuple):
    """What was preferred of a question, when (UTC), and why."""

    query_id: str
    preferred: Preferred
    note: str
    at: str


@dataclass(frozen=True, slots=True)
class Review:
    """The judgements of one review on a shelf. `key` is the same for the same data and the same A and B."""

    shelf: Shelf
    key: str
    dataset: str

    def secret(self) -> str:
        """What decides the order of the questions and who stands where: drawn once for a review, and never sent to a browser."""
        kept = self.shelf.read_kept(SHELF, [self.key])
        if self.key not in kept:
            kept = {self.key: json.dumps([self.dataset, secrets.token_hex(16)])}
            self.shelf.keep(SHELF, kept)
        return _read_secret(kept[self.key])[1]

    def judgements(self, query_ids: Sequence[str]) -> dict[str, Judgement]:
        """Those of these questions by id, the oldest first."""
        kept = self.shelf.read_kept(SHELF, [self._key(query_id) for query_id in query_ids])
        with decoding("a kept judgement"):
            found = [Judgement(**json.loads(text)) for text in kept.values()]
        return {each.query_id: each for each in sorted(found, key=lambda each: each.at)}

    def judge(self, query_id: str, preferred: Preferred, note: str) -> None:
        """Keep a judgement in place of an earlier one."""
        made = Judgement(query_id, preferred, note.strip()[:LONGEST_NOTE], datetime.now(UTC).isoformat())
        self.shelf.keep(SHELF, {self._key(query_id): json.dumps(made._asdict())})

    def forget(self, query_ids: Sequence[str]) -> None:
        """Remove the judgements of these questions, and the secret: the next ones are shuffled anew."""
        self.shelf.forget(SHELF, [self.key, *map(self._key, query_ids)])

    def _key(self, query_id: str) -> str:
        return f"{self.key} {key_of(query_id)}"


def forget_reviews(shelf: Shelf, dataset: str) -> None:
    """Remove the judgements of all reviews of a dataset, which is deleted."""
    kept = shelf.read_kept(SHELF)
    gone = {key for key, text in kept.items() if " " not in key and _read_secret(text)[0] == dataset}
    shelf.forget(SHELF, [key for key in kept if key.partition(" ")[0] in gone])


def _read_secret(text: str) -> tuple[str, str]:
    """The dataset and the secret of a review; no dataset where an earlier version kept it."""
    with decoding("the secret of a blind review"):
        read = json.loads(text)
        dataset, secret = ("", read) if isinstance(read, str) else read
        return str(dataset), str(secret)
