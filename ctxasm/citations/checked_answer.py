"""A checked answer, and its JSON: strict, and the same for the same answer, `elapsed_ms` aside.

Offsets are characters: of a marker and a claim in the answer; of a support in its source's own text (for a block of a context: the whole
rendered block, header included), and with their prefix in the context, the chunk or the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxasm.citations.axes import axes_of
from ctxasm.citations.checked import Addressed, CheckedClaim, Disputed, Figures, Share, Support, Verdict
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.citations.summary import summary_dict
from ctxasm.model.support import Spent
from ctxasm.text.markers.grammar import Reading


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with all its markers and claims. `verdicts` counts the judged claims by verdict.

    `addressed` says whether it may answer its question (None: no question, nothing stated, or another language). `passages` are those
    that the labels of the question expect, `facts` those of its reference answer.

    `marked` is False where no marker was asked for and none was read: a spoken answer (`voice`), or blocks that show no
    number. Then no claim cites anything, and `support` is the source that was found for it. `reading`: which forms were read
    as markers. `first_number`: the number that the answer has for the first source, 0 or 1.
    """

    query_id: str
    answer: str
    scorer: str
    threshold: float
    markers: tuple[ResolvedMarker, ...]
    claims: tuple[CheckedClaim, ...]
    figures: Figures
    verdicts: dict[Verdict, int]
    elapsed_ms: float
    spent: Spent = Spent()
    voice: bool = False
    marked: bool = True
    addressed: Addressed | None = None
    passages: Share = Share(0, 0)
    facts: Share = Share(0, 0)
    reading: Reading = "usual"
    first_number: int = 1

    def to_dict(self) -> dict[str, Any]:
        """The JSON of one checked answer, as documented in docs/reference/answer-json.md."""
        markers, entries = list[dict[str, Any]](), list[list[int]]()
        for resolved in self.markers:
            found = _marker(resolved)
            entries.append(list(range(len(markers), len(markers) + len(found))))
            markers += found
        return {
            "query_id": self.query_id,
            "answer": self.answer,
            "voice": self.voice,
            "marked": self.marked,
            "reading": self.reading,
            "first_number": self.first_number,
            "scorer": self.scorer,
            "threshold": self.threshold,
            "markers": markers,
            "claims": [_claim(claim, self, entries) for claim in self.claims],
            "figures": _figures(self.figures),
            "addressed": _addressed(self.addressed) if self.addressed else None,
            "passages": self.passages._asdict(),
            "facts": self.facts._asdict(),
            "summary": summary_dict(self),
            "spent": self.spent._asdict(),
            "elapsed_ms": round(self.elapsed_ms, 4),
        }


def _figures(figures: Figures) -> dict[str, Any]:
    """Figures for JSON; a share of nothing is null, as is one that is withheld."""
    return {name: getattr(figures, name) for name in ("claims", "citations", "recall", "precision", "f1", "coverage", "withheld")}


def _marker(resolved: ResolvedMarker) -> list[dict[str, Any]]:
    """One entry per number; one of number null for a marker that names none. Of a long unknown range its two ends."""
    marker, told = resolved.marker, {*resolved.known, *resolved.unknown}
    numbers: list[int | None] = [number for number in dict.fromkeys(marker.numbers) if number in told]
    return [
        {
            "number": number,
            "start": marker.start,
            "end": marker.end,
            "text": marker.text,
            "form": marker.form,
            "known": number in resolved.known,
        }
        for number in numbers or ([] if marker.form == "tag" else [None])
    ]


def _claim(checked: CheckedClaim, answer: CheckedAnswer, entries: list[list[int]]) -> dict[str, Any]:
    claim = checked.claim
    return {
        "start": claim.start,
        "end": claim.end,
        "text": claim.text,
        "kind": claim.kind,
        "markers": list(claim.cited),
        "marker_indexes": [index for position in claim.markers for index in entries[position]],
        "inherited": list(claim.inherited),
        "verdict": checked.verdict,
        "axes": axes_of(checked, answer)._asdict(),
        "disputed": _disputed(checked.disputed) if checked.disputed else None,
        "score": checked.score,
        "support": [_support(support) for support in checked.support],
        "missing": list(checked.missing),
        "conflict": checked.conflict._asdict() if checked.conflict else None,
        "gated": [gated._asdict() for gated in checked.gated],
        "better": checked.better,
        "better_support": _support(checked.better_support) if checked.better_support else None,
        "summary_support": _support(checked.summary_support) if checked.summary_support else None,
        "idle": list(checked.idle),
        "unknown": list(checked.unknown),
        "dropped": [source._asdict() for source in checked.dropped],
        "clauses": [_claim(clause, answer, entries) for clause in checked.clauses],
    }


def _disputed(disputed: Disputed) -> dict[str, Any]:
    return {
        "number": disputed.number,
        "date": disputed.date,
        "age": disputed.age,
        "conflict": disputed.conflict._asdict(),
        "support": _support(disputed.support),
    }


def _addressed(addressed: Addressed) -> dict[str, Any]:
    return {**addressed._asdict(), "may_not_answer": addressed.is_doubtful}


def _support(support: Support) -> dict[str, Any]:
    return support._asdict()
