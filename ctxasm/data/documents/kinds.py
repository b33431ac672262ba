"""Which files are documents, and of which kind."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

from ctxasm.model.errors import InvalidInput

Kind = Literal["pdf", "docx", "html", "markdown", "text"]
EXTENSIONS: dict[str, Kind] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
}
"""By the end of the file name, in any case."""
TOLD = {
    ".doc": "the old Word format is not read: save it as .docx or PDF",
    ".odt": "OpenDocument is not read: save it as .docx or PDF",
    ".rtf": "RTF is not read: save it as .docx or PDF",
    ".pptx": "slides are not read: save them as PDF",
    ".ppt": "slides are not read: save them as PDF",
    ".xlsx": "spreadsheets are not read as documents: save the sheet as CSV and load it as a table",
    ".xls": "spreadsheets are not read as documents: save the sheet as CSV and load it as a table",
    ".zip": "a .zip inside a folder is not opened: give it by itself",
}
"""What to do with a kind of file that people do have."""


class UnreadableDocument(InvalidInput):
    """A document cannot be read. The message is one sentence, without the name of the file, and says what to do."""


class MissingPackage(UnreadableDocument):
    """The package that reads this kind of document is not installed. The message names the command."""


def kind_of(file_name: str) -> Kind | None:
    """The kind of a document by its name, None for a file that is none."""
    return EXTENSIONS.get(suffix_of(file_name))


def suffix_of(file_name: str) -> str:
    """The last part of the name, as ".pdf"."""
    return PurePosixPath(file_name).suffix.lower()


def why_not(file_name: str) -> str:
    """Why a file of this name is left out."""
    return TOLD.get(suffix_of(file_name), f"not a kind of document that is read ({', '.join(EXTENSIONS)})")
