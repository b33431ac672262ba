"""Source text that reads as a marker, a header or a boundary: found in the joined text of a block, also across seams, and defused.

Brackets are swapped one character for one by look-alikes, so that every offset stays what it was. What is looked for is
what the format needs to keep its blocks apart: a marker that the answer parser would accept, in each format that has
markers; `[N] Source:` at the start of a line in `numbered`, `[SOURCE N]` in `source`, the tags in `xml` and markup that
would hide them. In `grouped` and `minimal` nothing is parsed and no boundary can be kept: text is shown as it is. A line
that equals the separator between blocks, where one is set, is looked for in every format.

Boundaries are read as leniently as a careless reader might: any case, any width of letter, white space, attributes, characters
without width, escaped brackets. What merely looks alike in another script is left. Text that can have no part in any of this,
wherever it stands, is quiet: that is found once, at load.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from ctxasm.model.characters import SHORT, is_visible, one_line
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.settings import AssemblySettings, Format
from ctxasm.text.formats import TAG, Frame
from ctxasm.text.markers.grammar import AND, HELD_CHARS, NAME, SEE, is_citable
from ctxasm.text.markers.scanner import NEUTRAL, MarkerScanner

INVISIBLE = (
    " \\t\\r\\v\\f\\x00-\\x08\\x0e-\\x1f\\x85\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""White space and characters without width, all but the newline."""
_LEAD = rf"[{INVISIBLE}]{{0,62}}"
_SEE, _NAME = SEE.replace(r"\s", f"[{INVISIBLE}]"), NAME.replace("[ _-]", f"[{INVISIBLE}_-]")
_NUMBERED = re.compile(
    rf"\[{_LEAD}(?:\[{_LEAD})?{_SEE}?(?:[\^#]|{_NAME}[{INVISIBLE}:#=._-]{{0,62}})?\d+\^?[{INVISIBLE}]{{0,62}}"
    rf"(?:[\]】］\[,;，、；،؛:&†§‐‑‒–—−-]|{AND}|t/m|(?:to|tot|bis|through)[{INVISIBLE}])",
    re.IGNORECASE,
).match
_TAGS = re.compile(r"<(?:[cC][iI][tT][eE]|[sS][uU][pP])").finditer
_IDS = re.compile(r"\([iI][dD][\s:#=]{0,62}\d").finditer
_OTHERS = re.compile("[【［〔]").finditer
_CLOSER = re.compile(r"[\]】］〕)>]").finditer
MOST_CLOSERS = 4
"""With more brackets before it a subscript is not told from a marker: it is no more than quicker to tell."""
_THINKS = re.compile(r"</?think", re.IGNORECASE).search


class _Brackets(NamedTuple):
    """Brackets that may be a header's: `begins` tells whether there is one, `whole` finds them all."""

    begins: Callable[[str], re.Match[str] | None]
    whole: Callable[[str], Iterator[re.Match[str]]]


def _brackets(opening: str) -> _Brackets:
    # Not behind what cannot stand between the beginning of a line and a header.
    # A whole number and nothing else in it, then an `s`; what is not plain text may fold to either, and what ends may go on.
    other, end = r"[^\x00-\x7f]|\Z", rf"[\]］】](?:[{INVISIBLE}*_]*+(?:[sS]|[^\x00-\x7f]|\Z))"
    begins = rf"{opening}(?<![^{INVISIBLE}\n>#*_|+•·.)-].)[{INVISIBLE}]*+(?:\d[\d{INVISIBLE}]*+(?:{end}|{other})|[^\x00-\x7f])"
    whole = rf"{opening}(?=[{INVISIBLE}]*+(?:\d|[^\x00-\x7f]))([^\[\]［］【】\n]*+)[\]］】]"
    return _Brackets(re.compile(begins).search, re.compile(whole).finditer)


_SQUARE, _ANY_WIDTH = _brackets(r"\["), _brackets(r"[\[［【]")
"""One character is looked for ten times as fast as one of three, and most texts hold only that."""
_LINE_BREAK = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]").split
_LEADING = re.compile(rf"(?:[{INVISIBLE}>#*_|+•·-]|\d{{1,9}}[.)])*+").fullmatch
_NUMBER = re.compile(rf"[{INVISIBLE}]*\d+[{INVISIBLE}]*").fullmatch
_AFTER_NUMBER = re.compile(rf"(?:[{INVISIBLE}]*+[^{INVISIBLE}\n]){{1,64}}+").match
_SOURCE = re.compile(rf"[{INVISIBLE}*_]*+{f'[{INVISIBLE}]*+'.join('source')}[{INVISIBLE}]*+:").match
_SWAP = str.maketrans("[]【】［］〔〕<>＜＞﹤﹥", "⟦⟧⟦⟧⟦⟧⟦⟧‹›‹›‹›")
_SWAP_ROUND = str.maketrans("()", "❨❩")
_SWAP_ESCAPED = str.maketrans("&", "⅋")


