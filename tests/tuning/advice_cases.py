"""Small assemblies, written down by hand, for the rules of the advisor: what a rule reads, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ctxasm.model.events import Neutralised
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document, GoldChunk, Query
from ctxasm.model.results import Assembly, Candidate, Fate, FetchRecord, Key, Regret, Segment, StageRecord, Trace
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import EvidenceState, Holding, Place


class Part(NamedTuple):
    """A candidate chunk: its index, the tokens it takes, its rank, and what became of it."""

    index: int
    tokens: int = 100
    rank: int = 1
    fate: str = "kept"
    retrieved: bool = True
    reason: str | None = None
    text: str = "Een hele zin staat hier."
    score: float | None = None
    missing: int | None = None
    of: Key | None = None


class Doc(NamedTuple):
    """A document, a block of its own: its chunks, and the tokens of its header and summary."""

    document_id: str
    parts: Sequence[Part]
    header: int = 5
    prefix: int = 0
    date: str | None = None


def made(
    *documents: Doc,
    limit: int = 1000,
    regret: tuple[float, float] = (1.0, 1.0),
    neutralised: int = 0,
    supplement: int = 0,
    query: Query | None = None,
    **chosen: Any,
) -> Assembly:
    """The assembly. `regret` is (value kept, best value)."""
    segments, fates, candidates = list[Segment](), list[Fate](), dict[Key, Candidate]()
    text, block = "", 0

    def write(kind: str, tokens: int, number: int | None, document_id: str | None = None, index: int | None = None) -> None:
        nonlocal text
        if tokens:
            segments.append(Segment(kind, len(text), len(text) + 1, tokens, number, document_id, index, 0, 1))  # type: ignore[arg-type]
            text += "x"

    write("supplement", supplement, None)
    for document in documents:
        shown = any(part.fate in ("kept", "truncated") for part in document.parts)
        block += shown
        if shown:
            write("header", document.header, block, document.document_id)
            write("prefix", document.prefix, block, document.document_id)
        for part in document.parts:
            there = part.fate in ("kept", "truncated", "merged")
            score = 1 - part.rank / 100 if part.score is None else part.score
            chunk = FetchedChunk(document.document_id, part.index, part.text, token_count=part.tokens)
            candidates[chunk.document_id, chunk.chunk_index] = Candidate(chunk, part.retrieved, score, part.rank)
            stage = {"top_k": "expand", "floor": "expand", None: "budget"}.get(part.reason, "budget")
            fates.append(
                Fate(document.document_id, part.index, part.retrieved, score, part.rank, part.fate, stage, part.reason, part.tokens,  # type: ignore[arg-type]
                     part.missing, of=part.of, block=block if there else None, likeness="near" if part.of else None)
            )  # fmt: skip
            if part.fate in ("kept", "truncated"):
                write("chunk", part.tokens, block, document.document_id, part.index)
    events = tuple(Neutralised("d", 0, "[1]", True) for _ in range(neutralised))
    trace = Trace(
        (StageRecord("render", (), (), 0, 0, 0.0, events),),
        tuple(fates),
        candidates,
        {document.document_id: Document(document.document_id, date=document.date) for document in documents},
        (),
        (),
        Regret(*regret, True, ()),
        FetchRecord(1, 1, 0, 0.0),
    )
    return Assembly(
        query or Query("Wanneer?", (), "q"),
        AssemblySettings().replace(**chosen),
        text,
        sum(segment.tokens for segment in segments),
        True,
        "cl100k_base",
        limit,
        tuple(segments),
        (),
        trace,
    )


GOLD = Query("Wanneer?", (), "q", gold=(GoldChunk("b", 0),))


def gold_at(document_id: str, index: int) -> Any:
    """Evidence of one chunk: found where it is shown, else lost where its fate says."""

    place = Place(document_id, None, None, (Holding((document_id, index), 0, 1),), ((0, 1),))

    def evidence(assembly: Assembly) -> tuple[EvidenceState, ...]:
        fate = next((f for f in assembly.trace.fates if (f.document_id, f.chunk_index) == (document_id, index)), None)
        if fate is not None and fate.fate in ("kept", "merged"):
            return (EvidenceState(place, "found", 1.0, None),)
        stage = "retrieve" if fate is None else fate.stage
        return (EvidenceState(place, "lost", 0.0, stage),)

    return evidence
