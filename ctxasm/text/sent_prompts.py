"""What a prompt that was sent holds: which of known passages, how much of each, and under which number it could be cited.

Pure. Texts are compared but for white space and Unicode form, and as a program writes them inside a literal (`\\n`, `\\"`, `\\u00e9`):
prompts are often made of printed objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ctxasm.model.characters import is_visible, normalised, storable
from ctxasm.text.sentences import sentence_spans

LEAST_PART = 24
"""Characters of a sentence, or of a passage's head, that are taken for the passage: fewer stand in many texts."""
LONGEST_HEAD = 300
"""Characters before a passage among which its number is looked for."""
LONGEST_TAG = 40
"""Characters of a tag that closes a passage."""
SAME_BLOCK = 20
"""Characters between two passages up to which they are of one block."""
NAMES = r"(?:source|document|doc|passage|chunk|context|excerpt|fragment|bron|quelle|dokument|result)"
HEADS = (
    re.compile(rf"[\[【]\s{{0,3}}(?:{NAMES}\s{{0,3}}#?\s{{0,3}})?(\d{{1,3}})\s{{0,3}}[\]】]", re.I),
    re.compile(rf"\b{NAMES}\s{{0,3}}#?\s{{0,3}}(\d{{1,3}})\b(?!\s{{0,3}}[.,]\d)", re.I),
    re.compile(r"<[a-z_]+\s[^<>]{0,80}?\b(?:id|index|n|nr|number)\s{0,3}=\s{0,3}[\"']?(\d{1,3})\b", re.I),
    re.compile(r"(?<!\w)(?:id|index|nr|no|number)\.?\s?[:=#]\s{0,3}(\d{1,3})\b", re.I),
    re.compile(r"[\"'](?:n|id|index|nr|number)[\"']\s{0,3}:\s{0,3}[\"']?(\d{1,3})\b", re.I),
    re.compile(r"(?<!\S)(\d{1,3})[.):]\s{0,3}\Z"),
)
"""How prompts number their passages, the surest way first."""
LINES = (
    re.compile(rf"^[ \t]{{0,20}}[\[【]\s{{0,3}}(?:{NAMES}\s{{0,3}}#?\s{{0,3}})?(\d{{1,3}})\s{{0,3}}[\]】][ \t:.]{{0,9}}", re.I | re.M),
    re.compile(
        rf"^[ \t]{{0,20}}[#*]{{0,6}}[ \t]{{0,20}}{NAMES}\s{{0,3}}#?\s{{0,3}}(\d{{1,3}})\b[ \t]{{0,20}}[*]{{0,3}}[:.)\-–]?[ \t]{{0,20}}",
        re.I | re.M,
    ),
    re.compile(
        r"^[ \t]{0,20}<[a-z_]+\s[^<>\n]{0,200}?\b(?:id|index|n|nr|number)\s{0,3}=\s{0,3}[\"']?(\d{1,3})\b[^<>\n]{0,200}>", re.I | re.M
    ),
    re.compile(
        r"^[ \t]{0,20}(?:(?:source|document|doc|chunk|passage)\s)?(?:id|index|nr|no|number)\.?\s?[:=#]\s{0,3}(\d{1,3})[ \t]*$", re.I | re.M
    ),
    re.compile(r"^[ \t]{0,20}(\d{1,3})[.)][ \t]+", re.M),
)
"""The same at the start of a line, where a prompt alone says what its passages are."""
OPENS = re.compile(
    r"^[ \t#*]*(?:context|sources?|documents?|passages?|excerpts?|bronnen|quellen|kontext)[ \t*]*:"
    r"|^[ \t]*context information is below[.:]?\s*-{3,}|<(?:context|documents|sources)>",
    re.I | re.M,
)
TITLES = r"(?:title|source|name|file|file_?name|document|doc|url|titel|bron|quelle|datei|bestand|titre)"
TITLE = re.compile(
    rf"\b{TITLES}\s?=\s?[\"']([^\"'<>\n]{{1,200}})[\"']|<{TITLES}>\s*([^<>\n]{{1,200}}?)\s*</{TITLES}>"
    rf"|^[ \t├└│─*(-]{{0,12}}{TITLES}[ \t*]{{0,3}}:[ \t*]{{0,3}}([^\n]{{1,200}}?)[ \t*)]{{0,3}}(?::[ \t]|$)"
    r"|\A[(]?([^\s<>:()][^\n<>:()]{0,120}\.\w{2,4})[):]?[ \t]*\n",
    re.I | re.M,
)
"""How a passage of a prompt is named: in its tag, in a tag or line of its own, or by a line that is the name of a file."""
CONTENT = re.compile(
    r"^[ \t├└│─*-]{0,12}(?:content|text|passage|inhalt|tekst|inhoud|contenu)[ \t*]{0,3}:[ \t*]{0,3}"
    r"|<(?:document_content|page_content|content|contents|text|passage)>",
    re.I | re.M,
)
"""Where its text begins behind its name."""
MOST_HEAD = 500
"""Characters among which a name and the begin of the text are looked for."""
ENDS = re.compile(
    r"^[ \t#*]*(?:(?:user )?(?:question|query)|vraag|frage|given the context|answer|antwoord|antwort|helpful answer)[ \t*]*(?::|\b.*:$)"
    r"|</(?:context|documents|sources)>|^-{3,}[ \t]*$|^#{2,}",
    re.I | re.M,
)
TAGGED = re.compile(r"<((?:user_?)?(?:query|question|input)|frage|vraag)>\s*(.{1,2000}?)\s*</\1>", re.I | re.S)
"""A question in a tag of its own."""
ASKS = re.compile(r"^[ \t#*]*(?:(?:user )?(?:question|query)|vraag|frage)[ \t*]*:[ \t*]*(.*(?:\n(?!\s*\n|[ \t#*]*\w+:).*)*)", re.I | re.M)
ANSWERS = re.compile(r"^[ \t#*]{0,20}(?:answer|response|assistant|ai|model|antwoord|antwort)[ \t*]{0,9}:[ \t*]{0,9}", re.I | re.M)
_ESCAPES = {"n": " ", "r": " ", "t": " ", '"': '"', "'": "'", "/": "/", "\\": "\\"}
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'/\\]))")


