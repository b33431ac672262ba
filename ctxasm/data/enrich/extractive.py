"""The headings of a plain text: which stand over a place, and which begin inside a stretch.

A heading is told by its own form (Markdown, wiki, a number before it) or by being a short line alone that ends in no full stop.
In program text the lines that open what a place lies in take their part: `impl Executor for DiffExecutor {`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import NamedTuple

from ctxasm.data.enrich.texts import LEAST_TOKENS, MOST_QUESTIONS, MOST_TOKENS, Enrichment
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Document
from ctxasm.text.chunk_facts import overlap_at
from ctxasm.text.language import STOP_WORDS, Language, language_of
from ctxasm.text.overlap import NOTHING_SHARED, left_behind, touching
from ctxasm.text.sentences import sentence_spans
from ctxasm.text.terms import stem, terms_of

LONGEST = 120
"""Characters of a heading."""
READ = 20_000
"""Characters at the head of a text that tell whether it is program text; and those before a place in which its opening lines are."""
LOOKED_BACK = 500
"""Headings before a place that are looked at for those in force."""
ALONE = 9
"""The level of a heading that nothing but its shortness tells. Numbered, Markdown and wiki headings have levels 1 to 6."""
_MOST_WORDS = 14
_LINE = re.compile(r"[^\n]+")
_MARKDOWN = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_WIKI = re.compile(r"((?:=[ ]?){1,6})[ \t]*([^=\n]+?)[ \t]*(?:=[ ]?){1,6}$")
_CHAPTER = re.compile(
    r"(?:hoofdstuk|bijlage|deel|chapter|appendix|part|section|paragraaf)[ \t]+[\dA-Z]{1,4}\b[.:]?[ \t]*.*$", re.IGNORECASE
)
_MARKS = "{};,()"
"""What a line of program text ends in."""
_BEGINS = re.compile(r"\s*(?:[*#@}\])]|//|/\*|import\b|use\b|from\b|include\b|package\b|return\b)")
_NUMBERED = re.compile(r"((?:\d{1,3}|[A-Z])(?:\.\d{1,3}){1,5}\.?|\d{1,2}\.)[ \t]+(\S.*)$")
_CODE = re.compile(r"[<>={}|\\]|::|//|\b\w+_\w|\w\(\)")
_OPENS = re.compile(
    r"(?:[\w\])>'\"]|\)[^.;]*)[ \t]*[{:(]$|^\s*(?:impl|class|def|fn|pub|func|function|struct|enum|trait|interface|module|namespace)\b"
)


class Heading(NamedTuple):
    """`start` is its first character in the text; `level` 1 is the highest."""

    start: int
    level: int
    text: str


def is_program(text: str) -> bool:
    """Whether most lines of `text` look like program text."""
    lines = [line.rstrip() for line in text[:READ].split("\n") if line.strip()]
    return sum(line[-1] in _MARKS or _BEGINS.match(line) is not None for line in lines) > 0.5 * len(lines)


def headings_of(text: str) -> list[Heading]:
    """The headings of `text`, ascending; program text has none. Takes time linear in its length."""
    found: list[Heading] = []
    if is_program(text):
        return found
    lines = [(m.start(), m[0].rstrip()) for m in _LINE.finditer(text) if not m[0].isspace()]
    for place, (start, line) in enumerate(lines):
        if len(line) > LONGEST + 10:
            continue
        before = lines[place - 1] if place else None
        after = lines[place + 1][0] if place + 1 < len(lines) else len(text)
        stands_alone = before is None or text.count("\n", before[0] + len(before[1]), start) > 1
        gap_after = text.count("\n", start + len(line), after)
        if (heading := _told(start, line.strip())) or (stands_alone and gap_after and (heading := _short(start, line))):
            found.append(heading)
    return found


def _told(start: int, line: str) -> Heading | None:
    """A heading by its own form."""
    if match := _MARKDOWN.match(line) or _WIKI.match(line):
        return Heading(start, min(6, len(match[1].replace(" ", ""))), match[2])
    if _CHAPTER.match(line) and len(line.split()) <= _MOST_WORDS and line[-1] not in ".,;":
        return Heading(start, 1, line)
    if (match := _NUMBERED.match(line)) and len(line.split()) <= 2 * _MOST_WORDS and line[-1] not in ".,;:|":
        depth = len(match[1].rstrip(".").split("."))
        if depth > 1 or line[-1] == "?" or len(line.split()) <= _MOST_WORDS:
            return Heading(start, min(6, depth), line)
    return None


def _short(start: int, line: str) -> Heading | None:
    """A short line alone."""
    words = line.split()
    if not (line[0].isupper() or line[0].isdigit()) or len(words) > _MOST_WORDS or len(line) > LONGEST or line[-1] in ".,;:!…{}()[]=|>":
        return None
    letters = sum(char.isalpha() or char.isspace() for char in line)
    return Heading(start, ALONE, line) if letters > 0.7 * len(line) and not _CODE.search(line) else None


def path_at(headings: Sequence[Heading], at: int) -> tuple[str, ...]:
    """The headings in force at character `at`, the highest first: each is ended by the next one of its level or above."""
    path: list[str] = []
    level, last = ALONE + 1, bisect_left(headings, (at,))
    for heading in reversed(headings[max(0, last - LOOKED_BACK) : last]):
        if heading.level < level:
            path.append(heading.text)
            level = heading.level
    return tuple(reversed(path))


def section_of(headings: Sequence[Heading], at: int, end: int) -> tuple[int, int]:
    """From the last heading before character `at` to the next one after it; `end` is that of the text."""
    place = bisect_left(headings, (at,))
    return headings[place - 1].start if place else 0, headings[place].start if place < len(headings) else end


def headings_in(headings: Sequence[Heading], start: int, end: int) -> Sequence[Heading]:
    """The headings that begin at a character from `start` up to `end`."""
    return headings[bisect_left(headings, (start,)) : bisect_left(headings, (end,))]


def enclosing(text: str, at: int, most: int = 2) -> tuple[str, ...]:
    """The lines of program text that open what character `at` lies in, outermost first; nothing where it is not indented."""
    line = next((m[0] for m in _LINE.finditer(text, at, at + 2000) if not m[0].isspace()), "")
    indent = _indent(line)
    opening: list[str] = []
    if indent < 2:
        return ()
    for before in reversed(text[max(0, at - READ) : at].split("\n")):
        if before.strip() and _indent(before) < indent:
            indent = _indent(before)
            if not before.lstrip()[0].isalpha():  # the end of an opening that takes several lines: its first one stands above
                indent += 1
            elif _OPENS.search(before.rstrip()[:200]):
                opening.append(before.strip().rstrip("{:(").strip()[:LONGEST])
            if not indent:
                break
    return tuple(reversed(opening))[:most]


def _indent(line: str) -> int:
    plain = line.expandtabs(4)
    return len(plain) - len(plain.lstrip())


_RUN = re.compile(r"[^\W_](?:[\w'’@+-]|[./:](?=\w))*")
_CAMEL = re.compile(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{2,}(?![^\W\d_A-Z])")
MOST_WORDS = 3
"""Words of a phrase."""


def key_phrases(texts: Sequence[str], most: int = 6) -> list[list[str]]:
    """For each text of one document at most `most` phrases, the most telling first; what all texts hold tells nothing.

    A phrase is a run of words with content inside a clause (as RAKE takes them: Rose, Engel, Cramer and Cowley 2010), rated by
    tf-idf over the texts. Takes time linear in the texts.
    """
    found = [_phrases(text) for text in texts]
    stems = [Counter(stem(word.lower()) for phrase in own for word in phrase) for own in found]
    holding = Counter(word for own in stems for word in own)
    worth = {word: math.log(1 + len(texts) / (held + 0.5)) for word, held in holding.items()}
    return [_best(own, counts, worth, most) for own, counts in zip(found, stems, strict=True)]


def _phrases(text: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    run: list[str] = []
    last = 0
    for match in _RUN.finditer(text):
        word = match[0]
        joined = text[last : match.start()] in (" ", "\n")
        last = match.end()
        is_content = word.lower() not in STOP_WORDS and len(word) > 2 and not word.isdigit()
        if run and not (joined and is_content and len(run) < MOST_WORDS):
            found.append(tuple(run))
            run = []
        if is_content:
            run.append(word)
    return [*found, tuple(run)] if run else found


def _best(phrases: Sequence[tuple[str, ...]], counts: Counter[str], worth: dict[str, float], most: int) -> list[str]:
    """The best of one text; a phrase whose words were said does not come again."""
    rated: dict[tuple[str, ...], tuple[float, int]] = {}
    for place, phrase in enumerate(phrases):
        words = [stem(word.lower()) for word in phrase]
        score = sum(math.sqrt(counts[word]) * worth[word] for word in words) / math.sqrt(len(words))
        rated.setdefault(phrase, (score, -place))
    said: set[str] = set()
    chosen: list[str] = []
    for phrase in sorted(rated, key=lambda one: rated[one], reverse=True):
        own = {stem(word.lower()) for word in phrase}
        if not own & said:
            chosen.append(" ".join(phrase))
            said |= own
        if len(chosen) == most:
            break
    return chosen


def spoken(name: str) -> str:
    """The words in the name of a thing in program text: `runTarget` and `run_target` are "run target"; else nothing."""
    parts = [part for piece in name.split("_") for part in _CAMEL.findall(piece)]
    return " ".join(part.lower() for part in parts) if len(parts) > 1 else ""


LEAST_WORDS, SENTENCE_WORDS = 6, 40
"""A sentence outside these bounds is no summary."""
LEAD = 1.0
"""What the first sentence gets on top, as a share of its rating; the bonus falls to 1/e after LEAD_REACH sentences."""
LEAD_REACH = 5
LEAST_SHARE = 0.25
"""A sentence rated below this share of the best is not taken: legal boilerplate beside prose."""
SENTENCES_READ = 400
"""Sentences of a long text that are rated: the first ones of each of that many stretches of equal length."""
_DEPENDENT = re.compile(
    r"(?:(?:This|That|These|Those|It|He|She|They|But|And|So|However|Also|Thus|Such|For example|"
    r"Dit|Dat|Deze|Die|Het is|Hij|Zij|Ze|Maar|En|Dus|Ook|Daarom|Zo|Echter|Bijvoorbeeld|Hierdoor|Hiervoor)\b)"
)
_LEAD = re.compile(r"(?:[-*+•#>/!\s]|\[\d+\]|\d{1,2}[.)]\s)*")
_LEGAL = re.compile(r"\b(?:licen[sc]e|licensed|warrant|copyright|all rights reserved|distributed under)", re.IGNORECASE)
_CODE_MARKS = re.compile(r"[{}=|;]|::|//|\w\(\)|\w_\w")
_PROSE = re.compile(r"[^\W\d_]")


class Rated(NamedTuple):
    """A sentence as characters `start` to `end` of a text, and its rating."""

    start: int
    end: int
    score: float
    terms: frozenset[str]


def rated_sentences(text: str) -> list[Rated]:
    """The sentences of `text` that could stand alone, in their order. Takes time linear in the length of `text`."""
    spans = _thinned(sentence_spans(text))
    words = [terms_of(text[start:end]) for start, end in spans]
    counts = Counter(word for own in words for word in own)
    found = []
    for place, ((start, end), own) in enumerate(zip(spans, words, strict=True)):
        start += len(lead[0]) if (lead := _LEAD.match(text[start:end])) else 0
        sentence = text[start:end]
        if not sentence or not _is_prose(sentence):
            continue
        terms = frozenset(own)
        about = sum(math.sqrt(counts[word]) for word in terms if counts[word] > 1)
        score = about / math.sqrt(len(own) + 8) * (1 + LEAD * math.exp(-place / LEAD_REACH))
        fitness = (0.6 if _DEPENDENT.match(sentence) else 1.0) * (0.1 if _LEGAL.search(sentence) else 1.0)
        found.append(Rated(start, end, score * fitness, terms))
    return found


def central_sentences(text: str, most: int = 2) -> list[str]:
    """At most `most` sentences of `text`, each on one line, in their order; what one has said counts less for the next."""
    rated, chosen = rated_sentences(text), list[Rated]()
    least = LEAST_SHARE * max((one.score for one in rated), default=0.0)
    left = [one for one in rated if one.score >= least]
    while left and len(chosen) < most:
        said = frozenset[str]().union(*(one.terms for one in chosen))
        best = max(left, key=lambda one: (one.score * (1 - 0.8 * len(one.terms & said) / (len(one.terms) or 1)), -one.start))
        chosen.append(best)
        left = [one for one in left if one is not best and one.terms != best.terms]
    return [" ".join(text[one.start : one.end].split()) for one in sorted(chosen)]


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    if not LEAST_WORDS <= len(words) <= SENTENCE_WORDS or sentence[-1] not in '.!…)"”’':
        return False
    return sum(1 for word in words if _PROSE.match(word.lstrip("\"'“„(*_`"))) >= 0.75 * len(words) and not _CODE_MARKS.search(sentence)


def _thinned(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(spans) <= SENTENCES_READ:
        return list(spans)
    return [spans[place * len(spans) // SENTENCES_READ] for place in range(SENTENCES_READ)]


LONGEST_QUESTION = 160
LONGEST_LINE = 300
"""Characters of a line that is looked at for what it defines."""
_CODE_ENDS = "{};:),"
_NUMBER = re.compile(
    r"^(?:(?:hoofdstuk|bijlage|chapter|appendix|section|paragraaf)[ \t]+)?(?:[\dA-Z]{1,3}(?:\.\d+)*[.:)]?|[A-Z]\.\d[\d.]*)[ \t]+(?=\S)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?:how|why|what|when|where|who|which|can|hoe|waarom|wat|wanneer|waar|wie|welke?|kan|mag|moet)\b", re.IGNORECASE)
_DEFINES = re.compile(
    r"(?P<it>(?:(?:The|A|An|De|Het|Een) )?[A-ZÀ-Ý][^\s,;:()]*(?: [^\s,;:()]+){0,4}?) (?P<verb>is|are|was|were|zijn|waren)"
    r" (?!not\b|niet\b|also\b|ook\b|\w+ed\b)[^.?!]{15,}"
)
_ARTICLE = re.compile(r"(?:The|A|An|De|Het|Een) ")
_JOINS = frozenset(("of", "van", "de", "het", "the", "in", "for", "voor", "en", "and"))
"""Small words that may stand in a name."""
_DEFINITION = re.compile(r"\b(?:fn|def|class|struct|enum|trait|interface|func|function|module|type)[ \t]+([A-Za-z_]\w{2,})")
_METHOD = re.compile(r"\s[*&]?([A-Za-z_]\w{2,})[ \t]*\Z")
"""The name before the first bracket of a line that opens a body."""
_CONTROL = frozenset(("if", "for", "while", "switch", "match", "return", "else", "catch"))
_ABOUT: dict[Language, tuple[str, str, str, str]] = {
    "nl": ("Wat staat er over {0}?", "Wat staat er over {0} en {1}?", "Wat doet {0}?", "Wat {verb} {it}?"),
    "en": ("What does it say about {0}?", "What does it say about {0} and {1}?", "What does {0} do?", "What {verb} {it}?"),
}
"""About one thing, about two, about a thing of program text, and a definition."""


def questions_of(part: Part, phrases: Sequence[str], language: Language) -> tuple[str, ...]:
    """One or two questions; none where the chunk holds no word to ask about. `phrases` are its key phrases, the best first."""
    chosen: list[str] = []
    for question in _candidates(part, phrases, language):
        if len(question) <= LONGEST_QUESTION and question.lower() not in (one.lower() for one in chosen):
            chosen.append(question)
        if len(chosen) == MOST_QUESTIONS:
            break
    return tuple(chosen)


def _candidates(part: Part, phrases: Sequence[str], language: Language) -> Iterator[str]:
    about, about_two, does, is_what = _ABOUT[language]
    names = _defined(part.chunk.text)
    if names:
        yield does.format(" / ".join(names[:3]))
        if len(names) > 3:
            yield does.format(" / ".join(names[3:6]))
    headings = [_NUMBER.sub("", heading) for heading in (*part.inside, *part.path[-1:])]
    for heading in headings:
        if heading.endswith("?"):
            yield heading
        elif _ASKS.match(heading) and len(heading.split()) > 2:
            yield heading + "?"
    defined = _definition(part.chunk.text)
    if defined:
        yield is_what.format(verb=defined[1], it=defined[0])
    fresh = [phrase for phrase in phrases if not headings or phrase.lower() not in headings[0].lower()]
    if headings and fresh:
        yield about_two.format(headings[0].rstrip("?"), fresh.pop(0))
    if len(fresh) > 1:
        yield about_two.format(fresh[0], fresh[1])
    elif things := [*fresh, *headings]:
        yield about.format(things[0].rstrip("?"))


def _defined(text: str) -> list[str]:
    """The things that program text defines, with their names as words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if sum(line[-1] in _CODE_ENDS for line in lines) <= 0.3 * len(lines):
        return []
    names: dict[str, None] = {}
    for line in (line for line in lines if len(line) <= LONGEST_LINE):
        before, bracket, _ = line.partition("(")
        opens = _METHOD.search(before) if bracket and line[-1] == "{" else None
        names |= dict.fromkeys([*_DEFINITION.findall(line), *(opens.groups() if opens else ())])
    found = [name for name in names if name not in _CONTROL and name.lower() not in STOP_WORDS]
    return [f"{name} ({words})" if (words := spoken(name)) else name for name in found]


