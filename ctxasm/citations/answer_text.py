"""The text of an answer: its parts in Markdown, its plain text, and what a sentence of it says.

*Parts* are paragraphs, list items, table rows and headings; code, thinking, rules and lists of sources are none. *Plain* text has no
markers and no Markdown, and knows where each of its characters stood; a marker that is a word of its sentence ("[1] says that …") keeps
its place by `STAND_IN`. What is *spoken* is one line without what only introduced its markers ("According to [1], …"). *Small talk*
is said to the reader and not of the world: "Good question!", "Yes.".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Literal, NamedTuple

from ctxasm.citations.declined import is_declined
from ctxasm.citations.markers import SILENT, MarkerEvent
from ctxasm.text.markers.scanner import Lines, MarkerForm, MarkerScanner
from ctxasm.text.sentences import BEGINNERS

LONGEST = 160
"""A longer sentence, in characters, says more."""

_PATTERNS = (
    # praise, thanks and welcome
    r"(?:(?:that is|that's|what) an? )?(?:very )?(?:good|great|excellent|interesting) question",
    r"(?:dat is |wat )?(?:een )?(?:heel )?(?:goede|leuke|interessante|uitstekende) vraag",
    r"(?:das ist |was für )?(?:eine )?(?:sehr )?(?:gute|tolle|interessante|ausgezeichnete) frage",
    r"(?:sure|certainly|of course|absolutely|sure thing|no problem|hello|hi|hi there|thank you|thanks)(?: for (?:asking|your question))?",
    r"(?:natuurlijk|zeker|uiteraard|graag(?: gedaan)?|geen probleem|hallo|dag|goedendag|(?:dank u|dank je|"
    r"bedankt)(?: wel)?(?: voor (?:uw|je|de) vraag)?)",
    r"(?:natürlich|gerne?|sicher|klar|selbstverständlich|kein problem|hallo|guten tag|"
    r"(?:vielen )?dank(?: für (?:ihre|deine|die) (?:an)?frage)?)",
    # yes and no: what follows is the claim
    r"(?:yes|no|yep|nope|correct|indeed|exactly|right|true|ja|nee|nein|jawohl|klopt|inderdaad|precies|juist|genau|richtig|stimmt|oui|non|sí|si)"
    r"(?:,? (?:indeed|it is|it does|that is (?:correct|right)|dat klopt|inderdaad|das stimmt|genau|sir|ma'am))?",
    # help that is offered
    r"(?:i am|i'm|i would be|i'd be) (?:very )?(?:happy|glad) to (?:help|assist)(?: you)?(?: (?:with that|further))?",
    r"(?:here is|here's|here are) (?:the answer|what i found|what the (?:sources?|context) says?)",
    r"(?:please )?(?:feel free to |do not hesitate to |don't hesitate to )?(?:let me know|ask|reach out|"
    r"contact me)(?:,? if .*(?:you|questions?|help)\b.*)?",
    r"if you (?:have|need) any(?:thing| (?:more|other|further) (?:questions?|information|help)).{0,80}(?:ask|know|"
    r"help|reach out)\b.{0,20}",
    r"i hope (?:that )?(?:this|that|it) (?:helps|answers your question|was helpful)",
    r"(?:ik help (?:u|je) (?:graag|er graag mee)(?: verder)?|fijn dat (?:u|je) het vraagt|hier is het antwoord)",
    r"(?:laat het (?:me |mij )?(?:gerust |maar )?(?:weten|horen)|vraag gerust (?:verder|door))(?:,? (?:als|mocht) .*)?",
    r"(?:als|mocht) (?:u|je) (?:nog )?(?:andere |meer )?vragen (?:hebt|heeft|hebben).{0,80}(?:weten|vragen|contact|horen)\b.{0,20}",
    r"(?:hopelijk helpt dit(?: u| je)?(?: verder)?|ik hoop dat (?:dit|het) (?:u |je )?(?:helpt|verder helpt|uw vraag beantwoordt))",
    r"ich helfe (?:ihnen |dir )?gerne?(?: weiter)?|hier ist die antwort",
    r"(?:lassen sie (?:es )?mich (?:gerne )?wissen|sagen sie (?:mir )?(?:gerne )?bescheid|melden sie sich (?:gerne|"
    r"jederzeit)|fragen sie gerne(?: weiter)?)(?:,? (?:wenn|falls) .*)?",
    r"(?:wenn|falls) sie (?:noch )?(?:weitere )?fragen haben.{0,80}(?:wissen|fragen|melden|zur verfügung)\b.{0,20}",
    r"ich hoffe,? (?:das|dies|es) (?:hilft(?: ihnen| dir)?(?: weiter)?|beantwortet ihre frage)",
)
_SMALL_TALK = re.compile("|".join(_PATTERNS), re.IGNORECASE)
_AROUND = re.compile(r"\A[\W_]+|[\W_]+\Z")


def is_small_talk(text: str) -> bool:
    """Whether a sentence, without its markers, only says yes or no, greets, thanks, praises the question or offers more help."""
    return len(text) <= LONGEST and _SMALL_TALK.fullmatch(_AROUND.sub("", text).replace("’", "'")) is not None


PartKind = Literal["paragraph", "item", "row", "heading"]
HEADING_WORDS = 8
"""A line of at most so many words, with no mark at its end, right before a list or a table is its heading."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_TICKS = re.compile(r"`+|~+|\\.|[^`~\\]+|\\")
_CODE = re.compile(
    r"(?<!`)(`++)[^`\n]++\1|<(pre|code)\b[^<>\n]*>[^\n]*?</\2>|(?<![\w$}])\$(?=[^\s$^])[^$\n#]{1,200}(?<=[^\s$])\$(?![\w$^])",
    re.IGNORECASE,
)
"""Code inside a line, and mathematics."""
_PRE = re.compile(r"<pre\b[^<>\n]*>.*?(?:</pre>|\Z)", re.IGNORECASE | re.DOTALL)
_ALL = re.compile(r"[^\r\n]+")
_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_STRUCTURE = re.compile(r"<think(?:ing)?>|`+|~+|\\[^\n]|\n", re.IGNORECASE)
_QUOTED = re.compile(r"[ \t]*(?:>[ \t>]*)?")
_BULLET = re.compile(
    r"(?:(?:[-*+•–‣◦▪]|\(?(?:\d{1,9}[.)]|[a-zA-Z]\)|[a-z]\.(?!\s?[a-zA-Z]\.))|[①-⒇⓪-⓿❶-➓]|\d\ufe0f?\u20e3)[ \t]+)+(?:\[[ xX]\][ \t])?"
)
_LATER_NUMBER = re.compile(r"\(?(?!0*1[.)])\d")
"""Only a first number begins a list inside a paragraph: a line may begin with the end of a sentence, `1998. Then …`."""
_HASHES = re.compile(r"#{1,6}(?=[ \t])[ \t]*")
_RULE = re.compile(r"(?:[-*_=][ \t]*){3,}\Z")
_UNDERLINE = re.compile(r"(?:=+|--+)[ \t]*\Z")
_SEPARATOR = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*\Z")
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_\n]{1,80}\1:?[ \t]*\Z")
SOURCES_LABEL = re.compile(
    r"[*_\s(\[]*(?:(?:the|de|gebruikte|used)\s+)?(?:sources?|bron(?:nen|vermelding|nenlijst)?|quellen?|quellenverzeichnis|references?|referenties|citations?|"
    r"citaties|literatu(?:u?r|re)|bibliography|footnotes|voetnoten|contexts?|passages?)[:.,*_\s)\]]*\Z",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"[.!?…][*_]*\Z")
