"""Gold evidence for a question by hand: on loaded, joined and saved questions, stored and beside linked tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.model.datasets import ChunkKey
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import Window
from ctxasm.model.records import GoldBy, GoldChange, GoldChunk, Query

LARGEST_INDEX = 2_000_000_000
"""The largest index of a chunk that a file can bring."""


def label(
    datasets: Datasets, dataset: str | None, query_id: str, chunks: Iterable[ChunkKey], how: GoldChange = "add", by: GoldBy = "hand"
) -> Query:
    """Say which chunks (document_id, chunk_index) a question needs: added to those it has, taken from them, or in their place.

    It is kept with the question, with who said it, and exported with it. Raises NotFound for an unknown dataset or question, and
    InvalidInput for a chunk that is not there.
    """
    if how not in get_args(GoldChange):
        raise InvalidInput(f"how must be add, remove or replace, got {shown(how)}")
    name = datasets.dataset(dataset).info.name
    there = fresh(datasets, name)
    there.query(query_id)  # known, or the error says which are
    named = {(document, index): GoldChunk(document, index, by) for document, index in chunks}
    if how != "remove":
        if wrong := [key for key in named if type(key[1]) is not int or not 0 <= key[1] <= LARGEST_INDEX]:
            raise InvalidInput(f"gold must name chunks by an index from 0 to {LARGEST_INDEX}, got {shown(wrong[0][1])}")
        windows = [Window(gold.document_id, gold.chunk_index, gold.chunk_index) for gold in named.values()]
        found = {(chunk.document_id, chunk.chunk_index) for chunk in there.fetch(windows, datasets.counter().encoding).chunks}
        if missing := [key for key in named if key not in found]:
            first = f"{shown(missing[0][0])} {missing[0][1]}"
            raise InvalidInput(f"gold must name chunks of dataset {shown(name)}, got {first}, which it does not hold")
    return datasets.store.set_gold(name, query_id, tuple(named.values()), how, linked=datasets.links.dataset(name) is not None)
