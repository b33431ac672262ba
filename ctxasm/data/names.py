"""By what names files and tables of others call the fields of our records, the surest name first.

Names are compared by `plain_name`, so `chunkIndex`, `chunk-index` and `CHUNK_INDEX` are one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

P = TypeVar("P")

FIELD_NAMES: Mapping[str, tuple[str, ...]] = {
    "document_id": (
        "document_id",
        "doc_id",
        "docid",
        "documentid",
        "ref_doc_id",
        "source_id",
        "parent_id",
        "parent_document_id",
        "file_id",
        "page_id",
        "article_id",
        "corpus_id",
        "document",
        "doc",
        "document_uuid",
    ),
    "chunk_index": (
        "chunk_index",
        "chunk_idx",
        "chunk_no",
        "chunk_nr",
        "chunk_number",
        "chunk_order",
        "chunk_position",
        "chunk_seq",
        "split_id",
        "split_idx",
        "seq",
        "sequence",
        "sequence_number",
        "ordinal",
        "position",
        "part",
        "idx",
        "index",
    ),
    "text": (
        *("text", "chunk_text", "page_content", "content", "chunk_content", "passage", "body", "chunk", "contents", "raw_text", "tekst"),
        *("document", "documents", "page_text", "node_text", "context", "inhalt", "texte", "texto", "inhoud"),
    ),
    "start": ("start", "start_char", "start_char_idx", "start_index", "start_offset", "char_start", "offset_start", "begin"),
    "end": ("end", "end_char", "end_char_idx", "end_index", "end_offset", "char_end", "offset_end"),
    "page_number": (
        "page_number",
        "page",
        "page_no",
        "page_label",
        "pagina",
        "seite",
        "seitenzahl",
        "paginanummer",
        "page_num",
        "seitennummer",
    ),
    "section": ("section", "heading", "header", "section_title", "chapter", "breadcrumb", "abschnitt", "kapitel", "hoofdstuk"),
    "row_number": ("row_number", "row", "row_no", "start_line", "line", "line_number"),
    "title": (
        *("title", "document_title", "doc_title", "page_title", "titel", "titre", "titulo", "titolo"),
        *("document_name", "doc_name", "semantic_identifier", "display_name", "name"),
    ),
    "source": (
        *("source", "url", "uri", "source_url", "link", "file_name", "filename", "file_path", "path", "file", "bron", "source_uri"),
        *(
            "quelle",
            "href",
            "permalink",
            "document_url",
            "document_uri",
            "doc_url",
            "file_url",
            "datei",
            "dateipfad",
            "bestand",
            "chunk_source",
        ),
    ),
    "summary": ("summary", "page_summary", "document_summary", "doc_summary", "abstract", "description", "samenvatting"),
    "date": (
        "date",
        "published",
        "published_at",
        "publication_date",
        "created",
        "created_at",
        "updated_at",
        "last_modified",
        "datum",
        "fecha",
    ),
    "embedding": ("embedding", "embeddings", "vector", "emb", "embedding_vector", "dense_vector", "text_embedding"),
    "tsvector": ("tsv", "tsvector", "search_vector", "text_search", "fts", "ts", "document_with_weights", "search"),
}

FILE_NAMES = (
    *("file_name", "filename", "original_filename", "source_name", "dateiname", "dokumentname", "bestandsnaam", "documentnaam"),
    *("nom_fichier", "nombre_archivo", "nome_file", "source_document"),
)
"""What names the file of a text: its title where nothing else is."""


@lru_cache(8192)
def plain_name(name: str) -> str:
    """A name without case, marks and separators: what two spellings of it share."""
    parts = unicodedata.normalize("NFKD", name).casefold()
    return "".join(character for character in parts if character.isalnum())


_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(8192)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in any spelling: `textResponse`, `text_response` and `text-response` are two."""
    plain = unicodedata.normalize("NFKD", _HUMP.sub(" ", name)).casefold()
    letters = (character if character.isalpha() else "" if unicodedata.combining(character) else " " for character in plain)
    return tuple("".join(letters).split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for a table of them."""
    return frozenset(text.split())


def by_names(known: Iterable[str], places: Iterable[tuple[str, P]]) -> Iterator[P]:
    """The places whose own name is one of `known`, the surest name first."""
    there: dict[str, list[P]] = {}
    for name, place in places:
        there.setdefault(plain_name(name), []).append(place)
    for plain in dict.fromkeys(map(plain_name, known)):
        yield from there.get(plain, ())


def guess_name(field: str, names: Iterable[str]) -> str | None:
    """The one of `names` that most surely holds `field`, None where none does."""
    return next(by_names(FIELD_NAMES.get(field, ()), ((name, name) for name in names)), None)


LONG_TEXT = 40
"""Characters that texts have at least on average; names and titles are shorter."""
MOST_KEYS = 50
"""Of one object; the rest is not looked at."""


def opened_json(value: Any) -> Any:
    """The object that a text holds as JSON, else the value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # a text that only looks like JSON, or one that was cut
        return value


def _as_it_is(name: str, value: Any) -> Any:
    return value


def places_inside(
    name: str, value: Any, depth: int, opened: Callable[[str, Any], Any] = _as_it_is, most: int = MOST_KEYS
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys that lead to each value inside an object of a column `name`, and the value, down to `depth`.

    `opened` makes objects of texts, told the column or key that they stand under; `most` are the keys of one object.
    """
    found = opened(name, value)
    if depth and isinstance(found, Mapping):
        for key, inner in islice(found.items(), most):
            yield (str(key),), inner
            for rest, innermost in places_inside(str(key), inner, depth - 1, opened, most):
                yield (str(key), *rest), innermost


def longest_texts(values: Mapping[P, Sequence[Any]], least: int = LONG_TEXT) -> P | None:
    """The place of the longest texts, at least `least` characters on average; None where no values read like texts."""
    lengths = {
        place: sum(map(len, texts)) / len(texts)
        for place, there in values.items()
        if len(texts := [value for value in there if isinstance(value, str)]) * 2 > len(there)
        and sum(map(_has_words, texts)) * 2 >= len(texts)
    }
    best = max(lengths, key=lengths.__getitem__, default=None)
    return best if best is not None and lengths[best] >= least else None


def _has_words(text: str) -> bool:
    """Addresses, hashes and codes are letters without blanks; Chinese and Japanese have none either."""
    return " " in text or not text.isascii()