_ENDED = re.compile(r"[.!?…。！？:;,]\W*\Z")


class Part(NamedTuple):
    """Characters `start` to `end` of the answer, without the marks of a list, a heading or a quote before it."""

    start: int
    end: int
    kind: PartKind


def find_parts(answer: str, listed: Sequence[int] = ()) -> list[Part]:
    """The parts of `answer`, ascending and disjoint; `listed` are the places of the entries of a list of sources, ascending."""
    return _Reader(_hide_blocks(answer), listed).read()


def hide_thinking(answer: str) -> str:
    """`answer` with `<think>…</think>` blanked out, a line break at its end; the length stays the same."""
    if not _THINKING.search(answer):
        return answer
    lines, pieces, at = Lines(), [], 0
    while token := _STRUCTURE.search(answer, at):
        lines.see(answer[at : token.start()])
        in_code = bool(lines.ticks or lines.fence) or lines.is_indented_code
        end = token.end()
        if token[0][0] == "<" and not in_code:
            closer = _END_OF_THINKING.search(answer, end)
            end = closer.end() if closer else len(answer)
            hidden = re.sub(r"[^\r\n]", " ", answer[token.start() : end - 1]) + "\n"
            pieces += [answer[at : token.start()], hidden]
            lines = Lines()
        else:
            end = token.start() + 1 if token[0][0] in "\\<" and in_code else end
            _show(lines, answer[token.start() : end])
            pieces.append(answer[at:end])
        at = end
    return "".join([*pieces, answer[at:]])


