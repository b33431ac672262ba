"""What a stage did, as small frozen records without prose, and what the stages and the reasons of a drop are called.

`ctxasm/app/ui/words.py` turns each into a sentence. Law (replay): applying a stage's events to what it was given yields what it
returned. Law (silence): without an event nothing changed. Events marked *note* change nothing. Whether the chunks of a dataset
can have neighbours at all, and if not, why, is one decision and one sentence a reason (`NoNeighbours`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxasm.model.errors import shown

Obstacle = Literal["gaps", "order", "single", "ids", "store"]
"""Why no chunk has a neighbour: no index follows another; every second index is free, as where the order is not known; each document is
one chunk; the hits name no stored chunk; there is no store behind the hits."""
NUMBERED: tuple[Obstacle, ...] = ("gaps", "order")
"""Those that numbering by order may remove."""
EXAMPLE, LOOKED_AT = 3, 10_000
"""Indexes that a sentence shows; chunks among which a store looks for an example."""


class NoNeighbours(NamedTuple):
    """An obstacle, and a document that shows it with its first indexes ("" and none where nothing does)."""

    obstacle: Obstacle
    document_id: str = ""
    chunk_indexes: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What is the matter and what to do, without a full stop at the end."""
        which = ", ".join(map(str, self.chunk_indexes)) or "one"
        example = f" (such as {which} of {shown(self.document_id, 60)})" if self.document_id else ""
        return _SENTENCES[self.obstacle].format(example=example)


_NUMBER = "number them by order (--number-by-order, on the Load page: Number by order)"
_SENTENCES: dict[Obstacle, str] = {
    "gaps": (
        "no chunk has a neighbour, so expansion adds nothing: no chunk_index follows another in its document{example}. If these chunks "
        f"follow one another, {_NUMBER}; if not, load those between them"
    ),
    "order": (
        "no chunk has a neighbour, so expansion adds nothing: every second chunk_index is free{example}, as where the order of the chunks, "
        f"or what stands between them, is not known. Load all of them with their offsets; if these follow one another, {_NUMBER}"
    ),
    "single": (
        "no chunk has a neighbour, so expansion adds nothing: each document is one chunk. Load the chunks that were cut from one document "
        "under one document_id"
    ),
    "ids": (
        "no neighbour was found, so expansion adds nothing: none of the hits is a chunk of the dataset{example}. Give the dataset that the "
        "hits come from, or hits with its document_id and chunk_index, or its texts"
    ),
    "store": (
        "no neighbour was found, so expansion adds nothing: no store stands behind the hits. Give the dataset that holds their chunks as "
        "the source"
    ),
}


def no_neighbours(keys: Iterable[tuple[str, int]]) -> NoNeighbours | None:
    """Why none of these chunks (document_id, chunk_index) has a neighbour; None where one has, or where there is at most one chunk.

    The chunks of a document stand together, ascending by index. Read to the first pair of neighbours.
    """
    count, doubled = 0, True
    name: str | None = None
    own: list[int] = []
    example: NoNeighbours | None = None
    for document_id, index in keys:
        count += 1
        if document_id != name:
            name, own = document_id, []
        elif index == own[-1] + 1:
            return None
        doubled &= index == 2 * len(own)
        own.append(index)
        if len(own) > 1 and (example is None or (example.document_id == name and len(own) <= EXAMPLE)):
            example = NoNeighbours("gaps", document_id, tuple(own))
    if count < 2:
        return None
    if example is None:
        return NoNeighbours("single")
    return example._replace(obstacle="order" if doubled else "gaps")


# fmt: off
Reason = Literal[
    "budget", "outbid", "crowded_out", "no_value", "oversized", "no_room", "floor", "top_k", "degenerate", "irrelevant", "empty",
    "parent_duplicate", "missing", "already_sent",
]
# fmt: on
Likeness = Literal["exact", "near", "semantic"]
"""How two chunks say the same: word for word, nearly the same words, or the same meaning."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Note: the same chunk was retrieved more than once; its best score and rank count."""

    document_id: str
    chunk_index: int
    times: int


@dataclass(frozen=True, slots=True)
class Added:
    """Expansion added an adjacent chunk. `parents` are the hits (indexes in this document) that reach it."""

    document_id: str
    chunk_index: int
    score: float
    parents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A chunk left the context. `missing_tokens`: how much more limit would have kept it, where that is the reason."""

    document_id: str
    chunk_index: int
    reason: Reason
    missing_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """Note: an index between two stored chunks of a document is not stored."""

    document_id: str
    chunk_index: int


@dataclass(frozen=True, slots=True)
class Unexpanded:
    """Note: no hit has a neighbour. `obstacle` says why; the document shows it with its first indexes ("" and none where nothing does)."""

    obstacle: Obstacle
    document_id: str
    chunk_indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stripped:
    """The first `chars` characters of a chunk are shown by the chunk before it."""

    document_id: str
    chunk_index: int
    chars: int


@dataclass(frozen=True, slots=True)
class Merged:
    """All of a chunk is shown by the chunks before it."""

    document_id: str
    chunk_index: int
    chars: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Note: neighbours share `chars` characters, too few to strip."""

    document_id: str
    chunk_index: int
    chars: int


