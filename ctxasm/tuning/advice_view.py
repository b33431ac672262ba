"""One assembly as the advisor looks at it: figures that are worked out from its trace when they are first asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ctxasm.model.events import Neutralised
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.tuning.evidence import EvidenceState

Evidence = Callable[[Assembly], Sequence[EvidenceState]]
"""What an assembly holds of the evidence that its query needs; empty for a query without labels."""
SHOWN = ("kept", "truncated", "merged")
PRESENT = (*SHOWN, "duplicate_of")
FUSION_K = 60
"""A hit is worth 1 / (60 + rank), whatever `pack_k` is: figures before and after must be on one scale."""
_ENDS = ".!?…:;\"'”’»)]}|。！？"


class Passage(NamedTuple):
    """A run of shown chunks of one document: whether it begins or ends inside a sentence."""

    document_id: str
    first: int
    last: int
    cut: bool


class View:
    """An assembly with what the rules ask of it. `evidence` may be absent: then only retrieved chunks are judged."""

    def __init__(self, assembly: Assembly, evidence: Evidence | None = None) -> None:
        self.assembly, self.settings, self.trace = assembly, assembly.settings, assembly.trace
        self._evidence = evidence

    @cached_property
    def evidence(self) -> tuple[EvidenceState, ...]:
        """The evidence that can be judged."""
        labelled = self.assembly.query.is_labelled
        states = self._evidence(self.assembly) if self._evidence and labelled else ()
        return tuple(state for state in states if state.state != "unknown")

    @cached_property
    def found(self) -> int:
        """Pieces of evidence that are whole in the context."""
        return sum(state.state == "found" for state in self.evidence)

    @cached_property
    def share(self) -> float:
        """Mean share of each piece of evidence in the context; 1 for a query without labels."""
        return sum(state.share for state in self.evidence) / len(self.evidence) if self.evidence else 1.0

    def lost_at(self, stage: str) -> tuple[EvidenceState, ...]:
        """Evidence that is not whole in the context and was lost at this stage."""
        return tuple(state for state in self.evidence if state.stage == stage)

    @cached_property
    def fates(self) -> Mapping[Key, Fate]:
        return {(fate.document_id, fate.chunk_index): fate for fate in self.trace.fates}

    @cached_property
    def shown(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.trace.fates if fate.fate in SHOWN)

    @cached_property
    def hits(self) -> tuple[Fate, ...]:
        """The retrieved chunks, best rank first."""
        return tuple(sorted((fate for fate in self.trace.fates if fate.retrieved), key=lambda fate: (fate.rank, -fate.score)))

    def dropped(self, *reasons: str) -> tuple[Fate, ...]:
        """Retrieved chunks that were dropped for one of these reasons, best rank first."""
        return tuple(fate for fate in self.hits if fate.fate == "dropped" and fate.reason in reasons)

    @cached_property
    def cut_by_budget(self) -> tuple[Fate, ...]:
        return self.dropped("budget", "outbid", "crowded_out", "no_value", "oversized", "no_room", "degenerate")

    @cached_property
    def value(self) -> float:
        """What the retrieved chunks in the context are worth, here or as a copy: the sum of 1 / (60 + rank).

        A truncated or compressed one is worth its share that is shown.
        """
        return sum(self._shown_share(fate) / (FUSION_K + fate.rank) for fate in self.hits if fate.fate in PRESENT)

    def _shown_share(self, fate: Fate) -> float:
        if fate.fate != "truncated":
            return 1.0 if fate.compressed is None else fate.compressed
        key = (fate.document_id, fate.chunk_index)
        own = (s for s in self.assembly.segments if s.kind == "chunk" and (s.document_id, s.chunk_index) == key)
        return sum((s.chunk_end or 0) - (s.chunk_start or 0) for s in own) / max(1, len(self.text_of(key)))

    @cached_property
    def tokens_by_kind(self) -> Counter[str]:
        """Tokens of the context by kind of segment; `adjacent` is the part of `chunk` that expansion added."""
        counted: Counter[str] = Counter()
        for segment in self.assembly.segments:
            counted[segment.kind] += segment.tokens
            if segment.kind == "chunk" and segment.document_id is not None and segment.chunk_index is not None:
                fate = self.fates.get((segment.document_id, segment.chunk_index))
                counted["adjacent"] += segment.tokens if fate is not None and not fate.retrieved else 0
        return counted

    @cached_property
    def tokens_by_document(self) -> Counter[str]:
        """Tokens of the context by document, headers and summaries included."""
        counted: Counter[str] = Counter()
        for segment in self.assembly.segments:
            if segment.document_id is not None:
                counted[segment.document_id] += segment.tokens
        return counted

    @cached_property
    def scaffold_tokens(self) -> int:
        """Headers, separators, gap marks and page summaries."""
        kinds = self.tokens_by_kind
        return kinds["header"] + kinds["separator"] + kinds["gap"] + kinds["prefix"]

    @cached_property
    def block_ranks(self) -> tuple[int, ...]:
        """The best rank in each block, in the order of the context."""
        ranks: dict[int, int] = {}
        for fate in self.shown:
            if fate.block is not None:
                ranks[fate.block] = min(fate.rank, ranks.get(fate.block, fate.rank))
        return tuple(ranks[number] for number in sorted(ranks))

    @property
    def place_of_best(self) -> int:
        """The place of the block with the best hit, 1 = first; 0 without blocks."""
        return self.block_ranks.index(min(self.block_ranks)) + 1 if self.block_ranks else 0

    @cached_property
    def middle_of_second(self) -> float:
        """Where the middle of the second best block stands: 0 = start of the context, 1 = its end."""
        ranks = self.block_ranks
        if len(ranks) < 2:
            return 0.0
        second = sorted(range(len(ranks)), key=lambda at: ranks[at])[1] + 1
        ends: list[int] = []
        before = 0
        for segment in self.assembly.segments:
            if segment.block == second:
                ends += [before, before + segment.tokens]
            before += segment.tokens
        return (min(ends) + max(ends)) / 2 / before if ends and before else 0.0

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The runs of shown chunks."""
        own: dict[str, list[int]] = {}
        for fate in self.shown:
            own.setdefault(fate.document_id, []).append(fate.chunk_index)
        found = []
        for document_id, indexes in own.items():
            runs: list[list[int]] = []
            for index in sorted(indexes):
                if runs and index == runs[-1][-1] + 1:
                    runs[-1].append(index)
                else:
                    runs.append([index])
            found += [Passage(document_id, run[0], run[-1], self._is_cut(document_id, run[0], run[-1])) for run in runs]
        return tuple(found)

    def _is_cut(self, document_id: str, first: int, last: int) -> bool:
        head = self.text_of((document_id, first)).lstrip()[:1]
        tail = self.text_of((document_id, last)).rstrip()[-1:]
        return head.islower() or (tail.isalnum() or tail in ",-–") if tail not in _ENDS else head.islower()

    @cached_property
    def cut_passages(self) -> int:
        """Passages that begin or end inside a sentence."""
        return sum(passage.cut for passage in self.passages)

    def text_of(self, key: Key) -> str:
        """The stored text of a chunk, empty for one that is not a candidate."""
        candidate = self.trace.candidates.get(key)
        return candidate.chunk.text if candidate is not None else ""

    @cached_property
    def repeated(self) -> tuple[Key, ...]:
        """Shown chunks whose very text, white space aside, a better ranked one shows."""
        seen: set[str] = set()
        found = []
        for fate in sorted((fate for fate in self.shown if fate.fate != "merged"), key=lambda fate: (not fate.retrieved, fate.rank)):
            key = (fate.document_id, fate.chunk_index)
            text = " ".join(self.text_of(key).split())
            if text and text in seen:
                found.append(key)
            seen.add(text)
        return tuple(found)

    @cached_property
    def repeated_tokens(self) -> int:
        """Tokens of those."""
        return sum(self.fates[key].tokens for key in self.repeated)

    @cached_property
    def neutralised(self) -> int:
        """Places of source text that would read as a marker."""
        return sum(isinstance(event, Neutralised) for record in self.trace.stages for event in record.events)

    @cached_property
    def truncated(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.trace.fates if fate.fate == "truncated")