def might_hold_marker(text: str) -> bool:
    """Whether looking for markers in `text` is worth the time: never False for a text that holds one, whatever stands around it."""
    return next(_plausible_places(text), None) is not None


def _plausible_places(text: str) -> Iterator[int]:
    """Where a marker may begin, in any order."""
    for looked_for, opener in ((_OTHERS, ""), (_TAGS, "<"), (_IDS, "(")):
        if opener in text:
            yield from [found.start() for found in looked_for(text)]
    at = text.find("[")
    while at >= 0:
        found = _NUMBERED(text, at)
        if found and not _is_subscript(text, found):
            yield at
        at = text.find("[", at + 1)


def _is_subscript(text: str, found: re.Match[str]) -> bool:
    """Whether what would be a marker is none, whatever else is one: `argv[1]`. Told only where nothing before `text` has a say in it."""
    at = found.start()
    if at < HELD_CHARS or text[at - 1] == "_" or "[" in found[0][1:] or "［" in found[0]:
        return False
    before = text[at - HELD_CHARS : at]
    # What stands before a marker counts only as far back as the last one.
    ends = [closer.end() for closer in _CLOSER(before)]
    return len(ends) <= MOST_CLOSERS and not any(_is_citable(before[end:]) for end in (0, *ends))


_is_citable = lru_cache(maxsize=4096)(is_citable)
"""The same text stands in block after block."""


