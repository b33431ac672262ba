"""Laws of every document, however broken: its text in chunks that are slices of it, or one sentence; nothing else, nothing lost.

`CTXASM_FUZZ_INPUTS=20000 pytest -m slow tests/data/documents/test_document_fuzz.py` for 20,000 of each of the five kinds, from
number CTXASM_FUZZ_FIRST on.
"""

from __future__ import annotations

import faulthandler
import os
import random
import traceback
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from document_fuzz import KINDS, document

import ctxasm
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.documents.collecting import UnreadableDocument, kind_of
from ctxasm.data.documents.ingesting import Cut, IngestOptions, ReadLimits, cut, ingest, mark_of, read_written, written
from ctxasm.data.documents.source import SourceText
from ctxasm.data.documents.text import decoded
from ctxasm.data.documents.worker import read_document
from ctxasm.data.enrich.extractive import enrich_document, summary_of, whole_document
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk
from ctxasm.store.database import MemoryStore
from ctxasm.store.validation import check_records
from ctxasm.text.tokens import open_counter

FIRST, INPUTS = int(os.environ.get("CTXASM_FUZZ_FIRST", "0")), int(os.environ.get("CTXASM_FUZZ_INPUTS", "1000"))
OPTIONS = (
    *(IngestOptions(), IngestOptions(), IngestOptions(), IngestOptions(headings=True), IngestOptions(120, 24)),
    IngestOptions(16, 0),
    IngestOptions(17, 12),
    IngestOptions(40, 10, headings=True),
    IngestOptions(60, 20, pages=False),
)
LIMITS = ReadLimits(unpacked_mb=64, characters=200_000)
COUNTER = open_counter("cl100k_base")
GUARD_S = 300
"""A hundred documents that take so long end the process, with the place where it hangs."""
OURS = str(Path(ctxasm.__file__).parent)

pytestmark = pytest.mark.filterwarnings("ignore")  # what libraries say of broken files


@pytest.fixture(autouse=True)
def _guard() -> Iterator[None]:
    yield
    faulthandler.cancel_dump_traceback_later()


def check_sentence(reason: str) -> None:
    assert reason.splitlines() == [reason]
    assert len(reason) < 250
    reason.encode()


def read(name: str, data: bytes) -> SourceText | None:
    """The text of a document; None where it is refused, with a sentence, and not by a fault of the reader itself."""
    try:
        return read_document(name, data, LIMITS)
    except UnreadableDocument as error:
        check_sentence(str(error))
        cause = error.__cause__
        if cause is not None and not isinstance(cause, RecursionError):
            frame = traceback.extract_tb(cause.__traceback__)[-1]
            assert not frame.filename.startswith(OURS), "".join(traceback.format_exception(cause))
        return None


def check_source(source: SourceText, data: bytes, name: str) -> None:
    length = len(source.text)
    assert source.text.strip()
    source.text.encode()
    assert "\0" not in source.text
    assert all(0 <= low <= high <= length for low, high in pairwise([0, *source.page_breaks, length]))
    starts = [section.start for section in source.sections]
    assert starts == sorted(starts)
    assert all(0 <= start < length for start in starts)
    if name.endswith(".txt"):
        assert "".join(source.text.split()) == "".join(decoded(data)[0].split())


def check_cut(made: Cut, source: SourceText, options: IngestOptions) -> None:
    assert made.is_whole
    covered = 0
    for chunk in made.chunks:
        assert chunk.start is not None
        assert chunk.end is not None
        head = chunk.text.removesuffix(source.text[chunk.start : chunk.end])
        assert not head or any(
            table.body <= chunk.start < table.end and head == source.text[table.start : table.body] for table in source.tables
        )
        assert chunk.start <= covered < chunk.end
        covered = chunk.end
        assert COUNTER.count(chunk.text) <= options.max_tokens or len(chunk.text) == 1
        assert (chunk.page_number is None) == (source.pages is None)
        assert chunk.page_number is None or 1 <= chunk.page_number <= (source.pages or 0)
    assert covered == len(source.text)
    assert read_written(written(made)) == made
    check_records([made.document], made.chunks, (), ())


def check_enriched(made: Cut) -> None:
    chunks = [FetchedChunk(*(getattr(chunk, name) for name in FetchedChunk._fields[:8])) for chunk in made.chunks]  # type: ignore[arg-type]
    whole = whole_document(made.document, chunks)
    assert whole.text.split() == "".join(_unshared(made)).split()
    for one in enrich_document(whole, COUNTER):
        assert COUNTER.count(one.context) <= 100
    summary_of(whole)


def _unshared(made: Cut) -> Iterator[str]:
    covered = 0
    for chunk in made.chunks:
        assert chunk.start is not None
        assert chunk.end is not None
        # A further piece of a table repeats the head of the table, and stands whole.
        repeats = len(chunk.text) > chunk.end - chunk.start
        yield chunk.text if repeats else chunk.text[covered - chunk.start :]
        covered = chunk.end


def check_document(kind: str, number: int) -> bool:
    """Whether a document was read; every law is checked."""
    if number % 100 == 0:
        faulthandler.dump_traceback_later(GUARD_S, exit=True)
    name, data = document(kind, number)
    options = random.Random(number).choice(OPTIONS)
    try:
        source = read(name, data)
        if source is None:
            return False
        check_source(source, data, name)
        known = kind_of(name)
        assert known is not None
        try:
            made = cut(name, source, known, mark_of(data, known, options, "cl100k_base"), options, COUNTER)
        except InvalidInput as error:
            check_sentence(str(error))
            return False
        check_cut(made, source, options)
        if number % 20 == 0 and len(made.chunks) < 200:
            check_enriched(made)
    except BaseException as error:
        error.add_note(f"document({kind!r}, {number})")
        raise
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_document_keeps_the_laws(kind: str) -> None:
    was_read = [check_document(kind, number) for number in range(16)]
    assert sum(was_read) > 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_broken_documents_keep_the_laws(kind: str) -> None:
    count = sum(check_document(kind, number) for number in range(FIRST, FIRST + INPUTS))
    print(f"{kind}: {INPUTS:,} documents from number {FIRST:,} on, {count:,} read, {INPUTS - count:,} refused")
    assert count > INPUTS // 10


def check_ingest(numbers: range) -> None:
    """Documents of all kinds through the process that reads them, as one dataset: what is not in it is in the report."""
    workbench = Workbench(Config("sqlite://"), MemoryStore(COUNTER))
    files = [document(kind, number) for number in numbers for kind in KINDS]
    first, again = (ingest(workbench, files, name="d") for _ in range(2))
    loaded = {found.document_id for found in workbench.dataset("d").documents()}
    assert sorted([*loaded, *(problem.file for problem in first.broken)]) == sorted(name for name, _ in files)
    for problem in first.broken:
        check_sentence(problem.reason)
    assert (again.problems, again.read, again.reused) == (first.problems, 0, len(loaded))
    for name, data in files:
        if name in loaded:
            source, chunks = read(name, data), workbench.document_chunks(name, "d")
            assert source is not None
            assert all(chunk.text.endswith(source.text[chunk.start : chunk.end]) for chunk in chunks)
            assert (chunks[0].start, chunks[-1].end) == (0, len(source.text))


def test_a_folder_of_broken_documents_loads_but_for_a_line_each() -> None:
    check_ingest(range(2))


@pytest.mark.slow
def test_many_folders_of_broken_documents_load_but_for_a_line_each() -> None:
    for low in range(0, 100, 10):
        check_ingest(range(low, low + 10))
