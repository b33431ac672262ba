"""One document in, its text out: the reader for each kind of file, and what its text is read by."""

from __future__ import annotations

from importlib import metadata

from ctxasm.ingest.kinds import Kind, UnreadableDocument, kind_of, why_not
from ctxasm.ingest.options import ReadLimits
from ctxasm.ingest.source import SourceText

READER_VERSION = 1
"""Raised whenever a reader or the chunker makes something else of the same bytes: then documents are read again."""
LIBRARIES: dict[Kind, str] = {
    "pdf": "pypdfium2",
    "docx": "python-docx",
    "html": "lxml",
    "markdown": "markdown-it-py",
    "text": "charset-normalizer",
}


def read_document(file_name: str, data: bytes, limits: ReadLimits | None = None) -> SourceText:
    """The text of a document, whose kind its name says. Reads in this process: a hostile file may take long here.

    Raises UnreadableDocument with one sentence.
    """
    limits = limits or ReadLimits()
    kind = kind_of(file_name)
    if kind is None:
        raise UnreadableDocument(why_not(file_name))
    source = _read(kind, data)
    if not source.text.strip():
        raise UnreadableDocument("it holds no text")
    if len(source.text) > limits.characters:
        raise UnreadableDocument(f"it has {len(source.text):,} characters of text, allowed are {limits.characters:,}: split it")
    return source


def reader_of(kind: Kind) -> str:
    """What reads a kind of document, with its version: as "pypdfium2 5.15.2"."""
    library = LIBRARIES[kind]
    try:
        return f"{library} {metadata.version(library)}"
    except metadata.PackageNotFoundError:
        return library


def _read(kind: Kind, data: bytes) -> SourceText:
    if kind == "markdown":
        from ctxasm.ingest.commonmark import read_markdown

        return read_markdown(data)
    if kind == "html":
        from ctxasm.ingest.page import read_html

        return read_html(data)
    if kind == "text":
        from ctxasm.ingest.plain import read_plain

        return read_plain(data)
    raise UnreadableDocument(f"{kind} is not read yet")
