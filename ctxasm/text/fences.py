"""The code on the lines around material in a prompt, so that no text between them can hold the closing line.

The code is chosen when the material is known, so nobody can plant it. It is the first of a fixed row of codes that nothing
in the material resembles: prompts whose material differs only at its end then begin alike, which is what a server's prefix
cache needs. A fixed row can be known, so a text may hold codes that are nearly right, or written with other characters:
five characters in a row are enough to pass a code over. Where all of the row are passed over, a digest of the material
follows, which nobody can have known.

Letters and digits take turns in a code: a tokenizer splits between them, so every code takes the same number of tokens.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

CODE_CHARS = 16
"""Characters of a code, and its tokens in every vocabulary."""
FIXED = 16
"""Codes in the row."""
_ALIKE = 5
"""Characters in a row by which a text resembles a code: who changes fewer than three of a code leaves as many."""
_LETTERS, _DIGITS = "fgkmqtwz", "23456789"
"""Eight of each, three bits a character, with few look-alikes."""
_SILENT = re.compile(r"[\W_\u115f\u1160\u3164\uffa0]+")
"""What may stand between the characters of a code without being read: white space, marks, all without width."""
_LOOK_ALIKES: dict[int, int] = str.maketrans("κкⲕᏦμмⲙᏇτтⲧζⲍᏃᴢԛԝѡƒϝɡзʒчбƨƽ", "kkkkmmmmtttzzzzqwwffg334625")
"""Letters of other scripts that look like those of a code, folded as `_read` folds them."""


def fence_code(text: str, *others: str) -> str:
    """A code that stands in none of the texts, however it is written there. The same texts always have the same code."""
    texts = (text, *others)
    read = [_read(each) for each in texts]
    row = (code for code in _row() if not any(_resembles(code, each) for each in read))
    return next(row, None) or next(code for code in _digests(texts) if not any(code in each for each in read))


@cache
def _row() -> tuple[str, ...]:
    return tuple(_code(hashlib.sha256(b"fence %d" % place).digest()) for place in range(FIXED))


def _digests(texts: Sequence[str]) -> Iterator[str]:
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).digest()
    while True:
        yield _code(digest)
        digest = hashlib.sha256(digest).digest()


def _code(digest: bytes) -> str:
    pairs = zip(digest[: CODE_CHARS // 2], digest[CODE_CHARS // 2 : CODE_CHARS], strict=True)
    return "".join(_LETTERS[letter & 7] + _DIGITS[digit & 7] for letter, digit in pairs)


def _resembles(code: str, read: str) -> bool:
    return any(code[at : at + _ALIKE] in read for at in range(CODE_CHARS - _ALIKE + 1))


def _read(text: str) -> str:
    """The letters and digits of `text` alone, without differences of case, width, accent, script of a digit or of a look-alike."""
    if text.isascii():
        return _SILENT.sub("", text.lower())
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    digits = {ord(char): ord("0") + unicodedata.digit(char) for char in set(plain) if not char.isascii() and char.isdigit()}
    return _SILENT.sub("", plain.translate(_LOOK_ALIKES | digits))
