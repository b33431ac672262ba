"""The markers of a whole answer, with its sources at hand.

`MarkerParser` decides every marker from the characters around it, as an answer streams. Here the whole answer and its sources help:

- figures in round brackets, circled figures and the like are markers where they stand at the ends of claims and name sources;
- names of files are markers of the sources with that title;
- numbers begin at 0 where 0 is cited, all of them stay below the count of sources, and the sentences then fit their sources better;
- of `【4:1†source】` the second number counts where the first is that of a call.

A sign that is a marker by its form but names no source is `unread`: it is no part of what a claim says, and cites nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ctxasm.citations.answer_text import hide_code
from ctxasm.citations.markers import MarkerEvent, MarkerParser
from ctxasm.model.support import Source
from ctxasm.text.markers.grammar import (
    DIRECTION_MARKS,
    LOWERED,
    RAISED,
    FormName,
    Numbering,
    Reading,
    is_citable,
    is_raised,
    read_content,
    read_numbers,
    read_round,
)
from ctxasm.text.number_words import number_of

MOST_CHARS = 2000
"""A longer bracket is no marker, in characters."""
_MOST_FITTED = 400
"""How many markers at most are held against the sources to tell how they are numbered."""
_LIKELY = 0.5
_MOST_OF_STYLE = 1000
"""How many figures in one kind of bracket are looked at."""
_WINDOW = 240

_FIGURES = r"\d{1,4}(?:\s*(?:[,;，、；،؛–—-]|[,;]?\s*(?:and|en|und|et|y|e|&))\s*\d{1,4})*"
_CIRCLED = (
    {chr(0x2460 + n): n + 1 for n in range(20)}
    | {chr(0x2474 + n): n + 1 for n in range(20)}
    | {chr(0x2776 + n): n + 1 for n in range(10)}
    | {chr(0x2780 + n): n + 1 for n in range(10)}
    | {chr(0x278A + n): n + 1 for n in range(10)}
    | {chr(0x24EB + n): n + 11 for n in range(10)}
    | {chr(0x24F5 + n): n + 1 for n in range(10)}
    | {chr(0x3251 + n): n + 21 for n in range(15)}
    | {"⓪": 0, "⓿": 0, "🄋": 0, "🔟": 10}
)
_SOURCE_NAMES = (
    r"sources?|bron(?:nen)?|quellen?|src|docs?|documents?|citations?|cit(?:e[sd]?)?|refs?|references?|contexts?|kontext|passages?|chunks?|excerpts?|"
    r"fragment(?:en|s|e|os?|i)?|snippets?|results?|hits?|treffer|evidence|belege?|fundstellen?|nodes?|segments?|kb|web|search|tool|file|"
    r"(?:search|web)[_ -]results?|items?|entry|records?|notes?|footnotes?|fn|fuentes?|font[ei]|documentos?|r[ée]f[ée]rences?|"
    r"kilder?|källa|källor|lähde|źródło|"
    r"źródła|источник|документ|来源|资料|文档|文献|引用|参考|出典|資料|文書|출처|문서|id|no|nr|n"
)
_NAMED = re.compile(
    rf"(?:(?:{_SOURCE_NAMES})[\s_-]*(?:ids?|idx|index|nr|no|n°|№|num|number)?[\s:=.#_|：-]*){{1,2}}(?={_FIGURES}\s*\Z)", re.IGNORECASE
)
_EACH_NAMED = re.compile(rf"\s*[,;，、；]\s*(?=(?:{_SOURCE_NAMES})[\s_:=.#|：-]*\d)", re.IGNORECASE)
_SEE = (
    r"(?:see|zie|siehe|vgl|cf|voir|ver|(?:as )?per|according to|from|via|in|volgens|laut|gemäß|nach|uit|aus|based on)\b[.:]?\s+"
    r"(?:also\s+|ook\s+|auch\s+)?"
)
_LABEL = re.compile(rf"(?:{_SEE})?(?:(?:{_SOURCE_NAMES})\s*[:：=]\s*)?", re.IGNORECASE)
_LABELLED = re.compile(rf"(?:{_SOURCE_NAMES})\s*[:：=]\s*\S", re.IGNORECASE)
_ENDINGS = r"pdf|docx?|txt|md|rst|html?|csv|tsv|jsonl?|xlsx?|pptx?|xml|ya?ml|epub|odt|rtf|eml|log|png|jpe?g"
_FILE = re.compile(rf"[^\s:;,|]\.(?:{_ENDINGS})\b", re.IGNORECASE)
_URL = re.compile(
    r"(?:https?://|www\.)\S+\Z|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|eu|nl|de|be|uk|gov|edu|io|example)(?:/\S*)?\Z", re.IGNORECASE
)
_KEY = re.compile(r"[@^][\w.:-]+(?:\s*[;,]\s*@[\w.:-]+)*\Z")
_LOCATED = re.compile(
    r"\s*(?:#[\w=&.-]*|[,;:(–-]?\s*(?:pp?|pag|page|pages|pagina|blz|seite|s|section|sect?|ch|chapter|hoofdstuk|kapitel|abschnitt|line|lines|l|§)"
    r"\.?\s*\d[\d.,\s–-]*\)?|:\d+(?:[-:]\d+)*|\s\d+)\s*\Z",
    re.IGNORECASE,
)
_WORD_AND_NUMBER = re.compile(rf"([^\W\d_]+(?:[_ -][^\W\d_]+)?)[\s:_#.=-]*({_FIGURES})")
_SEEN = re.compile(rf"{_SEE}(?:(?:{_SOURCE_NAMES})[\s:#.]*)?({_FIGURES})", re.IGNORECASE)
_AUTHORS = re.compile(
    r"(?!(?:jan|feb|m[aä]r|maart|apr|ma[iy]|mei|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\.?,? \d)"
    r"[A-ZÀ-Þ][\w'’-]+(?:,? (?:et al\.?|(?:and|en|und|&) [A-ZÀ-Þ][\w'’-]+))?,? "
    r"(?:19|20)\d\d[a-z]?(?:[,:] ?(?:pp?\.|S\.|blz\.)? ?\d[\d–-]*)?(?:; [^\n]{1,200})?"
)
_TWO_NAMES = re.compile(r"et al|&|\b(?:and|en|und)\b")
_ID = re.compile(
    r"(?=[a-z-]*\d)(?=[\d-]*[a-z])[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=[a-z]*\d)(?=\d*[a-z])[0-9a-f]{7,40}", re.IGNORECASE
)
_PAGE = re.compile(r"(?:(?:pp?|pag|blz|s)(?:\.\s*|\s+)|(?:pages?|pagina(?:'s)?|seiten?)\s*)\d{1,4}(?:\s*[–,-]\s*\d{1,4})*", re.IGNORECASE)
_LEADING_NUMBER = re.compile(r"(\d{1,4})\s*(?:[:,|–—-]|\bp\b)\s*(?=\D)")
_BETWEEN_NAMES = re.compile(r"\s*[;,|]\s*")
_DAGGER = re.compile(r"(\d{1,4})(?::(\d{1,4}))?[\s\d,:–-]{0,20}†")
_PAIR = re.compile(r"(\d{1,4})\s*:\s*(\d{1,4})\s*\Z")
_TURN = re.compile(r"turn(\d{1,3})[a-z]{3,12}?(\d{1,3})")
_OTHER = re.compile(r"\d{1,3}(?:[a-z]|(?:\.\d{1,3})+|\s*(?:[/|+]\s*\d{1,3})+|\s*\.\.\s*\d{1,3})\Z|\(\s*\d{1,3}\s*\)\Z")

_TAG_NAMES = r"cite|citation|citations|cit|co|source|sources|ref|reference|footnote|fn|doc|document|chunk|passage|quote|sup|src|mark|span|c"
_OPENERS, _CLOSERS = "[(（【{⟦｛〈《「『〖〘⸨⁽❨⟨<＜«‹〔", "])）】}⟧｝〉》」』〗〙⸩⁾❩⟩>＞»›〕"
_INSIDE = rf"[^{re.escape(_OPENERS + _CLOSERS)}\n\0]"
_KEYCAP = r"\d\ufe0f?\u20e3"
_ROUND_SIGNS = f"[{''.join(_CIRCLED)}]"
_PRIVATE = "\ue000-\uf8ff"
_FORMS = {
    "leaked": r":?(?:contentReference)?[\[【(]?oaicite:(?P<leak>\d{1,4})[\]】)]?(?:\{index=\d{1,4}\})?",
    "private": rf"[{_PRIVATE}](?:[^\s{_PRIVATE}]{{0,120}}[{_PRIVATE}])*",
    "turn": r"[\[【(]?(?:file)?(?:cite|navlist)?(?:turn\d{1,3}[a-z]{3,12}?\d{1,3}[\s,]{0,2})+(?<![\s,])[\]】)]?",
    "hashed": r"\#\#(?P<hash>\d{1,4})\$\$|~~(?P<tilde>\d{1,4})==",
    "command": r"~?\\(?:[a-z]{0,6}cite[a-z]{0,8}|footnotemark|textsuperscript)\*?(?:\[[^\[\]\n]{0,80}\]){0,2}"
    r"(?:[{\[](?P<keys>[^{}\[\]\n]{1,200})[}\]])?",
    "raised": rf"\$?\^(?:\{{\s*(?P<up1>{_FIGURES})\s*\}}|\[\s*(?P<up2>{_FIGURES})\s*\]|(?P<up3>\d{{1,3}}(?:,\d{{1,3}})*))(?:\$|\^(?!\w))?",
    "entity": rf"&\#(?:91|0*x5b);\s*(?P<inside>{_FIGURES})\s*&\#(?:93|0*x5d);",
    "element": rf"<(?P<tag>(?:{_TAG_NAMES}|a)(?:[_-]ids?)?)\b(?P<before>[^<>\n]{{0,200}})>"
    rf"\s*[\[(]?\s*(?P<held>{_FIGURES})\s*[\])]?\s*</(?P=tag)\s*>",
    "file": rf"(?:[–—→]|->|=>)\s*(?P<dashedfile>[^\s–—→,;]{{1,200}}\.(?:{_ENDINGS})"
    rf"(?:[,#][^.\n;]{{0,40}}(?:\.\s?\d+)?)?)(?=\s*(?:[.;]|\n|\Z))",
    "link": r"\[(?P<label>[^\[\]\n]{1,200})\]\((?P<to>[^()\s]{1,600})\)",
    "open": rf"(?:[<(\[{{]|&lt;)\s*(?P<slash>/?)\s*(?:[a-z]{{2,12}}:)?(?:{_TAG_NAMES})(?:[_-](?:start|end|begin))?"
    r"(?P<attributes>(?:[\s:=][^<>()\[\]{}\n\0]{0,200}?)?)\s*/?(?:[>)\]}]|&gt;)",
    "render": r"<(?P<rendered>[a-z]{2,12}:render)\b[^<>\n]{0,300}>"
    r"(?:<argument\b[^<>\n]{0,200}>[^<>\n]{0,100}</argument>)?\s*</(?P=rendered)>",
    "token": r"<\|\s*[^|<>\n\0]{1,60}?\|>",
    "figures": rf"(?<=[\s*_(])[{RAISED}]+(?:[,;⁻–-]\s?[{RAISED}]+)*",
    "dash": rf"[–—]\s*(?:{_SOURCE_NAMES})\s*:?\s*(?P<dashed>{_FIGURES})(?=\s*(?:[.;]|\n|\Z))",
    "square": rf"\[(?P<inner>[^\[\]\n\0]{{1,200}}\.(?:{_ENDINGS})\b[^\[\]\n\0]{{0,60}})\]",
    "bracket": rf"[{re.escape(_OPENERS)}](?P<content>{_INSIDE}{{1,{MOST_CHARS}}})[{re.escape(_CLOSERS)}]",
    "circled": rf"{_ROUND_SIGNS}(?:\s?[,、]?\s?{_ROUND_SIGNS})*+|{_KEYCAP}(?:\s?{_KEYCAP})*+",
    "number": r"(?<=[\s\w])\#(?P<hashes>\d{1,3})(?![\w.,]*\d)",
    "line": r"(?:(?m:^)[ \t>*_(–—-]*|(?<=[.!?]\s)[*_(]*)(?:sources?|bron(?:nen)?|quellen?|references?|citations?|"
    r"fuentes?|r[ée]f[ée]rences?)"
    r"[*_]*\s*[:：][*_ ]*(?P<names>[^\n]{1,400}?)(?:[*_) .]*(?m:$)|\.(?=\s+[A-Z]))",
}
_SIGN = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _FORMS.items()), re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rf"(?:\b(?:ids?|index|idx|sources?|refs?|docs?|documents?|nr?|num(?:ber)?|name|key|src|chunks?)\s*=\s*|\A\s*[:=]?\s*)[\"'“”]?"
    rf"(?:[a-z]{{1,10}}[\s_:#-]?)?({_FIGURES}(?::\d+)?)[\"'“”]?(?=[\s/,]|\Z)",
    re.IGNORECASE,
)
_INDEX = re.compile(r"\bindex\s*=\s*[\"']?\s*((?:\d+-\d+(?::\d+)?|\d+)(?:\s*,\s*(?:\d+-\d+(?::\d+)?|\d+))*)", re.IGNORECASE)
_CONJUNCTION = r"(?:and|but|while|whereas|or|so|en|maar|terwijl|of|dus|und|aber|während|oder|et|mais|y|pero|e|ma)\b"
_ENDS = re.compile(
    rf"[\s*_\"'”’»]*(?:[.,;:!?…。，；：！？)）\]|]|\Z|\n|\0|[\[【(（{{<⁽][\d\0]|[{''.join(_CIRCLED)}]|##\d|\d\ufe0f?\u20e3|\^[\d\[]|[–—]\s|{_CONJUNCTION})"
    r"|\s+[^\W\d_a-zß-ÿ]|(?<=[。！？])",
)
_LINE_START = re.compile(r"[\s>*_#.)\d+•–-]*\Z")
_BEFORE = re.compile(r"[\w.,;:!?…。，；：！？)）\]\"'”’»%*_°€$£\0][\s(\[（“„«]*\Z")
_LOCATOR = re.compile(
    r"(?:\d|§|\b(?:(?:sub)?sections?|(?:sub)?paragraphs?|articles?|art|clauses?|rules?|items?|steps?|points?|options?|equations?|eqs?|figures?|figs?|tables?|parts?|"
    r"chapters?|notes?|groups?|levels?|types?|phases?|class|grade|categor(?:y|ies)|numbers?|nos?|rooms?|variants?|versions?|"
    r"lid|leden|artikel(?:en)?|paragraaf|punt|stap|tabel|figuur|vergelijking|"
    r"abs|absatz|absätze|satz|artikels?|paragraph|punkt|schritt|tabelle|abbildung|gleichung|nummer|ziffer|buchstabe))[.\s]*\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]{3,}")
_LAST_WORDS = re.compile(r"[\w-]+")
_BRACKETED = re.compile(r"[\[(（【{<]([^\[\](){}<>【】（）\n]{1,200})[\])】）}>]")
_FOOTNOTE = re.compile(rf"^[ \t>]*(?:\[\^[^\[\]\n]{{1,60}}\]:|[{RAISED}]+[ \t])", re.MULTILINE)
_DIRECTION = re.compile(f"[{DIRECTION_MARKS}]")


class AnswerMarkers(NamedTuple):
    """The markers of an answer, ascending; `listed` are entries of a list of sources. `first` is the number of the first source: 0 or 1."""

    events: tuple[MarkerEvent, ...]
    listed: tuple[MarkerEvent, ...]
    first: int = 1


class _Sign(NamedTuple):
    """A marker before its numbers are settled. `others` are other numbers that it may mean, by how it is read; `zero`: it counts from 0."""

    start: int
    end: int
    form: FormName
    numbers: tuple[int, ...] = ()
    zero: bool = False
    style: str = ""
    pair: tuple[int, int] | None = None


def read_answer(answer: str, sources: Sequence[Source], reading: Reading = "usual", numbering: Numbering = "auto") -> AnswerMarkers:
    """The markers of `answer`, whose numbers are those of `sources`. Takes time linear in the length of the answer.

    With the reading `strict`, what only the whole answer shows to be a marker cites nothing: source text is not kept free of it.
    """
    parser = MarkerParser(reading="usual" if reading == "strict" else reading)
    events = parser.feed(answer) + parser.finish()
    listed = parser.listed
    if reading == "strict":
        strict = MarkerParser(reading="strict")
        known = {event.start for event in strict.feed(answer) + strict.finish()}
        events = tuple(event if event.start in known else event._replace(form="unread", numbers=()) for event in events)
    reader = _Reader(answer, events, listed, sources, reading)
    signs = [*map(reader.parsed, events), *reader.signs()]
    signs.sort(key=lambda sign: sign.start)
    first, settled = reader.settle(signs, numbering)
    found = [MarkerEvent(sign.start, sign.end, answer[sign.start : sign.end], sign.form, sign.numbers) for sign in settled]
    listed += [MarkerEvent(f.start(), f.end(), f[0], "footnote", ()) for f in _FOOTNOTE.finditer(reader.text)]
    return AnswerMarkers(tuple(found), tuple(sorted(listed)), first)


class _Reader:
    """One answer and its sources."""

    def __init__(
        self, answer: str, events: Sequence[MarkerEvent], listed: Sequence[MarkerEvent], sources: Sequence[Source], reading: Reading
    ) -> None:
        self._sources, self._reading, self._events = sources, reading, events
        self._known = {source.number for source in sources}
        pieces, at = [], 0
        text = _DIRECTION.sub(" ", hide_code(answer))
        ends = {entry.start: entry.end + len(text[entry.end : entry.end + MOST_CHARS].partition("\n")[0]) for entry in listed}
        for event in sorted((*events, *listed)):
            end = ends.get(event.start, event.end)
            if event.start >= at:
                pieces += [text[at : event.start], ("\0" if event.start not in ends else " ") * (end - event.start)]
                at = end
        self.text = "".join([*pieces, text[at:]])

    def parsed(self, event: MarkerEvent) -> _Sign:
        """A marker of the parser; that of a file, `【4:0†lending.pdf】`, as its name says."""
        pair = _DAGGER.match(_DIRECTION.sub("", event.text[1:]).lstrip()) if event.form == "dagger" else None
        if pair and self._reading != "strict" and (named := self._titled(event.text.partition("†")[2].rstrip("]】］〕"))):
            return _Sign(event.start, event.end, "name", tuple(named[:1]))
        second = (int(pair[1]), int(pair[2])) if pair and pair[2] else None
        return _Sign(event.start, event.end, event.form, event.numbers, pair=second)

    def signs(self) -> Iterator[_Sign]:
        """What the parser does not read."""
        styled: dict[str, list[_Sign]] = {}
        for found in _SIGN.finditer(self.text):
            sign = self._read(found)
            if sign is not None and sign.style:
                styled.setdefault(sign.style, []).append(sign)
            elif sign is not None:
                yield sign
        for signs in styled.values():
            yield from self._of_style(signs)

    # one sign -----------------------------------------------------------------------------------------------------------------

    def _read(self, found: re.Match[str]) -> _Sign | None:
        start, end = found.span()
        match next(name for name in _FORMS if found[name] is not None):
            case "leaked":
                return _Sign(start, end, "other", (int(found["leak"]),), zero=True)
            case "private" | "turn":
                return self._turns(start, end, found[0])
            case "hashed":
                return _Sign(start, end, "other", (int(found["hash"] or found["tilde"]),), zero=True)
            case "command":
                keys = found["keys"] or ""
                return (
                    _Sign(start, end, "other", _figures(keys))
                    if _figures(keys)
                    else self._named(start, end, keys) or _Sign(start, end, "unread")
                )
            case "raised":
                figures, before = _figures(found["up1"] or found["up2"] or found["up3"]), self.text[max(0, start - 64) : start]
                before = before.rstrip() if found["up2"] else before
                return _Sign(start, end, "superscript", figures, style="raised") if is_raised(before) else None
            case "entity":
                return _Sign(start, end, "other", _figures(found["inside"]), style="entity")
            case "element":
                return self._element(found)
            case "open":
                return self._tag(found)
            case "render":
                return _Sign(start, end, "unread")
            case "file":
                return self._named(start, end, found["dashedfile"])
            case "token":
                held = re.findall(r"\d{1,4}", found[0])
                return _Sign(start, end, "other", (int(held[0]),)) if len(held) == 1 else _Sign(start, end, "tag")
            case "figures":
                before = self.text[max(0, start - 64) : start].rstrip(" *_(")
                return (
                    _Sign(start, end, "superscript", _figures(found[0].translate(LOWERED)), style="raised") if is_raised(before) else None
                )
            case "dash":
                return _Sign(start, end, "other", _figures(found["dashed"]))
            case "link":
                return self._link(found)
            case "circled":
                figures = tuple(
                    _CIRCLED[char] if char in _CIRCLED else int(char) for char in found[0] if char in _CIRCLED or char.isdecimal()
                )
                return _Sign(start, end, "other", tuple(dict.fromkeys(figures)), style="circled")
            case "number":
                return _Sign(start, end, "other", (int(found["hashes"]),), style="#")
            case "line":
                return self._line(found)
            case "square":
                return self._bracket_of(start, end, found["inner"])
            case _:
                return self._bracket_of(start, end, found["content"])

    def _turns(self, start: int, end: int, text: str) -> _Sign:
        """`turn0search1`: the second result of the first call. With several calls there is no telling which source it is."""
        turns = _TURN.findall(text)
        if not turns or self._turn_count > 1:
            return _Sign(start, end, "unread")
        return _Sign(start, end, "other", tuple(dict.fromkeys(int(place) for _, place in turns)), zero=True)

    @cached_property
    def _turn_count(self) -> int:
        return len({turn[0] for turn in re.findall(r"turn(\d{1,3}[a-z]{3,12}?)\d", self.text)})

    def _element(self, found: re.Match[str]) -> _Sign | None:
        """`<ref>1</ref>`, `<span class="citation">1</span>`."""
        start, end = found.span()
        tag, attributes = found["tag"].lower(), found["before"].lower()
        if tag in ("a", "span", "mark") and not re.search(r"cit|ref|foot|source|note|#", attributes):
            return None
        if tag == "sup" and not is_raised(self.text[max(0, start - 64) : start]):
            return None
        return _Sign(start, end, "other", _figures(found["held"]))

    def _tag(self, found: re.Match[str]) -> _Sign | None:
        """`<cite doc="1">`, `</co: 0,1>`, `(cite index="3-5">`, `[cite_start]`."""
        (start, end), text, attributes = found.span(), found[0], found["attributes"]
        is_tag = text[0] in "<&" or text[-1] in ">;" or found["slash"] or "=" in attributes or re.search(r"_(?:start|end|begin)", text)
        if not is_tag:
            return self._bracket_of(start, end, text[1:-1])
        if re.fullmatch(r"(?:span|mark|sup|c|a|quote)", re.sub(r"\W.*", "", text[1:].strip().lstrip("/ "), flags=re.DOTALL), re.IGNORECASE):
            return None if text[0] in "<&" else self._bracket_of(start, end, text[1:-1])
        if (index := _INDEX.search(attributes)) and "-" in index[1]:
            return _Sign(start, end, "cite", tuple(dict.fromkeys(int(each.strip().partition("-")[0]) for each in index[1].split(","))))
        if attribute := _ATTRIBUTE.search(attributes):
            return _Sign(start, end, "cite", _figures(attribute[1].partition(":")[0]))
        named = (
            self._named(start, end, re.sub(r"\A[\s:]*(?:\w+\s*=)?\s*[\"']?|[\"'\s/]*\Z", "", attributes)) if attributes.strip() else None
        )
        return named or _Sign(start, end, "unread" if attributes.strip() and not found["slash"] else "tag")

    def _link(self, found: re.Match[str]) -> _Sign | None:
        """`([example.com](https://example.com/a))`, `[lending.pdf](https://…)`, `[source](https://…)`."""
        start, end = found.span()
        if figures := _figures(found["label"]):
            return _Sign(start, end, "link", figures)
        label, held = found["label"].strip(), self.text[start - 1 : start] == "(" and self.text[end : end + 1] == ")"
        names = held or _FILE.search(label) or re.fullmatch(_SOURCE_NAMES, label, re.IGNORECASE)
        if not names or not self._at_end(start - held, end + held):
            return None
        named = self._named(start, end, label) or self._named(start, end, found["to"])
        sign = named or _Sign(start, end, "unread")
        return sign._replace(start=start - held, end=end + held)

    def _bracket_of(self, start: int, end: int, content: str) -> _Sign | None:
        """What stands between two brackets of any kind."""
        opener, content = self.text[start], content.strip()
        if (pair := _OPENERS.find(opener)) < 0 or self.text[end - 1] != _CLOSERS[pair]:
            return None
        content = content.translate(LOWERED) if opener == "⁽" else content
        style = "round" if opener in "(（" else "square" if opener in "[【〔" else opener
        while self.text[start - 1 : start] == opener and self.text[end : end + 1] == self.text[end - 1]:
            start, end = start - 1, end + 1
        end += 2 if self.text.startswith("()", end) else 0
        if not any(map(str.isalnum, content)):
            return None
        if re.fullmatch(_FIGURES, content):
            if not _figures(content):
                return None
            if style == "square" and end - start <= 64 and not re.match(r"0\s*[–-]", content):
                return None  # the parser has judged it
            is_long = end - start > 64
            return _Sign(
                start,
                end,
                "list" if is_long else "round" if style == "round" else "other",
                _figures(content),
                style="" if is_long else style,
            )
        if (
            end - start > 64
            and (read := read_content("[", content) if style == "square" else read_round(content, self._reading))
            and read[1]
        ):
            return _Sign(start, end, read[0], read[1])
        if style == "round" and self._reading != "strict" and (read := read_round(content, self._reading)):
            return _Sign(start, end, *read)
        if (style not in ("square", "round", "{") and opener != "<") or not self._at_end(start, end):
            return None
        return self._words(start, end, content, style)

    def _words(self, start: int, end: int, content: str, style: str) -> _Sign | None:
        """A bracket that holds words: a name with its number, a file, a title, an address."""
        if self._is_quoted(start, content):
            return None
        if (seen := _SEEN.fullmatch(content)) and self._in_range(_figures(seen[1])):
            return _Sign(start, end, "round", _figures(seen[1]))
        if _PAGE.fullmatch(content):
            return _Sign(start, end, "unread")
        if _AUTHORS.fullmatch(content):
            return self._named(start, end, content) or _Sign(
                start, end, "unread", style="author" if style == "round" and not _TWO_NAMES.search(content) else ""
            )
        each = _EACH_NAMED.split(content)
        if all(_NAMED.match(part) for part in each):
            numbers = tuple(dict.fromkeys(number for part in each for number in _figures(part[_NAMED.match(part).end() :])))  # type: ignore[union-attr]
            return _Sign(start, end, "source", numbers)
        if dagger := _DAGGER.match(content):
            second = (int(dagger[1]), int(dagger[2])) if dagger[2] else None
            return self._named(start, end, content.partition("†")[2]) or _Sign(start, end, "dagger", (int(dagger[1]),), pair=second)
        if style == "square" and (pair := _PAIR.fullmatch(content)):
            return _Sign(start, end, "dagger", (int(pair[1]),), pair=(int(pair[1]), int(pair[2])))
        if style == "square" and _TURN.search(content):
            return self._turns(start, end, content)
        if style == "square" and _OTHER.match(content):
            figures = tuple(dict.fromkeys(map(int, re.findall(r"\d+", content.split(".")[0] if ".." not in content else content))))
            return _Sign(start, end, "other", figures, style="suffixed")
        if style == "square" and (word := _WORD_AND_NUMBER.fullmatch(content)) and not _LOCATOR.search(word[1]):
            return _Sign(start, end, "source", _figures(word[2]), style=f"word {word[1].casefold()}")
        if (lead := _LEADING_NUMBER.match(content)) and self._names(content[lead.end() :])[1]:
            return _Sign(start, end, "source", (int(lead[1]),))
        return self._named(start, end, content)

    def _line(self, found: re.Match[str]) -> _Sign | None:
        """A line that names its source: "Source: lending.pdf"."""
        start, end = found.span()
        names = found["names"].strip()
        if "\0" in names:  # with numbers and names beside each other it is a list of sources
            named = [piece for piece in names.split("\0") if any(map(str.isalnum, piece))]
            is_list = bool(named) and all(self._names(piece.strip(" ,;|()[]"))[1] for piece in named)
            return _Sign(start, end, "unread") if is_list else None
        if re.fullmatch(_FIGURES, names):
            return _Sign(start, end, "source", _figures(names))
        sign = self._named(start, end, names) if self._names(names)[1] else None
        return sign._replace(form="unread", numbers=()) if sign and len(sign.numbers) > 1 else sign  # a list of sources

    # names ---------------------------------------------------------------------------------------------------------------------

    def _named(self, start: int, end: int, content: str) -> _Sign | None:
        numbers, is_name = self._names(content)
        if not is_name:
            return None
        if len(numbers) > 1:
            numbers = self._best_of_titles(start, end, content, numbers)
        return _Sign(start, end, "name" if numbers else "unread", tuple(numbers))

    def _names(self, content: str) -> tuple[list[int], bool]:
        """The sources that a bracket names by their titles, and whether it names any."""
        content = content.strip().strip("\"'“”`*_ ")
        bare = content[_LABEL.match(content).end() :].strip()  # type: ignore[union-attr]
        if found := self._titled(bare):
            return found, True
        pieces = [piece for piece in _BETWEEN_NAMES.split(bare) if piece]
        numbers = [number for piece in pieces for number in self._titled(piece)] if len(pieces) <= 20 else []
        is_name = bool(numbers or _FILE.search(bare) or _URL.match(bare) or _KEY.match(content) or _LABELLED.match(content))
        is_name = is_name or bool(_ID.fullmatch(bare))
        return list(dict.fromkeys(numbers)), is_name

    def _titled(self, name: str) -> list[int]:
        for _ in range(3):
            if found := self._titles.get(_bare_title(name)):
                return found
            shorter = _LOCATED.sub("", name)
            if shorter == name:
                return []
            name = shorter
        return self._titles.get(_bare_title(name), [])

    @cached_property
    def _titles(self) -> dict[str, list[int]]:
        titles: dict[str, list[int]] = {}
        for source in self._sources:
            if len(bare := _bare_title(source.title)) > 2:
                titles.setdefault(bare, []).append(source.number)
        return titles

    def _best_of_titles(self, start: int, end: int, content: str, numbers: list[int]) -> list[int]:
        """Of sources with one title the one that fits the sentence best."""
        by_title: dict[str, list[int]] = {}
        for source in self._sources:
            if source.number in numbers:
                by_title.setdefault(_bare_title(source.title), []).append(source.number)
        words = self._words_around(start, end)
        return [max(same, key=lambda number: (self._fit(words, (number,)), -number)) for same in by_title.values()]

    # where it stands -----------------------------------------------------------------------------------------------------------

    def _at_end(self, start: int, end: int) -> bool:
        """Whether a sign stands where a claim or a clause ends, behind its words."""
        line = self.text[max(0, start - 80) : start].rpartition("\n")[2]
        if not _BEFORE.search(self.text[max(0, start - 8) : start]) or (start - len(line) < 80 and _LINE_START.match(line)):
            return False
        return _ENDS.match(self.text, end) is not None

    def _is_said(self, sign: _Sign) -> bool:
        """Whether a figure in brackets is said rather than a mark: "section (2)", "two (2)", or as its source has it."""
        before = self.text[max(0, sign.start - 40) : sign.start].rpartition("\n")[2].rstrip("*_")
        if _LOCATOR.search(before) or (not before[-1:].isspace() and not is_citable(before)):
            return True
        last = _LAST_WORDS.findall(before)[-3:]
        values = {
            value for word in last if (value := int(word) if word.isdecimal() and len(word) < 9 else number_of(word.lower())) is not None
        }
        return bool(values & set(sign.numbers)) or self._is_quoted(sign.start, self.text[sign.start + 1 : sign.end - 1].strip())

    def _is_quoted(self, start: int, content: str) -> bool:
        """Whether a source has the same bracket behind the same word."""
        return (_last_word(self.text, start), content.casefold()) in self._bracketed

    @cached_property
    def _bracketed(self) -> set[tuple[str, str]]:
        found = ((source.text, bracket) for source in self._sources for bracket in _BRACKETED.finditer(source.text))
        return {(_last_word(text, bracket.start()), bracket[1].strip().casefold()) for text, bracket in found}

    def _of_style(self, signs: list[_Sign]) -> Iterator[_Sign]:
        """Those of the figures in one kind of bracket that are markers: at the ends of claims, within the sources, and not said."""
        style = signs[0].style
        ends, within = [], 0
        for sign in signs[:_MOST_OF_STYLE]:
            if self._at_end(sign.start, sign.end):
                ends += [] if self._is_said(sign) else [sign]
            elif (
                style == "round"
                and self._in_range(sign.numbers)
                and not _LINE_START.match(self.text[max(0, sign.start - 40) : sign.start].rpartition("\n")[2])
            ):
                within += 1
        named = [sign for sign in ends if self._in_range(sign.numbers)]
        if style == "round" and (within >= max(1, len(named)) or (self._reading != "all" and self._cites)):
            return
        if style == "round" and len(named) == 1 and self._reading != "all" and not self._is_likely(named[0]):
            return
        if (
            not named
            or (style[:1] in "#w" and len({sign.numbers for sign in named}) < 2)
            or (style == "author" and len(named) < 2 and "et al" not in self.text)
        ):
            return
        for sign in ends:
            # Beside two others one that no source has is a number too many, and not a figure that is said.
            if self._in_range(sign.numbers) or (len(named) > 1 and style[:1] not in "#w" and max(sign.numbers) < 100):
                yield sign._replace(form="unread", numbers=()) if self._reading == "strict" else sign

    def _is_likely(self, sign: _Sign) -> bool:
        """Whether the only figure of its kind is a marker: its sentence fits the source that it would name."""
        words, numbers = self._words_around(sign.start, sign.end), sign.numbers
        return max(self._fit(words, numbers), self._fit(words, [number + 1 for number in numbers]) if 0 in numbers else 0.0) >= _LIKELY

    def _in_range(self, numbers: Iterable[int]) -> bool:
        """Whether all are numbers of sources, counted from 1 or from 0."""
        return all(number in self._known or (number == 0 and 1 in self._known) for number in numbers)

    @cached_property
    def _cites(self) -> bool:
        """Whether the answer has other markers that name sources."""
        return any(self._known & set(event.numbers) for event in self._events)

    # numbers -------------------------------------------------------------------------------------------------------------------

    def settle(self, signs: list[_Sign], numbering: Numbering) -> tuple[int, list[_Sign]]:
        """The number of the first source, and the signs with the numbers of their sources; none overlaps the one before."""
        apart: list[_Sign] = []
        for sign in signs:
            if not apart or sign.start >= apart[-1].end:
                apart.append(sign)
        apart = self._pairs(apart, numbering)
        counted = [sign for sign in apart if sign.numbers and sign.form != "name" and not sign.zero]
        first = 0 if numbering == "0" or (numbering in ("auto", "second") and self._begins_at_zero(counted)) else 1
        settled = [self._shifted(sign, first if not sign.zero or numbering == "1" else 0) for sign in apart]
        if self._reading == "strict":
            parsed = {event.start for event in self._events}
            settled = [s if s.start in parsed or s.form == "tag" else s._replace(form="unread", numbers=()) for s in settled]
        return first, settled

    def _shifted(self, sign: _Sign, first: int) -> _Sign:
        if sign.form in ("name", "unread", "tag", "malformed"):
            return sign
        numbers = tuple(number + 1 - first for number in sign.numbers)
        if (sign.zero or (sign.form == "source" and sign.style)) and not set(numbers) <= self._known:
            return sign._replace(form="unread", numbers=())
        return sign._replace(numbers=numbers)

    def _begins_at_zero(self, signs: Sequence[_Sign]) -> bool:
        """Whether the numbers count from 0: 0 is cited, all stay below the count of sources, and sentences fit no worse."""
        cited = {number for sign in signs for number in sign.numbers}
        if 0 not in cited or 0 in self._known or not {number + 1 for number in cited} <= self._known:
            return False
        return self._fits(signs, lambda n: n + 1) >= self._fits(signs, lambda n: n)

    def _pairs(self, signs: list[_Sign], numbering: Numbering) -> list[_Sign]:
        """The signs, those of two figures with the one that is the number of a source."""
        paired = [sign for sign in signs if sign.pair is not None]
        if not paired or numbering in ("0", "1"):
            return signs
        firsts, seconds = [sign.pair[0] for sign in paired if sign.pair], [sign.pair[1] for sign in paired if sign.pair]
        readings: list[tuple[float, int, Callable[[tuple[int, int]], int]]] = []
        shared = len(firsts) > 1 and len(set(firsts)) < len(set(seconds))
        candidates: list[tuple[list[int], int, Callable[[tuple[int, int]], int]]] = [
            (firsts, 1, lambda pair: pair[0]),
            ([second + 1 for second in seconds], 2 if shared else 0, lambda pair: pair[1] + 1),
            (seconds, 0, lambda pair: pair[1]),
        ]
        for numbers, rank, choose in candidates:
            if numbering == "auto" and set(numbers) <= self._known:
                each = [sign._replace(numbers=(choose(sign.pair),)) for sign in paired if sign.pair]
                readings.append((self._fits(each, lambda n: n), rank, choose))
        chosen = max(readings, key=lambda reading: reading[:2])[2] if readings else candidates[1 if numbering == "second" else 0][2]
        return [sign._replace(numbers=(chosen(sign.pair),)) if sign.pair else sign for sign in signs]

    def _fits(self, signs: Sequence[_Sign], number_of_source: Callable[[int], int]) -> float:
        """How well the sentences of markers fit their sources, together."""
        return sum(
            self._fit(self._words_around(sign.start, sign.end), [number_of_source(number) for number in sign.numbers[:20]])
            for sign in signs[:_MOST_FITTED]
        )

    def _words_around(self, start: int, end: int) -> frozenset[str]:
        """The words of the sentence before a marker, or behind one that begins it."""
        before = re.split(r"\0|\n|(?<=[.!?])\s+(?=\S)", self.text[max(0, start - _WINDOW) : start].rstrip())[-1]
        words = frozenset(_WORD.findall(before.casefold()))
        return (
            words
            if len(words) > 1
            else frozenset(_WORD.findall(self.text[end : end + _WINDOW].partition("\0")[0].partition(". ")[0].casefold()))
        )

    def _fit(self, words: frozenset[str], numbers: Sequence[int]) -> float:
        """The share of the words that the sources with these numbers have together."""
        held = set[str]().union(*(self._source_words.get(number, frozenset()) for number in numbers))
        return round(len(words & held) / len(words), 6) if words else 0.0

    @cached_property
    def _source_words(self) -> dict[int, frozenset[str]]:
        return {source.number: frozenset(_WORD.findall(source.text.casefold())) for source in self._sources}


def _figures(text: str) -> tuple[int, ...]:
    return read_numbers(text) if text and re.fullmatch(rf"\s*{_FIGURES}\s*", text) else ()


def _last_word(text: str, end: int) -> str:
    """The word before a place, in small letters."""
    words = _LAST_WORDS.findall(text, max(0, end - 40), end)
    return words[-1].casefold() if words else ""


def _bare_title(name: str) -> str:
    """A title or the name of a file as it is compared: without folder, ending, case and signs."""
    name = unicodedata.normalize("NFKC", name[:400]).casefold().strip().replace("\\", "/")
    name = name.rstrip("/").rpartition("/")[2] if re.match(r"\S+\Z", name) else name
    return "".join(filter(str.isalnum, re.sub(r"\.[a-z]{2,5}\Z", "", name)))
