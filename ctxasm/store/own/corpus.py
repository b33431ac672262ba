"""The language of a user's table: by a bounded sample of its texts, not by the question, and remembered as long as the link is held."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ctxasm.model.corpus_language import SAMPLE, SAMPLE_CHARS, Language, language_of_texts
from ctxasm.store.own.linked import LinkedDataset
from ctxasm.store.own.types import own_text

_known: WeakKeyDictionary[LinkedDataset, Language] = WeakKeyDictionary()


def language_of_table(dataset: LinkedDataset) -> Language:
    """That of up to SAMPLE texts, whichever the database finds first; English where nothing tells. Raises StoreUnavailable."""
    known = _known.get(dataset)
    if known is not None:
        return known
    statements = dataset.sql
    beginning = f"substr({statements.text}, 1, {SAMPLE_CHARS})"
    sql = f"SELECT {beginning} FROM {statements.source} WHERE {statements.usable} LIMIT {dataset.database.mark('limit')}"
    texts = [text for row in dataset.read(sql, {"limit": SAMPLE}) if (text := own_text(row[0]))]
    found = language_of_texts(texts)
    if texts:  # an empty table may be filled while the link is held
        _known[dataset] = found
    return found
