"""A checked claim: its verdict, its evidence, what is missing, what another source says against it; and its two axes.

The eleven verdicts say how a claim was judged. The axes are what people ask about it: is it so (support), and does its number lead there
(citation). They are worked out here and nowhere else, and so are their words. A claim with clauses has the worst of their citations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, assert_never, get_args

from ctxasm.model.support import Conflict, Gated

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
"""All verdicts, in the order in which the JSON of a summary names them."""
Withheld = Literal["cut", "declined", "quotes"]
"""Why an answer has no shares: it broke off, it says nothing but that it does not answer, or it only quotes what it cites."""
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


class Disputed(NamedTuple):
    """Another source of the context that says otherwise than the one that carries a claim; `support` is where.

    `date` is that of the document that disputes the claim and `age` whether it is newer or older than the one that carries it, as far
    as both are dated.
    """

    conflict: Conflict
    support: Support
    date: str | None = None
    age: Literal["newer", "older"] | None = None

    @property
    def number(self) -> int:
        return self.conflict.number


class Addressed(NamedTuple):
    """How near an answer, with the stretches that it stands on, is to its question; below `threshold` it may not answer it.

    `by`: by shared words, or by likeness of meaning (cosine of an embedder).
    """

    score: float
    threshold: float
    by: Literal["words", "meaning"] = "words"

    @property
    def is_doubtful(self) -> bool:
        return self.score < self.threshold


class Share(NamedTuple):
    """`used` of `expected` things; none is expected where nothing is known."""

    used: int
    expected: int


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
    do not have; `gated` says which words keep it from being supported although all of it is there. `better` is a source that carries
    it although it is not cited; `better_support` says where.
    `summary_support` is set where only a page summary carries it. `idle` are cited sources that carry nothing of it.
    `unknown` are cited numbers that no source has; `dropped` explains those that a stage dropped. `clauses` are the
    claim's clauses, each judged by what it cites itself: the claim is as good as the worst of them. `disputed`: another source of the
    context says otherwise, although one carries it. `carried`: the sources that it cites carry all of it together, whatever is idle.
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
    gated: tuple[Gated, ...] = ()
    clauses: tuple[CheckedClaim, ...] = ()
    disputed: Disputed | None = None
    carried: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """Citation figures of one or many answers, after ALCE (Gao et al. 2023), computed with the verdicts' own scorer.

    `recall`: share of stating claims that their cited sources carry together. `precision`: share of citations that are
    needed for that. `f1`: their harmonic mean. `coverage`: share of stating claims that some source of the context carries,
    cited or not (CiteEval, Xu et al. 2025: judge against everything the model could read). None where nothing is counted, and
    where `withheld` says why shares would mean nothing.
    """

    claims: int
    citations: int
    recall: float | None
    precision: float | None
    f1: float | None
    coverage: float | None
    withheld: Withheld | None = None


InSources = Literal["full", "partly", "not_found", "contradicted"]
"""How much of a claim the sources of the context carry, cited or not."""
ByNumber = Literal["right", "inherited", "missing", "wrong_number", "dropped", "unknown"]
"""Whether the number behind a claim leads to what carries it."""
Part = Literal[InSources, ByNumber, "disputed"]
"""What a claim can be counted, shown or failed under."""
SUPPORT: tuple[InSources, ...] = get_args(InSources)
CITATION: tuple[ByNumber, ...] = get_args(ByNumber)
"""Both from good to bad."""
Shown = Part | Literal["declined"]
"""What a claim is shown as: its worst part, or that it declines."""
WORST: tuple[Part, ...] = (
    "contradicted",
    "unknown",
    "dropped",
    "not_found",
    "disputed",
    "wrong_number",
    "partly",
    "missing",
    "inherited",
    "full",
    "right",
)
"""All of them, in the order in which a reader should look."""
WORDS: dict[Part, str] = {
    "full": "supported",
    "not_found": "not found",
    "wrong_number": "wrong number",
    "missing": "no citation",
    "unknown": "unknown number",
    "dropped": "source dropped",
    "right": "right number",
}
FINE: frozenset[Part] = frozenset({"full", "right", "inherited"})
"""What asks nothing of a reader."""


class Axes(NamedTuple):
    """`support` is None for a claim that declines; `citation` also where no number is asked for, or where nothing carries the claim, so
    that no number could be right."""

    support: InSources | None = None
    citation: ByNumber | None = None


class JudgedAnswer(Protocol):
    """What of a checked answer its axes are worked out from."""

    @property
    def claims(self) -> tuple[CheckedClaim, ...]: ...
    @property
    def threshold(self) -> float: ...
    @property
    def marked(self) -> bool: ...


def axes_of(checked: CheckedClaim, answer: JudgedAnswer) -> Axes:
    """The two axes of a claim of `answer`."""
    support = support_of(checked, answer.threshold)
    if not answer.marked:
        return Axes(support)
    if not checked.clauses:
        return Axes(support, _citation(checked, support))
    each = (_citation(clause, support_of(clause, answer.threshold)) for clause in checked.clauses)
    return Axes(support, max((found for found in each if found), key=CITATION.index, default=None))


def support_of(checked: CheckedClaim, threshold: float) -> InSources | None:
    """How much of a claim the sources carry, by a scorer with this threshold; partly, where they carry only some of its clauses."""
    if checked.clauses:
        each = {support_of(clause, threshold) for clause in checked.clauses}
        if "contradicted" in each:
            return "contradicted"
        alike = each.pop() if len(each) == 1 else "partly"
        return "partly" if alike == "full" and checked.verdict == "partly" and not checked.idle else alike
    match checked.verdict:
        case "declined":
            return None
        case "contradicted":
            return "contradicted"
        case "supported" | "elsewhere":
            return "full"
        case "partly":
            return "full" if checked.carried else "partly"
        case "prefix_only" | "unsupported" | "no_source":
            return "partly" if checked.support else "not_found"
        case "uncited" | "unknown_marker" | "dropped":
            return "full" if checked.better is not None else "not_found"


def _citation(checked: CheckedClaim, support: InSources | None) -> ByNumber | None:
    if checked.unknown:
        explained = checked.verdict == "dropped" or {source.number for source in checked.dropped} >= {*checked.unknown}
        return "dropped" if explained else "unknown"
    if support is None:
        return None
    if not checked.claim.cited:
        return "inherited" if checked.claim.inherited and checked.verdict in ("supported", "partly") else "missing"
    if checked.better is not None or (checked.idle and support in ("full", "partly")):
        return "wrong_number"
    if support == "not_found":
        return None
    return "right"


def parts_of(checked: CheckedClaim, answer: JudgedAnswer) -> tuple[Part, ...]:
    """Everything that a claim is to be counted under, worst first.

    `full`, the check mark, only where the claim is also cited right, itself or by its block, or no number is asked for, and no other
    source disputes it.
    """
    axes = axes_of(checked, answer)
    is_sound = (axes.citation is None or axes.citation in FINE) and checked.disputed is None
    support = axes.support if axes.support != "full" or is_sound else None
    found: Iterable[Part | None] = (support, axes.citation, "disputed" if checked.disputed else None)
    return tuple(sorted((part for part in found if part), key=WORST.index))


def doubtful(answer: JudgedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that no source is found to carry in full: worth a second look by a scorer that understands more."""
    return tuple(claim for claim in answer.claims if axes_of(claim, answer).support not in ("full", None))