def _definition(text: str) -> tuple[str, str] | None:
    """What the first defining sentence is about, and its verb."""
    for start, end in sentence_spans(text[:4000]):
        if match := _DEFINES.match(" ".join(text[start:end].split())):
            name, article = match["it"], _ARTICLE.match(match["it"])
            first, *rest = name[article.end() :].split() if article else name.split()
            if first.lower() not in STOP_WORDS and not any(word in STOP_WORDS - _JOINS for word in rest) and rest[-1:] != ["en"]:
                return (name[0].lower() + name[1:] if article else name), match["verb"]
    return None


LONGEST_NAME = 120
_READ = 6000
"""Characters that tell the language of a document."""


class Part(NamedTuple):
    """A chunk in its document. `place` counts from 1. `path` are the headings over it, the highest first, `inside` those that begin in it.

    `opens` are the lines of program text that open what it lies in. Its text begins at character `start` of the document's, the
    section that it begins in reaches from `section_start` to `section_end`, at least as far as the chunk.
    """

    chunk: FetchedChunk
    place: int
    start: int
    section_start: int
    section_end: int
    path: tuple[str, ...]
    inside: tuple[str, ...]
    opens: tuple[str, ...]


class Whole(NamedTuple):
    """A document with all of its chunks, ascending by index. `name` is its title, else the end of its source, else its id."""

    document: Document
    name: str
    language: Language
    text: str
    parts: tuple[Part, ...]