class Said(NamedTuple):
    """A prompt and the answer that it got."""

    prompt: str
    answer: str


class OwnPassage(NamedTuple):
    """A passage as a prompt shows it: its number, its text, and its title where the prompt says one."""

    number: int
    text: str
    title: str | None = None


class Sent(NamedTuple):
    """Passage number `at` of those that were looked for. `text` is as much of it as stands in the prompt, `share` of its characters;
    `number` is what a citation of it would say."""

    at: int
    number: int
    share: float
    text: str


class _Stretch(NamedTuple):
    start: int
    end: int
    at: int
    share: float
    text: str


def sent_in(prompt: str, passages: Sequence[str]) -> tuple[Sent, ...]:
    """Which of the passages stand in a prompt, in its order. Numbers are those that the prompt says, else 1, 2, 3 in that order."""
    plain = _plain(prompt)
    found = [stretch for at, text in enumerate(passages) if (stretch := _stretch(plain, at, text)) is not None]
    found.sort(key=lambda stretch: (stretch.start, -stretch.end, stretch.at))
    return tuple(Sent(each.at, number, each.share, each.text) for each, number in zip(found, _numbers(plain, found), strict=True))


def holds(prompt: str, text: str) -> bool:
    """Whether a prompt holds all of a text."""
    wanted = _plain(text)
    return bool(wanted) and wanted in _plain(prompt)


def own_passages(prompt: str) -> tuple[OwnPassage, ...]:
    """The passages of a prompt of which no retrieval is known: what it numbers at the start of lines, else the
    paragraphs between a line such as `Context:` and the question. Empty for a prompt that shows neither."""
    for place, pattern in enumerate(LINES):
        region = _context(prompt) if pattern is LINES[-1] else (0, len(prompt))
        if region is None:
            continue
        heads = _rising(pattern.finditer(prompt, *region))
        if len(heads) > 1 or (heads and place in (0, 2) and (_context(prompt) is not None or ENDS.search(prompt, heads[-1].end()))):
            ends = [*(head.start() for head in heads[1:]), _end(prompt, heads[-1].end())]
            blocks = [_block(head, prompt[head.end() : end]) for head, end in zip(heads, ends, strict=True)]
            *others, last = blocks
            if others and last.title and not any("\n\n" in other.text for other in others):
                blocks[-1] = last._replace(text=last.text.partition("\n\n")[0])  # what follows the last passage is none of it
            return tuple(block for block in blocks if is_visible(block.text))
    region = _context(prompt)
    if region is None:
        return ()
    paragraphs = re.split(r"\n\s*\n", prompt[region[0] : region[1]])
    texts = [text for part in paragraphs if is_visible(text := _trimmed(part))]
    return tuple(OwnPassage(number, text) for number, text in enumerate(texts, 1))


def _block(head: re.Match[str], body: str) -> OwnPassage:
    """A passage behind its number: its title where a tag or a line names it, and its text."""
    if tag := re.match(r"\s*<([a-z_]+)\s", head[0], re.I):
        body = body.partition(f"</{tag[1]}>")[0]
    start = body[:MOST_HEAD]
    begins = CONTENT.search(start)
    told = TITLE.search(head[0]) or TITLE.search(start[: begins.start()] if begins else start.lstrip().partition("\n")[0] + "\n")
    title = next((name.strip() for name in told.groups() if name), None) if told else None
    if (begins is not None and not start[: begins.start()].strip(" \t\n├└│─*-")) or (begins is not None and told is not None):
        body = body[begins.end() :]
        closed = body.rfind("</")
        body = body[:closed] if closed >= 0 and begins[0].startswith("<") else body
    elif told is not None and told.string is not head[0] and TITLE.match(body.lstrip()):
        body = body.lstrip()[told.end() :]
    return OwnPassage(int(head[1]), _trimmed(body), title)


