"""By what names files and tables of others call the fields of our records, the surest name first.

Names are compared by `plain_name`, so `chunkIndex`, `chunk-index` and `CHUNK_INDEX` are one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

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
        "document_name",
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
        *("document", "documents", "page_text", "node_text", "context"),
    ),
    "start": ("start", "start_char", "start_char_idx", "start_index", "start_offset", "char_start", "offset_start", "begin"),
    "end": ("end", "end_char", "end_char_idx", "end_index", "end_offset", "char_end", "offset_end"),
    "page_number": ("page_number", "page", "page_no", "page_label", "pagina"),
    "section": ("section", "heading", "header", "section_title", "chapter", "breadcrumb"),
    "row_number": ("row_number", "row", "row_no", "start_line", "line", "line_number"),
    "title": ("title", "document_title", "doc_title", "page_title", "name", "titel"),
    "source": ("source", "url", "uri", "source_url", "link", "file_name", "filename", "file_path", "path", "file", "bron"),
    "summary": ("summary", "page_summary", "document_summary", "doc_summary", "abstract", "description", "samenvatting"),
    "date": ("date", "published", "published_at", "publication_date", "created", "created_at", "updated_at", "last_modified", "datum"),
    "embedding": ("embedding", "embeddings", "vector", "emb", "embedding_vector", "dense_vector", "text_embedding"),
    "tsvector": ("tsv", "tsvector", "search_vector", "text_search", "fts", "ts", "document_with_weights", "search"),
}


def plain_name(name: str) -> str:
    """A name without case, marks and separators: what two spellings of it share."""
    parts = unicodedata.normalize("NFKD", name).casefold()
    return "".join(character for character in parts if character.isalnum())


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
