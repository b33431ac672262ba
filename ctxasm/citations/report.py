"""What a check found, of one answer and of many: in sentences, in counts, and as JSON.

A *problem* is a claim that is neither carried by what it cites nor declined, one that another source disputes, or a number that no
source has. The JSON is strict, and the same for the same answer, `elapsed_ms` aside. Offsets are characters: of a marker and a claim in
the answer; of a support in its source's own text (for a block of a context: the whole rendered block, header included), and with their
prefix in the context, the chunk or the document. Figures of many answers are pooled: every claim and every citation counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, assert_never

from ctxasm.citations.checked import (
    CITATION,
    SUPPORT,
    VERDICTS,
    Addressed,
    CheckedClaim,
    Disputed,
    Figures,
    Part,
    Share,
    Support,
    Verdict,
    axes_of,
    count_parts,
    words,
)
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.model.amounts import agreeing, counted
from ctxasm.model.support import Conflict, Gated, GateKind, Spent
from ctxasm.text.markers.grammar import Reading

LONGEST_QUOTE = 160
_GATED: dict[GateKind, str] = {
    "roles": "in another place or order",
    "subject": "joined with another sentence",
    "figure": "another figure",
    "wording": "in other words",
}
"""What is said of a kind that its own name does not tell."""


def lacks_sentence(checked: CheckedClaim) -> str:
    """What keeps a claim that is not carried from being so: the words that gate it, then those that its sources do not have."""
    said = [gated_sentence(gated) for gated in checked.gated]
    if checked.missing:
        said.append(f"Missing: {', '.join(clipped(word, 60) for word in checked.missing).removesuffix('.')}.")  # “2 p.m.” brings its own
    if not said and checked.verdict == "partly":
        said = ["Its words are there, but not together as it says them."]
    return " ".join(said)


def gated_sentence(gated: Gated) -> str:
    """Such as `“all” here, “some” in the source (quantifier).`"""
    here = f"“{clipped(gated.claim, 60)}” here" if gated.claim else "nothing like it here"
    there = f"“{clipped(gated.source, 60)}” in the source" if gated.source else "not in the source"
    both = f"{here}, {there}" if gated.claim else f"{there}, {here}"
    return f"{both[:1].upper()}{both[1:]} ({_GATED.get(gated.kind, gated.kind)})."


def conflict_sentence(conflict: Conflict) -> str:
    """What does not agree: `Another number: “45 minutes” here, “30 minutes” in [1].`"""
    return f"{_kind(conflict)}: “{clipped(conflict.claim, 60)}” here, “{clipped(conflict.source, 60)}” in [{conflict.number}]."


def _kind(conflict: Conflict) -> str:
    match conflict.kind:
        case "number" | "date" | "name":
            return f"Another {conflict.kind}"
        case "negation":
            return "One says yes, the other no"
        case "opposite":
            return "The opposite"
        case _:
            assert_never(conflict.kind)


def disputed_sentence(disputed: Disputed) -> str:
    """Such as `Disputed by [2], newer (2026-01-05): “15” here, “14” there.`"""
    dated = f" ({disputed.date})" if disputed.date else ""
    age = f", {disputed.age}{dated}" if disputed.age else dated
    conflict = disputed.conflict
    return f"Disputed by [{disputed.number}]{age}: “{clipped(conflict.claim, 60)}” here, “{clipped(conflict.source, 60)}” there."


def brackets(numbers: Iterable[int]) -> str:
    """`[1][3]`, each number once, in order."""
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def clipped(text: str, limit: int = LONGEST_QUOTE) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


PROBLEMS: tuple[Verdict, ...] = tuple(verdict for verdict in VERDICTS if verdict not in ("supported", "declined"))
NOTHING_TO_CHECK = "nothing to check"
DECLINED: Literal["declined"] = "declined"
MAY_NOT_ANSWER = "may not answer the question"


def summary_sentence(checked: CheckedAnswer) -> str:
    """Such as "6 claims: 5 supported, 1 not found; 1 disputed; citation: 1 wrong number; may not answer the question"; "declined"."""
    if not checked.claims:
        said = NOTHING_TO_CHECK
    elif is_declined_answer(checked):
        said = DECLINED
    else:
        said = claims_sentence(len(checked.claims), _declined(checked), count_parts(checked))
    told = {number for claim in checked.claims for number in claim.unknown}
    if untold := [number for number in unknown_numbers(checked) if number not in told]:
        said += f"; unknown {agreeing(len(untold), 'number', 'numbers')} {''.join(f'[{number}]' for number in untold)}"
    doubt = [MAY_NOT_ANSWER] if may_not_answer(checked) else []
    return "; ".join((said, *doubt, *filter(None, (uses_sentence(checked.passages), facts_sentence(checked.facts)))))


def claims_sentence(claims: int, declined: int, parts: Counter[Part]) -> str:
    """Such as "6 claims: 4 supported, 1 not found; 1 disputed; citation: 1 wrong number"; supported are those with a check mark."""
    support = [f"{parts[name]} {words(name)}" for name in SUPPORT if parts[name]] + ([f"{declined} {DECLINED}"] if declined else [])
    citation = [f"{parts[name]} {words(name)}" for name in CITATION if parts[name] and name != "right"]
    said = [f"{counted(claims, 'claim')}{': ' if support else ''}{', '.join(support)}"]
    said += [f"{parts['disputed']} disputed"] if parts["disputed"] else []
    said += [f"citation: {', '.join(citation)}"] if citation else []
    return "; ".join(said)


def uses_sentence(passages: Share) -> str:
    """How many of the passages that the labels of the question expect an answer stands on; empty where none is expected."""
    return f"uses {passages.used} of {passages.expected:,} expected passages" if passages.expected else ""


def facts_sentence(facts: Share) -> str:
    """How many of the facts of a reference answer were found in an answer; empty where there is none."""
    return f"{facts.used} of {counted(facts.expected, 'fact')} of the reference found" if facts.expected else ""


def may_not_answer(checked: CheckedAnswer) -> bool:
    """Whether an answer, however well it is carried, may be one to another question."""
    return checked.addressed is not None and checked.addressed.is_doubtful


def summary_dict(checked: CheckedAnswer) -> dict[str, Any]:
    """The summary of one answer for its JSON. `verdicts` has those that occur, in the order of VERDICTS; `axes` what they come to."""
    return {
        "sentence": summary_sentence(checked),
        "claims": len(checked.claims),
        "verdicts": in_order(Counter(claim.verdict for claim in checked.claims)),
        "axes": axes_dict(count_parts(checked)),
        "problems": len(problem_claims(checked)),
        "unknown_numbers": list(unknown_numbers(checked)),
        "declined": is_declined_answer(checked),
        "may_not_answer": may_not_answer(checked),
    }


def axes_dict(parts: Counter[Part]) -> dict[str, Any]:
    """How many claims have each value of the two axes, those that occur, and how many are disputed; `full` are those with a check mark."""
    return {
        "support": {name: parts[name] for name in SUPPORT if parts[name]},
        "citation": {name: parts[name] for name in CITATION if parts[name]},
        "disputed": parts["disputed"],
    }


def problem_claims(checked: CheckedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that a reader should look at, in order."""
    return tuple(claim for claim in checked.claims if claim.verdict in PROBLEMS or claim.unknown or claim.disputed)


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
    return bool(checked.claims) and _declined(checked) == len(checked.claims)


