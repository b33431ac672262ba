"""Words that tell whether a full stop ends a sentence, in Dutch, English and German, lower case, without their last full stop."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

from ctxasm.model.characters import encodable
from ctxasm.model.errors import is_fault


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GOES_ON = _words(
    "dr drs prof ir ing mr mrs mevr dhr mw mej ds fa fam dipl hr bijv resp vs viz bzw vgl ggf evtl bspw sog zgn gov d.w.z o.a i.v.m t.a.v "
    "i.p.v m.b.t t.o.v o.l.v n.a.v t.g.v m.i m.n z.g z.b z d.h u.a e.g i.e zgn"
)
"""After these a sentence goes on, whatever follows."""
BEFORE_FIGURES = _words(
    "nr nrs no nos ca tel max min incl excl inkl zzgl art artt fig figs sec p pp s st vol ch eq tab par hfst bd kap str abs abb blz ed op "
    "approx est dept cf jh aufl hrsg jan feb febr mrt apr jun jul aug sep sept okt oct nov dec dez ma di wo do vr za zo mo mi sa so "
    "ft"
)
"""After these it goes on when a figure or a small letter follows."""
MAY_END = _words("al bv enz etc usw usf e.d e.v a.s jl jr sr inc ltd corp co btw n.v b.v n.v.t p.m a.m u m.d ph.d c.s i.c m.a.w")
"""These go on too, but end a sentence before a capitalised word that begins sentences."""
BEGINNERS = _words(
    "de het een dit dat deze die er hij zij ze we wij u ik je in op als bij voor met na om door van daarna ook maar wie wat waar hoe wees "
    "daar daarom toch neem bel let kunt wilt moet mag heeft hebt bent blijf breng kom vraag volg meld the a an this that these those it he "
    "she they you if when while after before for on at however then there later eat do not visitors "
    "der das ein eine es sie wir ihr ich im am wenn nach danach auch aber alles niemand en and und"
)
MONTHS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts weltkrieg "
    "weltkriegs etage stock klasse"
)
"""After a German ordinal (`3. Mai`, `2. Weltkrieg`)."""
DOMAINS = _words("com nl org eu uk io dev js ts py rs md txt pdf html htm csv json doc docx exe")
"""What may follow a full stop in a name (`Booking.Com`)."""
SMALL_WORDS = {
    "en": _words("the a and of to that which are with for by from or not it he she they this these was on"),
    "nl": _words("de het een en van op te dat zijn met voor aan er om door bij ook niet of deze dit als naar wordt hij"),
    "de": _words("der die das und ist nicht ein eine mit für von auf wird sind im dem zu sich auch bei zur zum oder wie er es"),
}
"""What each language is told by."""


WINDOW_CHARS = 2000
"""The longest stretch given to the library at once. A sentence may be longer: what is cut in its middle is joined again."""
WRAPPED_CHARS = 40
"""Nobody wraps lines shorter than this."""
LOOK_CHARS = 64
"""How far around a full stop its words are read."""

_ROMAN = re.compile(r"[IVXL]+")
_WIDE_BLANK = re.compile(r"[^\S\x00-\x7f]")
_LINE = re.compile(r"[^\r\n\x0b\x0c\x85\u2028\u2029]+")
_NEW_BLOCK = re.compile(r"\s*(?:(?:[-*+•–‣◦▪]|\(?(?:\d{1,3}[.)]|[a-zA-Z]\)|[a-z]\.(?!\s?[a-zA-Z]\.)))\s|[|>#]|```|~~~)")
_ALONE = re.compile(r"\s*(?:[|#]|```|~~~)")
_ROW = re.compile(r"[^\n|]{1,200}\s\|\s")
_SOURCE = re.compile(r"\s*\[\d{1,3}\]\s+\w")
_WORD = re.compile(r"[^\W\d_]+")
_OPENERS = "\"'“”„«»‘’([*_¿¡"
_CLOSERS = "\"'”“»«’)]*_"
_TIGHT = re.compile(r"(?:[^\W\d_A-Z]{2}|\d|[)\"”])[.!?]\Z")
_TIGHT_NEXT = re.compile(r"(?:- )?[\"“(]?[A-ZÀ-Þ](?:[^\W\d_A-Z]|(?=\s))")
_MAY_BE_END = re.compile(r"(?:\.|[!?…](?=[)\]\s\"”»’]))[)\]\"”»’]*\s+(?=[\"“„‘'(\[]?[^\W\d_a-z])")
_GLUED = re.compile(r"[.!?](?=(?:- )?[\"“(]?[A-ZÀ-Þ])")
_ADDRESS = re.compile(r"www\.|://|@|°[CF]\.")
_ELISION = re.compile(r"['’‘](?=[stnmr]\b)")
_END = re.compile(r"[.!?…。！？][)\]\"”»’]*\s+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`: ascending, disjoint, without white space around; they hold every visible character.

    A blank line, a list mark, a table row, a quote mark, a heading or a short line begins a new one; other line breaks
    are white space. Takes time linear in the length of `text`.
    """
    plain = encodable(text)
    language = _language_of(plain)
    return [span for low, high in _blocks(plain) for span in _split_block(plain, low, high, language)]


