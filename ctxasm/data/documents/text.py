"""Plain text in any encoding."""

from __future__ import annotations

import codecs
import re

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.source import SourceText, TextBuilder
from ctxasm.model.characters import mended

SAMPLE_BYTES = 256 * 2**10
"""How much of a text tells its encoding."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ENCODINGS: tuple[str, ...] = (
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "iso8859_2",
    "koi8_r",
    "mac_roman",
)
_ENCODINGS += ("cp850", "utf_16_le", "utf_16_be", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr")
"""What is in use. Among all that Python knows, a short text looks like a code page of DOS."""
_ASCII = frozenset(map(chr, range(128)))
_WESTERN = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôöøùúûüÿœŒ€‘’“”„–—…•°²³½§©®™«»£\xa0")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LINE_END = re.compile("\r\n?|\u2028|\u2029|\x85")


def read_plain(data: bytes) -> SourceText:
    """A text file; a form feed begins a page. Raises UnreadableDocument where the bytes are no text."""
    text, notes = decoded(data)
    if "\f" not in text:
        return SourceText({}, text.strip("\n"), notes=notes)
    builder = TextBuilder()
    pages = text.split("\f")
    if not pages[-1].strip():
        pages.pop()  # as pdftotext writes it: a form feed after every page
    for number, page in enumerate(pages):
        if number:
            builder.page_break()
        builder.block(page)
    return SourceText({}, builder.text(), builder.page_breaks, paged=True, notes=notes)


def decoded(data: bytes, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text of a file with line ends as `\\n`, and a sentence where its encoding had to be guessed.

    By its byte order mark, as `declared`, as UTF-8, else as its bytes look. Raises UnreadableDocument.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _cleaned(data.decode(encoding, "replace")), ()
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return _cleaned(data.decode(encoding)), ()
        except (UnicodeDecodeError, LookupError):
            continue
    guess = _guessed(data)
    text = data.decode(guess, "replace")
    lost = text.count("\ufffd")
    note = f"read as {guess}, because it is not UTF-8" + (f"; {lost:,} characters could not be read" if lost else "")
    return _cleaned(text), (note,)


def _guessed(data: bytes) -> str:
    """The encoding of bytes that are not UTF-8."""
    from charset_normalizer import from_bytes

    sample = data[:SAMPLE_BYTES]
    if sample.count(b"\0") > len(sample) // 100:
        raise UnreadableDocument("it holds bytes that are no text: give the document in one of the kinds that are read")
    if not set(sample.decode("cp1252", "replace")) - _WESTERN - _ASCII:
        return "cp1252"  # a short text says too little for statistics, but this is what nearly all of them are
    best = from_bytes(sample, cp_isolation=list(_ENCODINGS)).best()
    return best.encoding if best is not None else "cp1252"


def _cleaned(text: str) -> str:
    strange = len(_CONTROL.findall(text, 0, SAMPLE_BYTES))
    if strange > min(len(text), SAMPLE_BYTES) // 20:
        raise UnreadableDocument("it holds bytes that are no text: give the document in one of the kinds that are read")
    return mended(_LINE_END.sub("\n", text))
