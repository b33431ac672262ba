"""Whatever the bytes are: the text of a document, or one sentence, within the time and the memory that one may take."""

from __future__ import annotations

import io
import os
import random
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.sandbox import Readers, ReadingEnded
from ctxasm.data.documents.source import SourceText

FILES = Path(__file__).parent / "files"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SEED = 20261122


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    with Readers(ReadLimits(seconds=30, memory_mb=1024)) as made:
        yield made


def outcome(readers: Readers, name: str, data: bytes) -> SourceText | str:
    """What was read, or the sentence."""
    try:
        return readers.submit(name, data, []).result(timeout=600)
    except UnreadableDocument as error:
        return str(error)


def refused(readers: Readers, name: str, data: bytes) -> str:
    made = outcome(readers, name, data)
    assert isinstance(made, str), made.text[:200]
    assert "\n" not in made
    assert len(made) < 250
    return made


def docx(replaced: dict[str, str | bytes]) -> bytes:
    """The document of the tests with other entries."""
    stream = io.BytesIO()
    with zipfile.ZipFile(FILES / "bezoek.docx") as source, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, replaced.pop(name, source.read(name)))
        for name, data in replaced.items():
            target.writestr(name, data)
    return stream.getvalue()


def body(inside: str, head: str = "") -> bytes:
    return docx({"word/document.xml": f'<?xml version="1.0"?>{head}<w:document {WORD}><w:body>{inside}</w:body></w:document>'})


def pdf(*objects: bytes) -> bytes:
    """A PDF of these objects; the first is its catalogue."""
    out, places = b"%PDF-1.4\n", []
    for number, inside in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, inside)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(out)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, table, size, start)


PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
LAUGHS = '<!DOCTYPE l [<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)) + "]>"
LOOPS = (
    b"<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
    b"<</Type/Pages/Kids[3 0 R 2 0 R]/Count 1000000000>>",
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 5 0 R>>",
    b"<</First 4 0 R/Last 4 0 R/Next 4 0 R/Prev 4 0 R/Parent 4 0 R/Title(x)/Dest[3 0 R /Fit]>>",
    b"<</Length 5 0 R>>stream\nBT (x) Tj ET\nendstream",
)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("lach.docx", lambda: body(PARAGRAPH.format("&a11;"), LAUGHS), "it is damaged"),
        ("bom.docx", lambda: docx({"word/media/plaatje.png": b"\0" * 30_000_000}), "unpacks to more than 200 times its size"),
        ("diep.docx", lambda: body("<w:sdt>" * 5000 + "</w:sdt>" * 5000), "it is damaged"),
        ("half.docx", (FILES / "bezoek.docx").read_bytes()[:20_000], "it is damaged"),
        ("uit.docx", lambda: docx({"../../uit.xml": b"x"}), "points outside the archive"),
        ("oud.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "protected by a password, or of the old Word format"),
        ("geen.docx", b"PK\x05\x06" + b"\0" * 18, "it is no Word document"),
        ("ander.docx", lambda: docx({"word/document.xml": "<x/>"}), "it is no Word document"),
        ("leeg.docx", lambda: docx({"word/document.xml": f"<w:document {WORD}/>"}), "it is no Word document"),
        ("diep.html", b"<div>" * 1_000_000 + b"x", "nested too deep"),
        ("open.html", b"<!--" * 500_000, "holds no HTML"),
        ("script.html", b"<script>" * 100_000, "holds no text"),
        ("lus.pdf", pdf(*LOOPS), "it "),
        ("half.pdf", (FILES / "gids.pdf").read_bytes()[:1500], "it "),
        ("rommel.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 500, "it is damaged, or no PDF"),
        ("bytes.txt", bytes(range(256)) * 1000, "no text"),
        ("bytes.md", b"\x00\x01\x02" * 1000, "no text"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_hostile_document_is_refused_with_a_sentence(readers: Readers, name: str, data: bytes | Callable[[], bytes], words: str) -> None:
    assert words in refused(readers, name, data if isinstance(data, bytes) else data())


@pytest.mark.slow
def test_ten_million_nested_elements_are_refused(readers: Readers) -> None:
    assert "nested too deep" in refused(readers, "diep.html", b"<div>" * 10_000_000 + b"x")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("buiten.docx", lambda: body(PARAGRAPH.format("Tekst &x;"), '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "Tekst"),
        ("veel.docx", lambda: body("".join(PARAGRAPH.format(f"woord {number}") for number in range(5000))), "woord 4999"),
        ("tekens.html", b"<" * 300_000 + b" slot", "slot"),
        ("lijst.html", b"<ul><li>" * 900 + b"slot", "slot"),
        ("stijl.html", b"<style>" + b".a{display:none}" * 20_000 + b"{{{}}" * 20_000 + b"</style>slot", "slot"),
        ("tabel.html", b"<table>" + b"<tr><td>a<td>b" * 20_000 + b"</table>slot", "slot"),
        ("citaat.md", b"> " * 100_000 + b"slot", "slot"),
        ("haken.md", b"[" * 300_000 + b"slot", "slot"),
        ("open.md", b"<!-- " * 100_000 + b"slot", "slot"),
        ("bladen.txt", b"a\f" * 50_000 + b"slot", "slot"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_strange_document_is_read_soon(readers: Readers, name: str, data: bytes | Callable[[], bytes], words: str) -> None:
    made = outcome(readers, name, data if isinstance(data, bytes) else data())
    assert isinstance(made, SourceText), made
    assert words in made.text
    assert "root:" not in made.text


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()))
def test_damaged_documents_are_read_or_refused_never_worse(readers: Readers, name: str) -> None:
    """200 damaged files in all."""
    random_bytes = random.Random(f"{SEED} {name}")
    whole = (FILES / name).read_bytes()
    for _ in range(-(-200 // len(list(FILES.iterdir())))):
        made = outcome(readers, name, damaged(whole, random_bytes))
        if isinstance(made, str):
            assert "\n" not in made
            assert "Traceback" not in made
        else:
            assert made.text.strip()
            assert all(0 <= section.start < len(made.text) for section in made.sections)
            assert all(0 <= place <= len(made.text) for place in made.page_breaks)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Cut off, with bytes changed, with a part doubled, taken out or filled with zeros."""
    wounded = bytearray(data)
    low = chance.randrange(len(data))
    high = min(len(data), low + chance.randrange(1, 1 + len(data) // 4))
    match chance.randrange(5):
        case 0:
            del wounded[low:]
        case 1:
            for _ in range(chance.randrange(1, 30)):
                wounded[chance.randrange(len(wounded))] = chance.randrange(256)
        case 2:
            wounded[low:low] = data[low:high]
        case 3:
            del wounded[low:high]
        case _:
            wounded[low:high] = bytes(high - low)
    return bytes(wounded)


@pytest.mark.system
def test_a_document_that_takes_too_long_is_ended_and_the_next_is_read() -> None:
    slow = b"<a " + b" ".join(b"a%d=1" % number for number in range(300_000)) + b">x</a>"
    with Readers(ReadLimits(seconds=4), width=1) as readers:
        assert refused(readers, "traag.html", slow) == "reading it takes longer than 4 seconds (CTXASM_INGEST_SECONDS)"
        assert isinstance(outcome(readers, "a.txt", b"tekst"), SourceText)


@pytest.mark.system
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the memory of a process")
def test_a_document_that_takes_too_much_memory_is_refused_and_the_next_is_read() -> None:
    with Readers(ReadLimits(memory_mb=256), width=1) as readers:
        words = refused(readers, "groot.html", b"<p>tekst</p>" * 2_000_000)
        assert "memory" in words
        assert isinstance(outcome(readers, "a.txt", b"tekst"), SourceText)


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_a_reader_that_dies_is_started_again(readers: Readers) -> None:
    import signal

    with Readers(ReadLimits(), width=1) as own:
        assert isinstance(outcome(own, "a.txt", b"tekst"), SourceText)
        process = own._helpers.all[0]._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        assert isinstance(outcome(own, "a.txt", b"tekst"), SourceText)


def test_a_reader_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-geheim")
    monkeypatch.setenv("CTXASM_DATABASE_URL", "postgresql://u:geheim@h/d")
    with Readers(ReadLimits(), width=1) as own:
        assert isinstance(outcome(own, "a.txt", b"tekst"), SourceText)
        process = own._helpers.all[0]._process
        assert process is not None
        assert b"geheim" not in Path(f"/proc/{process.pid}/environ").read_bytes()


def test_closing_ends_what_is_under_way_at_once() -> None:
    slow = b"<a " + b" ".join(b"a%d=1" % number for number in range(300_000)) + b">x</a>"
    readers = Readers(ReadLimits(), width=1)
    under_way, never_begun = readers.submit("traag.html", slow, []), readers.submit("b.html", slow, [])
    threading.Event().wait(0.3)
    readers.close()
    with pytest.raises(ReadingEnded):
        under_way.result()
    with pytest.raises((ReadingEnded, CancelledError)):
        never_begun.result()
