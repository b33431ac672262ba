"""Which sentences of an answer decline to answer: the tool's own refusals to the letter, and how models put it otherwise.

The rule: a sentence declines when someone who answers (I) or what the answer stands on (the context, the sources, the given
documents, information about the question) is said not to find, hold, mention or answer. Three things keep it precise:

- "the documents" are what the answer stands on, "the document of the court" or "the source of the river" are not;
- the negation must belong to the finding or mentioning: what a source says of the world ("the context says that the clinic
  does not open") is a statement like any other;
- what a sentence adds behind "but", "except", "which", "maar", "aber" or a semicolon must decline too, and a sentence that cites a source
  declines only if it names the context or the question.

A refusal that is missed is judged as a claim, which is seen; a claim that is taken for a refusal would escape judgement. Of 100
refusals written without looking at the patterns, 82 were recognised, and of 101 statements none (they are among the tests,
the misses as far as a general pattern covers them); of 44,000 sentences of real documents none was taken for a refusal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from ctxasm.citations.declined_forms import AnswerLanguage, forms_of
from ctxasm.citations.markers import parse_markers
from ctxasm.text.refusals import OWN_REFUSALS
from ctxasm.text.sentences import sentence_spans

LONGEST_REFUSAL = 400
"""A longer sentence, in characters, says more than that it cannot answer."""
_LANGUAGES: tuple[AnswerLanguage, ...] = ("en", "nl", "de")
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘‛´ʼ", "'") | dict.fromkeys("“”„‟«»", '"'))
_ITEM = re.compile(r"^\s*(?:[-*+•>#]+|\d{1,3}[.)])\s+")
_EMPHASIS = re.compile(r"[*~`]+|(?<!\w)_+|_+(?!\w)")
_CONTRACTIONS = (
    ("can't", "cannot"),
    ("can not", "cannot"),
    ("won't", "will not"),
    ("n't", " not"),
    ("i'm", "i am"),
    ("there's", "there is"),
    ("it's", "it is"),
    ("that's", "that is"),
)
_QUOTATION = re.compile(r'"[^"]*"')
_LEAD = re.compile(
    r"^(?:unfortunately|however|sorry|i am sorry|i am afraid|as an ai(?: model| assistant)?|i apologi[sz]e|my apologies|regrettably|"
    r"therefore|thus|so|hence|also|and|but|yet|overall|still|moreover|additionally|(?:please )?note that|it (?:seems|appears)(?: that)?|"
    r"as such|in short|helaas|het spijt me|excuses|echter|maar|en|dus|daarom|ook|verder|daarnaast|leider|entschuldigung|"
    r"(?:es )?tut mir leid|jedoch|allerdings|aber|und|daher|auch|zudem)\b(?:,? (?:but|maar|aber)\b)?[,:]? *"
)
_CONTRAST = re.compile(
    r"; | [–—-] |,? (?:but|except|other than|apart from|maar|behalve|aber|sondern|außer) |, (?:however|though|although|yet|while|whereas|"
    r"so|which|echter|hoewel|terwijl|dus|jedoch|doch|während|obwohl|daher) "
)
_POLITE_WORDS = 4


def is_declined(text: str, language: AnswerLanguage | None = None, *, cited: bool | None = None) -> bool:
    """Whether a sentence says that there is no answer. `language` None: in any of the three.

    `cited` says whether it cites a source (None: whether markers stand in it). Linear in the length of `text`.
    """
    if len(text) > LONGEST_REFUSAL * 2:
        return False
    markers = parse_markers(text)
    bare = _bare(text, tuple((marker.start, marker.end) for marker in markers))
    if not bare or len(bare) > LONGEST_REFUSAL:
        return False
    if bare in _own():
        return True
    languages = _LANGUAGES if language is None else (language,)
    return any(_declines(bare, asked, bool(markers) if cited is None else cited) for asked in languages)


def is_refusal(answer: str, language: AnswerLanguage | None = None) -> bool:
    """Whether a whole answer does nothing but decline."""
    spans = _stretches(answer)
    return bool(spans) and len(declined_spans(answer, language, spans)) == len(spans)


def declined_spans(
    answer: str, language: AnswerLanguage | None = None, sentences: Iterable[tuple[int, int]] | None = None
) -> tuple[tuple[int, int], ...]:
    """The sentences of an answer that decline, as (start, end) in its characters. `sentences` default to `sentence_spans`."""
    stretches = _stretches(answer) if sentences is None else sentences
    return tuple((start, end) for start, end in stretches if is_declined(answer[start:end], language))


def _stretches(answer: str) -> list[tuple[int, int]]:
    """The sentences of an answer; what holds nothing but markers belongs to the sentence before."""
    markers = [(marker.start, marker.end) for marker in parse_markers(answer)]
    found: list[tuple[int, int]] = []
    at = 0
    for start, end in sentence_spans(answer):
        plain, read = list[str](), start
        while at < len(markers) and markers[at][0] < end:
            plain.append(answer[read : max(read, markers[at][0])])
            read, at = max(read, markers[at][1]), at + 1
        if any(char.isalpha() for char in "".join([*plain, answer[read:end]])):
            found.append((start, end))
        elif found:
            found[-1] = (found[-1][0], end)
    return found


def _bare(text: str, markers: tuple[tuple[int, int], ...] = ()) -> str:
    """The words of a sentence: lowered, without markers, emphasis, quotation marks around it, and what is quoted inside."""
    for start, end in reversed(markers):
        text = f"{text[:start]} {text[end:]}"
    text = unicodedata.normalize("NFKC", text).lower().translate(_APOSTROPHES)
    text = _EMPHASIS.sub("", _ITEM.sub("", text))
    text = " ".join(text.split()).strip("\"' ")
    text = _QUOTATION.sub('""', text).rstrip(".!?…:;, ").strip("\"' ")
    for short, full in _CONTRACTIONS:
        text = text.replace(short, full)
    return re.sub(r" +([,.;:])", r"\1", text).rstrip(".!?…:;, ")


@cache
def _own() -> frozenset[str]:
    return frozenset(_bare(text) for text in OWN_REFUSALS)


def _declines(bare: str, language: AnswerLanguage, cited: bool) -> bool:
    forms = forms_of(language)
    if not forms.negation.search(bare) or (cited and not forms.meta.search(bare)):
        return False
    parts = [part for part in _CONTRAST.split(bare) if part]
    declining = [any(form.search(_led(part)) for form in forms.declining) for part in parts]
    polite = [len(part.split()) <= _POLITE_WORDS and _LEAD.match(part) is not None for part in parts]
    return any(declining) and all(declines or lead for declines, lead in zip(declining, polite, strict=True))


def _led(part: str) -> str:
    """A part without the words that lead into it."""
    while (lead := _LEAD.match(part)) and lead.end() < len(part):
        part = part[lead.end() :]
    return part
