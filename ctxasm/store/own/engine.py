"""What the engine of a user's database can search by itself, as statements to be shown."""

from __future__ import annotations

from ctxasm.store.own.corpus import language_of_table
from ctxasm.store.own.linked import LinkedDataset
from ctxasm.store.own.vectors import can_search_vectors, nearest_sql, vector_column
from ctxasm.store.own.words import can_search_words, word_statements


def search_statements(dataset: LinkedDataset, language: str = "auto") -> dict[str, str]:
    """The statements of a search by words and by meaning, as far as they can be had; `auto` is the language of the table's texts."""
    found: dict[str, str] = {}
    if not can_search_words(dataset):
        found = word_statements(dataset, language_of_table(dataset) if language == "auto" else language)
    return found if can_search_vectors(dataset) else {**found, "search_vectors": nearest_sql(dataset, vector_column(dataset))}
