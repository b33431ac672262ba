"""Questions that a chunk answers, made by templates: from its headings, from what it defines, from the phrases that tell it apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxasm.data.enrich.phrases import spoken
from ctxasm.data.enrich.texts import MOST_QUESTIONS
from ctxasm.data.enrich.whole import Part
from ctxasm.text.language import STOP_WORDS, Language
from ctxasm.text.sentences import sentence_spans

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
