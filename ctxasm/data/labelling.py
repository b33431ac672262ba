"""Gold evidence for a question by hand: on loaded, joined and saved questions, stored and beside linked tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.model.datasets import ChunkKey
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import Window
from ctxasm.model.records import GoldChunk, Query

How = Literal["add", "remove", "replace"]


def label(datasets: Datasets, dataset: str | None, query_id: str, chunks: Iterable[ChunkKey], how: How = "add") -> Query:
    """Say which chunks (document_id, chunk_index) a question needs: added to those it has, taken from them, or in their place.

    It is kept with the question, and exported with it. Raises NotFound for an unknown dataset or question, and InvalidInput for a chunk
    that is not there.
    """
    if how not in ("add", "remove", "replace"):
        raise InvalidInput(f"how must be add, remove or replace, got {shown(how)}")
    name = datasets.dataset(dataset).info.name
    there = fresh(datasets, name)
    query = there.query(query_id)
    named = tuple(dict.fromkeys(GoldChunk(document, index) for document, index in chunks))
    if how != "remove":
        windows = [Window(gold.document_id, gold.chunk_index, gold.chunk_index) for gold in named]
        found = {(chunk.document_id, chunk.chunk_index) for chunk in there.fetch(windows, datasets.counter().encoding).chunks}
        if missing := [gold for gold in named if (gold.document_id, gold.chunk_index) not in found]:
            first = f"{shown(missing[0].document_id)} {missing[0].chunk_index}"
            raise InvalidInput(f"gold must name chunks of dataset {shown(name)}, got {first}, which it does not hold")
    kept = tuple(gold for gold in query.gold if gold not in named)
    gold = {"add": tuple(dict.fromkeys((*query.gold, *named))), "remove": kept, "replace": named}[how]
    if datasets.links.dataset(name) is not None:
        return datasets.store.save_query(name, replace(query, gold=gold), linked=True)
    return datasets.store.set_gold(name, query_id, gold)
