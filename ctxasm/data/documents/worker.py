"""The process that reads documents: what a hostile file does happens here, within limits, and this process may be ended any time.

    python -P worker.py '{"memory_mb": 2048, …}'

It has none of the environment's keys. Standard input brings documents: a line of JSON (`name`, `size`) and that many bytes.
Standard output answers with lines of JSON: `{"page": 3, "of": 40}` on the way, then `{"source": …}`, `{"refused": sentence}`,
`{"missing": sentence}` or `{"broke": sentence}`, after which this process ends.
JSON, not pickles: what comes out of a process that a file may have taken over is data, never code.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import IO, Any

from ctxasm.data.documents.collecting import Kind, MissingPackage, UnreadableDocument, kind_of, why_not
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.source import Section, SourceText, Table
from ctxasm.model.characters import mended
from ctxasm.model.errors import missing_package, shown

OnPage = Callable[[int, int], None]
"""Told after each page: how many are read, of how many."""
READER_VERSION = 2
"""Raised whenever a reader or the chunker makes something else of the same bytes: then documents are read again."""
LIBRARIES: dict[Kind, str] = {
    "pdf": "pypdfium2",
    "docx": "python-docx",
    "html": "lxml",
    "markdown": "markdown-it-py",
    "text": "charset-normalizer",
}


def _no_progress(done: int, total: int) -> None:
    """Nobody asked."""


def read_document(file_name: str, data: bytes, limits: ReadLimits | None = None, on_page: OnPage = _no_progress) -> SourceText:
    """The text of a document, whose kind its name says. Reads in this process: a hostile file may take long here.

    `on_page` is told after each page of a PDF. Raises UnreadableDocument with one sentence, whatever the bytes are.
    """
    limits = limits or ReadLimits()
    kind = kind_of(file_name)
    if kind is None:
        raise UnreadableDocument(why_not(file_name))
    try:
        source = _read(kind, data, limits, on_page)
    except (UnreadableDocument, MemoryError):
        raise
    except ModuleNotFoundError as error:
        raise MissingPackage(missing_package(error) or str(error)) from None
    except Exception as error:  # libraries read bytes made to break them; what they raise is no contract
        raise UnreadableDocument(f"it is damaged: {shown(f'{type(error).__name__}: {error}')}") from error
    source = _storable(source)
    if not source.text.strip():
        raise UnreadableDocument("it holds no text")
    if len(source.text) > limits.characters:
        raise UnreadableDocument(f"it has {len(source.text):,} characters of text, allowed are {limits.characters:,}: split it")
    return source


def _storable(source: SourceText) -> SourceText:
    """Without the characters that no database takes, which may come out of an escape in any kind of file."""
    sections = [Section(section.start, mended(section.heading)) for section in source.sections]
    fields = {name: mended(value) for name, value in source.fields.items()}
    return dataclasses.replace(source, text=mended(source.text), sections=sections, fields=fields)


@cache
def reader_of(kind: Kind) -> str:
    """What reads a kind of document, with its version: as "pypdfium2 5.15.2"."""
    from importlib import metadata  # a third of what the process that reads loads, and that one asks for no version

    library = LIBRARIES[kind]
    try:
        return f"{library} {metadata.version(library)}"
    except metadata.PackageNotFoundError:
        return library


def _read(kind: Kind, data: bytes, limits: ReadLimits, on_page: OnPage) -> SourceText:
    if kind == "pdf":
        from ctxasm.data.documents.pdf import read_pdf

        return read_pdf(data, on_page)
    if kind == "docx":
        from ctxasm.data.documents.docx import read_docx

        return read_docx(data, limits)
    if kind == "html":
        from ctxasm.data.documents.html import read_html

        return read_html(data)
    if kind == "markdown":
        from ctxasm.data.documents.markdown import read_markdown

        return read_markdown(data)
    from ctxasm.data.documents.text import read_plain

    return read_plain(data)


BETWEEN_PAGES_S = 0.2
"""How often a page is told of."""


def written_source(source: SourceText) -> dict[str, Any]:
    """A source as JSON values."""
    sections = [[section.start, section.heading] for section in source.sections]
    breaks, notes = list(source.page_breaks), list(source.notes)
    return {
        "fields": dict(source.fields),
        "text": source.text,
        "breaks": breaks,
        "sections": sections,
        "paged": source.paged,
        "notes": notes,
        "tables": [list(table) for table in source.tables],
    }


def read_source_json(stored: dict[str, Any]) -> SourceText:
    """What `written_source` wrote."""
    sections = [Section(int(start), str(heading)) for start, heading in stored["sections"]]
    return SourceText(
        {str(name): str(value) for name, value in stored["fields"].items()},
        str(stored["text"]),
        [int(place) for place in stored["breaks"]],
        sections,
        paged=bool(stored["paged"]),
        notes=[str(note) for note in stored["notes"]],
        tables=[Table(int(start), int(body), int(end)) for start, body, end in stored["tables"]],
    )


def main() -> None:
    """Answer until standard input ends."""
    limits = ReadLimits(**json.loads(sys.argv[1]))
    # What a library prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit_memory(limits)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    while line := sys.stdin.buffer.readline():
        asked = json.loads(line)
        data = sys.stdin.buffer.read(asked["size"])
        if len(data) < asked["size"]:
            return
        _limit_time(limits)
        if not _answer(answers, asked["name"], data, limits):
            return


def _answer(answers: IO[str], name: str, data: bytes, limits: ReadLimits) -> bool:
    """Answer for one document. False where this process should not read another."""
    told = time.monotonic()

    def on_page(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= BETWEEN_PAGES_S:
            told = time.monotonic()
            _say(answers, {"page": done, "of": total})

    try:
        _say(answers, {"source": written_source(read_document(name, data, limits, on_page))})
    except MissingPackage as error:
        _say(answers, {"missing": str(error)})
    except UnreadableDocument as error:
        _say(answers, {"refused": str(error)})
    except MemoryError:
        _say(answers, {"broke": f"reading it needs more than {limits.memory_mb:,} MB of memory (CTXASM_INGEST_MEMORY_MB)"})
        return False
    return True


def _say(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer, ensure_ascii=False) + "\n")
    answers.flush()


def _limit_memory(limits: ReadLimits) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    most = limits.memory_mb * 2**20
    for kind, value in ((resource.RLIMIT_AS, most), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _limit_time(limits: ReadLimits) -> None:
    """Processor time for one more document: the last resort where nobody is left to end this process."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = int(time.process_time()) + limits.seconds + 10
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _end_with(parent: int) -> None:
    """End this process soon after the one that started it, which may have been killed."""
    while os.name == "posix" and os.getppid() == parent:
        time.sleep(0.5)
    if os.name == "posix":
        os._exit(1)


if __name__ == "__main__":
    main()
