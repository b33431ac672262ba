"""tiktoken's counts many times faster, by toktok (the extra `fast`), where the two are known to agree.

Both split a text by the classes of its characters, but their Unicode tables need not be of one year: of the letters of Unicode
17 they disagree. So a text goes to toktok only when all its characters are of ranges whose classes have stood since Unicode 14;
any other is left to tiktoken. At its first use toktok counts a set of nasty texts; when one count differs it is not used.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

SWITCH = "CTXASM_FAST_COUNTER"
ENCODINGS = ("cl100k_base", "o200k_base")

CountMany = Callable[[Sequence[str]], list[int]]

_RANGES = (
    "\\u0000-\\u0377\\u03a3-\\u052f\\u0600-\\u070d\\u1000-\\u10c5\\u10d0-\\u1248\\u1e00-\\u1f15\\u2000-\\u2064\\u20a0-\\u20c0\\u2100-\\u218b"
    "\\u2190-\\u2426\\u2460-\\u2b73\\u3000-\\u303f\\u3041-\\u3096\\u3099-\\u30ff\\u3400-\\ua48c\\uac00-\\ud7a3\\ue000-\\ufa6d\\ufe00-\\ufe0f"
    "\\uff01-\\uffbe\\U0001d400-\\U0001d454\\U0001f300-\\U0001f6d7\\U0001f900-\\U0001fa53\\U00020000-\\U0002a6df"
)
_UNFAMILIAR = re.compile(f"[^{_RANGES}]").search

NASTY = (
    "",
    "a",
    "Hello, world! It's 12345 o'clock; we'll go.",
    "De polikliniek is open van 08.30 tot 17.00 uur (€ 12,50 p.p.).\n\n- één\n- twee\r\n\tdrie  \n",
    "<|endoftext|> <|fim_prefix|>[1][SOURCE 2]</source>",
    "def f(x):\n    return {'a': [x**2 for _ in range(10)]}  # comment\n\n\n",
    " \t\x0b\x0c\x85\xa0\u2028\u3000\u2003 x  \n  y \r\n\r\n z",
    "'s 'S 'ſ 'll 'LL 'Re I'VE don’t can't've",
    "ÀÉÎ naïve Straße ŒUVRE ij Ǆ ǅ ﬁ Ⅷ ½ ² ٣ ४ 〇",
    "日本語のテキスト 中文文本 한국어 텍스트 العربية עברית हिन्दी ไทย",
    "👩‍👩‍👧 🇳🇱 🏽 ☃️ ✓ … — “quotes” ‘q’ • § ¶",
    "e\u0301 o\u0308\u0323 a\u200bb a\u00adb \ufeff \u200d",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 5,
    "=" * 100 + "-" * 99 + "." * 98 + "\n" * 97 + " " * 96 + "!",
    "camelCaseHTTPServer2Name snake_case_99 kebab-case-1 https://x.nl/a/b?c=1&d=%20#e",
    "0123456789" * 20 + " 1,234,567.89 1e-9 0xDEADBEEF",
    "\x00\x01\x1b[31m\x7f \ue000 \ufffd",
)
"""Letters, digits, blanks and marks of every kind at each other's edges."""


class Fast(NamedTuple):
    """What counts fast, or None and why not ("" where nobody asked for it)."""

    count_many: CountMany | None
    why_not: str = ""


def is_familiar(text: str) -> bool:
    """Whether both tokenizers know every character of `text`."""
    return text.isascii() or not _UNFAMILIAR(text)


def open_fast(encoding: str, exact: CountMany) -> Fast:
    """toktok for `encoding`, after it has counted `NASTY` as `exact` does. Its counts hold for familiar texts only."""
    if encoding not in ENCODINGS or os.environ.get(SWITCH) == "0" or importlib.util.find_spec("toktok") is None:
        return Fast(None)
    try:
        import toktok

        def count_many(texts: Sequence[str]) -> list[int]:
            counts: list[int] = toktok.batch_count(texts, encoding, threads=1)
            return counts

        if count_many(NASTY) != exact(NASTY):
            return Fast(None, _refused("counts otherwise than tiktoken"))
    except Exception as error:  # noqa: BLE001 (whatever is wrong with it, tiktoken is there)
        return Fast(None, _refused(f"does not work here ({type(error).__name__})"))
    return Fast(count_many)


def _refused(what: str) -> str:
    return f"the installed toktok {what}, so tiktoken counts: get another toktok-rs, or set {SWITCH}=0"
