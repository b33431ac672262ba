"""Verdicts as annotations of spans, in the form that Phoenix takes: the body of its `POST /v1/span_annotations`.

https://arize.com/docs/phoenix/tracing/how-to-tracing/feedback-and-annotations/capture-feedback, arize-phoenix-client 3.5. One of a
name and an identifier on a span replaces the one before it, so the same file may be sent twice.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Sequence
from typing import Any

from ctxasm.citations.checked import WORST, CheckedClaim, Part, axes_of, label, parts_of, words
from ctxasm.citations.report import (
    CheckedAnswer,
    clipped,
    conflict_sentence,
    disputed_sentence,
    is_declined_answer,
    lacks_sentence,
    problem_claims,
    summary_sentence,
)

SUPPORTED, CITED, CLAIM, WHY = "ctxasm support", "ctxasm citation", "ctxasm claim", "ctxasm why"
"""The names of annotations: of an answer, of each claim that needs a look, and of where a fact went."""
BY = "ctxasm"
"""The identifier of those of which a span has one."""
LONGEST = 2_000
_HEX = re.compile(r"(?:0x)?([0-9a-f]{16})", re.I)


def otel_span_id(span_id: str | None) -> str | None:
    """A span's id as OpenTelemetry writes it: 16 hex digits, without 0x and not in base64; None for one of another tool."""
    if span_id is None:
        return None
    if found := _HEX.fullmatch(span_id.strip()):
        return found[1].lower()
    try:
        raw = b64decode(span_id.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw.hex() if len(raw) == 8 else None


def annotations_of(checked: CheckedAnswer, span_id: str) -> list[dict[str, Any]]:
    """The annotations of one answer on the span that gave it: its support, its citations, and each claim that needs a look.

    Scores are shares of claims from 0 to 1; there is none where nothing states, or all declines.
    """
    about = {"scorer": checked.scorer, "threshold": checked.threshold, "query_id": checked.query_id}
    axes = [axes_of(claim, checked) for claim in checked.claims]
    support = [axis.support for axis in axes if axis.support is not None]
    citation = [axis.citation for axis in axes if axis.citation is not None]
    said = summary_sentence(checked)
    worst = _worst(support, declined=is_declined_answer(checked))
    found = [_annotation(span_id, SUPPORTED, worst, _share(support, ("full",)), said, about)]
    if checked.marked and citation:
        found.append(_annotation(span_id, CITED, _worst(citation), _share(citation, ("right", "inherited")), said, about))
    problems = {id(claim) for claim in problem_claims(checked)}
    numbered = [(number, claim) for number, claim in enumerate(checked.claims) if id(claim) in problems]
    found += [_of_claim(claim, number, checked, span_id, about) for number, claim in numbered]
    return found


def fact_annotation(span_id: str, outcome: str, sentence: str, fact: str, number: int) -> dict[str, Any]:
    """Where a fact went, on the span of the answer that lacks it."""
    made = _annotation(span_id, WHY, outcome, 1.0 if outcome == "cited" else 0.0, sentence, {"fact": clipped(fact, LONGEST)})
    return {**made, "identifier": f"{BY}:fact:{number}"}


def reviewer_annotation(
    span_id: str, what: str, label: str | None, score: float | None, note: str, about: dict[str, Any], reviewer: str
) -> dict[str, Any]:
    """What a reviewer says of an answer or one of its citations (`what`); of one item a reviewer has one annotation."""
    made = _annotation(span_id, f"ctxasm review {what}", label, score, note, {**about, "reviewer": reviewer})
    if not note:
        del made["result"]["explanation"]
    return {**made, "annotator_kind": "HUMAN", "identifier": f"{BY}:review:{about['run_id']}:{about['item']}:{reviewer}"}


def annotations_body(annotations: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What is sent."""
    return {"data": list(annotations)}


def _of_claim(claim: CheckedClaim, number: int, checked: CheckedAnswer, span_id: str, about: dict[str, Any]) -> dict[str, Any]:
    parts = parts_of(claim, checked)
    why = [lacks_sentence(claim)]
    why += [conflict_sentence(claim.conflict)] if claim.conflict is not None else []
    why += [disputed_sentence(claim.disputed)] if claim.disputed is not None else []
    why += [f"[{claim.better}] carries it."] if claim.better is not None else []
    text = " ".join((f"“{clipped(claim.claim.text)}”:", label(claim, checked) + ".", *filter(None, why)))
    place = {"start": claim.claim.start, "end": claim.claim.end, "cited": list(claim.claim.cited), "verdict": claim.verdict}
    made = _annotation(span_id, CLAIM, words(parts[0]) if parts else claim.verdict, claim.score, text, {**about, **place})
    return {**made, "identifier": f"{BY}:claim:{number}"}


def _annotation(span_id: str, name: str, said: str | None, score: float | None, why: str, about: dict[str, Any]) -> dict[str, Any]:
    result = {"label": said, "score": None if score is None else round(score, 4), "explanation": clipped(why, LONGEST)}
    return {
        "span_id": span_id,
        "name": name,
        "annotator_kind": "CODE",
        "result": {key: value for key, value in result.items() if value is not None},
        "metadata": about,
        "identifier": BY,
    }


def _worst(parts: Sequence[Part], *, declined: bool = False) -> str:
    found = min(parts, key=WORST.index, default=None)
    return words(found) if found is not None else "declined" if declined else "nothing to check"


def _share(parts: Sequence[Part], fine: Sequence[Part]) -> float | None:
    return sum(part in fine for part in parts) / len(parts) if parts else None
