"""What neighbours of a whole dataset share as a rule: known when all of it is stored, and then its long matches are judged again."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, func, or_, select, update

from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.store.runs import RUN_CHUNKS
from ctxasm.store.statements import FETCHED_COLUMNS, fetched
from ctxasm.store.tables import INDEX_BITS, INDEX_MASK, chunks, datasets
from ctxasm.text.chunk_facts import usual_in_dataset, with_counts, with_overlaps
from ctxasm.text.language import sample_of


def judge_long_overlaps(connection: Connection, counter: TokenCounter, dataset_id: int, anew: bool) -> None:
    """Find the overlaps again, inside the load's transaction, of documents whose own pairs did not tell whether a long match is one.

    `anew`: after records joined, also those that were taken for overlaps because the dataset as it was said so. Only rows that change
    are written. A document of several runs has told by itself.
    """
    columns = (datasets.c.first_document_no, datasets.c.documents)
    first, count = connection.execute(select(*columns).where(datasets.c.dataset_id == dataset_id)).one()
    sample = sample_of(count)
    usual = usual_in_dataset(_read(connection, [first + at for at in sample.documents], sample.chunks))
    if not (usual or anew):
        return
    c, before = chunks.c, chunks.alias("before").c
    long = c.overlap_kind == "coincidence"
    if anew:
        long = or_(long, c.overlap_kind.in_(("text", "header")) & (c.overlap_chars * 2 > func.length(before.text)))
    own = c.place.between(first << INDEX_BITS, ((first + count) << INDEX_BITS) - 1)
    places = select(c.place).where(own, long, before.place == c.place - 1).order_by(c.place)
    for number in dict.fromkeys(place >> INDEX_BITS for place in connection.execute(places).scalars()):
        stored = _read(connection, [number], INDEX_MASK + 1, RUN_CHUNKS + 1)
        found = with_overlaps(stored, usual)
        if len(stored) <= RUN_CHUNKS and found != stored:
            _write(connection, number, with_counts(found, counter) if counter.exact else found)


def _read(connection: Connection, numbers: Sequence[int], first: int, most: int | None = None) -> list[FetchedChunk]:
    """The `first` chunks of these documents, which are called by their numbers."""
    if not numbers:
        return []
    own = or_(*[chunks.c.place.between(number << INDEX_BITS, (number << INDEX_BITS) + first - 1) for number in numbers])
    rows = connection.execute(select(*FETCHED_COLUMNS).where(own).order_by(chunks.c.place).limit(most)).fetchall()
    return fetched(rows, {number: str(number) for number in numbers})


def _write(connection: Connection, number: int, found: Sequence[FetchedChunk]) -> None:
    facts = ("overlap_chars", "overlap_kind", "overlap_tokens", "lead_tokens")
    changed = update(chunks).where(chunks.c.place == bindparam("own")).values({name: bindparam(f"new_{name}") for name in facts})
    rows = [{f"new_{name}": getattr(c, name) for name in facts} | {"own": (number << INDEX_BITS) + c.chunk_index} for c in found]
    connection.execute(changed, rows)