def _language_of(text: str) -> str:
    words = _WORD.findall(text[:4000].lower())
    return max(("en", "nl", "de"), key=lambda language: sum(map(SMALL_WORDS[language].__contains__, words)))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that no sentence crosses, trimmed."""
    paragraph: list[tuple[int, int]] = []
    last = 0
    for found in _LINE.finditer(text):
        start, end = found.span()
        blank = found[0].isspace()
        if paragraph and (blank or len(text[last:start].replace("\r\n", "\n")) > 1):
            yield from _paragraph_blocks(text, paragraph)
            paragraph = []
        last = end
        if not blank:
            paragraph.append((start, end))
    if paragraph:
        yield from _paragraph_blocks(text, paragraph)


def _paragraph_blocks(text: str, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    width = max(end - start for start, end in lines)
    begin = before = lines[0]
    for line in lines[1:]:
        if _is_hard(text, before, line, width):
            yield _trimmed(text, begin[0], before[1])
            begin = line
        before = line
    yield _trimmed(text, begin[0], before[1])


def _is_hard(text: str, before: tuple[int, int], line: tuple[int, int], width: int) -> bool:
    """Whether the break between two lines of a paragraph ends a sentence; `width` is the paragraph's longest line.

    A line that ends in no mark although the next word had room was not wrapped: a heading, an entry of a list.
    """
    if _NEW_BLOCK.match(text, *line) or _ALONE.match(text, *before) or _is_entry(text, before, line):
        return True
    first = text[line[0] : line[1]].lstrip()[:100].split(None, 1)[0]
    if not first.lstrip(_OPENERS)[:1].isupper():
        return False
    has_room = width < WRAPPED_CHARS or before[1] - before[0] + 1 + len(first) <= width
    return has_room and text[before[1] - 1] not in ".,;!?…- "


def _is_entry(text: str, before: tuple[int, int], line: tuple[int, int]) -> bool:
    """Whether one of two lines is a row of a table without outer bars, or the second the next of a list of sources."""
    if _ROW.match(text, *line) or _ROW.match(text, *before):
        return True
    return text[before[1] - 1] in ".!?" and bool(_SOURCE.match(text, *line))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip())


def _split_block(text: str, low: int, high: int, language: str) -> Iterator[tuple[int, int]]:
    begin = low
    for at in _starts(text, low, high, language):
        yield begin, begin + len(text[begin:at].rstrip())
        begin = at
    yield begin, high


def _starts(text: str, low: int, high: int, language: str) -> list[int]:
    """Where a sentence begins after `low`, ascending."""
    found: list[int] = []
    at = low
    while at < high:
        end, is_end = _window(text, at, high)
        found += _library_starts(text[at:end], at, language)
        if is_end:
            found.append(end)
        at = end
    kept = {start for start in found if low < start < high and not _goes_on(text, low, start)}
    for place in _MAY_BE_END.finditer(text, low, high):
        if place.end() not in kept and _was_missed(text, low, place.start(), place.end()):
            kept.add(place.end())
    kept.update(place.end() for place in _GLUED.finditer(text, low, high) if not _goes_on(text, low, place.end()))
    return sorted(kept)


def _window(text: str, at: int, high: int) -> tuple[int, bool]:
    """Where to stop reading from `at`, and whether a sentence seems to end there."""
    if high - at <= WINDOW_CHARS:
        return high, True
    limit = at + WINDOW_CHARS
    ends = [found.end() for found in _END.finditer(text, at, limit) if found.end() < limit]
    if ends:
        return ends[-1], True
    while limit > at + WINDOW_CHARS // 2 and not text[limit - 1].isspace():
        limit -= 1
    return limit, False


def _library_starts(stretch: str, base: int, language: str) -> list[int]:
    starts = []
    at = 0
    for sentence in _segmented(language, _WIDE_BLANK.sub(" ", _ELISION.sub("ʼ", stretch))):
        visible = len(sentence) - len(sentence.lstrip())
        if at and visible < len(sentence):
            starts.append(base + at + visible)
        at += len(sentence)
    return starts


def _segmented(language: str, stretch: str) -> list[str]:
    """The library's sentences. It is Rust, whose faults are no Exception (1.0.32 has one at a wide blank before a full stop, hence
    `_WIDE_BLANK`): a stretch that it breaks down on is left to the rules here.
    """
    try:
        return list(sentencex.segment(language, stretch))
    except BaseException as error:
        if isinstance(error, Exception) or not is_fault(error):
            raise
        return [stretch]


def _goes_on(text: str, low: int, at: int) -> bool:
    """Whether the boundary that the library sees before `at` is none."""
    behind = text[max(low, at - LOOK_CHARS) : at]
    head = behind.rstrip()
    following = text[at : at + LOOK_CHARS].split(None, 1)[0]
    first = following.lstrip(_OPENERS)[:1]
    if not head:
        return False
    if head[-1] in _CLOSERS:
        return first.islower() or first in ",;"
    if head[-1] not in ".!?":
        return False
    token = head.split()[-1].lstrip(_OPENERS)
    if len(head) == len(behind):
        return not (_TIGHT.search(head) and _TIGHT_NEXT.match(text, at)) or _word(following) in DOMAINS or bool(_ADDRESS.search(token))
    before = head[: len(head) - len(token)].rstrip()
    return head[-1] == "." and _is_abbreviated(token[:-1], first, _word(following), begins=_is_ended(before))


def _is_ended(before: str) -> bool:
    """Whether a sentence ends there: nothing stands there, or a mark that is not an abbreviation's."""
    if not before or before[-1] in "!?;":
        return True
    word = before.split()[-1].lstrip(_OPENERS)[:-1].lower()
    return before[-1] == "." and word not in GOES_ON | BEFORE_FIGURES | MAY_END and not word.endswith("str")


