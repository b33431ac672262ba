"""Random small corpora under every limit from 1 upward, against a plain second reading of the rules."""

from __future__ import annotations

import random

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings
from tests.examples import in_turn
from tests.fakes import FakeSource
from tests.hostile.second_reading import expected, tokens
from tests.strategies import COUNTER

WORDS = [
    "De arts ", "komt om ", "9.30 uur", ". ", "\n", "\n\n", "U brengt ", "best uw ", "identiteitskaart ", "mee", ". Zie ", "45 minuten",
    ", ", "Wachtzaal ", "é🙂", "的时间", "  ", "!!!", "€12,50", "abc", "=====", " x",
]  # fmt: skip


def corpus(draw: random.Random) -> tuple[list[Document], list[Chunk], tuple[Hit, ...]]:
    documents, chunks = [], []
    for number in range(draw.randint(1, 4)):
        document_id = f"d{number}"
        title, summary = draw.choice([None, f"Titel {document_id}", "Cardio\nlogie"]), draw.choice([None, "Korte uitleg"])
        documents.append(Document(document_id, title, draw.choice([None, "a.pdf"]), summary))
        text = "".join(draw.choice(WORDS) for _ in range(draw.randint(3, 40)))
        start, end = 0, 0
        for index in range(7):
            end = min(len(text), max(end + 1, start + draw.randint(3, 90)))
            if not index or draw.random() > 0.1:
                offsets = (start, end) if draw.random() < 0.6 else (None, None)
                chunks.append(Chunk(document_id, index, text[start:end], *offsets, page_number=draw.choice([None, 1, index])))
            if end == len(text):
                break
            start = max(start + 1, end - draw.choice([0, 0, 5, 25, 40]))
    for _ in range(draw.choice([0, 1, 2, 3])):
        one, at = draw.choice(chunks), draw.randrange(len(chunks))
        chunks[at] = Chunk(chunks[at].document_id, chunks[at].chunk_index, one.text, None, None, chunks[at].page_number)
    keys = [(c.document_id, c.chunk_index) for c in chunks] + [("d0", 11)]
    has_ranks = draw.random() < 0.4
    hits = [
        Hit(*draw.choice(keys), draw.choice([0.0, 0.5, 0.5, 0.9, -1.0, -2.5, 20.0]), draw.randint(1, 9) if has_ranks else None)
        for _ in range(draw.randint(1, 6))
    ]
    return documents, chunks, tuple(hits)


def choice(draw: random.Random) -> AssemblySettings:
    return AssemblySettings(
        top_k=draw.choice([None, None, 2]),
        expand_window=draw.randint(0, 3),
        decay=draw.choice([0.5, 1.0, 0.01]),
        decay_mode=draw.choice(["flat", "per_step"]),
        min_overlap_chars=draw.choice([0, 5, 20]),
        dedup_exact=draw.random() < 0.8,
        budget_scope=draw.choice(["rendered", "rendered", "chunks"]),
        oversized=draw.choice(["trim", "drop"]),
        summary_prefix=draw.random() < 0.7,
        citation_unit=draw.choice(["document", "passage", "chunk"]),
        gap_mark=draw.choice(["[…]", "", "---"]),
        summary_template=draw.choice(["[Pagina context: {summary}]", "[Page context: {summary}]"]),
        block_separator=draw.choice(["", "", "---", "=== 🙂 ==="]),
        marker_collisions="off",
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_kept_set_and_its_text_are_what_the_rules_say(seed):
    draw = random.Random(seed)
    documents, chunks, hits = corpus(draw)
    chosen = choice(draw)
    source = FakeSource(documents, chunks, COUNTER, draw.random() < 0.5)
    query = Query("Wanneer?", hits)
    whole = assemble(query, source, chosen, COUNTER, limit=10**6).token_count
    limits = sorted({*range(1, 8), *draw.sample(range(1, whole + 3), min(12, whole)), whole + 2})
    for limit in in_turn(limits, seed, 3):
        done = assemble(query, source, chosen, COUNTER, limit=limit)
        must = expected(documents, chunks, hits, chosen, limit)
        assert must is None or done.text == must, limit
        assert done.token_count == tokens(done.text)
        assert chosen.budget_scope == "chunks" or done.token_count <= limit
        fates = [(fate.document_id, fate.chunk_index) for fate in done.trace.fates]
        assert len(fates) == len(set(fates))
        assert {(hit.document_id, hit.chunk_index) for hit in hits} <= set(fates)
