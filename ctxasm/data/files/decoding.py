"""Bytes of a text file -> text, with the encoding said: by its mark, by being UTF-8, by its zeros, else by its letters.

A file that is UTF-8 but for a few bytes is damaged UTF-8 and no other encoding: reading it as one would garble every
accented letter that is still sound.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from ctxasm.model.characters import UNSTORABLE
from ctxasm.model.errors import InvalidInput

SAMPLE = 2**18
MOST_STRANGE = 20
"""Control characters that a text may have, however short it is; beyond that a tenth of it."""
_MARKS = (  # the four-byte mark of UTF-32 begins with the two-byte one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with a byte-order mark"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_WESTERN = set("àáâãäåæçèéêëìíîïñòóôõöøœùúûüýÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØŒÙÚÛÜÝŸšžŠŽƒ‘’‚“”„–—…€•«»‹›§©®™°±²³¹µ·¶¿¡½¼¾ªº£¥¢¨´¸×÷¬\xa0\xad")
_CONTROLS = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")


class Decoded(NamedTuple):
    """The text, the name of its encoding as a user knows it, and how many NUL and lone surrogates became U+FFFD."""

    text: str
    encoding: str
    replaced: int

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes were UTF-8."""
        return self.encoding.startswith("UTF-8")


class NotUtf8(Exception):
    """The file is UTF-8 but for the byte at `offset`, on `line` (from 1). Internal: readers make a problem of it."""

    def __init__(self, data: bytes, offset: int) -> None:
        self.line = data.count(b"\n", 0, offset) + 1
        self.column = offset - data.rfind(b"\n", 0, offset)
        super().__init__(f"byte {self.column} of line {self.line}")


def decode(data: bytes, file: str) -> Decoded:
    """The text of a file. Raises NotUtf8 for damaged UTF-8, InvalidInput for what is no text."""
    text, encoding = _text(data, file)
    text, replaced = UNSTORABLE.subn("\ufffd", text)
    start = text[:SAMPLE]
    strange = len(_CONTROLS.findall(start)) + start.count("\ufffd")
    if strange > MOST_STRANGE and strange * 10 > len(start):
        raise InvalidInput(f"{file} is no text: its bytes are those of another kind of file; give JSON, JSON Lines, CSV, Parquet or a .zip")
    return Decoded(text, encoding, replaced)


def _text(data: bytes, file: str) -> tuple[str, str]:
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return _marked(data.removeprefix(mark), codec, name, file)
    if utf16 := _by_zeros(data[:SAMPLE]):
        return _marked(data, utf16, "UTF-16", file)
    try:
        return data.decode("utf-8", "surrogatepass"), "UTF-8"
    except UnicodeDecodeError as error:
        sound = _sound_letters(data, error.start)
        if sound > 0 and sound >= _broken_bytes(data, error.start):
            raise NotUtf8(data, error.start) from None
    return _by_letters(data, file)


def _marked(data: bytes, codec: str, name: str, file: str) -> tuple[str, str]:
    try:
        return data.decode(codec, "surrogatepass"), name
    except UnicodeDecodeError as error:
        if codec == "utf-8":
            raise NotUtf8(data, error.start) from None
        raise InvalidInput(f"{file} says that it is {name}, but its byte {error.start + 1:,} is not: save it again as UTF-8") from None


def _by_zeros(sample: bytes) -> str | None:
    """UTF-16 without a mark: of a text in Latin letters every other byte is zero."""
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    even, odd = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if max(even, odd) * 2 < pairs or min(even, odd) * 20 > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _sound_letters(data: bytes, start: int) -> int:
    around = data[max(0, start - SAMPLE) : start + SAMPLE].decode("utf-8", "ignore")
    return sum(1 for character in around if character > "\x7f")


def _broken_bytes(data: bytes, start: int) -> int:
    return data[max(0, start - SAMPLE) : start + SAMPLE].decode("utf-8", "replace").count("\ufffd")


def _by_letters(data: bytes, file: str) -> tuple[str, str]:
    """An older encoding of one byte a letter, or an Asian one. Windows-1252 where what it gives are Western words."""
    first = next(at for at, byte in enumerate(data) if byte > 0x7F)
    sample = data[max(0, first - 1000) : first + SAMPLE]
    if _is_western(sample):
        name = "cp1252"
    else:
        import charset_normalizer

        best = charset_normalizer.from_bytes(sample).best()
        name = best.encoding if best is not None else ""
    try:
        return data.decode(name), f"{'windows-1252' if name == 'cp1252' else name.replace('_', '-')}, detected by its letters"
    except (UnicodeDecodeError, LookupError):
        raise InvalidInput(f"{file} cannot be read: its encoding could not be told; save it as UTF-8") from None


def _is_western(sample: bytes) -> bool:
    text = sample.decode("cp1252", "replace")
    beyond = [character for character in text if character > "\x7f"]
    letters = sum(character.isalpha() for character in text)
    strange = sum(character not in _WESTERN for character in beyond)
    return strange == 0 and sum(character.isalpha() for character in beyond) * 3 <= letters