def whole_document(document: Document, chunks: Sequence[FetchedChunk]) -> Whole:
    """Put `chunks`, all of one document and ascending by index, together. Takes time linear in their text."""
    text, starts = _joined(chunks)
    headings = headings_of(text)
    parts = []
    for place, (chunk, start) in enumerate(zip(chunks, starts, strict=True), start=1):
        told = one_line(chunk.section or "")[:LONGEST_NAME]
        path = (told,) if told else path_at(headings, start)
        # A heading at the very end of a chunk is the next one's.
        end = start + len(chunk.text.rstrip())
        inside = tuple(heading.text for heading in headings_in(headings, start, end) if heading.start + len(heading.text) < end)
        section = section_of(headings, start, len(text))
        parts.append(Part(chunk, place, start, section[0], max(section[1], end), path, inside, enclosing(text, start)))
    name = name_of(document)
    return Whole(document, name, language_of(f"{name} {text[:_READ]}"), text, tuple(parts))


def name_of(document: Document) -> str:
    """What a reader would call a document, on one line."""
    source = (document.source or "").rstrip("/").replace("\\", "/").rpartition("/")[2]
    told = next((name for name in (document.title or "", source) if is_visible(name)), document.document_id)
    return one_line(told)[:LONGEST_NAME].strip()


