"""A checked claim: its verdict, its evidence, what is missing, and what another source says against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

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
    context says otherwise, although one carries it.
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