def count_parts(answer: JudgedAnswer) -> Counter[Part]:
    """How many claims of an answer are counted under each."""
    return Counter(part for claim in answer.claims for part in parts_of(claim, answer))


def words(part: Part) -> str:
    """One of them as a label, or after a count."""
    return WORDS.get(part, part)


def label(checked: CheckedClaim, answer: JudgedAnswer) -> str:
    """A claim in a few words: `supported`, `supported, wrong number`, `partly, disputed`; `declined`."""
    axes = axes_of(checked, answer)
    said: Iterable[Part | None] = (
        axes.support,
        axes.citation if axes.citation != "right" else None,
        "disputed" if checked.disputed else None,
    )
    return ", ".join(words(part) for part in said if part) or checked.verdict


def is_carried(checked: CheckedClaim, answer: JudgedAnswer) -> bool:
    """Whether the sources that a claim cites carry all of it."""
    return axes_of(checked, answer).support == "full" and checked.verdict in ("supported", "partly")


def sign(part: Shown) -> str:
    """The sign that stands for a part beside its colour."""
    match part:
        case "full" | "right":
            return "✓"
        case "inherited":
            return "↑"
        case "partly":
            return "◐"
        case "not_found":
            return "?"
        case "contradicted":
            return "≠"
        case "disputed":
            return "⇄"
        case "wrong_number":
            return "→"
        case "missing":
            return "–"
        case "unknown":
            return "✗"
        case "dropped":
            return "⌀"
        case "declined":
            return "∅"
        case _:
            assert_never(part)
