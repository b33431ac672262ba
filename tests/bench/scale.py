"""A corpus of any size that no other text repeats: sentences of the sample, each with a number of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from ctxasm.data.files import load_bundle
from ctxasm.model.records import Chunk, Document, Hit, Query

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "hospital-nl"
PER_DOCUMENT = 20
CHUNK_CHARS, STEP_CHARS = 1080, 880
"""About 350 tokens, of which about 65 stand in the next chunk too."""


def documents(chunks: int) -> Iterator[Document]:
    """The documents of a corpus of `chunks` chunks."""
    for number in range(-(-chunks // PER_DOCUMENT)):
        yield Document(f"doc{number:07}", f"Pagina {number}", f"pagina-{number}.html", f"Over onderwerp {number}.")


def distinct_chunks(chunks: int) -> Iterator[Chunk]:
    """`chunks` chunks in document order, with offsets. The same for the same number."""
    parts = [part.strip() for chunk in load_bundle(SAMPLE).chunks for part in chunk.text.replace("\n", " ").split(". ")]
    sentences, choose = [part for part in parts if 30 < len(part) < 300], random.Random(7)
    left = chunks
    for number in range(-(-chunks // PER_DOCUMENT)):
        body = _body(sentences, choose, number)
        for index in range(min(left, PER_DOCUMENT)):
            start = index * STEP_CHARS
            yield Chunk(f"doc{number:07}", index, body[start : start + CHUNK_CHARS], start, start + CHUNK_CHARS, page_number=index // 4 + 1)
        left -= PER_DOCUMENT


def _body(sentences: list[str], choose: random.Random, number: int) -> str:
    parts: list[str] = []
    chars = 0
    while chars < STEP_CHARS * (PER_DOCUMENT - 1) + CHUNK_CHARS:
        parts.append(f"{choose.choice(sentences)} (punt {number}.{len(parts)}). ")
        chars += len(parts[-1])
    return "".join(parts)


def random_queries(chunks: int, hits: int, count: int) -> list[Query]:
    """Queries with hits anywhere in the corpus."""
    choose = random.Random(chunks)
    found = []
    for number in range(count):
        places = choose.sample(range(chunks), hits)
        own = tuple(Hit(f"doc{at // PER_DOCUMENT:07}", at % PER_DOCUMENT, 1 - rank / 100, rank + 1) for rank, at in enumerate(places))
        found.append(Query("Wat kost parkeren?", own, f"q{number}"))
    return found