def asked_in(prompt: str) -> str | None:
    """The question that a prompt with its context states: after the last `Question:`, else its last paragraph with a question mark."""
    if tagged := TAGGED.findall(prompt):
        return " ".join(tagged[-1][1].split())
    if found := [text for match in ASKS.finditer(prompt) if (text := " ".join(match[1].split()))]:
        return found[-1]
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", prompt)]
    asking = [part for part in paragraphs if part.endswith("?") and len(part) < 1000]
    return asking[-1] if asking else None


def said_in(text: str) -> Said | None:
    """A plain text as a prompt that shows passages and its answer: what stands after the last line that begins with `Answer:` (or
    `Assistant:`, `Antwoord:`, …). None where there is no such line with a text after it, or no passage before it."""
    for found in reversed(list(ANSWERS.finditer(text))):
        if is_visible(answer := text[found.end() :].strip()):
            prompt = text[: found.start()].rstrip()
            return Said(prompt, answer) if own_passages(prompt) else None
    return None


def _plain(text: str) -> str:
    """A text as it is compared: without what a literal adds, one blank for white space, NFC."""
    return normalised(_ESCAPED.sub(_unescaped, text) if "\\" in text else text)


def _unescaped(found: re.Match[str]) -> str:
    if not found[1]:
        return _ESCAPES[found[2]]
    char = chr(int(found[1], 16))
    return char if storable(char) else found[0]  # half of a pair, or NUL


def _stretch(plain: str, at: int, text: str) -> _Stretch | None:
    wanted = _plain(text)
    if not wanted:
        return None
    if (start := plain.find(wanted)) >= 0:
        return _Stretch(start, start + len(wanted), at, 1.0, text)
    parts = [(place, part) for low, high in sentence_spans(text) if len(part := _plain(text[low:high])) >= LEAST_PART
             and (place := plain.find(part)) >= 0]  # fmt: skip
    head = _head(plain, wanted)
    if len(head) > sum(len(part) for _, part in parts):
        parts = [(plain.find(head), head)]
    if not parts:
        return None
    said = " ".join(part for _, part in parts)
    start, end = min(parts)[0], max(place + len(part) for place, part in parts)
    return _Stretch(start, end, at, min(1.0, len(said) / len(wanted)), said)


def _head(plain: str, wanted: str) -> str:
    """As much of the beginning of a text as stands in the prompt, up to a whole word; "" for little."""
    low, high = 0, len(wanted)
    while low < high:
        middle = (low + high + 1) // 2
        if wanted[:middle] in plain:
            low = middle
        else:
            high = middle - 1
    head = wanted[:low]
    head = head if low == len(wanted) or wanted[low] == " " else head.rpartition(" ")[0]
    return head.rstrip() if len(head) >= LEAST_PART else ""


def _numbers(plain: str, found: Sequence[_Stretch]) -> list[int]:
    by_order = list(range(1, len(found) + 1))
    before = list(accumulate((each.end for each in found), max, initial=0))
    heads = [plain[max(end, each.start - LONGEST_HEAD) : each.start] for end, each in zip(before, found, strict=False)]
    told = [[int(match[-1]) if (match := pattern.findall(head)) else None for head in heads] for pattern in HEADS]
    best = max(told, key=lambda numbers: sum(number is not None for number in numbers), default=[])
    if not best or best[0] is None:
        return by_order
    numbers: list[int] = []
    for at, number in enumerate(best):
        if number is None:
            if found[at].start - before[at] > SAME_BLOCK:
                return by_order
            number = numbers[-1]
        numbers.append(number)
    firsts = [number for at, number in enumerate(numbers) if best[at] is not None]
    return numbers if len(set(firsts)) == len(firsts) else by_order


def _rising(matches: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run of heads whose numbers rise by one from 0 or 1; the last of equals, for instructions come first."""
    best: list[re.Match[str]] = []
    run: list[re.Match[str]] = []
    for match in matches:
        if run and int(match[1]) == int(run[-1][1]) + 1:
            run.append(match)
        else:
            run = [match] if int(match[1]) in (0, 1) else []
        best = list(run) if len(run) >= max(1, len(best)) else best
    return best


def _context(prompt: str) -> tuple[int, int] | None:
    """The part of a prompt after a line such as `Context:` and before the question."""
    opened = OPENS.search(prompt)
    return (opened.end(), _end(prompt, opened.end())) if opened is not None else None


def _end(prompt: str, start: int) -> int:
    """Where the passages that begin at `start` are over."""
    ended = ENDS.search(prompt, start + 1)
    return ended.start() if ended is not None else len(prompt)


def _trimmed(text: str) -> str:
    text = text.strip()
    last = text.rfind("<") if text.endswith(">") else -1
    return (text[:last] if last >= 0 and len(text) - last <= LONGEST_TAG else text).strip().strip("-").strip()
