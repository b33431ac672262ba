"""Counting tokens: exactly with tiktoken, or as a labelled estimate.

A growing text is counted by its tally: at a safe seam (see `Seams`) the counts add up; elsewhere only a short window
around the seam is tokenized again. The law, held by a property test: the total equals tiktoken's count of the whole text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

import tiktoken

from ctxasm.model.errors import InvalidInput, TokenizerUnavailable
from ctxasm.model.ports import TokenCounter
from ctxasm.text.tokens.estimate import EstimateCounter
from ctxasm.text.tokens.fast import Fast, is_familiar, open_fast
from ctxasm.text.tokens.vocabulary import load_encoding

LONGEST_RUN = 400_000
"""From this many blanks in a row on a text is refused."""
_BLANK = r"[^\S\r\n]"
_BLANK_RUN = re.compile(rf"(?<!{_BLANK}){_BLANK}{{{LONGEST_RUN}}}").search
"""It is looked for from the head of a run only: from every blank of a shorter one that takes the square of its length."""
FAST_CHARS = 50_000
"""From this many characters on, a counter that takes a while to start is worth it."""
PARALLEL_CHARS = 400_000
"""From this many characters on, starting threads costs less than it saves."""
PAIRS = 65_536
"""Pairs of characters of which it is kept whether counts add up between them."""
LINES = 2048
"""Texts as long as a summary of a document of which the count is kept, and their most characters: they stand in context after context."""
LINE_CHARS = 1024
_BACK = 48
"""Characters looked back for a safe cut at first; eight times more where they hold none."""


def has_blank_run(text: str) -> bool:
    """Whether a text holds a run of so many blanks."""
    return _BLANK_RUN(text) is not None


@lru_cache(maxsize=8)
def open_counter(encoding: str = "cl100k_base") -> TokenCounter:
    """An exact counter, or, where no vocabulary can be had, an estimate that says so (`exact` is False, `remedy` why)."""
    try:
        return ExactCounter(load_encoding(encoding))
    except TokenizerUnavailable as error:
        return EstimateCounter(encoding, str(error))


class ExactCounter:
    """tiktoken's own numbers. Special tokens in a text are counted as the ordinary text they are there."""

    exact = True

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding.name
        self._fast: Fast | None = None
        self._encode = encoding.encode_ordinary
        self._vocabulary = encoding
        self.seams = Seams(encoding.name.split("_")[0].replace("p50k", "r50k"))
        self.count_short = lru_cache(maxsize=65536)(self._count)
        self._count_line = lru_cache(maxsize=LINES)(self._count)
        self.pairs: dict[str, bool] = {}

    def __reduce__(self) -> tuple[Callable[[str], TokenCounter], tuple[str]]:
        # Another process opens its own.
        return open_counter, (self.encoding,)

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        return self._count(text) if len(text) > LINE_CHARS else self._small(text)

    def _count(self, text: str) -> int:
        return len(self._tokens(text))

    def _tokens(self, text: str) -> list[int]:
        if len(text) >= LONGEST_RUN and has_blank_run(text):
            # The tokenizer itself breaks down on such a run, in a way that no caller can handle.
            raise InvalidInput(f"a text must have no run of {LONGEST_RUN:,} blanks or more: the tokenizer cannot count it; shorten the run")
        return self._encode(text)

    @property
    def remedy(self) -> str:
        """Why counting is slower than it could be, where that was found out."""
        return self._fast.why_not if self._fast is not None else ""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; many of them on all cores, or by the fast counter where it is installed."""
        chars = sum(map(len, texts))
        if chars < FAST_CHARS or any(len(text) >= LONGEST_RUN for text in texts):
            return [len(self._tokens(text)) for text in texts]
        if self._fast is None:
            self._fast = open_fast(self.encoding, lambda some: [len(self._encode(text)) for text in some])
        if self._fast.count_many is None:
            return self._count_all(texts, chars)
        others = [at for at, text in enumerate(texts) if not is_familiar(text)]
        if not others:
            return self._fast.count_many(texts)
        unfamiliar = set(others)
        counts = iter(self._fast.count_many([text for at, text in enumerate(texts) if at not in unfamiliar]))
        slow = iter(self._count_all([texts[at] for at in others], chars))
        return [next(slow) if at in unfamiliar else next(counts) for at in range(len(texts))]

    def _count_all(self, texts: Sequence[str], chars: int) -> list[int]:
        if chars < PARALLEL_CHARS:
            return [len(self._encode(text)) for text in texts]
        return [len(tokens) for tokens in self._vocabulary.encode_ordinary_batch(list(texts), num_threads=os.cpu_count() or 1)]

    def tally(self) -> ExactTally:
        """A fresh running count."""
        return ExactTally(self)

    def has_seam(self, text: str) -> bool:
        """Whether counts add up somewhere strictly inside `text`, whatever stands around it."""
        return self.seams.first_cut(text) is not None

    def complement(self, text: str, at: int, total: int, known: int) -> int:
        """Count of one side of `text` split at `at`, from the whole and the other side; tokenizes only around `at`."""
        return total - known - self._across(text, at)

    def merge(self, text: str, at: int, left: int, right: int) -> int:
        """Count of `text` from the counts of both sides of `at`; tokenizes only around `at`."""
        return left + right + self._across(text, at)

    def _across(self, text: str, at: int) -> int:
        """By how much the count of `text` exceeds the sum of the counts of its two sides."""
        if at <= 0 or at >= len(text) or self.seams.safe(text[at - 1], text[at : at + 2 * _BACK]):
            return 0
        left, _ = self._ending(text[:at])
        right, _ = self._beginning(text[at:])
        return self._small(left + right) - self._small(left) - self._small(right)

    def inside(self, text: str, own: int) -> int:
        """Those between the first cut and the last."""
        first = self.seams.first_cut(text)
        return 0 if first is None else max(0, own - self._small(text[:first]) - self._small(self._ending(text)[0]))

    def change(self, old: str, new: str, low: int, high: int) -> int | None:
        """Count of `new` minus count of `old`, which differ only from `low` to `high`; None without a cut on both sides."""
        left, before = self._ending(old[:low])
        right, after = self._beginning(old[high:])
        if not (before and after):
            return None
        return self._small(left + new[low:high] + right) - self._small(left + old[low:high] + right)

    def boundaries(self, text: str) -> list[int]:
        """Ascending character offsets at which a token ends and what stands before is valid text."""
        offsets, at, rest = [], 0, b""
        for token in self._vocabulary.decode_tokens_bytes(self._tokens(text)):
            rest += token
            try:
                at += len(rest.decode("utf-8"))
            except UnicodeDecodeError:
                continue
            rest = b""
            offsets.append(at)
        return offsets

    def _small(self, text: str) -> int:
        if len(text) <= 4 * _BACK:
            return self.count_short(text)
        return self._count_line(text) if len(text) <= LINE_CHARS else self._count(text)

    def _ending(self, text: str) -> tuple[str, bool]:
        """The end of `text` from its last safe cut on, and whether a cut was found."""
        size = _BACK
        while True:
            back = text[-size:]
            cut = self.seams.last_cut(back)
            if cut is not None:
                return back[cut:], True
            if len(back) == len(text):
                return text, False
            size *= 8

    def _beginning(self, text: str) -> tuple[str, bool]:
        """The beginning of `text` up to its first safe cut, and whether a cut was found."""
        cut = self.seams.first_cut(text)
        return (text, False) if cut is None else (text[:cut], True)

    def growth(self, before: Sequence[str], text: str, own: int | None) -> int:
        """By how much the count grows when `text` is appended to the joined `before` at a seam that is not safe."""
        taken = len(before) - 1
        left, cut = self._ending(before[taken])
        while not cut and taken:
            taken -= 1
            left, cut = self._ending(before[taken] + left)
        right, cut = self._beginning(text)
        joined = self._small(left + right) - self._small(left)
        if not cut:
            return joined
        return joined + (self.count(text) if own is None else own) - self._small(right)


class ExactTally:
    """The exact count of a text that grows piece by piece."""

    __slots__ = ("_counter", "_last", "_pairs", "_parts", "_safe", "total")

    def __init__(self, counter: ExactCounter) -> None:
        self._counter = counter
        self._safe, self._pairs = counter.seams.safe, counter.pairs
        self._parts: list[str] = []
        self._last = ""
        self.total = 0

    def add(self, text: str, own: int | None = None, growth: int | None = None) -> int:
        """Append `text`; return by how much the exact count of the whole grew."""
        if not text:
            return 0
        if growth is None:
            pair = self._last + text[0]
            safe = self._pairs.get(pair)
            if safe is None:
                safe = self._remembered(pair, text)
            if not safe:
                growth = self._counter.growth(self._parts, text, own)
            elif own is None:
                growth = self._counter._small(text)
            else:
                growth = own
        self._parts.append(text)
        self._last = text[-1]
        self.total += growth
        return growth

    def _remembered(self, pair: str, text: str) -> bool:
        """Whether counts add up between the last character and `text`; kept where the first character alone decides it."""
        safe = not self._last or self._safe(self._last, text)
        if len(pair) == 1 or ((pair[0] not in "\r\n" or not pair[1].isspace()) and len(self._pairs) < PAIRS):
            self._pairs[pair] = safe
        return safe


_BLANKS = "\t\x0b\x0c \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = _BLANKS + "\r\n"
# A subset of the safe cuts that a regular expression can find at once: ASCII only, valid for every family.
_FAST_CUT = re.compile(r"[A-Za-z](?=[\t-\r -&(-@\[-`{-~])|[0-9](?=[\t-\r -/:-~])")
_LOOK = 64
"""Characters looked at first, on either side of a seam; ten times more where they hold no cut."""


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """One letter: L letter, M mark, N number, W white space, U unassigned, O other."""
    if character in _SPACES:
        return "W"
    category = unicodedata.category(character)
    if category in ("Cn", "Cs"):
        return "U"
    return category[0] if category[0] in "LMN" else "O"


class Seams:
    """Where a text may be cut so that token counts add up, in one family of encodings: "cl100k", "o200k" or "r50k".

    An encoding first splits text by a regular expression without look-behind, then merges bytes inside each piece. So
    count(A + B) = count(A) + count(B) whenever a piece of A + B ends at the seam and A's pieces are the same inside A + B.
    Sufficient for that, looking only at the characters around the seam:

    1. A ends in a letter and B starts with a non-letter (o200k: nor with a mark or an apostrophe, which extend a word);
    2. A ends in a number and B starts with a non-number;
    3. A ends in a newline and B starts with optional other white space and then a visible character (o200k: not `/`, which
       a run of punctuation and newlines swallows; r50k and p50k split newlines differently: never).

    A character that Python's Unicode tables do not know makes no safe seam: the tokenizer's tables may be newer.
    """

    def __init__(self, family: str) -> None:
        self.family = family
        self._after_letter = "NWO" if family == "o200k" else "MNWO"
        self._newlines = family != "r50k"

    def safe(self, last: str, text: str) -> bool:
        """Whether counts add up between a text that ends in the character `last` and the non-empty `text`."""
        if last == "\n" or last == "\r":
            return self._newlines and self._starts_visible(text)
        kind = _kind(last)
        if kind == "L":
            first = text[0]
            return _kind(first) in self._after_letter and not (self.family == "o200k" and first == "'")
        return kind == "N" and _kind(text[0]) in "LMWO"

    def _starts_visible(self, text: str) -> bool:
        first = text[0]
        if first in _BLANKS:
            rest = text.lstrip(_BLANKS)
            return bool(rest) and rest[0] not in "\r\n" and _kind(rest[0]) != "U"
        if first in "\r\n" or (first == "/" and self.family == "o200k"):
            return False
        return _kind(first) != "U"

    def first_cut(self, text: str) -> int | None:
        """The first safe cut found strictly inside `text` (an offset), or None."""
        found = _FAST_CUT.search(text, 0, 4 * _LOOK)
        if found is None:
            slow = self._scan(text, range(1, min(len(text), 20 * _LOOK)))
            if slow is not None:
                return slow
            found = _FAST_CUT.search(text)
        return found.end() if found else self._scan(text, range(1, len(text)))

    def last_cut(self, text: str) -> int | None:
        """A safe cut strictly inside `text` (an offset), one of the last, or None. Meant for short texts."""
        blank = text.rfind(" ")  # most often a word stands before it, and then nothing has to be looked for
        if blank > 0 and ("a" <= text[blank - 1] <= "z" or "A" <= text[blank - 1] <= "Z"):
            return blank
        near = self._scan(text, range(len(text) - 1, max(0, len(text) - 6), -1))
        if near is not None:
            return near
        cut = None
        for found in _FAST_CUT.finditer(text):
            cut = found.end()
        return cut if cut is not None else self._scan(text, range(len(text) - 1, 0, -1))

    def _scan(self, text: str, places: range) -> int | None:
        for at in places:
            if self.safe(text[at - 1], text[at : at + _LOOK]):
                return at
        return None
