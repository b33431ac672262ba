"""Which labelled questions assembly answers better than the hits alone, at how many hits, and which stage makes the difference.

    python sample_data/gains.py [BUNDLE]

A row a question, number of hits and limit in tokens at which all evidence is in the context, and is not with one of the stages switched
off: a neighbour of a hit holds it, or it only has room because repeats are out.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ctxasm.assembly.pipeline import assemble  # noqa: E402
from ctxasm.data.files import load_bundle  # noqa: E402
from ctxasm.model.ports import TokenCounter  # noqa: E402
from ctxasm.model.records import Bundle, Chunk, Query  # noqa: E402
from ctxasm.model.settings import AssemblySettings  # noqa: E402
from ctxasm.store.memory import MemorySource  # noqa: E402
from ctxasm.text.tokens.counter import open_counter  # noqa: E402
from ctxasm.tuning.evidence import evidence_states  # noqa: E402

HITS = (1, 2, 3, 4, 5, 8, 12)
LIMITS = (8000, 2000, 1000, 500)
WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "expand": {"expand_window": 0},
    "deduplicate": {"dedup_exact": False},
}
"""A stage, and the settings without it."""


class Gain(NamedTuple):
    """All `pieces` of evidence, in the context only with these stages. `tokens`: of the hits alone, and of the context."""

    query_id: str
    hits: int
    limit: int
    pieces: int
    found_without: int
    stages: tuple[str, ...]
    tokens: tuple[int, int]


def gains(bundle: Bundle, counter: TokenCounter, hits: Sequence[int] = HITS, limits: Sequence[int] = LIMITS) -> Iterator[Gain]:
    """All gains, in order of the questions; of the limits, for each set of stages the highest at which they make the difference."""
    source = MemorySource(bundle.documents, bundle.chunks, counter)
    chunks: dict[str, list[Chunk]] = {}
    for chunk in bundle.chunks:
        chunks.setdefault(chunk.document_id, []).append(chunk)

    def found(query: Query, settings: AssemblySettings) -> tuple[int, int]:
        assembly = assemble(query, source, settings, counter)
        return sum(state.state == "found" for state in evidence_states(assembly, chunks)), assembly.token_count

    for query in bundle.queries:
        needed = len(query.spans)
        for top_k in [k for k in hits if needed and k <= len(query.retrieved)]:
            settings = partial(AssemblySettings, top_k=top_k)
            without, tokens_without = found(query, settings(enabled=False))
            told: set[tuple[str, ...]] = set()
            for limit in limits:
                whole, tokens = found(query, settings(max_tokens=limit))
                if whole < needed:
                    break
                lost = tuple(name for name, off in WITHOUT.items() if found(query, settings(max_tokens=limit, **off))[0] < needed)
                if lost and lost not in told:
                    told.add(lost)
                    yield Gain(query.query_id, top_k, limit, needed, without, lost, (tokens_without, tokens))


if __name__ == "__main__":
    name = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "hospital-en"
    for row in gains(load_bundle(name), open_counter("cl100k_base")):
        print(
            f"{row.query_id:30} {row.hits:2} hits hold {row.found_without} of {row.pieces} in {row.tokens[0]} tokens; all {row.pieces} in "
            f"{row.tokens[1]} of {row.limit} by {', '.join(row.stages)}"
        )
