"""The JSON of a checked answer: strict, and the same for the same answer, `elapsed_ms` aside.

Offsets are characters: of a marker and a claim in the raw answer (`cleaned_…`: in the answer without its known markers), of a support
in its source's own text (for a block of a context: the whole rendered block, header included), and with their prefix in the context,
the chunk or the document.
"""

from __future__ import annotations

from typing import Any

from ctxasm.citations.axes import axes_of
from ctxasm.citations.checked import Addressed, CheckedAnswer, CheckedClaim, Disputed, Figures, Support
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.citations.summary import summary_dict


def figures_dict(figures: Figures) -> dict[str, Any]:
    """Figures for JSON; a share of nothing is null, as is one that is withheld."""
    return {name: getattr(figures, name) for name in ("claims", "citations", "recall", "precision", "f1", "coverage", "withheld")}


def checked_dict(checked: CheckedAnswer) -> dict[str, Any]:
    """The documented form, ready for `json.dumps(…, allow_nan=False)`."""
    markers, entries = list[dict[str, Any]](), list[list[int]]()
    for resolved in checked.markers:
        found = _marker(resolved)
        entries.append(list(range(len(markers), len(markers) + len(found))))
        markers += found
    return {
        "query_id": checked.query_id,
        "answer": checked.answer,
        "voice": checked.voice,
        "marked": checked.marked,
        "reading": checked.reading,
        "scorer": checked.scorer,
        "threshold": checked.threshold,
        "markers": markers,
        "claims": [_claim(claim, checked, entries) for claim in checked.claims],
        "figures": figures_dict(checked.figures),
        "addressed": _addressed(checked.addressed) if checked.addressed else None,
        "passages": checked.passages._asdict(),
        "facts": checked.facts._asdict(),
        "summary": summary_dict(checked),
        "spent": checked.spent._asdict(),
        "elapsed_ms": round(checked.elapsed_ms, 4),
    }


def _marker(resolved: ResolvedMarker) -> list[dict[str, Any]]:
    """One entry per number; one of number null for a marker that names none. Of a long unknown range its two ends."""
    marker, told = resolved.marker, {*resolved.known, *resolved.unknown}
    numbers: list[int | None] = [number for number in dict.fromkeys(marker.numbers) if number in told]
    return [
        {
            "number": number,
            "start": marker.start,
            "end": marker.end,
            "cleaned_start": marker.cleaned_start,
            "cleaned_end": marker.cleaned_end,
            "text": marker.text,
            "form": marker.form,
            "known": number in resolved.known,
        }
        for number in numbers or [None]
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
