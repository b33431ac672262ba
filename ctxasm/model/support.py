"""What it takes to say whether a source carries a claim: sources, matches, and the port of everything that scores them.

Offsets are characters of a source's own text. A score is between 0 and 1; what counts as a match is the scorer's own
`threshold`, because scores of different scorers do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from ctxasm.model.messages import Cancel

ConflictKind = Literal["number", "date", "name", "negation", "opposite"]


class Source(NamedTuple):
    """A numbered text that an answer may cite. Only characters inside `ranges` (ascending, disjoint) are evidence.

    `title` names what the text is about: its words may stand in for a word that the text does not repeat, but they
    state nothing themselves.
    """

    number: int
    text: str
    ranges: tuple[tuple[int, int], ...]
    title: str = ""


class Conflict(NamedTuple):
    """Where a source says otherwise: the words of the claim and the words of the source that do not agree.

    `start` and `end` are those words in the text of source number `number`.
    """

    kind: ConflictKind
    claim: str
    source: str
    number: int
    start: int
    end: int


GateKind = Literal[
    "modal",
    "quantifier",
    "negation",
    "exception",
    "time",
    "cause",
    "condition",
    "hedge",
    "comparison",
    "unit",
    "date",
    "roles",
    "opposite",
    "qualifier",
    "subject",
    "figure",
    "wording",
]


class Gated(NamedTuple):
    """Why a claim whose words are all there is not supported: a word that changes what they say stands on one side only.

    `claim` are those words of the claim, `source` what the source has instead; either is empty where that side has none.
    """

    kind: GateKind
    claim: str
    source: str = ""


class Found(NamedTuple):
    """The stretch of source number `number` that carries a claim best, and how well it does so alone."""

    number: int
    start: int
    end: int
    score: float


class Match(NamedTuple):
    """How well one or more sources carry a claim. `found` is empty where nothing does: nothing may be highlighted then.

    `missing` are the words and figures of the claim, as they stand in it, that the sources do not have; `gated` says why a claim is no
    match although its words are there.
    """

    score: float
    found: tuple[Found, ...] = ()
    missing: tuple[str, ...] = ()
    conflict: Conflict | None = None
    gated: tuple[Gated, ...] = ()


NO_MATCH = Match(0.0)


class Spent(NamedTuple):
    """What scoring took of a model: calls made, answers that were kept from before, tokens in and out (as it reports them)."""

    calls: int = 0
    kept: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Comparison(Protocol):
    """Claims compared with sources; both are named by their position in what `compare` was given."""

    @property
    def spent(self) -> Spent: ...
    def each(self, claim: int) -> Sequence[Match]:
        """The match of a claim with every source alone, in their order."""
        ...

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        """The match of a claim with some sources taken together: a claim may be merged from several."""
        ...


class Scorer(Protocol):
    """Compares claims with sources. At `threshold` a claim counts as carried, from `partly` on as carried in part."""

    @property
    def name(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    @property
    def partly(self) -> float: ...
    def compare(self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None) -> Comparison:
        """Compare each claim (without markers) with each source. Raises ModelUnavailable where it needs a model that fails."""
        ...