def _declined(checked: CheckedAnswer) -> int:
    return sum(claim.verdict == "declined" for claim in checked.claims)


def in_order(counts: Counter[Verdict]) -> dict[Verdict, int]:
    """Those that occur, in the order of VERDICTS."""
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


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
        "carried": checked.carried,
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


@dataclass(slots=True)
class Totals:
    """Many checked answers, added one by one so that none has to be kept."""

    answers: int = 0
    with_problems: int = 0
    declined: int = 0
    empty: int = 0
    may_not_answer: int = 0
    withheld: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    parts: Counter[Part] = field(default_factory=Counter)
    passages: Share = Share(0, 0)
    facts: Share = Share(0, 0)
    elapsed_ms: float = 0.0
    spent: Spent = Spent()
    _claims: int = 0
    _citations: int = 0
    _carried: int = 0
    _needed: int = 0
    _reachable: int = 0

    def add(self, checked: CheckedAnswer) -> None:
        """Count one more answer."""
        self.answers += 1
        self.with_problems += has_problem(checked)
        self.declined += is_declined_answer(checked)
        self.empty += not checked.claims
        self.may_not_answer += may_not_answer(checked)
        self.verdicts.update(claim.verdict for claim in checked.claims)
        self.parts += count_parts(checked)
        self.passages = _sum(self.passages, checked.passages)
        self.facts = _sum(self.facts, checked.facts)
        self.elapsed_ms += checked.elapsed_ms
        self.spent = Spent(*(before + now for before, now in zip(self.spent, checked.spent, strict=True)))
        figures = checked.figures
        if figures.withheld:
            self.withheld += 1
            return
        self._claims += figures.claims
        self._citations += figures.citations
        self._carried += round((figures.recall or 0) * figures.claims)
        self._needed += round((figures.precision or 0) * figures.citations)
        self._reachable += round((figures.coverage or 0) * figures.claims)

    @property
    def figures(self) -> Figures:
        """The pooled figures, of the answers that have any."""
        return figures_of_counts(self._claims, self._citations, self._carried, self._needed, self._reachable)

    def to_dict(self) -> dict[str, Any]:
        """The summary of many answers for JSON."""
        return {
            "answers": self.answers,
            "with_problems": self.with_problems,
            "declined": self.declined,
            "nothing_to_check": self.empty,
            "may_not_answer": self.may_not_answer,
            "claims": self.verdicts.total(),
            "verdicts": in_order(self.verdicts),
            "axes": axes_dict(self.parts),
            "passages": self.passages._asdict(),
            "facts": self.facts._asdict(),
            "figures": {**asdict(self.figures), "withheld": self.withheld},
            "spent": self.spent._asdict(),
            "elapsed_ms": round(self.elapsed_ms, 4),
        }

    def sentences(self) -> tuple[str, ...]:
        """The same in words: answers, claims, figures."""
        parts = [counted(self.answers, "answer"), f"{self.with_problems} with a problem"]
        parts += [f"{self.declined} {DECLINED}"] if self.declined else []
        parts += [f"{self.empty} with {NOTHING_TO_CHECK}"] if self.empty else []
        parts += [f"{self.may_not_answer} that {MAY_NOT_ANSWER}"] if self.may_not_answer else []
        claims = self.verdicts.total()
        said = claims_sentence(claims, self.verdicts["declined"], self.parts) if claims else NOTHING_TO_CHECK
        labels = filter(None, (uses_sentence(self.passages), facts_sentence(self.facts)))
        return (", ".join(parts), said, *labels, *self._figures_sentences())

    def _figures_sentences(self) -> tuple[str, ...]:
        without = f"no shares over {counted(self.withheld, 'answer')} (cut, declined or only quoting)"
        return (*figures_sentence(self.figures), *((without,) if self.withheld else ()))


def _sum(one: Share, other: Share) -> Share:
    return Share(one.used + other.used, one.expected + other.expected)


def figures_sentence(figures: Figures) -> tuple[str, ...]:
    """Such as "citation recall 0.83, precision 0.75, F1 0.79, coverage 0.83 over 6 claims and 8 citations"; nothing for no claims."""
    if not figures.claims and not figures.citations:
        return ()
    shares = (
        ("citation recall", figures.recall),
        ("precision", figures.precision),
        ("F1", figures.f1),
        ("coverage", figures.coverage),
    )
    told = ", ".join(f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in shares)
    return (f"{told} over {counted(figures.claims, 'claim')} and {counted(figures.citations, 'citation')}",)


def figures_of_counts(claims: int, citations: int, carried: int, needed: int, reachable: int) -> Figures:
    """The shares of these counts; None for a share of nothing."""
    recall, precision = _ratio(carried, claims), _ratio(needed, citations)
    return Figures(claims, citations, recall, precision, _f1(recall, precision), _ratio(reachable, claims))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _f1(recall: float | None, precision: float | None) -> float | None:
    if recall is None or precision is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
