"""What the engine of a user's database can search by itself, as statements to be shown."""

from __future__ import annotations

from ctxasm.store.own.linked import LinkedDataset
from ctxasm.store.own.vectors import can_search_vectors, nearest_sql, vector_column
from ctxasm.store.own.words import can_search_words, word_statements


def search_statements(dataset: LinkedDataset, language: str = "en") -> dict[str, str]:
    """The statements of a search by words and by meaning, as far as they can be had."""
    found = {} if can_search_words(dataset) else word_statements(dataset, language)
    return found if can_search_vectors(dataset) else {**found, "search_vectors": nearest_sql(dataset, vector_column(dataset))}
