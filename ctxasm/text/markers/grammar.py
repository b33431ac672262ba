"""What may stand inside a citation marker, and where a marker may stand: the pure rules behind `marker_forms`.

Every rule looks at most `HELD_CHARS` characters back or ahead, so a streamed answer is judged like a whole one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

FormName = Literal[
    "number",
    "list",
    "range",
    "source",
    "footnote",
    "nested",
    "dagger",
    "lenticular",
    "fullwidth",
    "link",
    "id",
    "cite",
    "sup",
    "round",
    "superscript",
    "other",
    "name",
    "unread",
    "tag",
    "malformed",
]
Reading = Literal["strict", "usual", "all"]
"""Which forms are read as markers. `strict`: those in square or like brackets, in tags, and `(ID: 1)`, which source text of a context
is kept free of; `usual`: raised figures and named sources in round brackets as well; `all`: also what is as often something else."""
READINGS: tuple[Reading, ...] = get_args(Reading)
Numbering = Literal["auto", "1", "0", "second"]
"""What the numbers of an answer count: `1` from 1, `0` from 0, `second` the second number of `【4:1†source】`, from 0."""
NUMBERINGS: tuple[Numbering, ...] = get_args(Numbering)

HELD_CHARS = 64
"""The longest marker, and how long an open bracket may stay undecided, in characters."""
LINK_CHARS = 2048
"""How long a link destination after a marker may stay undecided, in characters."""
RANGE_NUMBERS = 1000
"""A range names at most this many numbers and its last one: `[1-999999999]` is never expanded."""

ADDRESS = re.compile(r"://[\w./?=&%#+:@,;~-]*\Z")
"""The end of a web address: a name in it is no code."""

CLOSERS = {"[": "]", "【": "】", "［": "］", "〔": "〕"}
_DECIDES = {opener: re.compile(rf"[{re.escape(opener + closer)}\n`\\]").finditer for opener, closer in CLOSERS.items()}

_LONG_NAME = r"(?:sources?|bron(?:nen)?|quellen?|src|docs?|documents?|citations?|cites?|refs?|contexts?|kontext|passages?)"
NAME = rf"(?:{_LONG_NAME}(?:[ _-]?(?:ids?|idx|index|nr|no|num|number)(?![a-z]))?|ids?|s)"
NAME_JOIN = r"\s:#=._-"
"""What may stand between a name and its number."""
DIRECTION_MARKS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
undirected = re.compile(f"[{DIRECTION_MARKS}]").sub
"""Editors of right-to-left text put them around a number: in a bracket they count as a blank."""
_AMBIGUOUS_NAME = r"(?:chunks?|excerpts?|fragment(?:en|s|e)?|items?|no|nr|n)"
SEE = r"(?:(?:see|zie|siehe|cf|vgl)\.?\s+(?:(?:also|ook|auch)\s+)?)"
_DASH = r"(?:[-‐‑‒–—−]|t/m|(?:to|tot|bis|through)(?=\s))"
AND = r"(?:and|en|und|et)"
_LEAD = rf"(?:[\^#]|{NAME}[{NAME_JOIN}]*)"
_ITEM = rf"{_LEAD}?(\d+)\^?(?:\s*{_DASH}\s*{_LEAD}?(\d+)\^?)?"
_JOIN = rf"(?:\s*[,;，、；،؛]\s*(?:{AND}\s+|&\s*)?|\s+{AND}\s+|\s*&\s*)"
_PLAIN_ITEM = _ITEM.replace("(\\d+)", "\\d+")
_BLANK = r"[\s\u200b-\u200d\ufeff]*"
LOCATOR = (
    r"(?:\s*[,;]\s*(?:(?:pp?|pag|blz|s|sect?|ch|art|fig|tab)\.\s*|(?:p|page|pagina|seite|hoofdstuk|kapitel)\s+|§+\s*)|\s+§+\s*)"
    r"\d[\d.]*(?:\s*[-–]\s*\d+)?"
)
"""`, p. 3` behind a number: where in the source."""
_LIST = re.compile(rf"{_BLANK}{SEE}?{_PLAIN_ITEM}(?:{_JOIN}{_PLAIN_ITEM})*(?:{LOCATOR})?{_BLANK}", re.IGNORECASE)
_LOCATED = re.compile(rf"{LOCATOR}{_BLANK}\Z", re.IGNORECASE)
_EACH = re.compile(_ITEM, re.IGNORECASE)
_NAMED = re.compile(rf"{_BLANK}{SEE}?{NAME}", re.IGNORECASE)
_ROUND = re.compile(
    rf"\s*{SEE}?(?:sources?|bron(?:nen)?|quellen?|docs?|documents?|refs?)(?:[ _-]?(?:id|nr|no|number))?[{NAME_JOIN}]*\d", re.IGNORECASE
)
_ROUND_WORD = re.compile(r"\s*([^\W\d_]*)([\s\S]?)")
_ROUND_WORDS = (
    *("source", "sources", "bron", "bronnen", "quelle", "quellen", "doc", "docs", "document", "documents", "ref", "refs"),
    *("see", "zie", "siehe", "cf", "vgl", "id"),
)
_FIGURES = re.compile(r"\s*\d+(?:\s*[,;–-]\s*\d+)*\s*")
_FIGURES_BEGIN = re.compile(r"[\s\d,;–-]*")
_AMBIGUOUS = re.compile(
    rf"\s*(?:{_AMBIGUOUS_NAME}[\s:#=._-]*\d+(?:{_JOIN}(?:{_AMBIGUOUS_NAME}[\s:#=._-]*)?\d+)*|\d+(?:\s*[/|+]\s*\d+)+|\(\s*\d+\s*\))\s*",
    re.IGNORECASE,
)
_NESTED = re.compile(rf"\s*\[{_LIST.pattern}\](?:\s*[,;]?\s*\[{_LIST.pattern}\])*\s*", re.IGNORECASE)
_DAGGER = re.compile(r"\s*(\d+)(?::(\d+))?\s*†[^`\\]*")
_ALMOST = re.compile(r"(?=.*\d)[\d\s,;，、；‐‑‒–—−-]+")
_ID = re.compile(rf"\s*id[\s:#=]*\d+(?:{_JOIN}(?:id[\s:#=]*)?\d+)*\s*", re.IGNORECASE)
_TAG = re.compile(
    rf"<(sup|cite)(?:\s[^<>`\\]*)?>(?:<a\b[^<>`\\]*>)?({_LIST.pattern}|\s*\[{_LIST.pattern}\]\s*)(?:</a\s*>)?</\1\s*>", re.IGNORECASE
)
_ATTRIBUTES = r"[^<>`\\]*"
_SENTENCES = re.compile(
    rf"<cite\s{_ATTRIBUTES}?\bindex\s*=\s*[\"']?(\d+-\d+(?::\d+)?(?:\s*,\s*\d+(?:-\d+(?::\d+)?)?)*)[\"']?(?:\s{_ATTRIBUTES})?/?>",
    re.IGNORECASE,
)
"""`index="2-1"`: document 2, sentence 1."""
_CITE = re.compile(
    rf"<cite\s{_ATTRIBUTES}?\b(?:id|index|source|ref)\s*=\s*[\"']?({_LIST.pattern})[\"']?(?:\s{_ATTRIBUTES})?/?>", re.IGNORECASE
)

_URL = r"[^\s()\[\]`\\]*"
_DESTINATION = re.compile(rf"\({_URL}(?:\({_URL}\){_URL})*")
_INNER = re.compile(rf"\({_URL}")
_TITLE = re.compile(r"""[ \t]+(?:"[^"\n`\\]*(?:"[ \t]*\)?)?|'[^'\n`\\]*(?:'[ \t]*\)?)?|\)?)""")

_SUBSCRIPTS = re.compile(r"(?:\[[^\[\]\n]*\])*\[?\Z")
_WORD_BEGINS = re.compile(r"\w+").match
_CERTAIN_BEFORE = ("", *" \t\n.,;:!?*|>\"'")
_IDENTIFIER = re.compile(r".*_|[a-z]{2,}[a-z0-9]*[A-Z]|[a-z]+[0-9]|[A-Za-z]\Z", re.ASCII)
_CODE_NAMES = frozenset(
    re.findall(
        r"\w+",
        "arr argv args kwargs array arrays vec buf buffer ptr idx tmp foo bar baz lst list dict nums elem elems str vals params self obj "
        "matrix mat items xs ys df row rows col cols data map stack queue",
    )
)
_AFTER_DOT = frozenset(("nl", "com", "org", "net", "be", "eu", "de", "uk", "pdf", "html", "htm", "txt", "md", "doc", "docx", "csv", "json"))
_DIGITS = re.compile(r"\d+")
_ADDRESS_GOES_ON = ("=", "/", "&")
REPORT_CHARS = 12
"""How much behind a bracketed year is looked at."""
_ASSIGNED = re.compile(r"(?:=|([\"'])\w[^\"'\n]{0,40}\1\s*:)[ \t]*\Z")
_TWO = re.compile(r"\s*\d+\s*,\s*\d+\s*")
_INTERVAL = re.compile(r"(?:(?:\A|[^\w.])[b-z]\s*(?:∈|:|\bin\b)|\b(?:interval|range|bereik|intervall)|∈)\s*\Z")
_CLASS = re.compile(r"\s*\d-\d\s*")
_PATTERN = re.compile(r"\b(?:regex(?:es|p)?|patterns?|patroon|muster|expressions?)[ \t]+[\"']?\Z", re.IGNORECASE)
_YEAR = re.compile(r"\s?(?:1[6-9]|20)\d\d\s?")
_REPORT = re.compile(r" (?:\d{1,3} )?(?:[A-Z][A-Za-z]{0,4}[A-Z]\b|\d{1,3} [A-Z])")
_REPORT_BEGINS = re.compile(r"(?: (?:\d{0,3}|\d{1,3} )(?:[A-Z][A-Za-z]{0,5})?)?")
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
RAISED_RUN = re.compile(rf"[{RAISED}]+(?:(?:[,;˒]|[ ]?⁻[ ]?|[-–])[{RAISED}]+)*")
LOWERED = str.maketrans(RAISED + "⁻–˒;", "0123456789--,,")
_MARKS_BEFORE = tuple(".,;:!?%)\"'”’»…")
_POWER = re.compile(r"\([^()]{0,5}\)\Z|\([^()]*[+=*/^−-][^()]*\)\Z|\d[.,;:!?\"'”’»…]\Z")
_LETTERS = re.compile(r"[^\W\d_]{2,}\Z")
_RAISED_UNITS = frozenset(
    (
        *(
            "mm",
            "cm",
            "dm",
            "dam",
            "hm",
            "km",
            "nm",
            "µm",
            "μm",
            "um",
            "pm",
            "ft",
            "yd",
            "mi",
            "inch",
            "in",
            "ha",
            "sec",
            "kg",
            "lb",
            "mol",
        ),
        *("sin", "cos", "tan", "log", "ln", "exp"),
    )
)
_UNITS = frozenset(("mm", "cm", "dm", "km"))
_CALL = re.compile(r"(?<=\w)\([^()\s]{1,20}\)\Z")
_PROSE = frozenset(("mmhg", "co2", "covid19", "b12"))
_NAMED_LETTER = re.compile(r"[a-z]{3}[ -][A-Z]").fullmatch
_DETERMINED = re.compile(
    r"\b(?:the|this|these|those|our|their|all|of|de|het|een|deze|dit|die|onze|alle|van|der|das|den|diese|aller)[ \n]\w+\Z", re.IGNORECASE
)


@lru_cache(maxsize=1024)
def read_content(opener: str, content: str, ambiguous: bool = False) -> tuple[FormName, tuple[int, ...]] | None:
    """The form and numbers of what stands between `opener` and its closer; None for ordinary text. `ambiguous` reads `chunk 2`, `1/2`."""
    content = undirected(" ", content)
    if dagger := _DAGGER.fullmatch(content):
        return "dagger", (int(dagger[1]),)
    if opener == "[" and _NESTED.fullmatch(content):
        numbers = read_numbers(content)
        return ("nested", numbers) if numbers else None
    if not _LIST.fullmatch(content):
        if ambiguous and _AMBIGUOUS.fullmatch(content):
            return "source", tuple(dict.fromkeys(int(figure) for figure in _DIGITS.findall(content)))
        return ("malformed", ()) if _ALMOST.fullmatch(content) else None
    numbers = read_numbers(content)
    return (_form_of(opener, content), numbers) if numbers else ("malformed", ())


def _form_of(opener: str, content: str) -> FormName:
    if opener != "[":
        return "fullwidth" if opener == "［" else "lenticular"
    if _NAMED.match(content):
        return "source"
    if "^" in content:
        return "footnote"
    items = _EACH.findall(content[: list_end(content)])
    if len(items) > 1:
        return "list"
    return "range" if items[0][1] else "number"


def read_numbers(content: str) -> tuple[int, ...]:
    """The numbers that a list names, ranges expanded, each once, in order; empty when a range runs backwards."""
    numbers: dict[int, None] = {}
    for item in _EACH.finditer(content, 0, list_end(content)):
        first, last = int(item[1]), int(item[2] or item[1])
        if last < first:
            return ()
        numbers.update(dict.fromkeys(range(first, min(last + 1, first + RANGE_NUMBERS))))
        numbers[last] = None
    return tuple(numbers)


def list_end(content: str) -> int:
    """Where the list of numbers in a bracket ends: before a place in the source (`1, p. 3`)."""
    located = _LOCATED.search(content) if not content.rstrip().isdecimal() else None
    return located.start() if located else len(content)


def read_round(content: str, reading: Reading) -> tuple[FormName, tuple[int, ...]] | None:
    """The form and numbers of what stands between round brackets; None for ordinary text."""
    if numbers := read_id(content):
        return "id", numbers
    named = reading != "strict" and _ROUND.match(content) and _LIST.fullmatch(content)
    if not named and not (reading == "all" and _FIGURES.fullmatch(content)):
        return None
    numbers = read_numbers(content)
    return ("round", numbers) if numbers else None


def may_begin_round(content: str, reading: Reading) -> bool:
    """Whether `content`, behind an open round bracket, may be the beginning of what `read_round` reads."""
    if reading == "all" and _FIGURES_BEGIN.fullmatch(content):
        return True
    found = _ROUND_WORD.match(content)
    word, ended = (found[1].lower(), bool(found[2])) if found else ("", False)
    words = _ROUND_WORDS if reading != "strict" else ["id"]
    return (word in words) if ended else any(each.startswith(word) for each in words)


def read_id(content: str) -> tuple[int, ...]:
    """The numbers of `ID: 1` as it stands between round brackets, empty for ordinary text."""
    return read_numbers(content) if _ID.fullmatch(content) else ()


def read_tag(window: str) -> tuple[int, FormName, tuple[int, ...]] | None:
    """Length, form and numbers of a `<sup>1</sup>`, `<cite>1</cite>` or `<cite id="1">` at the start of `window`."""
    window = undirected(" ", window)
    if whole := _TAG.match(window):
        form: FormName = "sup" if whole[1].lower() == "sup" else "cite"
        numbers = read_numbers(whole[2])
        return (whole.end(), form, numbers) if numbers else None
    if sentences := _SENTENCES.match(window):
        documents = (int(each.partition("-")[0]) for each in sentences[1].split(","))
        return sentences.end(), "cite", tuple(dict.fromkeys(documents))
    if opening := _CITE.match(window):
        numbers = read_numbers(opening[1])
        return (opening.end(), "cite", numbers) if numbers else None
    return None


def closing(window: str, opener: str) -> int:
    """Length of the bracketed text at the start of `window`; 0 when its closer has not come, -1 when it never counts."""
    closer, depth = CLOSERS[opener], 0
    for found in _DECIDES[opener](window):
        char = found[0]
        if char == opener:
            depth += 1
            if depth > 2 or (depth == 2 and opener != "["):
                return -1
        elif char == closer:
            depth -= 1
            if not depth:
                return found.end()
        else:
            return -1
    return -1 if len(window) >= HELD_CHARS else 0


def link_length(text: str, at: int) -> int:
    """Length of the link destination whose `(` stands at `at`; 0 when its `)` has not come, -1 when it is none.

    One level of round brackets may stand inside, and a quoted title after it; square brackets may not.
    """
    limit = at + LINK_CHARS
    undecided = -1 if len(text) >= limit else 0
    body = _DESTINATION.match(text, at, limit)
    if body is None:
        return -1
    end = body.end()
    if end >= min(len(text), limit):
        return undecided
    if text[end] == ")":
        return end + 1 - at
    rest = _INNER.match(text, end, limit) if text[end] == "(" else _TITLE.match(text, end, limit)
    if rest is None:
        return -1
    if rest[0].endswith(")") and text[end] != "(":
        return rest.end() - at
    return undecided if rest.end() >= min(len(text), limit) else -1


def is_citable(before: str) -> bool:
    """Whether a bracket straight after `before` (at most 64 characters of it are read) may be a citation.

    Not in a subscript: `argv[1]`, `a[0][1]`, `x_[1]`, `f()[1]`. A prose word may carry one: `until nine[1]`, and so may an
    address: `https://x.example/a_b[1]`.
    """
    if before[-1:] in _CERTAIN_BEFORE:  # "" too
        return True
    head = _SUBSCRIPTS.sub("", before[-HELD_CHARS:]) if before[-1] in "[]" else before[-HELD_CHARS:]
    if not head:
        return True
    if head[-1] in "_^{" or head.endswith("()"):
        return False
    called = _CALL.search(head) if head[-1] == ")" else None
    return not _reads_as_code(head[: called.start()] if called else head)


def reads_as_other(before: str, content: str, after: str) -> bool:
    """Whether a bracket is no citation by what stands around it: an array, an interval, a pattern, the year of a law report, an address.

    `after` are the (at most) `REPORT_CHARS` characters behind it, as far as the line goes.
    """
    before = before[-HELD_CHARS:]
    last = before.rstrip(" \t")[-1:]
    if (last in ("=", ":") and _ASSIGNED.search(before)) or (last == "$" and after.startswith("$")):
        return True
    if content.isdecimal() and len(content) != 4:  # most markers
        return after[:1] in _ADDRESS_GOES_ON and ADDRESS.search(before) is not None
    if _TWO.fullmatch(content) and _INTERVAL.search(before):
        return True
    if _CLASS.fullmatch(content) and (content.strip().startswith("0") or after[:1] in ("+", "{") or _PATTERN.search(before)):
        return True
    if _YEAR.fullmatch(content):
        return _REPORT.match(after) is not None
    return after[:1] in _ADDRESS_GOES_ON and ADDRESS.search(before) is not None


def may_be_report(content: str, after: str) -> bool:
    """Whether more than `after` must be known to tell `[2019] UKSC 4` from a citation."""
    return (
        len(after) < REPORT_CHARS
        and "\n" not in after
        and _YEAR.fullmatch(content) is not None
        and _REPORT_BEGINS.fullmatch(after) is not None
    )


def is_year(numbers: tuple[int, ...]) -> bool:
    """Whether a link text is a year rather than a number of a source."""
    return len(numbers) == 1 and 1600 <= numbers[0] < 2100


def is_raised(before: str) -> bool:
    """Whether raised figures straight after `before` may be a citation rather than a power: not in `m²`, `x²`, `10³`, `(a+b)²`."""
    head = before[-HELD_CHARS:]
    if not head or head[-1] in _MARKS_BEFORE:
        return bool(head) and not _POWER.search(head)
    word = _LETTERS.search(head)
    if not word or (word[0].isupper() and len(word[0]) < 4):
        return False
    return word[0].lower() not in _RAISED_UNITS and not head[: word.start()][-1:].isdecimal()


def is_raisable(before: str) -> bool:
    """Whether `<sup>1</sup>` straight after `before` may be a citation rather than a power: not in `10<sup>6</sup>`, `km<sup>2</sup>`."""
    head = before[-HELD_CHARS:]
    if not head:
        return True
    return not (head[-1].isdecimal() or head[-1] in "_^{" or _reads_as_code(head) or last_word(head).lower() in _UNITS)


def last_word(head: str) -> str:
    """The word at the end of `head` without the underscores that it begins with, "_" where it is nothing else; empty where none is."""
    backwards = _WORD_BEGINS(head[::-1])  # a search for an end goes on from every letter before it
    return (backwards[0][::-1].lstrip("_") or "_") if backwards else ""


def _reads_as_code(head: str) -> bool:
    word = last_word(head)
    if not word or not word.isascii():
        return False
    if word.isdecimal() or word.lower() in _PROSE or ADDRESS.search(head) or _NAMED_LETTER(head[-5:]):
        return False  # `2024[1]`, `120 mmHg[1]`, `https://x.example/a_b[1]`, `hepatitis B[1]`
    if word in _CODE_NAMES:
        return not _DETERMINED.search(head)  # `the data[1]` is prose
    before = head[: -len(word)]
    dotted = len(before) > 1 and before[-1] == "." and (before[-2].isalnum() or before[-2] in ")]")
    return bool(_IDENTIFIER.match(word)) or (dotted and word.lower() not in _AFTER_DOT)
