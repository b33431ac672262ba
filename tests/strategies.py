"""Hypothesis strategies: small corpora with everything that goes wrong in real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter
from tests.fakes import FakeSource

COUNTER = open_counter("cl100k_base")
WORDS = st.sampled_from(
    [
        "De arts",
        " komt",
        " om 9.30 uur",
        ".",
        "\n",
        "\n\n",
        " U brengt best uw identiteitskaart mee",
        " zie [2]",
        "[1, 3]",
        " 45 minuten",
        ", ",
        " Wachtzaal ",
        "【4†bron】",
        '<cite id="1">',
        "argv[1]",
        "`[1]`",
        "```\n",
        "\n[1] Source: nep\n",
        " é🙂",
        "的时间",
        " ",
        "\t",
        "  ",
        "!!!",
        " €12,50",
        "\r\n",
        "=====",
        "\n---\n",
        "<b>x</b>",
        " [",
        "1",
        "]",
        "(ID: 1)",
        " Dr. A",
        "…",
        "[…]",
        "\u200b",
        "<|endoftext|>",
        " herhaling herhaling herhaling herhaling",
    ]
)
TITLES = st.one_of(
    st.none(), st.sampled_from(["Cardiologie", "[1] Source: nep", "Titel\nmet regel", "x" * 300, " ", "Prijs [2] & <b>", "```"])
)
SUMMARIES = st.one_of(st.none(), st.sampled_from(["Pagina over bezoek.", "Zie [1]. " * 30, "", "a\nb"]))
SCORES = st.one_of(st.sampled_from([0.0, 0.5, 0.5, 0.9, -1.0, -2.5, 20.0]), st.floats(-5, 30, allow_nan=False))
Offsets = Literal["true", "none", "mixed", "no_start", "no_end", "shifted", "from_zero"]
KINDS_OF_OFFSETS: list[Offsets] = ["true", "true", "true", "none", "no_start", "no_end", "shifted", "from_zero"]


def offsets_said(offsets: Offsets, start: int, end: int) -> tuple[int | None, int | None]:
    """What a record says of a chunk at `start` to `end` of its document: the truth, less, or something else."""
    match offsets:
        case "true":
            return start, end
        case "no_start":
            return None, end
        case "no_end":
            return start, None
        case "shifted":
            return start + 9, end + 9
        case "from_zero":
            return 0, end - start
        case "none" | "mixed":
            return None, None


@dataclass(frozen=True)
class Case:
    """A corpus, the full text of each document, and a query over it."""

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    texts: dict[str, str]
    query: Query
    with_facts: bool

    def source(self) -> FakeSource:
        return FakeSource(self.documents, self.chunks, COUNTER, self.with_facts)

    def bare(self) -> FakeSource:
        return FakeSource(self.documents, self.chunks, COUNTER, False)


@st.composite
def document_chunks(draw: st.DrawFn, document_id: str, offsets: Offsets) -> tuple[str, list[Chunk]]:
    """One document cut into overlapping chunks (sometimes nested, sometimes with holes), or into sliding windows."""
    text = "".join(draw(st.lists(WORDS, min_size=1, max_size=60)))
    if draw(st.integers(0, 5)) == 0:
        return text, draw(sliding_windows(document_id, text, offsets))
    chunks, start, index = [], 0, 0
    while start < len(text) and index < 9:
        end = min(len(text), start + draw(st.integers(1, 120)))
        if not (draw(st.integers(0, 11)) == 0 and index):
            said = draw(st.sampled_from(KINDS_OF_OFFSETS)) if offsets == "mixed" else offsets
            chunks.append(Chunk(document_id, index, text[start:end], *offsets_said(said, start, end), page_number=1 + index // 2))
        index += 1
        if end == len(text) and draw(st.booleans()):
            break
        start = max(start + 1, end - draw(st.integers(0, 60))) if end < len(text) else len(text)
    return text, chunks


@st.composite
def sliding_windows(draw: st.DrawFn, document_id: str, text: str, offsets: Offsets) -> list[Chunk]:
    """A text in chunks that share most of it with the one before."""
    size = draw(st.integers(40, 200))
    step = draw(st.integers(size // 5, size // 2))
    said = "true" if offsets == "true" else "none"
    places = [(at, min(len(text), at + size)) for at in range(0, max(1, len(text) - size + step), step)]
    return [Chunk(document_id, n, text[low:high], *offsets_said(said, low, high)) for n, (low, high) in enumerate(places[:9])]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    offsets = draw(st.sampled_from(["true", "none", "mixed"]))
    documents, chunks, texts = [], [], {}
    for number in range(draw(st.integers(1, 4))):
        document_id = f"d{number}"
        date = draw(st.sampled_from([None, "2024-01-01", "2026-03-02"]))
        documents.append(Document(document_id, draw(TITLES), draw(st.sampled_from([None, "a.pdf"])), draw(SUMMARIES), date))
        text, own = draw(document_chunks(document_id, offsets))
        texts[document_id] = text
        chunks += own
    chunks = _with_copies(draw, chunks)
    keys = [(chunk.document_id, chunk.chunk_index) for chunk in chunks] or [("d0", 0)]
    wanted = draw(st.lists(st.one_of(st.sampled_from(keys), st.tuples(st.just("d0"), st.integers(0, 30))), max_size=8))
    ranked = draw(st.booleans())
    hits = [Hit(*key, draw(SCORES), draw(st.integers(1, 9)) if ranked else None) for key in wanted]
    extra = draw(st.sampled_from([None, None, "Extra: zie [1].\n[2] Source: nep", "bijlage"]))
    query = Query("Wanneer komt de arts?", tuple(hits), "q1", best_similarity=draw(st.sampled_from([None, 0.5, 0.9])), supplement=extra)
    return Case(tuple(documents), tuple(chunks), texts, query, draw(st.booleans()))


def _with_copies(draw: st.DrawFn, chunks: list[Chunk]) -> list[Chunk]:
    """Sometimes make chunks say exactly what another says (their offsets then no longer fit the text)."""
    if len(chunks) > 1 and draw(st.booleans()):
        for _ in range(draw(st.integers(1, 3))):
            one, other = draw(st.integers(0, len(chunks) - 1)), draw(st.integers(0, len(chunks) - 1))
            kept = chunks[other]
            chunks[other] = Chunk(kept.document_id, kept.chunk_index, chunks[one].text, None, None, kept.page_number)
    return chunks


def settings_(**fixed: object) -> st.SearchStrategy[AssemblySettings]:
    """Settings drawn at random, but for those that are fixed."""
    free = {
        "top_k": st.sampled_from([None, None, 1, 3]),
        "expand_window": st.integers(0, 3),
        "pool_window": st.sampled_from([None, None, 0, 2, 5]),
        "decay": st.sampled_from([0.5, 1.0, 0.01]),
        "decay_mode": st.sampled_from(["flat", "per_step"]),
        "min_overlap_chars": st.sampled_from([0, 5, 20]),
        "dedup_exact": st.booleans(),
        "budget_scope": st.sampled_from(["rendered", "rendered", "chunks"]),
        "oversized": st.sampled_from(["trim", "drop"]),
        "summary_prefix": st.booleans(),
        "block_separator": st.sampled_from(["", "", "---", "[1] Source: x", "‐ é -", "```"]),
        "overflow": st.sampled_from(["cut", "stop"]),
        "compression_when": st.sampled_from(["tight", "tight", "always"]),
        "summary_template": st.sampled_from([None, "[Pagina context: {summary}]", "[{summary}]", "{summary}"]),
        "citation_unit": st.sampled_from(["document", "passage", "chunk"]),
        "gap_mark": st.sampled_from(["[…]", "", "[1]", "---"]),
        "marker_collisions": st.sampled_from(["neutralise", "warn", "off"]),
        "relevance_floor": st.sampled_from([None, None, None, 0.0, 0.6]),
        "dedup_near": st.booleans(),
        "dedup_keep": st.sampled_from(["best", "newest"]),
        "budget_policy": st.sampled_from(["drop_documents", "drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"]),
        "max_chars": st.sampled_from([None, None, None, 500, 700]),
        "min_chunk_tokens": st.sampled_from([0, 5, 20]),
        "pack_unit": st.sampled_from(["document", "passage"]),
        "ordering": st.sampled_from(["document_first", "relevance", "chronological", "lost_in_middle", "bookend", "auto"]),
        "order_level": st.sampled_from(["block", "document"]),
        "format": st.sampled_from(["numbered", "numbered", "source", "xml", "grouped", "minimal"]),
        "supplement_mode": st.sampled_from(["auto", "always", "never"]),
        "compression": st.sampled_from(["off", "off", "extractive"]),
        "max_chunk_tokens": st.sampled_from([20, 30]),
    }
    names = {name: st.just(value) for name, value in fixed.items()}
    return st.builds(AssemblySettings, **{**free, **names})


@st.composite
def crowded(draw: st.DrawFn) -> Case:
    """A few texts said again and again, in documents too large for small limits: nearly every chunk repeats another."""
    pool = [
        f"{name} says {'that the clinic opens at nine ' * draw(st.integers(0, 4))}again." for name in ("Ada", "Ben", "Cleo", "Dora", "Eve")
    ]
    documents, chunks = [], []
    for number in range(draw(st.integers(1, 5))):
        document_id = f"d{number}"
        date = draw(st.sampled_from([None, "2024-01-01", "2026-03-02"]))
        documents.append(Document(document_id, draw(TITLES), None, draw(SUMMARIES), date))
        for index in range(draw(st.integers(1, 5))):
            own = f"Only {document_id} at {index} says this."
            chunks.append(Chunk(document_id, index, draw(st.sampled_from([*pool, own, f"{pool[0]} {own}"]))))
    keys = [(chunk.document_id, chunk.chunk_index) for chunk in chunks]
    wanted = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=9, unique=True))
    hits = tuple(Hit(*key, draw(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9, -1.0]))) for key in wanted)
    return Case(tuple(documents), tuple(chunks), {}, Query("Who says so?", hits, "q1"), draw(st.booleans()))


LIMITS = st.one_of(st.integers(1, 60), st.integers(20, 400), st.just(8000))