def _joined(chunks: Sequence[FetchedChunk]) -> tuple[str, list[int]]:
    """The text, and the character at which each chunk begins in it."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    standing: FetchedChunk | None = None
    for last, chunk in zip([None, *chunks], chunks, strict=False):
        overlap, behind = NOTHING_SHARED, 0
        if last is not None and chunk.chunk_index != last.chunk_index + 1:
            pieces.append("\n\n")
            length += 2
        elif standing is not None:
            overlap = overlap_at(standing, chunk)
            behind = left_behind(standing, chunk, overlap)
        shared = 0 if overlap.kind == "coincidence" else overlap.chars
        # As where a passage is shown: the last word of a chunk and the first of the next are one only where the offsets say so.
        if standing and not shared and not touching(standing, chunk) and not (pieces[-1][-1:].isspace() or chunk.text[:1].isspace()):
            pieces.append("\n")
            length += 1
        starts.append(max(0, length - shared - behind))
        pieces.append(chunk.text[shared:])
        length += len(pieces[-1])
        standing = standing if behind else chunk
    return "".join(pieces), starts


SENTENCES, OF_SECTION, BEFORE = 6, 3, 2
"""Central sentences of the document, of a section, and sentences before a chunk, that a context may choose from."""
READ_OF_SECTION = 100
"""Sentences before and behind the beginning of a chunk that are compared: a text without headings is one section."""
_PLACE: dict[Language, str] = {"nl": "deel {0} van {1}", "en": "part {0} of {1}"}


def summary_of(whole: Whole) -> str:
    """One or two central sentences of the document; empty where it has no sentence that could stand alone."""
    return " ".join(central_sentences(whole.text, 2))


def enrich_document(whole: Whole, counter: TokenCounter) -> list[Enrichment]:
    """Context and questions of each chunk of a document, in their order. Contexts have at most 100 tokens, and at least 50 where
    the document has the words for it."""
    sayings = _Sayings(whole)
    phrases = key_phrases([part.chunk.text for part in whole.parts])
    return [
        Enrichment(_context(whole, part, sayings, counter), questions_of(part, own, whole.language))
        for part, own in zip(whole.parts, phrases, strict=True)
    ]


class _Sayings:
    """The sentences of a document that can situate its chunks."""

    def __init__(self, whole: Whole) -> None:
        self._text = whole.text
        self._rated = rated_sentences(whole.text)
        self._starts = [sentence.start for sentence in self._rated]
        summary = one_line(whole.document.summary or "")
        own = [summary[start:end] for start, end in sentence_spans(summary)]
        self._whole = [*own, *central_sentences(whole.text, SENTENCES)]

    def for_part(self, part: Part) -> Iterator[str]:
        """What could be said of a chunk, the best first: what it does not hold itself before what it does."""
        flat = " ".join(part.chunk.text.split())
        sayings = [*self._of_section(part), *self._before(part), *self._whole]
        yield from (saying for saying in sayings if saying not in flat)
        yield from (saying for saying in self._whole if saying in flat)

    def _of_section(self, part: Part) -> Iterator[str]:
        low, high = bisect_left(self._starts, part.section_start), bisect_left(self._starts, part.section_end)
        end = part.start + len(part.chunk.text)
        place = bisect_left(self._starts, part.start)
        near = self._rated[max(low, place - READ_OF_SECTION) : min(high, place + READ_OF_SECTION)]
        around = [sentence for sentence in near if not part.start <= sentence.start < end]
        yield from (self._words(sentence) for sentence in nlargest(OF_SECTION, around, key=lambda one: (one.score, -one.start)))

    def _before(self, part: Part) -> Iterator[str]:
        place = bisect_left(self._starts, part.start)
        yield from (self._words(sentence) for sentence in reversed(self._rated[max(0, place - BEFORE) : place]))

    def _words(self, sentence: Rated) -> str:
        return " ".join(self._text[sentence.start : sentence.end].split())


def _context(whole: Whole, part: Part, sayings: _Sayings, counter: TokenCounter) -> str:
    names = dict.fromkeys(name for name in (whole.name, *part.path, *part.opens) if name)
    place = _PLACE[whole.language].format(part.place, len(whole.parts))
    context = _shortened(f"{' › '.join(names)} ({place}).", MOST_TOKENS, counter)
    said: set[str] = set()
    for saying in sayings.for_part(part):
        size = counter.count(context)
        if size >= LEAST_TOKENS:
            break
        longer = f"{context} {saying}"
        if saying not in said and (counter.count(longer) <= MOST_TOKENS):
            context = _shortened(longer, MOST_TOKENS, counter)
            said.add(saying)
    return context


def _shortened(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """`text` up to a word's end within `max_tokens` tokens, with an ellipsis where something is left out."""
    if counter.count(text) <= max_tokens:
        return text
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if counter.count(" ".join(words[:middle]) + " …") <= max_tokens else (low, middle)
    kept = " ".join(words[:low]) + " …" if low else ""
    return kept if kept else text[: next((at for at in range(len(text) - 1, 0, -1) if counter.count(text[:at]) <= max_tokens), 0)]
