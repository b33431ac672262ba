"""The weights of `budget_policy=learned`, fitted on labelled questions: a conditional logit over the candidates of each question.

A candidate is wanted where it holds a good part of a piece of evidence. The weights maximise the mean logarithm of the share that the
wanted candidates have of all exp(weights · features) of their question (McFadden 1974), less a ridge; the objective is concave, so
Newton's method with halved steps finds its only maximum. One half of the questions, by a digest of their ids, fits; the other half says
what that gains, by assembling with the weights before and with the new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.assembly.expand import expand
from ctxasm.assembly.stages import Found
from ctxasm.assembly.values import Features, Weights, value_candidates
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import ChunkSource, FetchedChunk, TokenCounter
from ctxasm.model.records import Query
from ctxasm.model.results import Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.formats import title_of
from ctxasm.tuning.counting import Counting, case_of
from ctxasm.tuning.engines import PlainTools
from ctxasm.tuning.evidence import Evidence, evidence_documents, evidence_of
from ctxasm.tuning.statistics import paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

WINDOW = 6
"""Neighbours on each side among which the candidates are."""
HITS = (10, 20)
"""Each question is looked at with so many of its hits."""
PART = 0.3
"""A candidate is wanted that holds this share of a piece of evidence, or of whose characters this share is evidence."""
RIDGE = 20.0
"""Of the standardised weights. Between 5 and 60 the figures of the corpora it was tried on moved by less than .006."""
LEAST_SPREAD = 0.05
"""A feature that hardly differs from candidate to candidate says nothing, and must not weigh much for it."""
STEPS = 40
FEWEST = 20
"""Labelled questions below which nothing is fitted: the half that fits would be ten."""
LIMITS = (1000, 2000, 4000, 8000)
ENCODING = "cl100k_base"


class Labelled(NamedTuple):
    """A labelled question over its source, which has every chunk of the documents that its evidence names."""

    query: Query
    source: ChunkSource
    chunks: Callable[[str], Sequence[FetchedChunk]]


class Pool(NamedTuple):
    """The candidates of a question as rows of features, and how much each is wanted (adds up to 1)."""

    features: NDArray[np.float64]
    wanted: NDArray[np.float64]


class Gain(NamedTuple):
    """What the new weights gain over those before, in the share of questions with all evidence in the context.

    `questions` were judged that had no part in the fit, each at every limit; `low` to `high` is the 95 % interval.
    """

    questions: int
    before: float
    after: float
    low: float
    high: float

    @property
    def gain(self) -> float:
        return self.after - self.before


class Fitted(NamedTuple):
    """The weights, on how many questions they were fitted, and what they gain on the others."""

    weights: Weights
    questions: int
    gain: Gain


def is_for_fitting(query_id: str) -> bool:
    """Whether a question is in the half that fits: by a digest of its id, so that no later question moves it."""
    return int(sha256(query_id.encode()).hexdigest(), 16) % 2 == 0


def fit(labelled: Sequence[Labelled], counter: TokenCounter, before: Weights | None = None, window: int = WINDOW) -> Fitted:
    """Fit on one half and judge on the other, beside the weights `before` (None: those that ship).

    Raises InvalidInput where fewer than `FEWEST` questions are labelled, or none of the half that fits has its evidence among its
    candidates.
    """
    if len(labelled) < FEWEST:
        raise InvalidInput(f"fitting needs at least {FEWEST} labelled questions with hits, got {len(labelled)}")
    own = [each for each in labelled if is_for_fitting(each.query.query_id)]
    others = [each for each in labelled if not is_for_fitting(each.query.query_id)]
    weights = weights_of([pool for each in own for pool in pools_of(each, counter, window)], window)
    return Fitted(weights, len(own), gain_of(others, counter, weights, before))


def pools_of(labelled: Labelled, counter: TokenCounter, window: int) -> Iterable[Pool]:
    """The candidates of one question with its first hits; none where no candidate, or every one, is wanted."""
    query = labelled.query
    evidence = evidence_of(query, {name: labelled.chunks(name) for name in evidence_documents(query)})
    settings = AssemblySettings(budget_policy="learned", pool_window=window)
    hits = sorted(query.retrieved, key=lambda hit: (hit.rank or 0, -hit.score))
    for count in HITS:
        found = expand(replace(query, retrieved=tuple(hits[:count])), labelled.source, settings, counter)
        yield from pool_of(evidence, query.query, found)
        if count >= len(hits):
            return


def pool_of(evidence: Evidence, question: str, found: Found) -> Iterable[Pool]:
    """These candidates; none where no candidate, or every one, is wanted."""
    import numpy as np

    titles = {name: title_of(document) for name, document in found.documents.items()}
    valued = value_candidates(question, found.candidates.values(), titles, UNWEIGHTED)
    wanted = np.array([is_wanted(evidence, key, len(each.candidate.chunk.text)) for key, each in valued.items()], dtype=float)
    if 0 < wanted.sum() < len(wanted):
        yield Pool(np.array([each.features for each in valued.values()]), wanted / wanted.sum())


UNWEIGHTED = Weights(Features(*[0.0] * len(Features._fields)), WINDOW)


def is_wanted(evidence: Evidence, key: Key, chars: int) -> bool:
    """Whether a chunk of so many characters is a gold chunk, or holds a good part of a span."""
    for place in (place for places in evidence.pieces() for place in places):
        if place.start is None or place.end is None:
            held = {each.key: (0, chars) for each in place.holding}
        else:
            held = {each.key: (max(each.start, place.start), min(each.end, place.end)) for each in place.holding}
        low, high = held.get(key, (0, 0))
        if high > low and high - low >= PART * min(chars, max(end for _, end in held.values()) - min(start for start, _ in held.values())):
            return True
    return False


def weights_of(pools: Sequence[Pool], window: int, ridge: float = RIDGE) -> Weights:
    """Weights at the maximum. Raises InvalidInput without a pool."""
    return Weights(Features(*[round(float(value), 4) for value in maximum(pools, ridge)]), window)


def maximum(pools: Sequence[Pool], ridge: float = RIDGE) -> NDArray[np.float64]:
    """A weight for every column of the pools: the only maximum. Raises InvalidInput without a pool."""
    import numpy as np

    if not pools:
        raise InvalidInput("no labelled question has its evidence among the candidates: nothing can be fitted")
    rows = np.concatenate([pool.features for pool in pools])
    mean, spread = rows.mean(0), np.maximum(rows.std(0), LEAST_SPREAD)
    pools = [Pool((pool.features - mean) / spread, pool.wanted) for pool in pools]
    weights = np.zeros(rows.shape[1])

    def worth(at: NDArray[np.float64]) -> float:
        total = -ridge * float(at @ at) / 2
        for pool in pools:
            scores = pool.features @ at
            total += float(pool.wanted @ scores - scores.max() - np.log(np.exp(scores - scores.max()).sum()))
        return total

    reached = worth(weights)
    for _ in range(STEPS):
        slope, bend = -ridge * weights, ridge * np.eye(len(weights))
        for pool in pools:
            scores = pool.features @ weights
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            slope += pool.features.T @ (pool.wanted - chances)
            weighed = pool.features * chances[:, None]
            bend += pool.features.T @ weighed - np.outer(weighed.sum(0), weighed.sum(0))
        step = np.linalg.solve(bend, slope)
        while (better := worth(weights + step)) < reached and np.abs(step).max() > 1e-6:
            step /= 2
        weights += step
        if better - reached < 1e-6:
            break
        reached = better
    found: NDArray[np.float64] = weights / spread
    return found


def gain_of(
    labelled: Sequence[Labelled], counter: TokenCounter, weights: Weights, before: Weights | None, limits: Sequence[int] = LIMITS
) -> Gain:
    """What choosing with `weights` instead of `before` gains on these questions; one whose evidence cannot be placed has no part in it."""
    pairs = [pair for each in labelled if (pair := _shares(each, counter, (before, weights), limits))]
    differences = [after - first for first, after in pairs]
    interval = paired_difference(differences).interval
    count = len(pairs) or 1
    return Gain(len(pairs), sum(first for first, _ in pairs) / count, sum(after for _, after in pairs) / count, interval.low, interval.high)


def _shares(labelled: Labelled, counter: TokenCounter, each: Sequence[Weights | None], limits: Sequence[int]) -> list[float]:
    """Under each of these weights the share of the limits at which all evidence is in the context; none where nothing can be judged."""
    case = case_of(labelled.query, labelled.source, labelled.chunks, ENCODING)
    shares = []
    for weights in each:
        window = weights.window if weights is not None else WINDOW
        settings = [AssemblySettings(budget_policy="learned", pool_window=window, max_tokens=limit, encoding=ENCODING) for limit in limits]
        found = Counting(settings, PlainTools({ENCODING: counter}, weights)).count(case, range(len(limits)), {})
        if not all(outcome.needed for outcome in found):
            return []
        shares.append(sum(outcome.found == outcome.needed for outcome in found) / len(limits))
    return shares


def weights_toml(weights: Weights, of: Sequence[str]) -> str:
    """The weights as TOML, `of` as comments above: on what they were fitted."""
    lines = [*(f"# {' '.join(line.split())}" for line in of), f"window = {weights.window}", "", "[weights]"]
    return "\n".join([*lines, *(f"{name} = {value}" for name, value in weights.features._asdict().items())]) + "\n"
