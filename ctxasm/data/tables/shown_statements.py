"""Every statement that is sent to a user's table, to be shown: reads, and what its engine can search by itself."""

from __future__ import annotations

from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.vectors import can_search_vectors, nearest_sql, vector_column
from ctxasm.data.tables.words import can_search_words, word_statements


def all_statements(dataset: LinkedDataset) -> dict[str, str]:
    """The exact parameterised SQL of each operation, also of the searches that the engine can do here."""
    return {**dataset.sql.all(), **({} if dataset.sql.counted else search_statements(dataset))}


def search_statements(dataset: LinkedDataset, language: str = "auto") -> dict[str, str]:
    """The statements of a search by words and by meaning, as far as they can be had; `auto` is the language of the table's texts."""
    found: dict[str, str] = {}
    if not can_search_words(dataset):
        found = word_statements(dataset, dataset.corpus_language() if language == "auto" else language)
    return found if can_search_vectors(dataset) else {**found, "search_vectors": nearest_sql(dataset, vector_column(dataset))}
