"""A checked answer: every claim with its verdict, its evidence and what is missing; what it comes to in a sentence; its JSON.

A *problem* is a claim that is neither carried by what it cites nor declined, or a number that no source has.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ctxasm.citations.markers import ResolvedMarker
from ctxasm.model.support import Conflict, Spent
from ctxasm.text.markers.grammar import Reading

Verdict = Literal[
    "supported",
    "partly",
    "unsupported",
    "contradicted",
    "elsewhere",
    "prefix_only",
    "uncited",
    "unknown_marker",
    "dropped",
    "declined",
    "no_source",
]
ClaimKind = Literal["sentence", "item", "row", "heading", "lead_in", "question", "clause"]


class Claim(NamedTuple):
    """A sentence, list item or table row of an answer, at characters `start` to `end` of the raw answer.

    `text` is what it says without its markers. `markers` are the positions of its markers in the answer's list, which
    may stand after `end`; `cited` the numbers they name, each once, in order. `inherited` are the numbers of a marker that
    covers the block which the claim stands in; a claim that cites for itself inherits none. `clauses` are its parts where
    it has several that cite for themselves: claims of kind `clause`, whose `cited` together are its own. A heading, a
    lead-in ("The rules are:") or a question states nothing: `states` is False, and it is not judged unless it cites.
    """

    start: int
    end: int
    text: str
    kind: ClaimKind = "sentence"
    markers: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    inherited: tuple[int, ...] = ()
    clauses: tuple[Claim, ...] = ()

    @property
    def states(self) -> bool:
        return self.kind not in ("heading", "lead_in", "question")


class Support(NamedTuple):
    """A stretch of a source that carries a claim: characters `start` to `end` of the source's own text.

    For a block of an assembled context that text is the whole rendered block, header included, and the same stretch is
    also given in the context and, where it lies in one chunk's text, in the chunk and in the document. `retrieved` is
    False where only an added neighbour carries it, None where the source is no block of a context.
    """

    number: int
    start: int
    end: int
    score: float
    retrieved: bool | None = None
    context_start: int | None = None
    context_end: int | None = None
    document_id: str | None = None
    chunk_index: int | None = None
    chunk_start: int | None = None
    chunk_end: int | None = None
    document_start: int | None = None
    document_end: int | None = None


class DroppedSource(NamedTuple):
    """A cited number that no block has, and what it would have been: a document that a stage dropped."""

    number: int
    document_id: str
    stage: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim with its verdict. `score` is that of the sources it cites together (uncited: of the best source).

    `support` is empty where nothing carries even a part or says otherwise. `missing` are words and figures of the claim that its sources
    do not have. `better` is a source that carries it although it is not cited; `better_support` says where.
    `summary_support` is set where only a page summary carries it. `idle` are cited sources that carry nothing of it.
    `unknown` are cited numbers that no source has; `dropped` explains those that a stage dropped. `clauses` are the
    claim's clauses, each judged by what it cites itself: the claim is as good as the worst of them.
    """

    claim: Claim
    verdict: Verdict
    score: float
    support: tuple[Support, ...] = ()
    missing: tuple[str, ...] = ()
    conflict: Conflict | None = None
    better: int | None = None
    better_support: Support | None = None
    summary_support: Support | None = None
    idle: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    dropped: tuple[DroppedSource, ...] = ()
    clauses: tuple[CheckedClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """Citation figures of one or many answers, after ALCE (Gao et al. 2023), computed with the verdicts' own scorer.

    `recall`: share of stating claims that their cited sources carry together. `precision`: share of citations that are
    needed for that. `f1`: their harmonic mean. `coverage`: share of stating claims that some source of the context carries,
    cited or not (CiteEval, Xu et al. 2025: judge against everything the model could read). None where nothing is counted.
    """

    claims: int
    citations: int
    recall: float | None
    precision: float | None
    f1: float | None
    coverage: float | None


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with all its markers and claims. `verdicts` counts the judged claims by verdict.

    `marked` is False where no marker was asked for and none was read: a spoken answer (`voice`), or blocks that show no
    number. Then no claim cites anything, and `support` is the source that was found for it. `reading`: which forms were read as markers.
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
    reading: Reading = "usual"

    def to_dict(self) -> dict[str, Any]:
        """The JSON of one checked answer, as documented in docs/reference/answer-json.md."""
        return checked_dict(self)


# One answer in a sentence

VERDICTS: tuple[Verdict, ...] = (
    "supported",
    "partly",
    "elsewhere",
    "prefix_only",
    "contradicted",
    "unsupported",
    "uncited",
    "unknown_marker",
    "dropped",
    "no_source",
    "declined",
)
"""All verdicts, in the order in which a summary names them."""
PROBLEMS: tuple[Verdict, ...] = tuple(verdict for verdict in VERDICTS if verdict not in ("supported", "declined"))
NOTHING_TO_CHECK, DECLINED = "nothing to check", "declined"
_WORDS: dict[Verdict, str] = {
    "partly": "partly supported",
    "elsewhere": "points elsewhere",
    "prefix_only": "summary only",
    "unsupported": "not found",
    "unknown_marker": "unknown source",
    "dropped": "source dropped",
    "no_source": "no source",
}


def verdict_words(verdict: Verdict, count: int = 1) -> str:
    """A verdict as a label, or after `count` in a summary."""
    return "point elsewhere" if verdict == "elsewhere" and count > 1 else _WORDS.get(verdict, verdict)


def summary_sentence(checked: CheckedAnswer) -> str:
    """Such as "6 claims: 4 supported, 1 points elsewhere, 1 uncited"; "declined"; or "nothing to check"."""
    counts = Counter(claim.verdict for claim in checked.claims)
    if not counts:
        said = NOTHING_TO_CHECK
    elif counts.keys() == {"declined"}:
        said = DECLINED
    else:
        said = verdicts_sentence(counts)
    told = {number for claim in checked.claims if claim.verdict in ("unknown_marker", "dropped") for number in claim.unknown}
    if untold := [number for number in unknown_numbers(checked) if number not in told]:
        said += f"; unknown number{'s' if len(untold) > 1 else ''} {''.join(f'[{number}]' for number in untold)}"
    return said


def summary_dict(checked: CheckedAnswer) -> dict[str, Any]:
    """The summary of one answer for its JSON. `verdicts` has those that occur, in the order of VERDICTS."""
    return {
        "sentence": summary_sentence(checked),
        "claims": len(checked.claims),
        "verdicts": in_order(Counter(claim.verdict for claim in checked.claims)),
        "problems": len(problem_claims(checked)),
        "unknown_numbers": list(unknown_numbers(checked)),
        "declined": is_declined_answer(checked),
        "inherited": sum(bool(claim.claim.inherited) for claim in checked.claims),
    }


def problem_claims(checked: CheckedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that a reader should look at, in order."""
    return tuple(claim for claim in checked.claims if claim.verdict in PROBLEMS or claim.unknown)


def unknown_numbers(checked: CheckedAnswer) -> tuple[int, ...]:
    """The numbers that the answer cites and no source has, each once, ascending."""
    unknown = {number for marker in checked.markers for number in marker.unknown}
    return tuple(sorted(unknown.union(*(claim.unknown for claim in checked.claims))))


def has_unknown(checked: CheckedAnswer) -> bool:
    """Whether the answer cites a number that no source has, or has a marker that names none (`[3-1]`)."""
    return bool(unknown_numbers(checked)) or any(not marker.is_sound for marker in checked.markers)


def has_problem(checked: CheckedAnswer) -> bool:
    """Whether anything in the answer needs a look."""
    return bool(problem_claims(checked)) or has_unknown(checked)


def is_declined_answer(checked: CheckedAnswer) -> bool:
    """Whether the answer says nothing but that it does not answer."""
    return bool(checked.claims) and all(claim.verdict == "declined" for claim in checked.claims)


def verdicts_sentence(counts: Counter[Verdict]) -> str:
    """Such as "6 claims: 4 supported, 2 uncited"."""
    ordered = in_order(counts)
    total = sum(ordered.values())
    return f"{counted(total, 'claim')}: {', '.join(f'{count} {verdict_words(verdict, count)}' for verdict, count in ordered.items())}"


def in_order(counts: Counter[Verdict]) -> dict[Verdict, int]:
    """Those that occur, in the order of VERDICTS."""
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def counted(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


# Its JSON: strict, and the same for the same answer, `elapsed_ms` aside. Offsets are characters: of a marker and a claim in the raw
# answer (`cleaned_…`: in the answer without its known markers), of a support in its source's own text (for a block of a context: the
# whole rendered block, header included), and with their prefix in the context, the chunk or the document.


def figures_dict(figures: Figures) -> dict[str, Any]:
    """Figures for JSON; a share of nothing is null."""
    return {name: getattr(figures, name) for name in ("claims", "citations", "recall", "precision", "f1", "coverage")}


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
        "claims": [_claim(claim, entries) for claim in checked.claims],
        "figures": figures_dict(checked.figures),
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


def _claim(checked: CheckedClaim, entries: list[list[int]]) -> dict[str, Any]:
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
        "score": checked.score,
        "support": [_support(support) for support in checked.support],
        "missing": list(checked.missing),
        "conflict": checked.conflict._asdict() if checked.conflict else None,
        "better": checked.better,
        "better_support": _support(checked.better_support) if checked.better_support else None,
        "summary_support": _support(checked.summary_support) if checked.summary_support else None,
        "idle": list(checked.idle),
        "unknown": list(checked.unknown),
        "dropped": [source._asdict() for source in checked.dropped],
        "clauses": [_claim(clause, entries) for clause in checked.clauses],
    }


def _support(support: Support) -> dict[str, Any]:
    return support._asdict()
