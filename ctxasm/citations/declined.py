"""How answers decline, in English, Dutch and German, as patterns over a lowered sentence without markers and quotations.

Names in angle brackets stand for parts that several patterns share. `<gap>` are a few words that open no new clause: a
negation beyond "that", "dat", "dass" belongs to what a source says, not to whether it says it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, NamedTuple

from ctxasm.citations.markers import parse_markers
from ctxasm.text.language import OWN_REFUSALS
from ctxasm.text.sentences import sentence_spans

AnswerLanguage = Literal["nl", "en", "de"]

_ENGLISH: Mapping[str, str] = {
    "gap": r"(?:(?!that\b|if\b|whether\b|which\b|who\b|but\b)[\w'/-]+ ){0,14}?",
    "adv": r"(?:(?:explicitly|specifically|directly|clearly|actually|really|definitively|fully|currently|even|seem to|appear to|"
    r"itself|themselves|yet|either|reliably|accurately|unfortunately) ){0,2}",
    "given": r"(?:(?:provided|given|available|supplied|retrieved|above|following|cited|present|current|relevant|search|reference|"
    r"referenced|attached|source|context|text) )",
    "after": r"(?: (?:provided|given|available|supplied|above|here|at hand|i have|i was given|you provided))?",
    "article": r"(?:(?:the|this|these|those|any|all|your|my|of) )",
    "strong": r"<article>*(?:<given>*(?:contexts?|search results)|<given>+(?:sources?|documents?|texts?|passages?|information|excerpts?|"
    r"materials?|snippets?|articles?|content|results|data|knowledge base)|(?:documents?|texts?|passages?|information|excerpts?|"
    r"materials?|sources?) (?:provided|given|supplied|available|above|here|at hand))<after>(?! of\b)\b",
    "meta": r"(?:<strong>|<article>+(?:sources|documents|passages?|excerpts|snippets|materials)<after>(?! of\b)\b|"
    r"this (?:text|document|passage|source)(?! of\b)\b)",
    "in": r"(?:in|within|by|from|on the basis of|based on|using|with|anywhere in)",
    "be": r"(?:is|are|was|were|has been|have been|be)",
    "cannot": r"(?:cannot|could not)",
    "no": r"(?:(?:do|does|did|could|would|will) not|cannot|fails? to|failed to|never)",
    "none": r"(?:no|not enough|insufficient|not sufficient|not any|too little)",
    "say": r"(?:mention|state|say|specify|answer|address|indicate|discuss|describe|tell|explain|disclose|reveal|clarify|refer|identify|"
    r"name|note|confirm|detail|elaborate|make clear|make it clear|go into|cover|make any mention|make mention)(?:s|es)?\b",
    "hold": r"(?:(?:contain|include|have|offer|give|provide|present|show|list|support|make|hold)(?:s|es)?|has)\b",
    "info": r"(?:information|info|details?|answers?|mention|data|reference|references|evidence|indication|explanation|specifics|figures?|"
    r"sources?|content|context|knowledge)\b",
    "part": r"(?:mentioned|specified|stated|found|provided|given|included|answered|determined|addressed|discussed|listed|described|"
    r"disclosed|indicated|available|clear|covered|inferred|established|identified|explained|confirmed|named|present|contained|"
    r"deduced|revealed|evident|possible to <tell>)\b",
    "tell": r"(?:determine|answer|say|tell|find|know|infer|establish|identify|conclude|provide an answer)\b",
    "i tell": r"(?:find|locate|answer|determine|confirm|verify|identify|infer|provide|help|say|tell|give)\b",
    "question": r"(?:this|the|your|that) question\b",
    "based": r"(?:(?:based (?:solely |only )?on|according to|from|given|as per|per|going by|judging by|in) <strong>,? )",
}
_ENGLISH_FORMS = (
    r"^<meta> <no> <adv>(?:<say>(?! only\b| just\b)|<hold> (?:[\w'-]+ ){0,4}?<info>)",
    r"^<strong> <no> <adv><hold>",
    r"^<meta> (?:<hold>|says?|states?|mentions?) (?:absolutely )?(?:nothing\b|<none> (?:[\w'-]+ ){0,3}?<info>)",
    r"^<meta> lacks? (?:[\w'-]+ ){0,3}?<info>",
    r"^<meta> (?:is|are) (?:silent\b|not (?:sufficient|enough|clear)\b|insufficient\b)",
    r"^(?:none|neither) of <meta> <gap>(?:<say>|<hold>)",
    r"^nothing (?:[\w'-]+ ){0,3}?in <meta>",
    r"^<based>?[^,;]{0,160}?\b<be> not <adv><part>(?: [^,;]{0,100})? <in> <meta>",
    r"\b<cannot> be <adv><part> (?:[^,;]{0,100} )?<in> <meta>",
    r"^<based>[^,;]{0,120}?\b(?:<be> not|<cannot> be) <adv>(?:mentioned|specified|stated|answered|determined|addressed|indicated|inferred|"
    r"clear|possible to <tell>)\b(?! (?:by|before|until|without|with|through|via|using|during|in|on|at)\b)",
    r"^<based>?(?:it|this|that) (?:is|was|remains) (?:not (?:possible|clear|known)|impossible|unclear|unknown|uncertain)\b[^,;]{0,120}? "
    r"<meta>",
    r"^<based>(?:it|this|that) (?:is|was|remains) (?:(?:impossible|not possible) to <tell>|not clear|unclear)",
    r"^(?:it|this|that) is not in <meta>",
    r"^<based>?i (?:am|was) (?:unable|not able) to <adv><i tell>",
    r"^<based>?i (?:could not|cannot|did not) <adv><i tell>",
    r"^<based>?i (?:do not|did not) <adv>(?:find|see) (?:[\w'-]+ ){0,3}?<info>",
    r"^[^,;]{0,120}?\b(?:is|are|was|were) (?:missing|absent) from <meta>",
    r"^<based>?i (?:found|find|see) (?:nothing\b|<none> (?:[\w'-]+ )?<info>)",
    r"^<based>?(?:i|we) (?:do not <adv>have (?:[\w'-]+ ){0,3}?<info>|have <none> (?:[\w'-]+ )?<info>)",
    r"^<based>?i do not know\b",
    r"^(?:unable|not able) to (?:find|answer|determine)\b",
    r"^<based>?there (?:is|was|are|were) <none> (?:(?:specific|relevant|explicit|direct|clear|further|additional|available|sufficient) )"
    r"{0,2}(?:information|details?)(?: (?:about|on|regarding|concerning|available|given|provided|to|as|that|whether|which|how|when|where|"
    r"who|here)\b|$)",
    r"^<based>?there (?:is|was) (?:not enough|insufficient) (?:context|information|data) to <tell>",
    r"^<based>?(?:there (?:is|was|are|were) )?<none> (?:[\w'-]+ ){0,2}?<info> [^,;]{0,120}?\bin <meta>",
    r"^<based>there (?:is|was|are|were) <none> (?:[\w'-]+ ){0,2}?<info>",
    r"^there (?:is|was) no answer (?:to <question>|available|here)",
    r"^no (?:(?:relevant|specific|further) )?(?:information|content|answer|answers|details) [^,;]{0,120}?\b(?:is|was|were|are|could be|"
    r"can be) (?:found|available|given|provided|mentioned)\b",
    r"^<question> (?:<cannot> be|<be> not) (?:fully )?answered\b(?! by\b)",
    r"^the answer (?:to <question> )?(?:<cannot>|is not|was not)(?: be)? (?:found|given|determined|available|provided|in <meta>)",
    r"^<strong> (?:provided |given )?(?:is|are|was) (?:not sufficient|insufficient|not enough) to\b",
)
_DUTCH: Mapping[str, str] = {
    "gap": r"(?:(?!dat\b|of\b|die\b|wel\b|alleen\b|aan\b|maar\b|waar\b)[\w'/-]+ ){0,9}?",
    "given": r"(?:(?:gegeven|beschikbare|aangeleverde|verstrekte|bijgevoegde|bovenstaande|aangeboden|meegeleverde|gevonden|opgehaalde|"
    r"voorliggende|aanwezige|huidige|hier gegeven) )",
    "after": r"(?: (?:die|dat) (?:hier )?(?:gegeven|beschikbaar|aangeleverd) (?:is|zijn))?",
    "strong": r"(?:(?:de|het|deze|dit|die|mijn|alle) )*(?:<given>*(?:context|zoekresultaten|bronteksten)|<given>+(?:bron|bronnen|document|"
    r"documenten|tekst|teksten|passages?|fragmenten|informatie|gegevens|stukken|materiaal|artikelen|inhoud))<after>(?! van\b)\b",
    "meta": r"(?:<strong>|(?:(?:de|deze|die|mijn|alle) )+(?:bronnen|documenten|teksten|passages|fragmenten)<after>(?! van\b)\b)",
    "not": r"(?:niet(?! (?:alleen|enkel|slechts)\b)(?! te (?!zeggen|bepalen|beantwoorden|vinden|achterhalen))|niets|geen|nergens|"
    r"onvoldoende|niet genoeg|te weinig|onmogelijk)\b",
    "say": r"(?:geeft|geven|noemt|noemen|vermeldt|vermelden|zegt|zeggen|beantwoordt|beantwoorden|beschrijft|beschrijven|specificeert|"
    r"specificeren|meldt|melden|vertelt|vertellen|bespreekt|bespreken|behandelt|behandelen|biedt|bieden|maakt|maken|gaat|gaan)\b",
    "hold": r"(?:bevat|bevatten|heeft|hebben|levert|leveren)\b",
    "info": r"(?:informatie|antwoord|antwoorden|gegevens|details|uitleg|aanwijzing|aanwijzingen|vermelding|melding|verwijzing)\b",
    "part": r"(?:genoemd|vermeld|gegeven|beschreven|besproken|gemeld|gezegd|gespecificeerd|aangegeven|gevonden|te vinden|terug te vinden|"
    r"opgenomen|beantwoord|behandeld|beschikbaar|duidelijk|te beantwoorden|te zeggen|te bepalen|op te maken|af te leiden|informatie)\b",
    "tell": r"(?:beantwoord\w*|antwoord\w*|zeggen|bepalen|vaststellen|vinden|gevonden|halen|afleiden|terugvinden|teruggevonden|"
    r"geven|achterhalen|opmaken|"
    r"helpen|informatie|gegevens)\b",
    "question": r"(?:deze|de|uw|je|die|jouw) vraag\b",
    "based": r"(?:op basis van|op grond van|aan de hand van|volgens|afgaand op|met|uit|in|binnen) <meta>",
}
_DUTCH_FORMS = (
    r"^<meta> <say> <gap><not>",
    r"\b<say> <meta> <gap><not>",
    r"^<strong> <hold> <gap><not>",
    r"\b<hold> <strong> <gap><not>",
    r"^<meta> <hold> <gap><not> (?:[\w'-]+ ){0,2}?<info>",
    r"\b<hold> <meta> <gap><not> (?:[\w'-]+ ){0,2}?<info>",
    r"\bgeen (?:enkele |van )<meta> (?:<say>|<hold>)",
    r"\b(?:in|binnen|uit) <meta> (?:staat|staan|blijkt|lees ik|zie ik|vind ik|komt|komen) <gap><not>",
    r"\b(?:in|binnen|door|uit) <meta> (?:wordt|worden|is|zijn|werd|werden|valt|kan|kon) <gap><not> <gap>(?:<part>|<tell>)",
    r"\b(?:staat|staan|komt|komen|blijkt) <gap><not> <gap>(?:in|binnen|uit|voor in) <meta>",
    r"\b(?:wordt|worden|is|zijn|werd|werden|valt) <gap><not> <gap>(?:<part>|<info>) (?:[^,;]{0,100} )?(?:in|binnen|door|uit|op "
    r"basis van|met) <meta>",
    r"\b(?:wordt|worden|is|zijn|werd|werden) <gap>(?:in|binnen|door) <meta> <gap><not> <gap>(?:<part>|<info>)",
    r"\b<info> [^,;]{0,120}?\b(?:ontbreekt|ontbreken) in <meta>",
    r"\b(?:wordt|worden|werd|werden|is|zijn) niet (?:in|binnen|door) <meta> <part>",
    r"\b(?:staat|staan|komt|komen) <gap>(?:in|binnen) <meta> <not>",
    r"^<based> (?:kan|kon|is|valt|kunnen|weet|heb|vind) <gap><not> <gap>(?:<tell>|duidelijk|te <tell>)",
    r"\bik (?:kan|kon|heb) (?:dat |dit )?<gap><not> <gap><tell>",
    r"\b(?:kan|kon|heb) ik (?:dat |dit )?<gap><not> <gap><tell>",
    r"\b(?:ik (?:vind|vond|zie|heb)|(?:vind|vond|zie|heb) ik) <gap>(?:niets\b|(?:geen|onvoldoende|te weinig) (?:[\w'-]+ )?<info>)",
    r"\b(?:ik beschik|beschik ik) (?:hierover |daarover )?(?:niet over|over (?:geen|onvoldoende)) (?:[\w'-]+ )?<info>",
    r"^(?:ik weet (?:het |dit |dat )?niet\b|(?:dat|dit|het) weet ik (?:helaas )?niet\b)",
    r"^(?:wij|we) (?:hebben|beschikken over) (?:geen|onvoldoende) (?:informatie|gegevens) (?:over|om)\b",
    r"\ber (?:is|zijn|was) (?:[\w'-]+ )?(?:geen|onvoldoende|niet genoeg|te weinig) (?:(?:relevante|specifieke|verdere|concrete|directe) )?"
    r"(?:informatie|gegevens|antwoord)(?: (?:beschikbaar|over|om|gevonden|te vinden|voorhanden|bekend|op|voor|hierover|daarover|"
    r"in <meta>)\b|$)",
    r"^(?:over|voor|hierover|daarover|hierop|daarop)\b[^,;]{0,80}? ?(?:is|zijn|wordt|staat) (?:er )?(?:helaas )?(?:geen|onvoldoende|niets) "
    r"(?:[\w'-]+ )?(?:(?:informatie|gegevens|antwoord) )?(?:beschikbaar|gevonden|te vinden|gegeven|vermeld|bekend)\b",
    r"^geen (?:relevante )?(?:informatie|inhoud|gegevens|antwoord) (?:[\w'-]+ ){0,4}?(?:gevonden|beschikbaar)\b",
    r"^<question> (?:kan|kon|is|valt|kunnen) <gap><not> <gap>(?:beantwoord\w*|te beantwoorden)",
    r"^het antwoord (?:op <question> )?(?:ontbreekt|(?:staat|is|kan|wordt) <gap><not> <gap>(?:<part>|in <meta>))",
)
_GERMAN: Mapping[str, str] = {
    "gap": r"(?:(?!dass\b|ob\b|nur\b|an\b|aber\b|sondern\b)[\w'/-]+ ){0,9}?",
    "given": r"(?:(?:gegeben|vorliegend|bereitgestellt|verfügbar|angegeben|obig|vorhanden|gefunden|aktuell|zur verfügung gestellt|"
    r"zur verfügung stehend)(?:e[nmrs]?)? )",
    "strong": r"(?:(?:der|die|das|den|dem|des|diese[rnms]?|allen|alle|meine[nr]?) )*(?:<given>*(?:kontexte?s?|suchergebnissen?)|<given>+"
    r"(?:quellen?|dokumente?n?|texte?n?|textes|textstellen|informationen|unterlagen|passagen|ausschnitten?))(?! (?:der|des|von|"
    r"einer|eines)\b)\b",
    "meta": r"(?:<strong>|(?:(?:der|die|den|diese[rnms]?|allen|alle) )+(?:quellen|dokumenten?|unterlagen|texten?|passagen|textstellen|"
    r"ausschnitten?)(?! (?:der|des|von|einer|eines)\b)\b)",
    "not": r"(?:nicht(?! (?:nur|allein|zu)\b)|nichts|keine?[nrms]?|nirgends|unzureichende?)\b",
    "say": r"(?:nennt|nennen|erwähnt|erwähnen|gibt|geben|sagt|sagen|macht|machen|beantwortet|beantworten|beschreibt|beschreiben|liefert|"
    r"liefern|bietet|bieten|spezifiziert|geht|gehen)\b",
    "hold": r"(?:enthält|enthalten|beinhaltet|beinhalten|hat|haben)\b",
    "info": r"(?:angaben?|informationen?|antwort|antworten|hinweise?|details|auskunft|daten|erwähnung)\b",
    "part": r"(?:erwähnt|genannt|angegeben|beschrieben|gefunden|beantwortet|aufgeführt|gesagt|enthalten|zu finden|ersichtlich|beantworten|"
    r"beantwortbar|spezifiziert|ausgeführt|thematisiert|verfügbar)\b",
    "tell": r"(?:beantwort\w*|antwort\w*|sagen|bestimmen|feststellen|finden|gefunden|entnehmen|ableiten|helfen|geben|angaben|"
    r"information\w*)\b",
    "question": r"(?:die|diese|ihre|deine) frage\b",
    "based": r"(?:(?:auf (?:der )?(?:grundlage|basis)|anhand|laut|gemäß|nach|basierend auf|aus|im|in|mit|aufgrund)(?: von)?) <meta>",
}
_GERMAN_FORMS = (
    r"^<meta> <say> <gap><not>",
    r"\b<say> <meta> <gap><not>",
    r"^<strong> <hold> <gap><not>",
    r"\b<hold> <strong> <gap><not>",
    r"(?:^<meta> <hold>|\b<hold> <meta>) <gap><not> (?:[\w'-]+ ){0,2}?<info>",
    r"^keine[rs]? (?:von )?<meta> (?:<say>|<hold>)",
    r"^<based> (?:steht|stehen|findet sich|finden sich|geht|gehen|gibt es|finde ich) <gap><not>",
    r"^<based> (?:wird|werden|ist|sind|kann|konnte|lässt sich|lassen sich) <gap><not> <gap>(?:<part>|<tell>)",
    r"\b(?:wird|werden|wurde|wurden|ist|sind|steht|stehen|findet sich|geht) <gap>(?:im|in|aus|von|"
    r"mit) <meta> <gap><not>(?: <gap><part>| hervor|$)",
    r"\b(?:wird|werden|wurde|wurden|ist|sind|steht|stehen|findet sich) <gap><not> <gap>(?:im|in|aus|von) <meta>",
    r"\b(?:ich (?:kann|konnte|habe)|(?:kann|konnte|habe) ich) <gap><not> <gap><tell>",
    r"\b(?:ich (?:finde|fand|sehe|habe)|(?:finde|fand|sehe|habe) ich) <gap>(?:nichts\b|keine?n? (?:[\w'-]+ )?<info>)",
    r"^(?:das|dies|es) weiß ich (?:leider )?nicht\b|^ich weiß (?:es |das |die antwort )?nicht\b",
    r"\bes (?:liegen|gibt|sind|stehen) <gap>(?:keine|nicht genügend|nicht genug|zu wenige) (?:[\w'-]+ )?<info>"
    r"(?: (?:zu|zur|zum|über|vor|darüber|im|in|für|hierzu|dazu|verfügbar)\b|$)",
    r"^<question> (?:kann|konnte|lässt sich|ist) <gap>nicht <gap>(?:beantwort\w*|zu beantworten)",
    r"^keine (?:relevanten )?(?:informationen|inhalte|angaben|antwort) <gap>(?:gefunden|verfügbar|vorhanden)\b",
    r"^(?:hierzu|dazu|darüber|hierüber) (?:gibt es|liegen|finden sich) <gap>(?:keine|nichts) ?",
)
_NEGATION: Mapping[AnswerLanguage, str] = {
    "en": r"\b(?:not?|cannot|nothing|none|neither|never|unable|fail(?:s|ed)?|lacks?|missing|absent|unclear|unknown|uncertain|impossible|"
    r"insufficient|silent|too little)\b",
    "nl": r"\b(?:niet|niets|geen|nergens|onvoldoende|te weinig|onmogelijk|ontbre\w+)\b",
    "de": r"\b(?:nichts?|keine?[nrms]?|nirgends|unzureichende?|zu wenige)\b",
}
_WORDS: Mapping[AnswerLanguage, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "nl": (_DUTCH, _DUTCH_FORMS),
    "en": (_ENGLISH, _ENGLISH_FORMS),
    "de": (_GERMAN, _GERMAN_FORMS),
}


class Forms(NamedTuple):
    """The patterns of one language: what every refusal holds, how it declines, and what names the context or the question."""

    negation: re.Pattern[str]
    declining: tuple[re.Pattern[str], ...]
    meta: re.Pattern[str]


@cache
def forms_of(language: AnswerLanguage) -> Forms:
    """The compiled patterns of a language."""
    words, forms = _WORDS[language]

    def spelled(pattern: str) -> str:
        while (named := re.sub(r"<([a-z ]+)>", lambda match: f"(?:{words[match[1]]})", pattern)) != pattern:
            pattern = named
        return pattern

    meta = re.compile(spelled(r"\b(?:<meta>|<question>)"))
    return Forms(re.compile(_NEGATION[language]), tuple(re.compile(spelled(form)) for form in forms), meta)


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
