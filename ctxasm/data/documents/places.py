"""Where a text may be cut: ends of tokens, ends of sentences and lines, starts of words."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

_SENTENCE_END = re.compile(r"[.!?…]['\"’”»)\]]?(?=\s)|[。！？]")
_WORD_START = re.compile(r"(?<!\S)\S")
_LONGEST_HEADING = 80
_TERMINATORS = (".", "!", "?", "…", ":", ";", ",")
_ABBREVIATIONS = frozenset({"art", "blz", "bv", "ca", "dr", "mevr", "nr", "prof", "resp", "tel", "vb", "vgl"})
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))


class Places:
    """Where a text may be cut: ends of tokens, ends of sentences and lines, starts of words."""

    def __init__(self, text: str, tokens: Sequence[int]) -> None:
        self.text = text
        self.tokens = tokens

    @cached_property
    def stops(self) -> list[int]:
        """Ends of sentences and of lines that are no headings."""
        return list(_stops(self.text))

    @cached_property
    def words(self) -> list[int]:
        """Where words begin."""
        return [match.start() for match in _WORD_START.finditer(self.text)]

    def end_of_chunk(self, start: int, covered: int, budget: int) -> int:
        """Where the chunk that begins at `start` ends when about `budget` tokens may be taken; always past `covered`."""
        first = bisect_right(self.tokens, start) - 1
        if first + budget >= len(self.tokens) - 1:
            return len(self.text)
        limit = max(self.tokens[first + budget], covered + 1)
        floor = max(self.tokens[first + budget // 2], covered)
        stop = bisect_right(self.stops, limit) - 1
        if stop >= 0 and self.stops[stop] > floor:
            return self.stops[stop]
        word = bisect_right(self.words, limit) - 1
        before = len(self.text[floor : self.words[word]].rstrip()) if word >= 0 else 0
        return floor + before if before else limit

    def start_of_next(self, start: int, end: int, budget: int) -> int:
        """About `budget` tokens before `end`, at a word start if there is one, after `start` and at most `end`."""
        last = bisect_left(self.tokens, end)
        earliest = max(self.tokens[max(last - budget, 0)], start + 1)
        if budget <= 0 or earliest >= end:
            return end
        word = bisect_left(self.words, earliest)
        return self.words[word] if word < len(self.words) and self.words[word] < end else earliest


def smaller(budget: int, allowed: int, counted: int) -> int:
    """The next budget to try when one led to `counted` tokens, more than allowed."""
    return min(budget - 1, budget * allowed // counted)


def _stops(text: str) -> Iterator[int]:
    """Ends of sentences and of lines that are no headings, ascending."""
    ends = {match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviation(text, match.start())}
    ends.update(end for _, end, is_heading in _lines(text) if not is_heading)
    return iter(sorted(ends))


def heading_lines(text: str) -> Iterator[tuple[int, int]]:
    """The lines that look like headings: short, alone between blank lines, without a mark at their end."""
    return ((start, end) for start, end, is_heading in _lines(text) if is_heading)


def _lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of each line with a visible character but the last, without white space behind it; and whether it is a heading."""
    offset = 0
    blank_before = True
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1]):
        content = line.strip()
        if content:
            alone = blank_before and not lines[number + 1].strip()
            heading = alone and len(content) <= _LONGEST_HEADING and not content.endswith(_TERMINATORS)
            yield offset, offset + len(line.rstrip()), heading
        blank_before = not content
        offset += len(line) + 1


def _is_abbreviation(text: str, dot: int) -> bool:
    word = _LAST_WORD.search(text[max(0, dot - _LONGEST_ABBREVIATION - 1) : dot])
    return text[dot] == "." and word is not None and word.group().lower() in _ABBREVIATIONS
