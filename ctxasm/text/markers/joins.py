"""What happens where the two sides of a cut marker meet: whether a blank belongs there, and what must not be joined."""

from __future__ import annotations

import re

from ctxasm.text.markers.grammar import ADDRESS, CLOSERS, HELD_CHARS, RAISED, is_citable, is_raised, may_begin_round

_WORDS = frozenset(
    re.findall(
        r"\w+",
        "source sources bron bronnen quelle quellen src doc docs document documents id ids citation citations cite cites ref refs s "
        "context contexts kontext passage passages and en und et t m to tot bis through see zie siehe cf vgl also ook auch",
    )
)
_BEGINNINGS = frozenset(word[:end] for word in _WORDS for end in range(1, len(word) + 1))
_OPEN_BRACKET = re.compile(r"[\[【［〔]([^\n`\\]*)\Z")
_OPEN_ROUND = re.compile(r"\(([^()\n]{0,62})\Z")
_OPEN_TAG = re.compile(r"<(?:sup|cite)(?:|\s[^\n<>]*|>([^\n<]*)(?:</[a-z]*\s*)?)\Z", re.IGNORECASE)
_RAISED_AHEAD = re.compile(rf"([,;˒]|[ ]?⁻[ ]?|[-–])?[{RAISED}]").match
_PAIR_AHEAD = re.compile(r"\[[^\]\n]{1,62}\][-‐‑‒–—−]\[").match
_PAIRED = re.compile(r"[-‐‑‒–—−](?:\[|\Z)|\[").match
_DASHED = re.compile(r"\][-‐‑‒–—−]?\Z").search
_LIST_CHARS = re.compile(r"[\s\d,;，、；&^:#=._§\[\]†/‐‑‒–—−\u200b-\u200d\ufeff-]*")
_CLOSED = re.compile(r"\s*[)\]】］〕]")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD_CHAR = re.compile(r"\w")
_GOES_ON = re.compile(r"[^\s\w]{0,64}\w")
_SUBSCRIPTED = re.compile(r"[^\w\s\[\]【】［］〔〕<]{0,4}\w{1,16}(?=[\[【［〔<])")
_LINE_MARK = re.compile(r"[\s>]*(?:[-*+•]|\d{1,9}[.)])?[\s>]*")
_MARKS_LINE = re.compile(r"[-*+•>]|\d{1,9}(?:[.)]|\Z)|[`~]{1,2}\Z|```|~~~")
_INDENTED = re.compile(r"(?:[ \t>]*\r?\n)+(?:[ \t>]*\Z| {4}| {0,3}\t)")
_OPENERS = frozenset("([{<>|“‘«„\"'*_~")
_ENDERS = frozenset("\"'”’»*_|~-–—")


def separated(left: str, right: str) -> str:
    """The blank to put between `left` and `right`, which only a marker kept apart: none where they belong together."""
    if not left or not right or left[-1].isspace():
        return ""
    if not left[-1].isascii() or not right[0].isascii():
        meets = _WORD_CHAR.match(right.lstrip("_") if right[0] == "_" else right) is not None and _WORD_CHAR.match(left[-1]) is not None
        return " " if meets and (left[-1].isascii() or right[0].isascii()) else ""
    if left[-1] == right[0] != "|":
        return " "
    if right.startswith("</") or (right[0] in _ENDERS and left[-1] not in "\\`"):
        return ""
    if left[-1] in _OPENERS:
        mark = left.rstrip("*_~\"'")
        return " " if left[-1] in "*_~\"'" and mark and not mark[-1].isspace() and mark[-1] not in _OPENERS else ""
    return " "


def reads_on(left: str, right: str) -> bool:
    """Whether an opener at the end of `left` could become a marker with what follows it; the answer errs towards yes."""
    if left[-1:] in "`~" and left[-1:] and left[-1:] == right[:1]:
        return True
    if _GOES_ON.match(right) and ADDRESS.search(left):
        return True
    if (word := _SUBSCRIPTED.match(right)) and is_citable((left + word[0])[-HELD_CHARS:]) and not is_citable(word[0]):
        return True  # `hepatitis ` + `B[2]`: the second is code, the whole would be a citation
    if _PAIR_AHEAD(right) and (left.rstrip(" \t")[-1:] in ("=", ":") or not is_citable(left[-HELD_CHARS:])):
        return True  # `{` + `[3]-[1]`: the first would be none, and the second one by itself
    if (raised := _RAISED_AHEAD(right)) and (left[-1:] in tuple(RAISED) or (not raised[1] and is_raised(left))):
        return True
    line = left[left.rfind("\n") + 1 :][-HELD_CHARS:]
    if _DASHED(line) and (_PAIRED(right) or right[:1] == "_"):
        return True  # `[1]` + `-[3]` would name 2 as well, `_[1]` + `_` is a marker
    place = max(map(line.rfind, CLOSERS))
    if place >= 0:
        first = min(at for at in map(line.find, CLOSERS) if at >= 0)
        if any(
            _OPEN_BRACKET.match(line, at) and _is_open(line[at:]) and _lists(line[at + 1 :], right)
            for at in range(first, place + 1)
            if line[at] in CLOSERS
        ):
            return True
    if found := _OPEN_ROUND.search(line):
        opens = _lists(found[1], right) if found[1].strip() else _may_open(right)
        if opens:
            return True
    if found := _OPEN_TAG.search(line):
        return found[1] is None or _lists(found[1], right)
    return False


def _may_open(right: str) -> bool:
    """Whether `right` may be a named source behind an open round bracket."""
    content, closed, _ = right[:HELD_CHARS].partition(")")
    return may_begin_round(content, "usual") and (not closed or any(map(str.isdecimal, content)))


def _is_open(text: str) -> bool:
    """Whether the bracket that `text` begins with is still open at its end."""
    opener, depth = text[0], 0
    for char in text:
        depth += (char == opener) - (char == CLOSERS[opener])
        if not depth:
            return False
    return True


def _lists(content: str, right: str) -> bool:
    """Whether `content`, with what follows it, may be the beginning of a list of numbers."""
    if _CLOSED.match(right) and not any(map(str.isdecimal, content)):
        return False
    words = _LETTERS.findall(content.lower())
    if "†" in content:
        return True
    if words and content[-1:].isalpha() and words.pop() not in _BEGINNINGS:
        return False
    return all(word in _WORDS for word in words) and _LIST_CHARS.fullmatch(_LETTERS.sub("", content)) is not None


def changes_line(line: str, right: str) -> bool:
    """Whether cutting at the end of `line`, the start of a line, lets `right` mark a list, a quote, a fence or code."""
    if not _LINE_MARK.fullmatch(line):
        return False
    if right[:1] in ("", "\r", "\n"):
        return not line.strip(" \t>") and _INDENTED.match(right) is not None
    return _MARKS_LINE.match(right[:16]) is not None or (bool(line) and line[-1:] not in " \t>")
