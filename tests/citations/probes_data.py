"""Probe claims: short claims over invented sources, each labelled true or false by hand, to judge a support checker with.

A probe is one line of `probes/dutch.jsonl` or `probes/english.jsonl`. `faults` says what is wrong with a collection of them;
`probes` reads a file and refuses it where anything is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

Language = Literal["nl", "en"]
Half = Literal["tune", "judge"]
Kind = Literal["verbatim", "paraphrase", "merged", "wrong_number", "negation", "entity_swap", "extra_fact", "unrelated"]

FOLDER = Path(__file__).parent / "probes"
FILES: dict[Language, str] = {"nl": "dutch.jsonl", "en": "english.jsonl"}
KINDS: tuple[Kind, ...] = get_args(Kind)
HALVES: tuple[Half, ...] = get_args(Half)
TRUE_KINDS: tuple[Kind, ...] = ("verbatim", "paraphrase", "merged")
PER_KIND_AND_HALF = 10
CLAIM_WORDS = range(8, 31)
SOURCE_WORDS = range(80, 251)
TRIVIAL_WORDS = 1  # A verbatim claim may differ from its source in one small word, or give a number as a figure.
DUTCH_NUMBERS = ("één", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen", "tien", "twaalf", "half", "helft")
ENGLISH_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "half", "quarter")
NUMBER_WORDS = frozenset((*DUTCH_NUMBERS, *ENGLISH_NUMBERS))


class ProbeSource(NamedTuple):
    """A numbered source that the claim may cite."""

    n: int
    title: str
    text: str


class Probe(NamedTuple):
    """A claim with the sources it was written for, its label and, where it is false, what is false about it.

    `wrong` are the words of the claim that are false, `right` the words of a cited source that say how it is ("" where no
    source says anything). `elsewhere` is True where the false name or figure does stand in a cited source, about something
    else. `note` is for people.
    """

    id: str
    language: Language
    half: Half
    kind: Kind
    true: bool
    question: str
    cites: tuple[int, ...]
    claim: str
    wrong: str
    right: str
    elsewhere: bool
    note: str
    sources: tuple[ProbeSource, ...]

    @property
    def cited(self) -> str:
        """The texts of the cited sources, one after the other."""
        return "\n".join(source.text for source in self.sources if source.n in self.cites)


@cache
def probes(language: Language, half: Half | None = None) -> tuple[Probe, ...]:
    """The probes of a language, of one half if given. Raises ValueError naming the first faults of a file that has any."""
    lines = (FOLDER / FILES[language]).read_text(encoding="utf-8").splitlines()
    read = [probe_of(json.loads(line)) for line in lines]
    if found := list(faults(read)):
        raise ValueError(f"{FILES[language]} has {len(found)} faults: {'; '.join(found[:5])}")
    return tuple(probe for probe in read if half in (None, probe.half))


def probe_of(record: dict[str, Any]) -> Probe:
    """The probe in a record. Raises TypeError for a missing or surplus field."""
    sources = tuple(ProbeSource(**source) for source in record.pop("sources"))
    return Probe(cites=tuple(record.pop("cites")), sources=sources, **record)


def faults(collection: Sequence[Probe]) -> Iterator[str]:
    """Everything wrong with the probes of one language, in words."""
    ids = Counter(probe.id for probe in collection)
    yield from (f"{name} stands {count} times" for name, count in ids.items() if count > 1)
    claims = Counter(probe.claim.casefold() for probe in collection)
    yield from (f"the claim {claim!r} stands {count} times" for claim, count in claims.items() if count > 1)
    counts = Counter((probe.kind, probe.half) for probe in collection)
    for kind in KINDS:
        for half in HALVES:
            if (count := counts[kind, half]) != PER_KIND_AND_HALF:
                yield f"{count} instead of {PER_KIND_AND_HALF} of {kind} in {half}"
    halves = {half: {source.text for probe in collection if probe.half == half for source in probe.sources} for half in HALVES}
    yield from (f"both halves hold the source {text[:40]!r}" for text in sorted(halves["tune"] & halves["judge"]))
    for probe in collection:
        yield from (f"{probe.id}: {fault}" for fault in (*shape_faults(probe), *label_faults(probe)))


def shape_faults(probe: Probe) -> Iterator[str]:
    """What is wrong with the fields, sizes and numbers of a probe, apart from its label."""
    if probe.language not in FILES or probe.half not in HALVES or probe.kind not in KINDS:
        yield "language, half or kind is none of the known ones"
    if not (probe.id.startswith(f"{probe.language}-") and probe.question and probe.claim):
        yield "an id of its language, a question and a claim are needed"
    numbers = [source.n for source in probe.sources]
    if numbers != list(range(1, len(numbers) + 1)) or not 1 <= len(numbers) <= 3:
        yield f"sources are numbered {numbers}"
    if not probe.cites or not set(probe.cites) <= set(numbers) or len(set(probe.cites)) < len(probe.cites):
        yield f"cites {list(probe.cites)} of {numbers}"
    if len(probe.claim.split()) not in CLAIM_WORDS:
        yield f"the claim has {len(probe.claim.split())} words"
    yield from (f"[{s.n}] has {len(s.text.split())} words" for s in probe.sources if len(s.text.split()) not in SOURCE_WORDS)


def label_faults(probe: Probe) -> Iterator[str]:
    """Where the label of a probe cannot be right, as far as a program can tell."""
    if probe.true is not (probe.kind in TRUE_KINDS):
        yield f"{probe.kind} labelled {probe.true}"
    if probe.true and (probe.wrong or probe.right or probe.elsewhere):
        yield "true, with false words"
    if not probe.true and not probe.note:
        yield "false, without a note"
    if probe.kind == "verbatim" and len(strange := strange_words(probe)) > TRIVIAL_WORDS:
        yield f"verbatim, with words that the source has not: {strange}"
    if probe.kind in ("wrong_number", "negation", "entity_swap"):
        yield from swap_faults(probe)
    if probe.kind == "extra_fact":
        if not probe.wrong or not holds(probe.claim, probe.wrong):
            yield "the added words are not in the claim"
        if any(holds(source.text, probe.wrong) for source in probe.sources):
            yield "the added words are in a source"
    if probe.kind == "unrelated" and (probe.wrong or probe.right):
        yield "unrelated, with false words"


def swap_faults(probe: Probe) -> Iterator[str]:
    """What is wrong with a probe that says something else than its source."""
    if not probe.wrong or not holds(probe.claim, probe.wrong):
        yield f"{probe.wrong!r} is not in the claim"
    if not probe.right or not holds(probe.cited, probe.right):
        yield f"{probe.right!r} is not in a cited source"
    if holds(probe.claim, probe.right):
        yield f"the claim says {probe.right!r} too"
    if probe.kind == "wrong_number":
        if not figures(probe.wrong):
            yield f"{probe.wrong!r} holds no figure"
        if holds(probe.cited, probe.wrong):
            yield f"a cited source says {probe.wrong!r}"
        # A changed unit keeps its figure, which is then no new one.
        if bool((figures(probe.wrong) - figures(probe.right)) & figures(probe.cited)) is not probe.elsewhere:
            yield f"a figure of {probe.wrong!r} is {'not ' * probe.elsewhere}in a cited source"
    if probe.kind == "entity_swap" and holds(probe.cited, probe.wrong) is not probe.elsewhere:
        yield f"{probe.wrong!r} is {'not ' * probe.elsewhere}in a cited source"


def strange_words(probe: Probe) -> list[str]:
    """The words of the claim that its cited sources lack."""
    known = set(words(probe.cited))
    return [word for word in words(probe.claim) if word not in known]


def words(text: str) -> list[str]:
    """The words and figures of a text, casefolded; a figure keeps its decimals."""
    return re.findall(r"\d+(?:[.,]\d+)*|\w+", text.casefold())


def figures(text: str) -> set[str]:
    """The numbers in a text, in figures or as words."""
    return {word for word in words(text) if word[0].isdigit() or word in NUMBER_WORDS}


def holds(text: str, part: str) -> bool:
    """Whether the words of `part` stand in `text` one after the other."""
    return f" {' '.join(words(part))} " in f" {' '.join(words(text))} "
