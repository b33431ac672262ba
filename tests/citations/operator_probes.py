"""Probes of single words that turn a claim: written by hand over invented texts, and made by rule out of real ones.

Each is a claim that cites one text, true or false. `unread` of them, a third by a digest of the text, are for reporting only: nobody
looks at which of those come out wrong; those made out of other texts (`elsewhere`) are for reporting altogether.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

from ctxasm.data.files.answers import read_answers
from ctxasm.text.sentences import sentence_spans
from tests.citations.probes_data import FOLDER
from tests.real_data import real_folder

Third = Literal["read", "unread"]
WRITTEN = FOLDER / "operators.jsonl"
LIMITS = FOLDER / "limits.jsonl"
BLIND = FOLDER / "blind.jsonl"
LATER = FOLDER / "later.jsonl"
LONG = FOLDER / "long.jsonl"
CLOSE = FOLDER / "close.jsonl"
EVEN = FOLDER / "even.jsonl"
ANEW = FOLDER / "anew.jsonl"
ANEW = FOLDER / "anew.jsonl"
SAMPLE_PAGES = Path(__file__).parents[2] / "sample_data" / "sources"
TRUE_KINDS = ("verbatim", "merged", "paraphrase")
MOST_PER_KIND = 60
"""Of a rule, in one language and part."""


class OperatorProbe(NamedTuple):
    """A claim over one source. `kind` is the sort of word that is wrong, or how a true claim was made."""

    language: str
    kind: str
    true: bool
    claim: str
    text: str

    @property
    def third(self) -> Third:
        return third_of(self.text)


def third_of(text: str) -> Third:
    """Whether a text belongs to the third that nobody reads."""
    return "unread" if int(hashlib.sha256(text.encode()).hexdigest(), 16) % 3 == 0 else "read"


@cache
def written(third: Third, file: Path = WRITTEN) -> tuple[OperatorProbe, ...]:
    """The probes of a file that were written by hand; without those over texts that are not there."""
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(
        OperatorProbe(record["language"], kind, label == "true", claim, text)
        for record in records
        if (text := text_of(record)) is not None and third_of(text) == third
        for label in ("true", "false")
        for kind, claim in record[label]
    )


def text_of(record: dict[str, str]) -> str | None:
    """The text of a line: its own, a page of the sample, or a passage of the real data (None without it)."""
    if "sample" in record:
        return next(SAMPLE_PAGES.rglob(record["sample"])).read_text(encoding="utf-8").split("\n---\n", 1)[1].strip()
    return record["text"] if "real" not in record else _passages().get(record["real"])


@cache
def _passages() -> dict[str, str]:
    """The sources of cited-hagrid and the chunks of debfaq-nl, by data set, query or document, and number."""
    folder = real_folder()
    if folder is None:
        return {}
    answers = [asked.answer for asked in read_answers(folder / "cited-hagrid").answers]
    chunks = [json.loads(line) for line in (folder / "debfaq-nl" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        **{f"cited-hagrid/{answer.query_id}/{source['n']}": source["text"] for answer in answers for source in answer.sources},
        **{f"debfaq-nl/{chunk['document_id']}/{chunk['chunk_index']}": chunk["text"] for chunk in chunks},
    }


Edit = Callable[[str, Random], str | None]
_MONTHS = {"en": "May", "nl": "mei"}


def _replace(*pairs: tuple[str, str]) -> Edit:
    """The first pattern that is found, replaced once; a word keeps its capital."""
    rules = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), put) for pattern, put in pairs]

    def edit(text: str, _: Random) -> str | None:
        for pattern, put in rules:
            if found := pattern.search(text):
                new = found.expand(put)
                new = new[:1].upper() + new[1:] if found.group()[:1].isupper() else new
                changed = text[: found.start()] + new + text[found.end() :]
                return " ".join(changed.split()).replace(" ,", ",")
        return None

    return edit


def _swap(pattern: str, *, alike: bool = False) -> Edit:
    """Two different matches change places; `alike`: of as many characters."""
    found_by = re.compile(pattern)

    def edit(text: str, random: Random) -> str | None:
        found = [one for one in found_by.finditer(text) if one.start() > 0]
        pairs = [
            (one, other)
            for at, one in enumerate(found)
            for other in found[at + 1 :]
            if one.group() != other.group() and (not alike or len(one.group()) == len(other.group()))
            if one.group() not in other.group() and other.group() not in one.group()
            if not re.fullmatch(r",? (?:and|en|or|of|&)? ?", text[one.end() : other.start()])
        ]
        if not pairs:
            return None
        one, other = random.choice(pairs)
        return text[: one.start()] + other.group() + text[one.end() : other.start()] + one.group() + text[other.end() :]

    return edit


_NAME = r"(?<![.!?:\"“(] )\b[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*\b"
EDITS: dict[str, dict[str, Edit]] = {
    "en": {
        "modal": _replace(("may|can", "must"), ("must|have to|has to", "may"), ("should", "may")),
        "quantifier": _replace(
            ("some|most|many|several|a few", "all"), ("often|usually|sometimes|generally", "always"), ("all|every|each", "some")
        ),
        "negation": _replace(
            ("(is|was|are|were|has|have|can|could|did|does) not|cannot", r"\1"), ("(is|was|are|were|can|must)", r"\1 not")
        ),
        "time": _replace(("before|prior to", "after"), ("after", "before"), ("until", "since"), ("since", "until")),
        "hedge": _replace(
            (r"probably|possibly|allegedly|perhaps|supposedly|reportedly", ""),
            ("(?:is|was) (?:believed|thought|said|claimed|considered) to (?:be|have been)", "was"),
            ("may have been|might have been", "was"),
        ),
        "comparison": _replace(
            ("more than", "less than"),
            ("less than|fewer than", "more than"),
            ("at least", "at most"),
            ("up to|at most", "at least"),
            ("over(?= [0-9])", "under"),
        ),
        "unit": _replace(
            (r"(?<=[0-9] )(?:km|kilometres|kilometers)", "miles"),
            (r"(?<=[0-9] )(?:miles|feet|metres|meters|m)", "km"),
            (r"(?<=[0-9] )(?:years|months|weeks)", "days"),
            (r"(?<=[0-9] )(?:days|hours|minutes)", "years"),
        ),
        "date": _replace((r"in ((?:1[5-9]|20)\d\d)", rf"on 7 {_MONTHS['en']} \1")),
        "condition": _replace((r"If [^,]{8,60}, (\w)", r"\1")),
        "cause": _replace(("because of|due to", "despite"), ("caused by|results from", "the cause of"), ("causes", "is caused by")),
        "opposite": _replace(
            ("increased", "decreased"),
            ("decreased", "increased"),
            ("larger|higher|longer|greater", "smaller"),
            ("north(ern)?", r"south\1"),
            ("first", "last"),
        ),
        "exception": _replace(("except(?: for)?|excluding|other than", "including")),
        "pairing": _swap(r"\b\d[\d,.]*\d\b|\b\d\b", alike=True),
        "roles": _swap(_NAME),
    },
    "nl": {
        "modal": _replace(("mag|kan|kunt", "moet"), ("moet", "mag"), ("mogen|kunnen", "moeten"), ("moeten", "mogen")),
        "quantifier": _replace(("sommige|enkele|de meeste|veel", "alle"), ("vaak|meestal|soms|doorgaans", "altijd"), ("alle", "sommige")),
        "negation": _replace(
            ("(is|was|zijn|kan|kunt|mag|moet|wordt|worden|heeft|hebt|hebben) niet", r"\1"),
            ("geen", "een"),
            ("(is|was|mag|wordt)", r"\1 niet"),
        ),
        "time": _replace(("voordat", "nadat"), ("nadat", "voordat"), (r"tot(?= \d)", "vanaf"), ("vanaf", "tot"), (r"(?<!\w )sinds", "tot")),
        "hedge": _replace(("waarschijnlijk|wellicht|vermoedelijk|misschien", "")),
        "comparison": _replace(
            ("meer dan", "minder dan"),
            ("minder dan", "meer dan"),
            ("minstens|minimaal|ten minste", "hoogstens"),
            ("maximaal|hoogstens|ten hoogste", "minstens"),
        ),
        "unit": _replace(
            (r"(?<=[0-9] )(?:jaar|maanden|weken)", "dagen"),
            (r"(?<=[0-9] )(?:dagen|uur|minuten)", "maanden"),
            (r"(?<=[0-9] )(?:kB|MB|GB)", "TB"),
        ),
        "date": _replace((r"in ((?:1[5-9]|20)\d\d)", rf"op 7 {_MONTHS['nl']} \1")),
        "condition": _replace((r"(?:Als|Wanneer|Indien) [^,]{8,60}, (\w)", r"\1")),
        "cause": _replace(("omdat|doordat", "hoewel")),
        "exception": _replace(("behalve|met uitzondering van|uitgezonderd", "inclusief")),
        "pairing": _swap(r"\b\d[\d,.]*\d\b|\b\d\b", alike=True),
        "roles": _swap(_NAME),
    },
}


@cache
def made(third: Third) -> tuple[OperatorProbe, ...]:
    """Probes made out of sentences of real texts by the rules of EDITS, the same every time. Empty where the texts are not there."""
    return tuple(
        probe for language, texts in _real_texts().items() for probe in _few(language, [text for text in texts if third_of(text) == third])
    )


@cache
def elsewhere() -> tuple[OperatorProbe, ...]:
    """The same out of articles of medicine and speeches, which no gate was written over. Empty where they are not there."""
    folder = real_folder()
    if folder is None:
        return ()
    chunks = [json.loads(line) for line in (folder / "chunkeval" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [chunk["text"] for chunk in chunks if chunk["document_id"].startswith(("pubm", "stat"))]
    Random(0).shuffle(texts)
    return tuple(_few("en", texts))


def _few(language: str, texts: Sequence[str]) -> Iterator[OperatorProbe]:
    counts: Counter[str] = Counter()
    for text in texts:
        for probe in _of_text(language, text):
            counts[probe.kind] += 1
            if counts[probe.kind] <= MOST_PER_KIND:
                yield probe


def _real_texts() -> dict[str, list[str]]:
    folder = real_folder()
    if folder is None:
        return {}
    english = [source["text"] for asked in read_answers(folder / "cited-hagrid").answers for source in asked.answer.sources]
    dutch = [json.loads(line)["text"] for line in (folder / "debfaq-nl" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {"en": list(dict.fromkeys(english)), "nl": list(dict.fromkeys(dutch))}
    for each in texts.values():
        Random(0).shuffle(each)
    return texts


def _of_text(language: str, text: str) -> Iterator[OperatorProbe]:
    """At most one verbatim, one merged and two false claims of a text."""
    random = Random(text)
    spans = [text[start:end].strip() for start, end in sentence_spans(text)]
    whole = [one for one in spans if 8 <= len(one.split()) <= 30 and re.fullmatch(r"[A-Z][^\n\[\]{}<>|`=_#*\"“”]+[a-z0-9]\.", one)]
    if len(whole) < 2:
        return
    yield OperatorProbe(language, "verbatim", True, random.choice(whole), text)
    one, other = random.sample(whole, 2)
    yield OperatorProbe(language, "merged", True, f"{one[:-1]}{', and' if language == 'en' else ', en'} {other}", text)
    for kind in random.sample(sorted(EDITS[language]), len(EDITS[language])):
        claims = [changed for one in whole if (changed := EDITS[language][kind](one, random)) and changed != one]
        if claims:
            yield OperatorProbe(language, kind, False, random.choice(claims), text)