@dataclass(frozen=True, slots=True)
class Coincidence:
    """Note: neighbours share `chars` characters, more than half of the `of_chars` of the first: taken for a coincidence, kept."""

    document_id: str
    chunk_index: int
    chars: int
    of_chars: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A chunk says what a kept chunk says; `similarity` is 1 for an exact copy, else what its likeness is measured in."""

    document_id: str
    chunk_index: int
    of_document_id: str
    of_chunk_index: int
    likeness: Likeness = "exact"
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class Promoted:
    """Note: a chunk took over the standing of the older one that it succeeds (`dedup_keep=newest`)."""

    document_id: str
    chunk_index: int
    of_document_id: str
    of_chunk_index: int
    score: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A document's place in the context, 1 = first."""

    document_id: str
    position: int
    score: float


@dataclass(frozen=True, slots=True)
class Returned:
    """A copy came back because the chunk it repeated is not in the context."""

    document_id: str
    chunk_index: int


@dataclass(frozen=True, slots=True)
class Unstripped:
    """A chunk got `chars` characters of its head back because the chunk before it left."""

    document_id: str
    chunk_index: int
    chars: int


@dataclass(frozen=True, slots=True)
class Truncated:
    """A chunk was cut after `kept_chars` characters."""

    document_id: str
    chunk_index: int
    kept_chars: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """A chunk was shortened to what the question is about: `tokens` before, `kept_tokens` after, counted alone.

    From here on the chunk is the `kept_chars` characters that are left of it, gap marks included. `how` is "rewritten"
    where a model returned words that the chunk does not hold.
    """

    document_id: str
    chunk_index: int
    tokens: int
    kept_tokens: int
    kept_chars: int
    how: Literal["extractive", "model", "rewritten"]


@dataclass(frozen=True, slots=True)
class Failed:
    """Note: the model that compresses did not answer, as `message` says; `chunks` were shortened by the question's words instead."""

    message: str
    chunks: int


@dataclass(frozen=True, slots=True)
class Ordered:
    """Note: a block's place in the context, 1 = first. `by` is what it was ordered by: its best score and that chunk's rank."""

    position: int
    document_id: str
    chunk_indexes: tuple[int, ...]
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Supplemented:
    """Note on text: whether the supplement stands in the context, the rule that decided, and its tokens (0 where left out)."""

    injected: bool
    rule: Literal["always", "never", "similarity", "intent", "suppressed", "no_signal", "no_block", "no_room"]
    tokens: int


@dataclass(frozen=True, slots=True)
class Yielded:
    """Note: a fixed part of a document's block gave way so that its best chunk fits."""

    document_id: str
    part: Literal["summary", "title"]


@dataclass(frozen=True, slots=True)
class Valued:
    """Note: what a candidate is worth under `budget_policy=learned`, as a share of the most that one is, and what that is made of.

    `rank` is the hit's own, or the best among the hits that brought it; `distance` the steps to the nearest hit (0: a hit); `hits` those
    of its document. `words` are those of the question that it holds; `title_words` the share, by rarity, that the title holds.
    """

    document_id: str
    chunk_index: int
    value: float
    rank: int
    distance: int
    hits: int
    words: tuple[str, ...]
    title_words: float


@dataclass(frozen=True, slots=True)
class Overshot:
    """Note: the context has `tokens` more than the limit (only where the limit does not bind the whole text)."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Prefixed:
    """Note on text: a document's page summary was written before its first chunk."""

    document_id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Neutralised:
    """Note on text: something that would read as a marker, a header or a boundary had its brackets or marks swapped.

    `chunk_index` is None for a header field or summary; `text` is what stood there.
    """

    document_id: str
    chunk_index: int | None
    text: str
    swapped: bool


@dataclass(frozen=True, slots=True)
class Gapped:
    """Note on text: a gap mark stands before this chunk."""

    document_id: str
    chunk_index: int


@dataclass(frozen=True, slots=True)
class Numbered:
    """Note: a block got its citation number."""

    number: int
    document_id: str
    chunk_indexes: tuple[int, ...]


# fmt: off
Event = (
    Repeated | Added | Dropped | Absent | Unexpanded | Stripped | Merged | NearMiss | Coincidence | Duplicate | Promoted | Placed |
    Returned | Unstripped | Truncated | Compressed | Failed | Ordered | Supplemented | Yielded | Valued | Overshot | Prefixed |
    Neutralised | Gapped | Numbered
)
# fmt: on


STAGE_NAMES: Mapping[str, str] = {
    "all": "Assembly",
    "retrieved": "Retrieved",
    "expand": "Expand",
    "deduplicate": "Deduplicate",
    "group": "Group",
    "compress": "Compress",
    "budget": "Budget",
    "zones": "Model window",
    "order": "Order",
    "summarise": "Prefixes",
    "supplement": "Supplement",
    "render": "Render",
    "cite": "Citations",
    "answer": "Answer",
}
REASONS: Mapping[str, str] = {
    "budget": "it did not fit into the limit",
    "outbid": "it would have fitted, but its room was better spent on others",
    "crowded_out": "it does not fit beside what was chosen",
    "no_value": "it holds no found chunk, so no room was spent on it",
    "oversized": "its document alone is larger than the limit, and this chunk was among its weakest",
    "no_room": "not one character of it fits into the limit",
    "floor": "it scores below the relevance floor",
    "top_k": "it ranks beyond top_k",
    "degenerate": "it is too small to be worth a place of its own",
    "irrelevant": "the model found nothing in it about the question",
    "empty": "it has no visible text",
    "parent_duplicate": "every found chunk that brought it is repeated",
    "missing": "it is not stored in this dataset",
    "already_sent": "it stands in an earlier message of the same conversation",
}


def stage_name(stage: str) -> str:
    """The name of a stage as the pages show it."""
    return STAGE_NAMES.get(stage, stage.capitalize())
