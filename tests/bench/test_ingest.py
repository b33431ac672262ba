"""How fast documents are read, in pages a second, and cut, against bare tiktoken on the same text.

    pytest -m bench tests/bench/test_ingest.py -s

A page is one of a PDF, else 2,500 characters. `reader` is the reader by itself; `ingest` is everything: a process of its own,
chunks, and the dataset in a SQLite file.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.documents.chunking import chunk_text
from ctxasm.data.documents.ingesting import ingest
from ctxasm.data.documents.worker import read_document
from ctxasm.text.tokens import open_counter
from tests.bench.tables import show

pytestmark = pytest.mark.bench

FILES = Path(__file__).parents[1] / "data" / "documents" / "files"
PAGE_CHARS = 2_500
COPIES = 100


def paragraphs() -> list[str]:
    """Prose: the paragraphs of the sample's sources."""
    sources = sorted(
        path for group in ("nl", "both") for path in (Path(__file__).parents[2] / "sample_data" / "sources" / group).glob("*.md")
    )
    texts = [path.read_text(encoding="utf-8").split("---\n", 2)[2] for path in sources]
    return [" ".join(part.split()) for text in texts for part in text.split("\n\n") if len(part) > 60]


def long_docx(parts: list[str]) -> bytes:
    from docx import Document

    document = Document()
    for part in parts:
        document.add_paragraph(part)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def documents() -> dict[str, bytes]:
    parts = paragraphs() * 4
    return {
        "gids.pdf": (FILES / "gids.pdf").read_bytes(),
        "kolommen.pdf": (FILES / "kolommen.pdf").read_bytes(),
        "lang.docx": long_docx(parts),
        "lang.html": "".join(f"<p>{part}</p>" for part in parts).encode(),
        "lang.md": "\n\n".join(parts).encode(),
        "lang.txt": "\n\n".join(parts).encode(),
    }


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def test_pages_a_second(tmp_path: Path) -> None:
    rows = []
    for number, (name, data) in enumerate(documents().items()):
        source = read_document(name, data)
        pages = source.pages or len(source.text) / PAGE_CHARS
        times = COPIES if source.pages else 3
        alone = min(seconds(lambda name=name, data=data: read_document(name, data)) for _ in range(5))  # type: ignore[misc]
        uploads = [(f"{copy} {name}", data + b"\n" * copy) for copy in range(times)]
        workbench = Workbench(Config(f"sqlite:///{tmp_path / f'{number}.db'}"))
        whole = seconds(lambda workbench=workbench, uploads=uploads: ingest(workbench, uploads, name="d"))  # type: ignore[misc]
        again = seconds(lambda workbench=workbench, uploads=uploads: ingest(workbench, uploads, name="d"))  # type: ignore[misc]
        workbench.close()
        rows.append((name, f"{pages:.0f}", f"{pages / alone:,.0f}", f"{pages * times / whole:,.0f}", f"{pages * times / again:,.0f}"))
    show("pages a second", ("document", "pages", "reader", "ingest", "the same again"), rows)


def test_chunks_against_bare_tiktoken() -> None:
    import tiktoken

    text = "\n\n".join(paragraphs() * 20)
    counter = open_counter("cl100k_base")
    encoding = tiktoken.get_encoding("cl100k_base")
    tokens = len(encoding.encode_ordinary(text))
    rows = []
    for name, work in {
        "tiktoken, encoded once": lambda: encoding.encode_ordinary(text),
        "chunks": lambda: chunk_text(text, tokenizer=counter),
        "chunks of whole sentences": lambda: chunk_text(text, tokenizer=counter, sentences=True),
    }.items():
        taken = min(seconds(work) for _ in range(5))
        rows.append((name, f"{len(text) / taken / 1e6:.2f}", f"{tokens / taken:,.0f}"))
    show(f"{len(text) / 1e6:.1f} million characters", ("", "million characters/s", "tokens/s"), rows)