def hide_code(answer: str) -> str:
    """`answer` with thinking, code and lists of sources blanked out; the length stays the same."""
    lines, pieces = Lines(), list[str]()
    for found in _LINE.finditer(_hide_blocks(answer)):
        line = found[0]
        if line:
            hidden = _is_code(lines, line.rstrip("\r\n")) or lines.lists_sources
            lines.end()
            pieces.append((_ALL if hidden else _CODE).sub(_blank, line))
    return "".join(pieces)


def _hide_blocks(answer: str) -> str:
    """`answer` without thinking and without `<pre>…</pre>`."""
    return _PRE.sub(lambda block: _ALL.sub(_blank, block[0]), hide_thinking(answer))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_code(lines: Lines, line: str) -> bool:
    """Show a line to the state of lines; whether it is code."""
    if lines.fence:
        lines.see(line)
        return True
    for piece in _TICKS.findall(line) if "`" in line or "~" in line else [line]:
        _show(lines, piece)
    return lines.in_fence_opening or lines.is_indented_code


def _show(lines: Lines, piece: str) -> None:
    """Let the state of lines take in a line break, a run of ticks or other text."""
    if piece == "\n":
        lines.end()
        return
    if piece[:1] in ("`", "~") and not lines.is_indented_code and (not lines.fence or lines.in_fence_opening):
        lines.run(piece)
    lines.see(piece)


class _Reader:
    """Walks over the lines once, collecting parts."""

    def __init__(self, answer: str, listed: Sequence[int]) -> None:
        self._answer, self._listed, self._next_listed = answer, listed, 0
        self._lines = Lines()
        self._parts: list[Part] = []
        self._open = False
        self._in_table = False
        self._was_listing = False
        self._bold = False

    def read(self) -> list[Part]:
        for start, end in self._each_line():
            code = _is_code(self._lines, self._answer[start:end])
            listing = self._lines.lists_sources or self._holds_listed(start, end)
            self._lines.end()
            if not self._answer[start:end].strip():
                self._open = self._in_table = False
            elif code or listing:
                if listing and not self._was_listing:
                    self._drop_heading()
                self._open = self._in_table = False
                self._was_listing = listing
            elif self._was_listing and self._answer[start] in " \t":
                continue  # an entry of the list of sources goes on
            else:
                self._was_listing = False
                self._take(start, end)
        return self._parts

    def _each_line(self) -> Iterator[tuple[int, int]]:
        for found in _LINE.finditer(self._answer):
            if found.end() > found.start():
                yield found.start(), found.start() + len(found[0].rstrip("\r\n"))

    def _holds_listed(self, start: int, end: int) -> bool:
        listed = self._listed
        while self._next_listed < len(listed) and listed[self._next_listed] < start:
            self._next_listed += 1
        return self._next_listed < len(listed) and listed[self._next_listed] < end

    def _drop_heading(self) -> None:
        """Forget the line "Sources:" before a list of sources."""
        if self._parts and "\n" not in (text := self._last_text()) and SOURCES_LABEL.match(text):
            self._parts.pop()
            self._bold = False

    def _take(self, start: int, end: int) -> None:
        answer = self._answer
        quoted = _QUOTED.match(answer, start, end)
        low = quoted.end() if quoted else start
        high = low + len(answer[low:end].rstrip())
        if low == high:
            self._open = False
            return
        line = answer[low:high]
        if "|" in line and self._take_row(low, high, line):
            return
        self._in_table = False
        if self._open and self._parts[-1].kind == "paragraph" and _UNDERLINE.match(line) and "\n" not in self._last_text():
            self._parts[-1] = self._parts[-1]._replace(kind="heading")
            self._open = False
        elif _RULE.match(line):
            self._open = False
        elif hashes := _HASHES.match(line):
            self._add(low + hashes.end(), high, "heading")
        elif (bullet := _BULLET.match(line)) and not (self._open and self._parts[-1].kind == "paragraph" and _LATER_NUMBER.match(line)):
            self._heads_list()
            self._add(low + bullet.end(), high, "item")
        elif _BOLD.match(line) and not self._open and len(line.split()) <= HEADING_WORDS and not _STOPPED.search(line):
            self._add(low, high, "paragraph")
            self._open, self._bold = False, True
        elif self._open and "|" not in line:
            self._parts[-1] = self._parts[-1]._replace(end=high)
        else:
            in_list = low - start >= 2 and bool(self._parts) and self._parts[-1].kind == "item"
            self._add(low, high, "item" if in_list else "paragraph")

    def _take_row(self, low: int, high: int, line: str) -> bool:
        """Whether the line belongs to a table: it begins with a bar, or a separator told that it does."""
        if _SEPARATOR.match(line):
            if self._parts and (self._in_table or self._open):
                self._parts[-1] = self._parts[-1]._replace(kind="heading")
            self._open, self._in_table = False, True
            return True
        if line[0] != "|" and not self._in_table:
            return False
        if not self._in_table:
            self._heads_list()
        self._add(low, high, "row")
        self._open, self._in_table = False, True
        return True

    def _add(self, low: int, high: int, kind: PartKind) -> None:
        if low < high:
            if self._bold:  # a bold line is a heading once something follows
                self._parts[-1] = self._parts[-1]._replace(kind="heading")
                self._bold = False
            self._parts.append(Part(low, high, kind))
            self._open = kind in ("paragraph", "item")

    def _last_text(self) -> str:
        return self._answer[self._parts[-1].start : self._parts[-1].end]

    def _heads_list(self) -> None:
        """Make a heading of a short line right before a list or a table."""
        if self._parts and self._parts[-1].kind == "paragraph":
            text = self._last_text()
            if "\n" not in text and len(text) <= 80 and len(text.split()) <= HEADING_WORDS and not _ENDED.search(text):
                self._parts[-1] = self._parts[-1]._replace(kind="heading")


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


