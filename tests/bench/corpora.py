"""Corpora to measure on: the sample, real bundles where they lie beside the project, and made ones of any size."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from ctxasm.data.files import load_bundle
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from tests.real_data import REAL, load_real, real_folder

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "hospital-nl"


def bundles() -> Iterator[Bundle]:
    """The sample and the real ones that are there."""
    yield load_bundle(SAMPLE)
    if real_folder() is not None:
        for name in REAL:
            yield load_real(name)


def random_queries(bundle: Bundle, k: int, count: int, seed: int = 1) -> list[Query]:
    """Queries with `k` hits drawn from all chunks, scores falling: the hardest case for reading and measuring."""
    choose = random.Random(seed)
    keys = [(c.document_id, c.chunk_index) for c in bundle.chunks]
    queries = []
    for number in range(count):
        wanted = choose.sample(keys, min(k, len(keys)))
        hits = tuple(Hit(*key, 1.0 - place / (2 * k), place + 1) for place, key in enumerate(wanted))
        queries.append(Query("Wat kost parkeren?", hits, f"q{number}"))
    return queries


def made_bundle(chunks: int, name: str, per_document: int = 40) -> Bundle:
    """`chunks` distinct chunks of about 350 tokens with 70 tokens of overlap, cut from sample text by fixed offsets."""
    sample = load_bundle(SAMPLE)
    text = " ".join(c.text for c in sample.chunks).replace("[", "").replace("]", "")
    size, step = 1150, 920
    documents, made = [], []
    for number in range(-(-chunks // per_document)):
        document_id = f"doc{number:06d}"
        documents.append(Document(document_id, f"Pagina {number}", f"pagina-{number}.html", f"Over onderwerp {number}."))
        offset = (number * 7919) % (len(text) // 2)
        body = text[offset : offset + step * per_document + size].replace(". ", f" op pagina {number}. ")
        for index in range(min(per_document, chunks - number * per_document)):
            start = body.rfind(" ", 0, (index * step) % max(1, len(body) - size) + 1) + 1
            end = body.rfind(" ", start, start + size)
            made.append(Chunk(document_id, index, body[start:end], start, end))
    return Bundle(name, tuple(documents), tuple(made))
