"""Plain text in any encoding."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

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
_WINDOWS_1252 = (
    "iso88591 latin1 l1 ascii usascii ansix341968 cp1252 windows1252 cp819 ibm819 isoir100 csisolatin1 iso885911987 isolatin1 iso646us"
    " ansi userdefined"
)
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


_LABELS = {
    **dict.fromkeys(_WINDOWS_1252.split(), "cp1252"),
    **dict.fromkeys(("iso88599", "latin5", "l5", "isoir148", "csisolatin5"), "cp1254"),
    **dict.fromkeys(("iso885911", "tis620", "dos874"), "cp874"),
    **dict.fromkeys(("gb2312", "gbk", "chinese", "xgbk", "gb231280", "csgb2312", "isoir58"), "gb18030"),
    **dict.fromkeys(("euckr", "korean", "ksc56011987", "ksc56011989", "ksc5601", "csksc56011987", "isoir149"), "cp949"),
    **dict.fromkeys(("shiftjis", "sjis", "xsjis", "mskanji", "windows31j", "csshiftjis"), "cp932"),
    **dict.fromkeys(("big5", "cnbig5", "xxbig5", "csbig5"), "big5hkscs"),
    "koi8": "koi8_r",
    "koi": "koi8_r",
    "koi8ru": "koi8_u",
    "xmaccyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "mac": "mac_roman",
    "xmacroman": "mac_roman",
    "iso88598i": "iso8859_8",
    "logical": "iso8859_8",
    "visual": "iso8859_8",
    **dict.fromkeys(("utf16", "utf16le", "utf16be", "unicode", "ucs2", "iso10646ucs2", "utf7", "utf32"), "utf-8"),
}
"""What the standard of web pages reads these labels as. One that names UTF-16 was read as ASCII, so it is wrong."""
_STATEFUL = ("iso2022_jp", "hz")


def _encoding_of(label: str) -> str | None:
    """The encoding that a page means by a label; None for one that nobody knows."""
    plain = re.sub(r"[^a-z0-9]", "", label.lower())
    try:
        return codecs.lookup(_LABELS.get(plain) or _LABELS.get(plain.removeprefix("x")) or label).name
    except (LookupError, ValueError):
        return None


def decoded(data: bytes, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text of a file with line ends as `\\n`, and a sentence where its encoding had to be guessed.

    By its byte order mark, as UTF-8 (what only happens to be UTF-8 is nothing else), as `declared`, else as its bytes look.
    Raises UnreadableDocument.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _cleaned(data.decode(encoding, "replace")), ()
    named = _encoding_of(declared) if declared is not None else None
    for each in ("utf-8", named) if named not in _STATEFUL else (named, "utf-8"):
        with suppress(UnicodeDecodeError):
            if each is not None and (each != "utf-8" or b"\0" not in data[:SAMPLE_BYTES]):
                return _cleaned(data.decode(each, "replace" if each == "cp1252" else "strict")), ()
    guess = _guessed(data)
    text = data.decode(guess, "replace")
    lost = text.count("\ufffd")
    note = f"read as {guess}, because it is not UTF-8" + (f"; {lost:,} characters could not be read" if lost else "")
    return _cleaned(text), (note,)


def _guessed(data: bytes) -> str:
    """The encoding of bytes that are not UTF-8."""
    from charset_normalizer import from_bytes

    sample = data[:SAMPLE_BYTES]
    even, odd = sample[::2].count(b"\0"), sample[1::2].count(b"\0")
    if max(even, odd) > len(sample) // 5 and min(even, odd) <= max(even, odd) // 20:
        return "utf_16_le" if odd > even else "utf_16_be"  # text of the West without a byte order mark
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