_AS_IT_SAYS = (
    r"as (?:stated|mentioned|described|noted|shown|reported) (?:in|by)|zoals (?:vermeld|beschreven|genoemd|gezegd|staat) in|wie in"
)
_SAYS_SO = rf"(?:according to|{_AS_IT_SAYS}|volgens|laut|gemäß)\s*{SOURCE_NOUN}"
_BY = rf"(?:{_SAYS_SO}|(?:as in|based on|op basis van)\s*{SOURCE_NOUN})"
_SAYING_VERBS = (
    r"(?:says|states|mentions|notes|explains|shows|reports|confirms|zegt|vermeldt|stelt|meldt|schrijft|bevestigt|sagt|besagt|erwähnt|"
    r"erklärt|schreibt|zeigt)"
)
_SAYS_THAT = rf"{_SAYING_VERBS},? (?:that|dat|dass)\s+"
_GIVEN = (
    r"(?:based on|according to|as per|from|volgens|op basis van|laut|gemäß)\s+(?:the|de|den|der|dem)\s+"
    r"(?:(?:given|provided|above|gegeven|verstrekte)\s+)?"
    r"(?:contexts?|sources?|passages?|documents?|bron(?:nen)?|quellen?|kontext)\s*,\s*"
)
_CAN_SAY = r"(?:(?:it can be|we can) (?:inferred|concluded|said|seen|infer|conclude|say|see) that\s+)?"
_THAT = r"(?:it is (?:mentioned|stated|said|noted|described|reported) that|staat dat|wordt vermeld dat|steht,? dass)\s+"
_ATTRIBUTION = re.compile(
    rf"\A(?:{_GIVEN}{_CAN_SAY}|{_BY}{STAND_IN},?\s*(?:{_THAT})?|(?:in|per|from|uit|nach)\s*{SOURCE_NOUN}{STAND_IN},?\s*(?:{_THAT})?"
    rf"|{SOURCE_NOUN}{STAND_IN}\s*(?:also |ook |auch )?{_SAYS_THAT}"
    rf"|(?:[^\W{STAND_IN}]+\s){{1,5}}{_SAYING_VERBS}\s*{STAND_IN}?:\s*(?=[\"“„«]))"
    rf"|,?\s*\b{_SAYS_SO}{STAND_IN}(?=\W*\Z)",
    re.IGNORECASE,
)
_QUESTION = r"(?:(?:to|auf|op) (?:the|your|this|ihre|deine|diese|die|uw|je|jouw|deze|de) (?:question|frage|vraag) )?"
_IN_SHORT = (
    r"(?:in (?:short|brief|summary|conclusion)|to (?:sum up|answer (?:the|your|this) question)|kort(?:om| gezegd| samengevat)|samengevat|"
    r"om (?:de|uw|je|jouw|deze) vraag te beantwoorden|kurz (?:gesagt|zusammengefasst)|zusammenfassend|"
    r"um (?:die|ihre|deine|diese) frage zu beantworten)"
)
_HOW = r"(?:(?:final|correct|right|short|brief|direct|simple|best|definitieve|juiste|korte|richtige|kurze|endgültige) )?"
_LEAD = re.compile(
    rf"\A(?:(?:so|thus|therefore|hence|dus|daarom|also|daher|somit)\b,? )?(?:{_IN_SHORT} ?[:,]|"
    rf"(?:(?:the|my|het|mijn|die|meine) )?{_HOW}(?:answers?|antwoord(?:en)?|antwort(?:en)?) ?{_QUESTION}"
    rf"(?:(?:is|are|would be|zijn|luidt|ist|sind|lautet|wäre)(?![^\W{STAND_IN}]) ?{STAND_IN}? ?(?::|(?:that|dat|dass)\b|(?=\S)|\Z)"
    rf"|{STAND_IN}? ?:)) ?",
    re.IGNORECASE,
)
"""`The answer is:`, `Kort gezegd,`: what says that an answer follows is no part of it."""
ATTRIBUTED = re.compile(rf"(?:\A|[^\w{STAND_IN}]){_BY}\Z", re.IGNORECASE)
"""What only introduces the marker behind it."""
_EMPTY = re.compile(r"\(\s*[,;]?\s*\)|\[\s*\]|（\s*）")
_BEFORE_MARK = re.compile(r"\s+([.,;:!?)\]…](?!\w)|%)")


