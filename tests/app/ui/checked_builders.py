"""Checked answers made by hand: a claim per sentence, with the verdict that a test asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ctxasm.citations.checked import CheckedClaim, Claim, DroppedSource, Figures, Support
from ctxasm.citations.markers import parse_markers, resolve
from ctxasm.citations.report import CheckedAnswer
from ctxasm.model.results import Assembly
from ctxasm.model.support import Conflict

_SENTENCE = re.compile(r"[^.!?]+[.!?](?:\s*\[[^\]]*\])*")
_MARKER = re.compile(r"\s*\[[^\]]*\]")


def block_of(assembly: Assembly, number: int) -> tuple[int, str]:
    """Where block `number` begins in the context, and its text."""
    segments = [segment for segment in assembly.segments if segment.block == number]
    return segments[0].start, assembly.text[segments[0].start : segments[-1].end]


def support(assembly: Assembly, number: int, words: str, *, retrieved: bool | None = True) -> Support:
    """Where `words` stand in block `number`."""
    offset, text = block_of(assembly, number)
    start = text.index(words)
    return Support(number, start, start + len(words), 0.9, retrieved, offset + start, offset + start + len(words))


def conflict(assembly: Assembly, number: int, claim: str, source: str, kind: str = "number") -> Conflict:
    """`claim` in the answer against `source` in block `number`."""
    start = block_of(assembly, number)[1].index(source)
    return Conflict(kind, claim, source, number, start, start + len(source))


def claims_of(answer: str) -> list[Claim]:
    """A claim per sentence, with the markers inside it and right behind it."""
    events = parse_markers(answer)
    found = []
    for sentence in _SENTENCE.finditer(answer):
        start = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip())
        inside = [(at, event) for at, event in enumerate(events) if start <= event.start < sentence.end()]
        first = min((event.start for _, event in inside), default=sentence.end())
        cited = tuple(dict.fromkeys(number for _, event in inside for number in event.numbers))
        end = first if not answer[first : sentence.end()].strip(" []0123456789") else sentence.end()
        text = _MARKER.sub("", answer[start : sentence.end()]).strip()
        found.append(Claim(start, len(answer[:end].rstrip()), text, "sentence", tuple(at for at, _ in inside), cited))
    return found


def checked(assembly: Assembly, answer: str, judged: Sequence[dict[str, object]], *, marked: bool = True) -> CheckedAnswer:
    """`answer` with, for each sentence in order, the fields of its CheckedClaim (`verdict` at least)."""
    claims = tuple(CheckedClaim(claim, **{"score": 0.5, **fields}) for claim, fields in zip(claims_of(answer), judged, strict=True))
    markers = resolve(parse_markers(answer), assembly.citations) if marked else ()
    figures = Figures(len(claims), sum(len(c.claim.cited) for c in claims), 0.5, 2 / 3, 4 / 7, None)
    counts = dict(Counter(claim.verdict for claim in claims))
    return CheckedAnswer(assembly.query.query_id, answer, "lexical", 0.62, markers, claims, figures, counts, 3.2, marked=marked)


ANSWER = (
    "U bent welkom van 14 tot 20 uur [2]. De receptie is open van 8 tot 22 uur [2]. Een uur kost 2 euro [1]. "
    "Neem uw kaart en geld mee [2][1]. Honden mogen mee [2]. Bel gerust. Zie de folder [9]. Het museum is dicht [8]."
)
"""One sentence for most verdicts, over the corpus of `builders`."""


def of_every_kind(assembly: Assembly) -> CheckedAnswer:
    """ANSWER with a different verdict on each sentence."""
    hours = support(assembly, 2, "welkom van 14 tot 20 uur")
    price = support(assembly, 3, "Een uur kost 2 euro")
    card = support(assembly, 2, "Neem uw kaart mee", retrieved=False)._replace(score=0.5)
    clash = conflict(assembly, 2, "8 tot 22 uur", "8 tot 20 uur")
    return checked(
        assembly,
        ANSWER,
        [
            {"verdict": "supported", "support": (hours,)},
            {"verdict": "contradicted", "conflict": clash, "missing": ("22 uur",)},
            {"verdict": "elsewhere", "better": 3, "better_support": price, "missing": ("2 euro",)},
            {"verdict": "partly", "support": (card,), "missing": ("geld",), "idle": (1,)},
            {"verdict": "unsupported", "missing": ("honden",)},
            {"verdict": "uncited"},
            {"verdict": "unknown_marker", "unknown": (9,)},
            {"verdict": "dropped", "unknown": (8,), "dropped": (DroppedSource(8, "scan", "budget", "budget"),)},
        ],
    )
