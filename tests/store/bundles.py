"""Bundles for the store's tests."""

from __future__ import annotations

from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Hit, Query, Span, Turn
from ctxasm.store.database import Store

HOSTILE = "'; DROP TABLE ctxasm_chunks; -- \" % _ \\ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>\r\n\t"


def full_bundle(name: str = "hospital") -> Bundle:
    """Every field of every record filled at least once."""
    documents = (
        Document("d1", "Parkeren", "parkeren.html", "Over parkeren.", "2026-01-02", {"lang": "nl", "deep": {"a": [1, None, 2.5]}}),
        Document(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, {HOSTILE: HOSTILE, "nul": "\x00\ud800"}),
        Document("bare"),
    )
    chunks = (
        Chunk("d1", 0, "The car park is open all night. You pay", 0, 39, 1, "Parking", 7, {"tokens": 9}),
        Chunk("d1", 1, "open all night. You pay at the desk.", 16, 52, 1),
        Chunk("d1", 3, "Visitors may stay until eight."),
        Chunk(HOSTILE, 0, HOSTILE, section=HOSTILE, metadata={HOSTILE: [HOSTILE]}),
        Chunk("bare", 2_147_483_647, "The last possible index."),
    )
    queries = (
        Query(
            "Waar kan ik parkeren?",
            (Hit("d1", 1, -3.25, 1, {"bm25": 20.5, "vector": 0.9}), Hit("d1", 3, 7, 2)),
            "q1",
            gold=(GoldChunk("d1", 0),),
            spans=(Span("d1", 0, 10, (Span("bare", 1, 2),)),),
            answer="At the desk [1].",
            history=(Turn("user", "Hallo"), Turn("assistant", "Dag")),
            search_method="hybrid_bm25_vector",
            bm25_matches=3,
            best_similarity=0.71,
            intent="facts",
            supplement="Extra",
            metadata={"difficulty": "easy"},
        ),
        Query(HOSTILE, (), HOSTILE),
    )
    answers = (
        Answer("q1", "At the desk [1].", ({"n": 1, "text": "desk"},), ({"ok": True},), {"model": "none"}),
        Answer("q1", "At the desk too [1]."),
    )
    return Bundle(name, documents, chunks, queries, answers, replaced=2)


def numbered_bundle(documents: int, chunks: int, text: str = "Chunk {1} of document {0} says something.", name: str = "numbered") -> Bundle:
    """`documents` of `chunks` each, d0 … and index 0 …; {0} and {1} in `text` are the two numbers."""
    return Bundle(
        name,
        tuple(Document(f"d{d}", f"Title {d}") for d in range(documents)),
        tuple(Chunk(f"d{d}", c, text.format(d, c)) for d in range(documents) for c in range(chunks)),
        (Query("What?", (Hit("d0", 0, 1.0),), "q"),),
    )


def two_windows(documents: int) -> tuple[Chunk, ...]:
    """Documents of two chunks each, which share four of five sentences."""
    told = [f"Point {at} of the rules of this library is told in a sentence of its own. " for at in range(10 * documents)]
    return tuple(Chunk(f"sliding{n}", own, "".join(told[10 * n + own : 10 * n + own + 5])) for n in range(documents) for own in (0, 1))


def apart(documents: int) -> tuple[Chunk, ...]:
    """Documents of two chunks each, which share nothing."""
    return tuple(Chunk(f"apart{n}", own, f"{'Second' if own else 'First'} part of number {n}.") for n in range(documents) for own in (0, 1))


def overlaps(store: Store, name: str) -> list[str]:
    """What is stored of the overlap of each two neighbours, in order."""
    return [chunk.overlap_kind for chunk in store.dataset(name).iter_chunks() if chunk.overlap_kind]
