"""One document in, its text out: the reader for each kind of file, and what its text is read by."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

from ctxasm.data.documents.collecting import Kind, MissingPackage, UnreadableDocument, kind_of, why_not
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.source import Section, SourceText
from ctxasm.model.characters import mended
from ctxasm.model.errors import shown
from ctxasm.model.packages import missing_package

OnPage = Callable[[int, int], None]
"""Told after each page: how many are read, of how many."""
READER_VERSION = 1
"""Raised whenever a reader or the chunker makes something else of the same bytes: then documents are read again."""
LIBRARIES: dict[Kind, str] = {
    "pdf": "pypdfium2",
    "docx": "python-docx",
    "html": "lxml",
    "markdown": "markdown-it-py",
    "text": "charset-normalizer",
}


def _nobody(done: int, total: int) -> None:
    """Nobody asked."""


def read_document(file_name: str, data: bytes, limits: ReadLimits | None = None, on_page: OnPage = _nobody) -> SourceText:
    """The text of a document, whose kind its name says. Reads in this process: a hostile file may take long here.

    `on_page` is told after each page of a PDF. Raises UnreadableDocument with one sentence, whatever the bytes are.
    """
    limits = limits or ReadLimits()
    kind = kind_of(file_name)
    if kind is None:
        raise UnreadableDocument(why_not(file_name))
    try:
        source = _read(kind, data, limits, on_page)
    except (UnreadableDocument, MemoryError):
        raise
    except ModuleNotFoundError as error:
        raise MissingPackage(missing_package(error) or str(error)) from None
    except Exception as error:  # libraries read bytes made to break them; what they raise is no contract
        raise UnreadableDocument(f"it is damaged: {shown(f'{type(error).__name__}: {error}')}") from error
    source = _storable(source)
    if not source.text.strip():
        raise UnreadableDocument("it holds no text")
    if len(source.text) > limits.characters:
        raise UnreadableDocument(f"it has {len(source.text):,} characters of text, allowed are {limits.characters:,}: split it")
    return source


def _storable(source: SourceText) -> SourceText:
    """Without the characters that no database takes, which may come out of an escape in any kind of file."""
    sections = [Section(section.start, mended(section.heading)) for section in source.sections]
    fields = {name: mended(value) for name, value in source.fields.items()}
    return dataclasses.replace(source, text=mended(source.text), sections=sections, fields=fields)


@cache
def reader_of(kind: Kind) -> str:
    """What reads a kind of document, with its version: as "pypdfium2 5.15.2"."""
    from importlib import metadata  # a third of what the process that reads loads, and that one asks for no version

    library = LIBRARIES[kind]
    try:
        return f"{library} {metadata.version(library)}"
    except metadata.PackageNotFoundError:
        return library


def _read(kind: Kind, data: bytes, limits: ReadLimits, on_page: OnPage) -> SourceText:
    if kind == "pdf":
        from ctxasm.data.documents.pdf import read_pdf

        return read_pdf(data, on_page)
    if kind == "docx":
        from ctxasm.data.documents.docx import read_docx

        return read_docx(data, limits)
    if kind == "html":
        from ctxasm.data.documents.html import read_html

        return read_html(data)
    if kind == "markdown":
        from ctxasm.data.documents.markdown import read_markdown

        return read_markdown(data)
    from ctxasm.data.documents.text import read_plain

    return read_plain(data)