def spoken(plain: Plain, start: int, end: int) -> str:
    """Characters `start` to `end` of a plain text on one line; no citation marker can be read in it."""
    pieces, at = [], start
    first = bisect_left(plain.markers, (start, -1))
    within = takewhile(lambda marker: marker[0] <= end, islice(plain.markers, first, None))
    for place in dict.fromkeys(place for place, _ in within):
        pieces += [plain.text[at:place], STAND_IN]
        at = place + (1 if plain.text[place : place + 1] == STAND_IN else 0)
    marked = " ".join("".join([*pieces, plain.text[at:end]]).split())
    said = _ATTRIBUTION.sub("", marked)
    said = said[announced.end() :] if (announced := _ANNOUNCES.match(said)) else said
    if (lead := _LEAD.match(said)) and not is_declined(_tidy(marked)):  # "The answer is not in the sources" says it as a whole
        said = said[lead.end() :]
    return unmarked(_tidy(said) or _tidy(marked))


_ANNOUNCED = (
    r"(?:here (?:is|are)|here's|hier (?:is|zijn|volgt|volgen|staat|ist|sind|folgt|folgen)|below (?:is|are)|"
    r"hieronder (?:staat|staan|volgt)) (?:(?:the|a|an|some|your|what|de|het|een|der|die|das|eine?) )?(?:[\w-]+ )?"
    r"(?:answers?|summary|overview|rules?|details?|list|information|points|steps|facts|findings|results|options|explanation|breakdown|"
    r"antwoord|samenvatting|overzicht|regels?|punten|stappen|feiten|opties|antwort|"
    r"zusammenfassung|überblick|übersicht|regeln?|punkte|schritte|fakten|optionen|angaben|informationen)"
    r"(?: (?:of|from|about|on|for|over|van|uit|voor|zu|aus|von) [^:,;]{1,60})?"
)
_FOLLOWS = re.compile(
    rf"{_ANNOUNCED}[.:!]?|"
    r"[^:;]*\b(?:as follows|the following|see below|als volgt|het volgende|wie folgt|folgendes|siehe unten|zie hieronder)[.:!]?",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(rf"{_ANNOUNCED}: (?=\S)", re.IGNORECASE)
_LEAD_WORDS = 14


def only_leads(text: str) -> bool:
    """Whether a sentence only says that an answer follows."""
    lead = _LEAD.match(text)
    if lead is not None and not any(map(str.isalnum, text[lead.end() :])):
        return True
    return (
        len(text) < 160 and len(text.split()) <= _LEAD_WORDS and not any(map(str.isdecimal, text)) and _FOLLOWS.fullmatch(text) is not None
    )


def unmarked(text: str) -> str:
    """`text` on one line, without what reads as a citation marker."""
    text = _tidy(text)
    while forms := _forms(text):
        for form in reversed(forms):
            text = text[: form.start] + text[form.end :]
        text = _tidy(text)
    return text


def _forms(text: str) -> list[MarkerForm]:
    scanner = MarkerScanner(hide_thinking=False)
    return [form for form in scanner.feed(text) + scanner.finish() if form.form != "malformed"]


def _tidy(marked: str) -> str:
    text = " ".join(marked.replace(STAND_IN, "").split())
    text = _BEFORE_MARK.sub(r"\1", _EMPTY.sub(" ", text).replace("( ", "("))
    return " ".join(text.split()).lstrip(",;:.–- ")