def _word(following: str) -> str:
    word = _WORD.search(following)
    return word[0].lower() if word else ""


def _is_abbreviated(token: str, first: str, word: str, begins: bool) -> bool:
    """Whether the full stop after `token` shortens it only; `word` follows, beginning with `first`.

    `begins`: the token begins a sentence, as the number of a list within a line does.
    """
    low = token.lower()
    small = first.islower()
    if low in GOES_ON or (small and (token.endswith("..") or len(token) == 1 or _ROMAN.fullmatch(token))):
        return True
    if low in MAY_END:
        return not (first.isupper() and word in BEGINNERS)
    if low in BEFORE_FIGURES:
        return small or first.isdecimal()
    if token.isdecimal() and len(token) <= 2:
        return begins or word in MONTHS
    return "." in token and token[-2:-1] == "." and (small or first.isdecimal())


def _may_end(token: str) -> bool:
    """Whether a sentence may end in a word that the library takes for an abbreviation."""
    return token.lower() in MAY_END or (token.islower() and token.isalpha() and len(token) > 2 and token not in GOES_ON | BEFORE_FIGURES)


def _was_missed(text: str, low: int, start: int, end: int) -> bool:
    """Whether a sentence ends with the mark at `start` and begins at `end` although the library saw none."""
    head = text[max(low, end - LOOK_CHARS) : end].rstrip()
    following = text[end : end + LOOK_CHARS]
    if not head or not following.lstrip(_OPENERS)[:1].isupper():
        return False
    token = head.split()[-1].lstrip(_OPENERS)
    if text[start] == "…" or head[-1] in ")]":
        return not _goes_on(text, low, end)
    if text[start] == "." and head[-1] == ".":
        return bool(_ADDRESS.search(token)) or (_word(following) in BEGINNERS and _may_end(token[:-1]))
    return False
