"""Source text that would read as a boundary of a block: a forged `[SOURCE 2]`, a forged `<chunk>`, or markup that hides one.

Read as leniently as a careless reader might: any case, any width of letter, white space, attributes, characters without
width, escaped brackets. What merely looks alike in another script is left. Every place is judged by itself, whatever
stands around it, because readers disagree on what a comment or a quoted value hides.
"""

from __future__ import annotations

import html
import re

from ctxasm.text.formats import TAG
from ctxasm.text.markers.search import INVISIBLE, folded

_TOLD = 24
"""How much is told of what has no end, in characters."""
_GAP = rf"[{INVISIBLE}\n]*+"
_WIDTHLESS = (
    "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)

_SOURCE_START = re.compile(rf"[\[［【]{_GAP}(?=[sSｓＳ]|[^\x00-\x7f])").finditer
_SOURCE_NAME = re.compile(rf"(?:[^{INVISIBLE}\n\[\]［］【】]{_GAP}){{1,24}}+")
_SOURCE = re.compile(rf"{_GAP.join('source')}{_GAP}s?+(?:[\W_]|[{INVISIBLE}])*+(\d|\Z)")
_SOURCE_END = re.compile(r"[^\[\]［］【】\n]{0,80}[\]］】]")

_ENTITY = r"&(?:amp;)*+(?:lt|LT|#0*+60|#[xX]0*+3[cC]);?"
_SLASHES = rf"(?:[{INVISIBLE}\n/\\／∕⁄⧸!?]|&(?:amp;)*+(?:sol|#0*+47|#[xX]0*+2[fF]);?)*+"
_TAG_START = re.compile(rf"(?:[<＜﹤]|{_ENTITY}){_SLASHES}(?=[cCｃＣ&]|[^\x00-\x7f]|[A-Za-z_][\w.-]*+:)").finditer
_TAG_NAME = re.compile(rf"(?:[^{INVISIBLE}\n<>＜]{_WIDTHLESS}*+){{1,96}}+")
_TAG = re.compile(rf"(?:\w[\w.-]*+:)*{f'{_WIDTHLESS}*+'.join(TAG)}(?:(?!\w)|{_WIDTHLESS})")
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
        read = _SOURCE.match(folded(name[0]))
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
        if name and _TAG.match(folded(html.unescape(html.unescape(name[0])))):
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