def find_marker_forms(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that an answer parser would read as a marker, strictly, were they copied into an answer, ascending, disjoint.

    Not in code, not subscripts. Entries of source lists and what a `<think>` would hide count: a copy of the bracket
    alone would be a marker.
    """
    return _scan(text) if might_hold_marker(text) else []


def _scan(text: str) -> list[tuple[int, int]]:
    found, in_fence = _scan_once(text)
    if _THINKS(text):
        # Where thinking ends code begins anew, also thinking that began in another text.
        for lead in ("", "<think>"):
            others, open_ended = _scan_once(lead + text, hide_thinking=True)
            found += [(low - len(lead), high - len(lead)) for low, high in others]
            in_fence = in_fence or open_ended
    if in_fence:  # a fence that nothing closes is no code here: a source could hide behind it all that follows
        found += _scan_once(text, code=False)[0]
    return _united(found)


def _united(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if spans and low < spans[-1][1]:
            low, high = spans[-1][0], max(high, spans.pop()[1])
        spans.append((low, high))
    return spans


def _scan_once(text: str, *, code: bool = True, hide_thinking: bool = False) -> tuple[list[tuple[int, int]], bool]:
    scanner = MarkerScanner(hide_thinking=hide_thinking, code=code, reading="strict", alone=True)
    forms = scanner.feed(text) + scanner.finish()
    return [(form.start, form.end) for form in forms if form.form != "malformed"], scanner.in_fence


def might_hold_header(text: str) -> bool:
    """Whether looking for headers in `text` is worth the time: never False for a text that holds one."""
    return _brackets_of(text).begins(text) is not None


def _brackets_of(text: str) -> _Brackets:
    return _ANY_WIDTH if "［" in text or "【" in text else _SQUARE


def find_forged_headers(text: str) -> list[tuple[int, int]]:
    """Spans of the bracket in every line that reads as a block header, `[3] Source: …`, in code as well, in any width of letter."""
    if not might_hold_header(text):
        return []
    found: list[tuple[int, int]] = []
    last = 0
    for bracket in _brackets_of(text).whole(text):
        (low, high), before = bracket.span(), last
        last = high
        if not _NUMBER(folded(bracket[1])):
            continue
        after = _AFTER_NUMBER(text, high)
        if after and _SOURCE(folded(after[0])):
            # Nothing but marks of a list or a quote before it on its line, and no other bracket.
            *lines, lead = _LINE_BREAK(text[before:low])
            if (lines or not before) and _LEADING(lead):
                found.append((low, high))
    return found


def folded(text: str) -> str:
    """`text` without differences of case and width."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def swap_brackets(marker: str) -> str:
    """A marker with each bracket replaced by a look-alike that no parser takes for one; the length stays the same.

    Round brackets only where they are the marker's own, ampersands only where they stand for a bracket.
    """
    swapped = marker.translate(_SWAP)
    if marker.startswith("("):
        return swapped.translate(_SWAP_ROUND)
    return swapped.translate(_SWAP_ESCAPED) if marker.startswith("&") else swapped


_TOLD = 24
"""How much is told of what has no end, in characters."""
_GAP = rf"[{INVISIBLE}\n]*+"
_WIDTHLESS = (
    "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)

_SOURCE_START = re.compile(rf"[\[［【]{_GAP}(?=[sSｓＳ]|[^\x00-\x7f])").finditer
_SOURCE_NAME = re.compile(rf"(?:[^{INVISIBLE}\n\[\]［］【】]{_GAP}){{1,24}}+")
_FORGED_SOURCE = re.compile(rf"{_GAP.join('source')}{_GAP}s?+(?:[\W_]|[{INVISIBLE}])*+(\d|\Z)")
_SOURCE_END = re.compile(r"[^\[\]［］【】\n]{0,80}[\]］】]")

_ENTITY = r"&(?:amp;)*+(?:lt|LT|#0*+60|#[xX]0*+3[cC]);?"
_SLASHES = rf"(?:[{INVISIBLE}\n/\\／∕⁄⧸!?]|&(?:amp;)*+(?:sol|#0*+47|#[xX]0*+2[fF]);?)*+"
_TAG_START = re.compile(rf"(?:[<＜﹤]|{_ENTITY}){_SLASHES}(?=[cCｃＣ&]|[^\x00-\x7f]|[A-Za-z_][\w.-]*+:)").finditer
_TAG_NAME = re.compile(rf"(?:[^{INVISIBLE}\n<>＜]{_WIDTHLESS}*+){{1,96}}+")
_FORGED_TAG = re.compile(rf"(?:\w[\w.-]*+:)*{f'{_WIDTHLESS}*+'.join(TAG)}(?:(?!\w)|{_WIDTHLESS})")
_TAG_END = re.compile(r"[^<>＜＞\n]{0,200}[>＞]")
_ESCAPED_END = re.compile(r"[^<>&\n]{0,200}&(?:amp;)*+(?:gt|GT|#0*+62|#[xX]0*+3[eE]);?")
_BARE_NAME = re.compile(rf"[^{INVISIBLE}\n<>＜\"'=&]{{0,{_TOLD}}}")

_MARKUP = re.compile(rf"<(?=[A-Za-z/!?])[^<>\n]{{0,{_TOLD}}}").finditer
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s"'=<>`]++)"""
_SOUND_TAG = re.compile(rf"""</?[A-Za-z][^\s"'<>/=]*+(?:\s++[^\s"'<>/=]++(?:\s*+=\s*+{_VALUE})?+)*+\s*+/?>""").match
_LONGEST_TAG = 2048
"""A longer tag counts as one that nothing closes, in characters."""
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes|noscript"
_RAW_START = re.compile(rf"<({_RAW}|plaintext)(?![\w-])", re.IGNORECASE).match
_RAW_END = re.compile(rf"</({_RAW})\s*>", re.IGNORECASE).finditer


def might_hold_source(text: str) -> bool:
    """Whether looking for a forged `[SOURCE N]` in `text` is worth the time."""
    return "[" in text or "［" in text or "【" in text


def might_hold_markup(text: str) -> bool:
    """Whether looking for tags in `text` is worth the time."""
    return "<" in text or "&" in text or "＜" in text or "﹤" in text


def find_forged_sources(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that read as `[SOURCE N]`, in code as well, or as its beginning at the very end; ascending, disjoint."""
    if not might_hold_source(text):
        return []
    found: list[tuple[int, int]] = []
    for start in _SOURCE_START(text):
        name = _SOURCE_NAME.match(text, start.end())
        if name is None:
            continue
        read = _FORGED_SOURCE.match(folded(name[0]))
        if read and (read[1] or name.end() == len(text)):
            end = _SOURCE_END.match(text, start.end())
            found.append((start.start(), end.end() if end else start.end() + len(name[0].rstrip()[:_TOLD])))
    return found


def find_forged_tags(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that read as the opening or closing tag of a block, closed or not; ascending, disjoint."""
    if not might_hold_markup(text):
        return []
    found: list[tuple[int, int]] = []
    for start in _TAG_START(text):
        name = _TAG_NAME.match(text, start.end())
        if name and _FORGED_TAG.match(folded(html.unescape(html.unescape(name[0])))):
            end = _ESCAPED_END if start[0][0] == "&" else _TAG_END
            told = end.match(text, start.end()) or _BARE_NAME.match(text, start.end())
            found.append((start.start(), told.end() if told else start.end()))
    return found


def find_open_markup(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that open what may run on past its end: a comment, a section, an open tag, a raw element; ascending."""
    if "<" not in text:
        return []
    found: list[tuple[int, int]] = []
    comment, instruction = text.rfind("-->"), text.rfind("?>")
    ends = {end[1].lower(): end.start() for end in _RAW_END(text)}
    for start in _MARKUP(text):
        at = start.start()
        if text.startswith("<!--", at):
            closed = comment >= at + 4
        elif text.startswith("<?", at):
            closed = instruction >= at + 2
        else:
            closed = _is_closed_tag(text, at, ends)
        if not closed:
            found.append(start.span())
    return found


def _is_closed_tag(text: str, at: int, ends: dict[str, int]) -> bool:
    """Whether every reader finds the end of the tag at `at`, and behind it that of the raw element that it opens."""
    end = _tag_end(text, at)
    raw = _RAW_START(text, at) if end else None
    return end > 0 and (raw is None or ends.get(raw[1].lower(), 0) >= end)


def _tag_end(text: str, at: int) -> int:
    """Where the tag at `at` ends for every reader; 0 where they may disagree, as in quotes that are no value."""
    limit = at + _LONGEST_TAG
    end = text.find(">", at, limit) + 1
    if not end or text[at + 1] == "!":
        return 0
    if text.find('"', at, end) < 0 and text.find("'", at, end) < 0:
        return end
    sound = _SOUND_TAG(text, at, limit)
    return sound.end() if sound else 0


BLANK_LINE = "\n\n"
_LINES = re.compile("[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+").finditer
_UNSEEN = re.compile(f"[{INVISIBLE}\x7f]+").sub
_RULE = re.compile(r"(.)\1\1+").fullmatch
_LOOK_ALIKES = str.maketrans("-=*_#~|:/<>[]()·", "‐꞊∗ˍ⌗∼∣∶∕‹›⟦⟧❨❩∙")
_OTHER = "·"


def separator_line(separator: str) -> str:
    """A separator on one line; empty where it shows nothing, and blocks stand a blank line apart."""
    line = one_line(separator)
    return line if is_visible(line) else ""


def joint(line: str) -> str:
    """What is written between two blocks: the line between two blank ones, or one blank line."""
    return f"\n\n{line}\n\n" if line else BLANK_LINE


def find_separators(text: str, line: str) -> list[tuple[int, int]]:
    """Spans of `text` that a reader would take for the separator `line`, ascending, disjoint; none where it is empty.

    A line is the separator to a reader whatever the white space, the characters without width, the case and the width of its
    letters; of a rule (one mark, three times or more) whatever its length.
    """
    if not line:
        return []
    wanted, found = _seen(line), []
    rule = _RULE(wanted)
    for each in _LINES(text):
        seen = _seen(each[0])
        if (seen == wanted or (rule and len(seen) > 2 and seen == rule[1] * len(seen))) and _seen(swap_marks(each[0])) != seen:
            found.append(each.span())
    return found


def swap_marks(line: str) -> str:
    """`line` with every mark replaced by a look-alike that no reader folds back; letters, digits and the length stay the same."""
    return "".join([_look_alike(char) if _is_mark(char) else char for char in line])


def _seen(line: str) -> str:
    """What is compared of a line: its visible characters without differences of case and width."""
    return _UNSEEN("", folded(_UNSEEN("", line)))


def _is_mark(char: str) -> bool:
    return any(not each.isalnum() for each in _seen(char))


def _look_alike(char: str) -> str:
    swapped = char.translate(_LOOK_ALIKES)
    return swapped if swapped != char else _OTHER


class Swap(NamedTuple):
    """Characters `low` to `high` of text number `place` were swapped."""

    place: int
    low: int
    high: int


class Body(NamedTuple):
    """Texts of one block with their collisions, already defused where that was asked for.

    `found` pairs the number of the first text concerned with what stood there; `swaps` say which characters changed.
    """

    texts: tuple[str, ...]
    found: tuple[tuple[int, str], ...] = ()
    swaps: tuple[Swap, ...] = ()


def might_collide(text: str, format: Format) -> bool:
    """Whether looking for collisions in `text` is worth the time: never False for a text that holds one."""
    match format:
        case "numbered":
            return might_hold_marker(text) or might_hold_header(text)
        case "source":
            return might_hold_marker(text) or might_hold_source(text)
        case "xml":
            return might_hold_marker(text) or might_hold_markup(text)
        case "grouped" | "minimal":
            return False


def find_collisions(text: str, format: Format) -> list[tuple[int, int]]:
    """Spans of `text` that read as a marker or a boundary of this format, ascending, one a beginning; they may overlap."""
    match format:
        case "numbered":
            found = [*find_marker_forms(text), *find_forged_headers(text)]
        case "source":
            found = [*find_marker_forms(text), *find_forged_sources(text)]
        case "xml":
            found = [*find_marker_forms(text), *find_open_markup(text), *find_forged_tags(text)]
        case "grouped" | "minimal":
            found = []
    return list(dict(sorted(found)).items())


Find = Callable[[str, Format], list[tuple[int, int]]]
"""`find_collisions`, or what remembers its answers."""
_INDENTED = re.compile(r" {4}| {0,3}\t").match


def find_behind_a_line(text: str, format: Format) -> list[tuple[int, int]]:
    """`find_collisions` of a text that may also be put behind other lines, where an indent makes no code of its first."""
    found = find_collisions(text, format)
    return _both(found, find_collisions(NEUTRAL + text, format), -len(NEUTRAL)) if _INDENTED(text) else found


def _both(spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]], shift: int) -> list[tuple[int, int]]:
    """Both, the others moved by `shift`; ascending, one a beginning."""
    return list(dict(sorted([*spans, *((low + shift, high + shift) for low, high in others)])).items())


def defuse_block(
    frame: Frame,
    texts: Sequence[str],
    swap: bool,
    format: Format,
    find: Find = find_collisions,
    separator: str = "",
) -> tuple[Frame, tuple[str, ...], Body]:
    """The header and the texts of a block defused where they stand, one behind the other; what was found in the header.

    The attributes in `xml` are escaped; a tag among them is defused all the same, for readers that undo that first.
    """
    head = len(frame.after)

    def find_here(text: str, format: Format) -> list[tuple[int, int]]:
        found = find(text, format)
        # An indent that is no code behind the header is some in a copy without it.
        return _both(found, find(text[head:], format), head) if _INDENTED(text, head) else found

    checked = defuse((frame.after, *texts), swap, format, find_here, separator)
    if not checked.found:
        return frame, (), Body(tuple(texts))
    named = tuple(found for place, found in checked.found if place == 0)
    swaps = tuple(swap._replace(place=swap.place - 1) for swap in checked.swaps if swap.place)
    body = Body(checked.texts[1:], tuple((place - 1, found) for place, found in checked.found if place), swaps)
    return frame._replace(after=checked.texts[0]), named, body


def defuse(texts: Sequence[str], swap: bool, format: Format = "numbered", find: Find = find_collisions, separator: str = "") -> Body:
    """Find what the answer parser would accept as a marker, or a model as a boundary, in `texts` joined; swap its brackets.

    `separator` is the line between blocks, whose marks are swapped. What is left may read differently once a bracket is gone,
    so it is looked at again until nothing is found.
    """
    joined = "".join(texts)
    starts = [0, *accumulate(map(len, texts))]
    found: list[tuple[int, str]] = []
    swaps: list[Swap] = []
    while True:
        lines = find_separators(joined, separator)
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in lines]
        if swap:
            # A line of ``` that goes is no fence any more: what it hid is looked at without it.
            joined = _swapped(joined, lines, swap_marks)
        spans = find(joined, format)
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in spans]
        if not swap or not (lines or spans):
            break
        joined = _swapped(joined, spans, swap_brackets)
        for low, high in (*lines, *spans):
            swaps += _swaps(starts, low, high)
    if not swaps:
        return Body(tuple(texts), tuple(found))
    return Body(tuple(joined[low:high] for low, high in pairwise(starts)), tuple(found), tuple(swaps))


def separator_of(settings: AssemblySettings) -> str:
    """The line between blocks as it is written: one that reads as a marker or a boundary itself is defused like all other text."""
    line = separator_line(settings.block_separator)
    if line and settings.marker_collisions == "neutralise":
        return defuse([line], True, settings.format).texts[0]
    return line


def _swapped(text: str, spans: Sequence[tuple[int, int]], swapped: Callable[[str], str]) -> str:
    """`text` with what all spans hold swapped; spans ascend and may overlap."""
    pieces, at = [], 0
    for low, high in spans:
        if high > at:
            pieces += [text[at : max(at, low)], swapped(text[max(at, low) : high])]
            at = high
    return "".join([*pieces, text[at:]])


def _swaps(starts: Sequence[int], low: int, high: int) -> list[Swap]:
    """The span, cut at the texts' borders."""
    first, last = bisect_right(starts, low) - 1, bisect_right(starts, high - 1) - 1
    return [
        Swap(place, max(low, starts[place]) - starts[place], min(high, starts[place + 1]) - starts[place])
        for place in range(first, last + 1)
    ]


opens_something = re.compile(r"[\[<(&【［〔＜﹤]").search
"""Where something may begin that a rule looks for, or None."""
BITS: Mapping[Format, int] = {"numbered": 1, "source": 2, "xml": 4}
"""Where each format stands in the stored number. The others keep no boundaries, so there every text is quiet."""
EDITION_STEP = 8
EDITION = 3
"""One more whenever a rule finds what it did not find before: what is stored of an earlier edition then counts for nothing."""
GAP_MARK = "[…]"
"""The gap mark that is known to be none of it."""
TAIL = 512
"""Characters before its end in which a text may hold what the text behind it completes. No rule looks further ahead from a bracket,
but for runs of digits and of what is not seen."""
_ENDLESS = re.compile(r"[\d\W_]{60}").fullmatch
"""Digits and signs without end: how far back what they belong to begins is not known."""
_OPEN_SQUARE = re.compile(r"\[[^\]\n]*+\Z").search
"""A bracket that opens a marker or a header is completed on its own line."""
_OPEN_ANGLE = re.compile(r"<(?:c(?:i(?:te?)?)?|su?)?\Z", re.IGNORECASE).search
_OPEN_ROUND = re.compile(r"\(\s*(?:[iI](?:[dD][\s:#=]*)?)?\s*\Z").search


def is_collision_free(text: str, format: Format) -> bool:
    """Whether nothing in `text` is, begins or completes what the rules of this format look for, whatever stands around it.

    Most text, so that most is never searched twice. Whatever the rules look for begins with a bracket, an ampersand or the like: a
    text without any of these is quiet at once; one that holds some is when no rule finds anything plausible in it, and none of them
    stands so near its end that what follows could complete it.
    """
    return _short_is_free(text, format) if len(text) <= SHORT else _keeps(text, format)


def _keeps(text: str, format: Format) -> bool:
    if opens_something(text) is None:
        return True
    tail = text[-TAIL:]
    angled = _OPEN_ANGLE(tail) if format != "xml" else "<" in tail or "＜" in tail or "﹤" in tail
    if angled or "【" in tail or "［" in tail or "〔" in tail:
        return False
    return not (_OPEN_SQUARE(tail) or _OPEN_ROUND(tail) or _ENDLESS(tail[-60:]) or might_collide(text, format))


_short_is_free = lru_cache(maxsize=4096)(_keeps)


def collision_free_formats(text: str) -> int:
    """The formats in which `text` keeps to itself, as one number to be stored: it also tells by which edition of the rules."""
    found = sum([bit for format, bit in BITS.items() if is_collision_free(text, format)])
    return EDITION * EDITION_STEP + found


def chunks_that_may_collide(chunks: Iterable[FetchedChunk], format: Format, known: dict[tuple[str, int], bool]) -> set[int]:
    """The indexes of those of a document's chunks of which that is not so, by what is stored of it where that is of this edition.

    What is found of the other chunks is kept in `known`, which is of this format.
    """
    bit, colliding = BITS.get(format, 0), set[int]()
    for chunk in chunks:
        stored = chunk.quiet
        if stored is None or stored // EDITION_STEP != EDITION:
            key = (chunk.document_id, chunk.chunk_index)
            if key not in known:
                known[key] = is_collision_free(chunk.text, format)
            if not known[key]:
                colliding.add(chunk.chunk_index)
        elif bit and not stored & bit:
            colliding.add(chunk.chunk_index)
    return colliding


def gap_is_collision_free(mark: str, format: Format) -> bool:
    """The same for a gap mark, which stands on a line of its own."""
    return mark == GAP_MARK or is_collision_free(mark + "\n", format)
