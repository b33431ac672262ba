"""Citation markers, read from a text piece by piece, and what kind of line they stand on.

The answer parser and the search for collisions in source text both run `MarkerScanner`, so they cannot disagree on what
a marker is. Each decision follows from at most `HELD_CHARS` characters behind the opener (`LINK_CHARS` in a link), so
the pieces in which a text arrives never change what is found.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ctxasm.text.markers.grammar import (
    HELD_CHARS,
    LOWERED,
    RAISED,
    RAISED_RUN,
    REPORT_CHARS,
    FormName,
    Reading,
    closing,
    is_citable,
    is_raisable,
    is_raised,
    is_year,
    link_length,
    may_be_report,
    may_begin_round,
    read_content,
    read_numbers,
    read_round,
    read_tag,
    reads_as_other,
)

HEAD_CHARS = 64
"""How much of the start of a line is remembered, in characters."""
NEUTRAL = "-\n"
"""A line that makes nothing of what follows it."""

_START = re.compile(r"[\s>]*+(?:(?:[-*+•]|\d{1,9}[.)])[ \t]++)?[\s>]*+")
_BULLET_PATTERN = r"[ \t>]*+(?:[-*+•]|\d{1,9}[.)])[ \t]"
_BULLET = re.compile(_BULLET_PATTERN).match
_LISTS = re.compile(r"[\s>]*+(?:[-*+•\[【［¹²³⁴⁵⁶⁷⁸⁹①-⒇❶-➓]|\d{1,9}[.)]|\(\d{1,9}\)|\d\ufe0f?\u20e3)")
_HEADING = re.compile(
    r"[\s>#*_]*+(?:sources?|bron(?:nen)?|bronvermelding|bronnenlijst|quellen?|quellenverzeichnis|references|referenties|citations|citaties|literatu(?:u?r|re)|bibliography|fuentes|r[ée]f[ée]rences|"
    r"footnotes|voetnoten)[:*_\s]*+",
    re.IGNORECASE,
).fullmatch
CODE_COLUMNS = 4


class Lines:
    """The state of the current line. `see` every character once, in order, and call `end` at each newline.

    `ticks` is the length of the backtick run that opened inline code, 0 outside; `fence` the run that opened a fence.
    Without `code` nothing is code.
    """

    __slots__ = ("_after_blank", "_after_code", "_code", "_in_list", "_listing", "_opened_here", "fence", "head", "ticks")

    def __init__(self, code: bool = True) -> None:
        self.head, self.fence, self.ticks, self._code = "", "", 0, code
        self._after_blank, self._after_code, self._in_list, self._listing = True, False, False, False
        self._opened_here = False

    def see(self, text: str) -> None:
        """Take in the next characters of the line."""
        if len(self.head) < HEAD_CHARS:
            self.head += text[: HEAD_CHARS - len(self.head)]

    @property
    def at_start(self) -> bool:
        """Whether only white space, a quote mark or a list mark stands before this place."""
        return len(self.head) < HEAD_CHARS and _START.fullmatch(self.head) is not None

    @property
    def is_indented_code(self) -> bool:
        """Whether the line is indented code; asked at or after its first visible character."""
        return self._code and (self._after_blank or self._after_code) and not self._in_list and self._columns() >= CODE_COLUMNS

    @property
    def lists_sources(self) -> bool:
        """Whether the line belongs to a list of sources under its heading; asked at or after its first visible character."""
        return self._listing and (self.at_start or _LISTS.match(self.head) is not None)

    @property
    def in_fence_opening(self) -> bool:
        """Whether this line opened the fence."""
        return bool(self.fence) and self._opened_here

    def run(self, ticks: str) -> None:
        """Take in a run of backticks or tildes: it opens or closes code."""
        if not self._code:
            return
        if self.in_fence_opening and ticks[0] == "`" and self.fence[0] == "`":
            self.ticks, self.fence = len(self.fence), ""  # "```x```" on one line is inline code after all
        if self.ticks:
            self.ticks = 0 if ticks[0] == "`" and len(ticks) == self.ticks else self.ticks
        elif not self.fence and len(ticks) >= 3 and self.at_start:
            self.fence, self._opened_here = ticks, True
        elif not self.fence and ticks[0] == "`":
            self.ticks = len(ticks)

    def end(self) -> None:
        """Close the line."""
        head = self.head
        if self.fence:
            self._close_fence(head.strip().lstrip("> \t"))
        elif not head or head.isspace():
            self._after_blank = True
        else:
            columns = self._columns()
            self._after_code = columns >= CODE_COLUMNS and self.is_indented_code
            if self._listing or _HEADING(head):
                self._listing = head[0] in " \t" or self.lists_sources or _HEADING(head) is not None
            if _BULLET(head):
                self._in_list = True
            elif columns < 2 and self._after_blank:
                self._in_list = False
            self._after_blank = False
        self.head, self.ticks, self._opened_here = "", 0, False

    def _close_fence(self, visible: str) -> None:
        mark = self.fence[0]
        if not self._opened_here and len(visible) >= len(self.fence) and not visible.strip(mark):
            self.fence, self._after_blank, self._after_code = "", False, False

    def _columns(self) -> int:
        head = self.head
        if head[:1] not in (" ", "\t"):
            return 0
        lead = head[: len(head) - len(head.lstrip(" \t"))]
        return len(lead.expandtabs(CODE_COLUMNS))


def _active(raised: str, round_first: str) -> re.Pattern[str]:
    """Where something is to be decided. `raised`: figures that are looked at; `round_first`: what may follow a round bracket."""
    return re.compile(rf"[\[【［〔<(`~\\\n{raised}](?:(?<![(<])|(?<=\()(?=[{round_first}]|\Z)|(?<=<)(?=[sctpSCTP]|\Z))")


_ROUND_FIRST = r"\siIsSbBqQdDcCrRzZvV"
_ACTIVE: dict[Reading, re.Pattern[str]] = {
    "strict": _active("", "iI"),
    "usual": _active(RAISED, _ROUND_FIRST),
    "all": _active(RAISED, rf"{_ROUND_FIRST}\d"),
}
_RAW_END = {"pre": re.compile(r"\n|</pre>", re.IGNORECASE), "code": re.compile(r"\n|</code>", re.IGNORECASE)}
_RAW_END_CHARS = len("</code>") - 1
_DASHES = "-‐‑‒–—−"
_IN_CODE = re.compile(r"[`\n]")
_RUN = re.compile(r"\[+")
_END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_KEPT_CHARS = 2048
"""How long the remembered text may grow before what nothing looks back at is forgotten."""
_TAGS = ("<sup>", "<sup ", "<cite>", "<cite ", "<think>", "<thinking>", "<pre>", "<pre ", "<code>", "<code ")


class MarkerForm(NamedTuple):
    """Characters `start` to `end` read as a marker. `listed`: it names an entry of a source list and cites no claim."""

    start: int
    end: int
    form: FormName
    numbers: tuple[int, ...]
    listed: bool


class MarkerScanner:
    """Reads a text in any pieces; `feed` and `finish` return the markers that are now certain.

    `hide_thinking` skips `<think>…</think>`; without `code` fences, backticks, indents and `<pre>` hide nothing. `alone` reads a bracket as
    if nothing stood around it that makes it an array, a year of a law report or the like: a copy of it may stand elsewhere.
    """

    def __init__(
        self,
        *,
        hide_thinking: bool = True,
        code: bool = True,
        reading: Reading = "usual",
        alone: bool = False,
    ) -> None:
        self._hide_thinking, self._code = hide_thinking, code
        self._reading: Reading = reading
        self._alone, self._active = alone, _ACTIVE[reading]
        self._raw = ""  # the element that hides what it holds
        self._text, self._base, self._at = "", 0, 0
        self._thinking, self._lines = False, Lines(code)
        self._marked = 0  # where the last marker ended: what stands before it says nothing about the next
        self._found: list[MarkerForm] = []

    @property
    def decided(self) -> int:
        """How many characters of the text are certain."""
        return self._base + self._at

    @property
    def in_fence(self) -> bool:
        """Whether the text so far ends inside a fence of code."""
        return bool(self._lines.fence)

    def feed(self, piece: str | None) -> list[MarkerForm]:
        """Markers that became certain with `piece`. None and "" are fine."""
        if not piece:
            return []
        self._text += piece
        if self._at + len(piece) == len(self._text) <= _KEPT_CHARS and self._passes(piece):
            return []
        return self._run(final=False)

    def finish(self) -> list[MarkerForm]:
        """Markers in what was still undecided; the text ends here."""
        return self._run(final=True)

    def _run(self, final: bool) -> list[MarkerForm]:
        while self._at < len(self._text):
            end = self._step(final)
            if end is None:
                break
            self._pass(end)
        if (cut := self._at - HELD_CHARS) > _KEPT_CHARS // 2:
            self._text, self._base, self._at = self._text[cut:], self._base + cut, HELD_CHARS
        found, self._found = self._found, []
        return found

    def _passes(self, piece: str) -> bool:
        """Pass over a piece that holds nothing to decide: most pieces of a stream."""
        lines = self._lines
        if self._thinking or self._raw or lines.fence or lines.ticks or self._active.search(piece):
            return False
        if len(lines.head) < HELD_CHARS:
            lines.see(piece[:HELD_CHARS])
        self._at = len(self._text)
        return True

    def _pass(self, end: int) -> None:
        if not self._thinking and end > self._at:
            self._lines.see(self._text[self._at : min(end, self._at + HELD_CHARS)])
        self._at = end

    def _step(self, final: bool) -> int | None:
        """Decide something from the current place on; returns the new place, or None when more text is needed."""
        if self._thinking:
            return self._think(final)
        lines = self._lines
        if self._raw:
            return self._skip(final)
        if lines.fence:
            active = _IN_CODE.search(self._text, self._at) if lines.in_fence_opening else None
            place = active.start() if active else self._text.find("\n", self._at)
        else:
            active = (_IN_CODE if lines.ticks else self._active).search(self._text, self._at)
            place = active.start() if active else -1
        if place < 0:
            return len(self._text)
        self._pass(place)
        return self._decide(place, final)

    def _decide(self, place: int, final: bool) -> int | None:
        char, lines = self._text[place], self._lines
        if char == "\n":
            lines.end()
            self._at = place + 1  # a newline is no part of the next line
            return place + 1
        if char in "`~":
            return self._ticks(place, final)
        if lines.is_indented_code:
            return place + 1
        if char == "\\":
            if place + 1 == len(self._text) and not final:
                return None
            return place + (1 if self._text[place + 1 : place + 2] in ("\n", "") else 2)
        if char == "<":
            return self._tag(place, final)
        if char in RAISED:
            return self._raised(place, final)
        return self._round(place, final) if char == "(" else self._bracket(place, final)

    def _ticks(self, place: int, final: bool) -> int | None:
        end = place
        while end < len(self._text) and self._text[end] == self._text[place] and end - place < HELD_CHARS:
            end += 1
        if end == len(self._text) and end - place < HELD_CHARS and not final:
            return None
        if not self._lines.is_indented_code:
            self._lines.run(self._text[place:end])
        return end

    def _bracket(self, place: int, final: bool) -> int | None:
        text, opener = self._text, self._text[place]
        before = self._before(place)
        if text.startswith("[[[", place):  # no marker opens three deep: a long run is skipped at once
            return _RUN.match(text, place).end() - 2  # type: ignore[union-attr]
        length = closing(text[place : place + HELD_CHARS], opener)
        if opener == "[" and not is_citable(before) and not self._is_slanted(before, place + length):
            undecided = before.endswith("_") and length >= 0 and (length == 0 or place + length == len(text))
            return None if undecided and not final else place + 1
        if length == 0 and not final:
            return None
        content = text[place + 1 : place + length - 1] if length > 0 else ""
        read = read_content(opener, content, self._reading == "all") if length > 0 else None
        if read is None:
            return place + 1
        form, numbers = read
        end = place + length
        if end == len(text) and not final:
            return None
        if opener == "[" and not self._alone:
            after = text[end : end + REPORT_CHARS].partition("\n")[0]
            if not final and may_be_report(content, text[end : end + REPORT_CHARS]):
                return None
            if reads_as_other(before, content, after):
                return end
            if text[end] in _DASHES if end < len(text) else False:
                pair = self._pair(place, end, numbers, final)
                if pair is None or pair > end:
                    return pair
        link = link_length(text, end) if text[end : end + 1] == "(" and opener == "[" else -1
        if link == 0 and not final:
            return None
        if link > 0 and before.endswith("!"):
            return end + link
        if link > 0 and is_year(numbers) and not self._alone:
            return end + link
        if link > 0 and form != "malformed":
            form, end = "link", end + link
        self._add(place, end, form, numbers, defines=text[end : end + 1] == ":" and form != "link")
        return end

    def _is_slanted(self, before: str, end: int) -> bool:
        """Whether the bracket that ends at `end` is all that stands between two underscores: `_[1]_`."""
        return before[-1:] == "_" and before[-2:-1] in ("", " ", "\n", "(") and self._text.startswith("_", end)

    def _pair(self, place: int, end: int, numbers: tuple[int, ...], final: bool) -> int | None:
        """Where `[1]-[3]`, which began at `place`, ends, None when more text is needed; `end` where the dash joins nothing."""
        text, second = self._text, end + 1
        if second == len(text) and not final:
            return None
        if not numbers or text[second : second + 1] != "[":
            return end
        length = closing(text[second : place + HELD_CHARS], "[")
        if length == 0 and not final and len(text) < place + HELD_CHARS:
            return None
        read = read_content("[", text[second + 1 : second + length - 1]) if length > 0 else None
        if read is None or read[0] != "number":
            return end
        last = read[1][0]
        found = read_numbers(f"{numbers[-1]}-{last}") if last > numbers[-1] else ()
        between = (*numbers[:-1], *found) if found else ()
        self._add(place, second + length, "range" if between else "malformed", tuple(dict.fromkeys(between)))
        return second + length

    def _raised(self, place: int, final: bool) -> int | None:
        """Raised figures: `Open¹,³`."""
        found = RAISED_RUN.match(self._text, place, place + HELD_CHARS)
        assert found is not None
        end = found.end()
        if len(self._text) < min(end + 3, place + HELD_CHARS) and not final:
            return None
        following = self._text[end : end + 1]
        numbers = read_numbers(found[0].translate(LOWERED)) if is_raised(self._text[max(0, place - HELD_CHARS) : place]) else ()
        if numbers and not (following.isalnum() or following in tuple("⁻⁺+=^/_")):
            self._add(place, end, "superscript", numbers)
        return end

    def _before(self, place: int) -> str:
        """What may tell that a bracket at `place` is no citation: the text before it, back to the last marker."""
        return self._text[max(0, place - HELD_CHARS, self._marked - self._base) : place]

    def _add(self, start: int, end: int, form: FormName, numbers: tuple[int, ...], defines: bool = False) -> None:
        self._marked = self._base + end
        listed = self._lines.lists_sources or (defines and self._lines.at_start)
        self._found.append(MarkerForm(self._base + start, self._base + end, form, numbers, listed))

    def _round(self, place: int, final: bool) -> int | None:
        window = self._text[place : place + HELD_CHARS].partition("\n")[0]
        end = window.find(")")
        if end < 0:
            waits = not final and len(self._text) - place < HELD_CHARS and place + len(window) == len(self._text)
            return None if waits and may_begin_round(window[1:], self._reading) else place + 1
        read = read_round(window[1:end], self._reading)
        if read is None:
            return place + 1
        self._add(place, place + end + 1, *read)
        return place + end + 1

    def _tag(self, place: int, final: bool) -> int | None:
        window = self._text[place : place + HELD_CHARS]
        low = window.lower()
        open_ended = not final and len(window) < HELD_CHARS and "\n" not in window and "`" not in window
        if not any(low.startswith(tag) for tag in _TAGS):
            return None if open_ended and any(tag.startswith(low) for tag in _TAGS) else place + 1
        if low.startswith("<think"):
            self._thinking = self._hide_thinking
            return place + low.index(">") + 1
        if low.startswith(("<pre", "<code")):
            end = low.partition("\n")[0].find(">")
            if end < 0 and open_ended:
                return None
            if end > 0 and self._code:
                self._raw = "pre" if low[1] == "p" else "code"
            return place + max(end, 0) + 1
        read = read_tag(window.partition("\n")[0])
        if read is None:
            closer = low.find("</sup" if low.startswith("<sup") else "</cite")
            complete = ">" in low if low.startswith("<cite ") else closer >= 0 and ">" in low[closer:]
            return place + 1 if complete or not open_ended else None
        length, form, numbers = read
        if form == "sup" and not is_raisable(self._before(place)):
            return place + length
        self._add(place, place + length, form, numbers)
        return place + length

    def _skip(self, final: bool) -> int | None:
        """Pass over what a `<pre>` or, on its line, a `<code>` holds."""
        found = _RAW_END[self._raw].search(self._text, self._at)
        if found is None:
            rest = len(self._text) if final else max(self._at, len(self._text) - _RAW_END_CHARS)
            return rest if rest > self._at else None
        self._raw = "" if self._raw == "code" or found[0] != "\n" else self._raw
        if found[0] != "\n":
            return found.end()
        self._pass(found.start())
        return self._decide(found.start(), final)

    def _think(self, final: bool) -> int | None:
        if end := _END_OF_THINKING.search(self._text, self._at):
            self._lines = Lines(self._code)
            self._thinking, self._at = False, end.end()
            return self._at
        rest = len(self._text) if final else max(self._at, len(self._text) - len("</thinking>"))
        return rest if rest > self._at else None
