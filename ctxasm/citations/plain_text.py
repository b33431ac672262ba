"""A stretch of an answer as a reader hears it: without markers and Markdown, and where each of its characters stood.

A marker that is a word of its sentence ("[1] says that …") keeps its place by `STAND_IN` until the sentences are found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.citations.markers import SILENT, MarkerEvent
from ctxasm.text.abbreviations import BEGINNERS

_FIRM_END = re.compile(r"(?<![.\w])[^\W\d_]{4,}[.!?]+\Z")
_SMALL = re.compile(r"[ \t]+[^\W\d_A-ZÀ-Þ]{2}")
_GOES_ON = re.compile(r"[ \t]*(?:and|or|but|so|which|who|while|en|of|maar|dus|die|dat|terwijl|und|oder|aber|sondern)\b")
_SAYING = re.compile(
    r"[ \t]*(?:also |ook |auch )?(?:says?|said|states?|stated|mentions?|notes?|explains?|shows?|reports?|confirms?|adds?|suggests?|"
    r"describes?|indicates?|claims?|gives?|lists?|zegt|zeggen|vermeldt|vermelden|stelt|stellen|meldt|schrijft|bevestigt|noemt|noemen|beschrijft|geeft|toont|"
    r"sagt|sagen|besagt|erwähnt|erklärt|schreibt|zeigt|nennt|beschreibt|gibt)\b"
)
"""After a full stop and a marker: the marker is the subject of what follows."""
STAND_IN = "Ꙁ"
"""A capital letter of no living language: sentences may begin with it."""

SOURCE_NOUN = (
    r"(?:(?:the|de|het|der|dem|den|die|das|given|provided)\s+)*"
    r"(?:(?:contexts?|sources?|passages?|documents?|bron(?:nen)?|quellen?)\s*)?"
)
_JOINED = re.compile(rf"[ \t*_]*(?:[,;&+/–-]|[,;]?[ \t]*\b(?:and|en|und|et|or|of|oder)\b)?[ \t*_]*{SOURCE_NOUN}", re.IGNORECASE)
_OPENED = re.compile(
    rf"[(\[（][ \t*_]*(?:(?:see|zie|siehe|vgl|cf|also|ook|auch)[ \t:.]+)*{SOURCE_NOUN}[ \t:*_]*\Z",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"[ \t*_]*[)\]）]")
_WRAPPED = re.compile(r"(\*{1,3}|_{1,3}|[\"“„«])\Z")
_MIRRORED = {"“": "”", "„": "“", "«": "»"}
_MARKUP = re.compile(
    r"(?P<ticks>`+)(?P<code>[^`\n]+)(?P=ticks)"
    r"|!\[[^\]\n]*\]\([^()\s]{0,2048}\)"
    r"|\[(?P<label>[^\[\]\n]+)\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,2048}\)"
    r"|\*+"
    r"|(?<!\w)_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?!\w)|~~|`+|</?[a-zA-Z][^<>\n]{0,80}>"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])|(?<=\n)[ \t]*>[> \t]*"
)
_MAY_MARK_UP = re.compile(r"[`\[*_~<\\>]")
"""One of these is in all markup: most stretches have none."""
_CITE_END = re.compile(r"</cite\s*>", re.IGNORECASE)
_ENDS_MARKUP = re.compile(r"</|[*_~\"'”’»]{1,3}(?:[\s.,;:!?)\]]|\Z)")
_LOOK_BACK = 60
_LOOK_AHEAD = 12
_MARKS = tuple(".,;:!?)。，；：！？）")
_CAPITAL = re.compile(r"\s+[^\W\d_a-z]")
_NEXT_LINE = re.compile(r"[ \t]*(?:\r\n|\r|\n)[ \t>]*[^\W\d_a-z]")
_NEXT_SIGN = re.compile(r"\s*[\u2600-\u27bf\u2b50\U0001f300-\U0001faff]\ufe0f?\s*[^\W\d_a-z]")
"""A sign that begins a line of its own inside a line: "… weekdays [1] 🚗 Parking …"."""
_FIRST_WORD = re.compile(r"[ \t]+([A-Z][a-z]*)(?=\s)")


class Plain(NamedTuple):
    """The text, the places in it where its stretches come from, and its markers: (place, position in the answer's list).

    `ends` are places where a sentence ends for certain, because a marker stands between its full stop and what follows.
    """

    text: str
    places: list[int]
    origins: list[int]
    markers: list[tuple[int, int]]
    ends: list[int]

    def origin(self, place: int) -> int:
        """Where in the answer the character at `place` stands."""
        at = bisect_right(self.places, place) - 1
        return self.origins[at] + place - self.places[at]


class _Writer:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.places: list[int] = []
        self.origins: list[int] = []
        self.length = 0
        self.ends: list[int] = []

    def add(self, piece: str, origin: int) -> None:
        if piece:
            self.pieces.append(piece)
            self.places.append(self.length)
            self.origins.append(origin)
            self.length += len(piece)

    @property
    def before(self) -> str:
        """The last `_LOOK_BACK` characters; no piece is empty."""
        return "".join(self.pieces[-_LOOK_BACK:])[-_LOOK_BACK:]

    @property
    def is_ended(self) -> bool:
        """Whether a full stop or the like was the last visible thing."""
        return self.before.rstrip()[-1:] in (".", "!", "?")

    @property
    def is_parted(self) -> bool:
        """The same, or a semicolon."""
        return self.is_ended or self.before.rstrip()[-1:] == ";"

    def strip(self) -> None:
        """Take back white space at the end."""
        while self.pieces and not (kept := self.pieces[-1].rstrip(" \t")):
            self._drop()
        if self.pieces and len(kept) < len(self.pieces[-1]):
            self.length -= len(self.pieces[-1]) - len(kept)
            self.pieces[-1] = kept

    def _drop(self) -> None:
        self.length -= len(self.pieces.pop())
        self.places.pop()
        self.origins.pop()

    @property
    def tail(self) -> str:
        return self.pieces[-1][-1] if self.pieces else "\n"


def read_plain(answer: str, start: int, end: int, markers: Sequence[tuple[int, MarkerEvent]]) -> Plain:
    """Characters `start` to `end` of `answer` as plain text. `markers`: those inside it, each with its position in the list."""
    writer, found, at = _Writer(), [], start
    for run in _runs(answer, markers):
        low, high = _widened(answer, start, end, run[0][1].start, run[-1][1].end)
        low = max(low, at)
        _add_marked_up(writer, answer, at, low)
        if (first := run[0][1]).form == "cite" and not first.text.endswith(("/cite>", "/>")):
            writer.add(STAND_IN, low)  # the tag stands before what it cites
            at = high
        else:
            at = _add_marker(writer, answer, low, max(high, run[-1][1].end), end)
        place = writer.length - (1 if writer.tail == STAND_IN else 0)
        found += [(place, position) for position, marker in run if marker.form not in SILENT]
    _add_marked_up(writer, answer, at, end)
    return Plain("".join(writer.pieces), writer.places, writer.origins, found, writer.ends)


def without_markers(answer: str, markers: Sequence[MarkerEvent]) -> str:
    """`answer` without its markers, and without the brackets, quotes, emphasis and blanks that only held them."""
    pieces: list[str] = []
    at = 0
    for run in _runs(answer, list(enumerate(markers))):
        low, high = _widened(answer, at, len(answer), run[0][1].start, run[-1][1].end)
        at, before = max(high, run[-1][1].end), answer[at : max(low, at)]
        kept, following = before.rstrip(" \t"), answer[at : at + 1]
        if following and not following.isspace() and following not in _MARKS and not _ENDS_MARKUP.match(answer, at):
            kept = (
                before
                if before[-1:].isspace() or not (following.isalnum() or following == "`") or following > "\u2e80" or not before
                else before + " "
            )
        pieces.append(kept)
    whole = "".join([*pieces, answer[at:]])
    return _CITE_END.sub("", whole) if any(marker.form == "cite" for marker in markers) else whole


def _runs(answer: str, markers: Sequence[tuple[int, MarkerEvent]]) -> list[list[tuple[int, MarkerEvent]]]:
    """Markers that stand together, with nothing but a comma or "and" between them."""
    runs: list[list[tuple[int, MarkerEvent]]] = []
    for entry in markers:
        between = answer[runs[-1][-1][1].end : entry[1].start] if runs else ""
        if runs and len(between) <= _LOOK_BACK and _JOINED.fullmatch(between):
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _widened(answer: str, start: int, end: int, low: int, high: int) -> tuple[int, int]:
    """The run with the brackets, quotes and bold around it that hold nothing else."""
    for _ in range(3):
        before = answer[max(start, low - _LOOK_BACK) : low]
        after = answer[high : min(end, high + 8)]
        if (opened := _OPENED.search(before)) and (closed := _CLOSED.match(after)):
            low, high = low - len(before) + opened.start(), high + closed.end()
        elif (wrapped := _WRAPPED.search(before)) and after.startswith(_MIRRORED.get(wrapped[1], wrapped[1])):
            low, high = low - len(wrapped[1]), high + len(wrapped[1])
        else:
            break
    return low, high


def _add_marked_up(writer: _Writer, answer: str, start: int, end: int) -> None:
    stretch, at = answer[start:end], 0
    for markup in _MARKUP.finditer(stretch) if _MAY_MARK_UP.search(stretch) else ():
        if markup[0][0] == "*" and _multiplies(stretch, *markup.span()):
            continue
        writer.add(stretch[at : markup.start()], start + at)
        if markup["code"]:
            writer.add(markup["code"], start + markup.start("code"))
        elif markup["escaped"]:
            writer.add(markup["escaped"], start + markup.start("escaped"))
        elif markup["label"]:
            _add_marked_up(writer, answer, start + markup.start("label"), start + markup.end("label"))
        at = markup.end()
    writer.add(stretch[at:], start + at)


def _multiplies(stretch: str, low: int, high: int) -> bool:
    """Whether stars stand between two figures or two spaces: no emphasis."""
    around = stretch[low - 1 : low] + stretch[high : high + 1]
    return len(around) == 2 and (around.isdecimal() or around.isspace())


def _add_marker(writer: _Writer, answer: str, low: int, high: int, end: int) -> int:
    """Leave a run of markers out, so that no space and no full stop stands there twice; returns where to read on."""
    following = answer[high : min(end, high + _LOOK_AHEAD)]
    if _is_word(writer, following):
        writer.add(STAND_IN, low)
    elif following[:1] in _MARKS:
        ended = following[0] in ".,;" and writer.is_ended
        writer.strip()
        if ended and following[0] == ".":
            writer.ends.append(writer.length)
        return high + (1 if ended else 0)
    elif _NEXT_LINE.match(following) or _NEXT_SIGN.match(following):
        writer.strip()
        writer.ends.append(writer.length)
    elif (writer.is_parted and _CAPITAL.match(following)) or _ends_firmly(writer, following):
        writer.ends.append(writer.length)
    elif _begins_sentence(writer, following):
        writer.strip()
        writer.add(".", low - 1 - _blanks_before(answer, low))
    elif following[:1].isalnum() and not writer.tail.isspace():
        writer.add(" ", low)
    return high


def _ends_firmly(writer: _Writer, following: str) -> bool:
    """Whether what stands before a marker has ended although what follows begins small: no abbreviation, no conjunction."""
    return bool(_FIRM_END.search(writer.before.rstrip())) and bool(_SMALL.match(following)) and not _GOES_ON.match(following)


def _blanks_before(answer: str, at: int) -> int:
    before = answer[max(0, at - _LOOK_BACK) : at]
    return len(before) - len(before.rstrip())


def _begins_sentence(writer: _Writer, following: str) -> bool:
    """Whether the full stop before a marker was forgotten: "closes at eight [1] The desk …"."""
    word = _FIRST_WORD.match(following)
    last = writer.before.rstrip(" \t")[-1:]
    return word is not None and word[1].lower() in BEGINNERS and last.isalnum()


def _is_word(writer: _Writer, following: str) -> bool:
    """Whether a marker stands for its source in the sentence: "[1] says …" at its beginning, or any first on its line."""
    visible = writer.before.rstrip(" \t")
    first = following.strip(" \t")[:1]
    if visible[-1:] in ("", "\n"):
        return first.isalnum()
    return visible[-1] in ".!?" and following[:1] in tuple(" \t") and _SAYING.match(following) is not None
