"""How documents are cut into chunks, and how much one file may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxasm.data.archives import ZipLimits
from ctxasm.model.errors import InvalidInput, shown

MOST_TOKENS = 8192
LANGUAGE_LETTERS = 35


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """Chunks of at most `max_tokens` tokens that share at most `overlap_tokens`; defaults of the five-stage pipeline.

    A sentence is never cut, unless it alone is longer than a chunk. `pages`: a chunk lies on one page, so that
    its page number is right for all of it. `headings`: a chunk lies under one heading. `language` (as "nl") is noted with
    every document that does not say its own. Raises InvalidInput for a value that is not allowed.
    """

    max_tokens: int = 350
    overlap_tokens: int = 70
    pages: bool = True
    headings: bool = False
    language: str | None = None

    def __post_init__(self) -> None:
        _check_whole("max_tokens of a chunk", self.max_tokens, 16, MOST_TOKENS)
        _check_whole("overlap_tokens of a chunk", self.overlap_tokens, 0, self.max_tokens - 1)
        for field in ("pages", "headings"):
            if not isinstance(getattr(self, field), bool):
                raise InvalidInput(f"{field} must be true or false, got {shown(getattr(self, field))}")
        language = self.language
        if language is not None and not (
            language.isascii() and language.replace("-", "").isalnum() and 2 <= len(language) <= LANGUAGE_LETTERS
        ):
            raise InvalidInput(f"language must be a code such as nl, en or de-AT, got {shown(language)}")


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one document may take: `seconds` and `memory_mb` to read it, `file_mb` as a file, `unpacked_mb` and `ratio` when it
    is packed (DOCX), `characters` of text, and `files` in one ingest.

    A document over a limit is reported and left out; the rest is loaded.
    """

    seconds: int = 60
    memory_mb: int = 2048
    file_mb: int = 256
    unpacked_mb: int = 512
    ratio: int = 200
    characters: int = 20_000_000
    files: int = 100_000

    def __post_init__(self) -> None:
        for field in self.__slots__:
            _check_whole(f"{field} of the reading limits", getattr(self, field), 1, 10**9)

    def of_zip(self) -> ZipLimits:
        """The limits by which an archive is opened."""
        return ZipLimits(total_bytes=self.unpacked_mb * 2**20, ratio=self.ratio, entries=self.files)


VARIABLES = {
    "CTXASM_INGEST_SECONDS": "seconds",
    "CTXASM_INGEST_MEMORY_MB": "memory_mb",
    "CTXASM_INGEST_FILE_MB": "file_mb",
}
"""The environment variables of the limits that a user may want to change."""


def limits_from(environment: Mapping[str, str]) -> ReadLimits:
    """The limits with what the environment says. Raises InvalidInput naming the variable."""
    changed = {}
    for variable, field in VARIABLES.items():
        if text := environment.get(variable, "").strip():
            if not (text.isascii() and text.isdigit() and 1 <= len(text) <= 9 and int(text)):
                raise InvalidInput(f"{variable} must be a whole number from 1 to 999999999, got {shown(text)}")
            changed[field] = int(text)
    return ReadLimits(**changed)


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise InvalidInput(f"{name} must be a whole number from {least:,} to {most:,}, got {shown(value)}")
