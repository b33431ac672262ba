"""Documents become a dataset: found, read apart, cut, loaded at once; known again, kept when ended, refused with a sentence."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.documents.ingesting import IngestOptions, IngestReport, ReadLimits, Source, ingest
from ctxasm.data.documents.reading import read_document
from ctxasm.model.errors import InvalidInput
from ctxasm.model.progress import Progress
from ctxasm.model.records import Bundle, Chunk, GoldChunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter

pytestmark = pytest.mark.usefixtures("kept_readers")

FILES = Path(__file__).parent / "files"
GOOD = ("bezoek.docx", "bezoek.html", "bladen.txt", "gids.pdf", "kolommen.pdf", "opname.md", "oud.txt")


@pytest.fixture(params=["memory", "sqlite"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workbench]:
    store = MemoryStore(open_counter("cl100k_base")) if request.param == "memory" else None
    workbench = Workbench(Config(f"sqlite:///{tmp_path / 'i.db'}"), store)
    yield workbench
    workbench.close()


@pytest.fixture
def memory() -> Workbench:
    return Workbench(Config("sqlite://"), MemoryStore(open_counter("cl100k_base")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The documents that can be read, one of them in a folder inside."""
    place = tmp_path / "gids"
    (place / "sub").mkdir(parents=True)
    for name in GOOD:
        shutil.copy(FILES / name, place / ("sub" if name == "opname.md" else "") / name)
    return place


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Seven short texts, quickly read."""
    place = tmp_path / "teksten"
    place.mkdir()
    for number in range(7):
        (place / f"{number}.txt").write_text(f"Tekst {number}. " * 5)
    return place


def loaded(report: IngestReport) -> str:
    assert report.load is not None
    return report.load.info.content_hash


def test_every_chunk_is_a_slice_of_its_document_with_its_page_and_section(bench: Workbench, folder: Path) -> None:
    report = ingest(bench, [folder], IngestOptions(max_tokens=60, overlap_tokens=20))
    assert (report.read, report.reused, report.problems) == (7, 0, ())
    documents = {document.document_id: document for document in bench.dataset("gids").documents()}
    assert list(documents) == ["bezoek.docx", "bezoek.html", "bladen.txt", "gids.pdf", "kolommen.pdf", "oud.txt", "sub/opname.md"]
    for name, document in documents.items():
        source = read_document(name, (folder / name).read_bytes())
        chunks = bench.document_chunks(name, "gids")
        assert all(chunk.text == source.text[chunk.start : chunk.end] for chunk in chunks)
        assert (chunks[0].start, chunks[-1].end) == (0, len(source.text))
        assert all(chunk.token_count is not None and chunk.token_count <= 60 for chunk in chunks)
        assert [chunk.page_number is not None for chunk in chunks] == [source.pages is not None] * len(chunks)
        assert (document.title, document.date, document.source) == (source.fields.get("title"), source.fields.get("date"), name)
    pages = {chunk.section: chunk.page_number for chunk in bench.document_chunks("gids.pdf", "gids")}
    assert pages == {"1 Zorg": 1, "1 Zorg › 1.1 Bezoekuren": 2, "2 Kosten": 3}
    metadata = documents["gids.pdf"].metadata
    assert (metadata["file_type"], metadata["pages"], len(metadata["ingest"])) == ("pdf", 3, 32)
    assert metadata["reader"].startswith("pypdfium2 ")


def test_the_same_again_is_no_work(bench: Workbench, texts: Path) -> None:
    first = ingest(bench, [texts]).load
    again = ingest(bench, [texts])
    assert first is not None
    assert again.load is not None
    assert (again.load.changed, again.load.info) == (False, first.info)
    assert (again.read, again.reused, again.summary) == (0, 7, f"{first.summary} (nothing changed)")


def test_only_what_changed_is_read(bench: Workbench, texts: Path) -> None:
    ingest(bench, [texts])
    (texts / "2.txt").write_text("Iets anders.")
    (texts / "sub").mkdir()
    (texts / "3.txt").rename(texts / "sub" / "nieuw.txt")
    (texts / "4.txt").unlink()
    report = ingest(bench, [texts])
    assert (report.read, report.reused, report.gone) == (1, 5, 2)
    assert [chunk.text for chunk in bench.document_chunks("2.txt", "teksten")] == ["Iets anders."]
    assert bench.document_chunks("sub/nieuw.txt", "teksten")[0].text.startswith("Tekst 3.")
    fresh = Workbench(Config("sqlite://"), MemoryStore(open_counter("cl100k_base")))
    assert loaded(ingest(fresh, [texts])) == loaded(report)


def test_other_options_read_everything_again(memory: Workbench, texts: Path) -> None:
    ingest(memory, [texts])
    assert ingest(memory, [texts], IngestOptions(max_tokens=100, overlap_tokens=0)).read == 7


def test_a_summary_that_was_added_stays_with_an_unchanged_document(tmp_path: Path, texts: Path) -> None:
    workbench = Workbench(Config(f"sqlite:///{tmp_path / 's.db'}"))
    ingest(workbench, [texts])
    workbench.store.set_summaries("teksten", {"0.txt": "Wat hij zegt.", "1.txt": "Wat zij zegt."}, "test")
    (texts / "1.txt").write_text("Iets anders.")
    ingest(workbench, [texts])
    summaries = {document.document_id: document.summary for document in workbench.dataset("teksten").documents()}
    assert (summaries["0.txt"], summaries["1.txt"]) == ("Wat hij zegt.", None)
    workbench.close()


def test_what_is_no_document_is_left_out_with_the_reason(memory: Workbench, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "buiten.txt").write_text("geheim")
    (texts / "uit.txt").symlink_to(tmp_path / "buiten.txt")
    (texts / "in.txt").symlink_to(texts / "0.txt")
    (texts / "weg.txt").symlink_to(texts / "nergens")
    (texts / "rond").symlink_to(texts, target_is_directory=True)
    (texts / ".git").mkdir()
    (texts / ".git" / "a.txt").write_text("verborgen")
    (texts / "~$bezoek.docx").write_bytes(b"x")
    (texts / "cijfers.xlsx").write_bytes(b"x")
    (texts / "doos.zip").write_bytes(b"x")
    os.mkfifo(texts / "pijp.txt")
    report = ingest(memory, [texts])
    assert {problem.file: problem.reason for problem in report.problems} == {
        ".git": "hidden",
        "cijfers.xlsx": "spreadsheets are not read as documents: save the sheet as CSV and load it as a table",
        "doos.zip": "a .zip inside a folder is not opened: give it by itself",
        "pijp.txt": "not a regular file",
        "rond": "a link to a folder is not followed: its files are read where they are",
        "uit.txt": "a link that leads out of the folder is not followed",
        "weg.txt": "a link that leads nowhere",
        "~$bezoek.docx": "the lock of a document that is open in Word",
    }
    assert report.broken == ()
    assert "in.txt" in {document.document_id for document in memory.dataset("teksten").documents()}


def test_a_broken_document_is_reported_and_the_rest_loads(memory: Workbench, folder: Path) -> None:
    for name in ("geheim.pdf", "scan.pdf"):
        shutil.copy(FILES / name, folder)
    (folder / "half.docx").write_bytes((FILES / "bezoek.docx").read_bytes()[:9000])
    (folder / "leeg.md").write_bytes(b"")
    report = ingest(memory, [folder])
    assert [problem.file for problem in report.broken] == ["geheim.pdf", "half.docx", "leeg.md", "scan.pdf"]
    assert all(problem.reason[:3] == "it " and "\n" not in problem.reason for problem in report.broken)
    assert report.load is not None
    assert report.load.info.documents == 7


def test_what_could_not_be_read_is_not_tried_again_unless_asked(memory: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxasm.data.documents.sandbox import Readers

    (tmp_path / "d").mkdir()
    shutil.copy(FILES / "geheim.pdf", tmp_path / "d")
    asked: list[str] = []
    submit = Readers.submit
    monkeypatch.setattr(Readers, "submit", lambda self, name, data, pages: (asked.append(name), submit(self, name, data, pages))[1])
    reports = [ingest(memory, [tmp_path / "d"]), ingest(memory, [tmp_path / "d"]), ingest(memory, [tmp_path / "d"], retry=True)]
    assert asked == ["geheim.pdf", "geheim.pdf"]
    assert len({report.broken for report in reports}) == 1
    assert all(report.load is None for report in reports)


def test_a_dataset_stays_where_nothing_can_be_read(memory: Workbench, tmp_path: Path) -> None:
    memory.store.add(Bundle("d", chunks=(Chunk("a", 0, "tekst"),)))
    (tmp_path / "d").mkdir()
    shutil.copy(FILES / "geheim.pdf", tmp_path / "d")
    assert ingest(memory, [tmp_path / "d"]).load is None
    assert memory.document_chunks("a", "d")[0].text == "tekst"


def test_ended_work_is_kept_goes_on_or_is_loaded_in_part(bench: Workbench, texts: Path) -> None:
    told: list[Progress] = []

    def ended() -> bool:
        return any(progress.done >= 3 for progress in told)

    report = ingest(bench, [texts], report=told.append, cancelled=ended)
    assert (report.load, report.cancelled, report.read, report.waiting) == (None, True, 3, 4)
    assert bench.datasets() == []
    assert "4 of 7 documents not read; the other 3 are kept" in report.summary
    partial = ingest(bench, [texts], part=True)
    assert partial.load is not None
    assert (partial.load.info.documents, partial.read, partial.waiting) == (3, 0, 4)
    rest = ingest(bench, [texts])
    assert (rest.read, rest.reused) == (4, 3)
    fresh = Workbench(Config("sqlite://"), MemoryStore(open_counter("cl100k_base")))
    assert loaded(ingest(fresh, [texts])) == loaded(rest)
    assert bench.store.read_kept("ingest teksten") == {}


def test_progress_tells_each_document_and_the_end(memory: Workbench, texts: Path) -> None:
    told: list[Progress] = []
    ingest(memory, [texts], report=told.append)
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert {progress.total for progress in told} == {7}
    assert {f"{number}.txt" for number in range(7)} <= {progress.what for progress in told}
    assert (told[-1].done, told[-1].share) == (7, 1.0)
    assert told[4].left_s is not None


def packed(names: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return stream.getvalue()


def folder_sources(folder: Path) -> list[Source]:
    return [folder]


def zip_sources(folder: Path) -> list[Source]:
    data = packed({f"gids/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    return [("gids.zip", data)]


@pytest.mark.parametrize("sources", [folder_sources, zip_sources], ids=["folder", "zip"])
def test_a_folder_and_a_zip_of_it_give_the_same_documents(memory: Workbench, folder: Path, sources: Callable[[Path], list[Source]]) -> None:
    ingest(memory, sources(folder))
    found = sorted(d.document_id for d in memory.dataset("gids").documents())
    assert found == sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))


def test_uploads_and_folders_of_the_same_names_are_told_apart(memory: Workbench, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "x.txt").write_text(f"tekst {name}")
    ingest(memory, [tmp_path / "a", tmp_path / "b", ("C:\\map\\x.txt", b"upload"), ("x.txt", b"nog een"), ("x.txt", b"upload")], name="d")
    texts = {name: memory.document_chunks(name, "d")[0].text for name in [d.document_id for d in memory.dataset("d").documents()]}
    assert texts == {
        "a/sub/x.txt": "tekst a",
        "b/sub/x.txt": "tekst b",
        "x.txt": "upload",
        "x (2).txt": "nog een",
        "x (3).txt": "upload",
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packed({"../../uit.txt": b"x"}), "points outside the archive"),
        (packed({"/etc/uit.txt": b"x"}), "points outside the archive"),
        (packed({"bom.txt": b"\0" * 50_000_000}), "unpacks to more than 200 times its size"),
        (packed({"map/a.txt": b"x", "map\\a.txt": b"y"}), "two entries of the same name"),
        (b"PK\x03\x04 rommel", "it is damaged"),
        (b"", "it is damaged"),
    ],
    ids=["traversal", "absolute", "bomb", "twice", "garbage", "empty"],
)
def test_a_hostile_zip_is_refused_and_the_rest_loads(memory: Workbench, data: bytes, words: str) -> None:
    report = ingest(memory, [("doos.zip", data), ("a.txt", b"tekst")])
    assert [problem.file for problem in report.broken] == ["doos.zip"]
    assert words in report.broken[0].reason
    assert report.load is not None


def test_names_that_could_harm_are_made_plain(memory: Workbench) -> None:
    names = ["=1+1.txt", "<script>.txt", "a\x1b[31m\n.txt", "\u202etxt.exe.txt", "x" * 600 + ".txt", "x" * 601 + ".txt", "\udcff.txt"]
    report = ingest(memory, [(name, b"tekst") for name in names], name="d")
    kept = [document.document_id for document in memory.dataset("d").documents()]
    assert report.problems == ()
    assert len(set(kept)) == len(names)
    assert all(name.isprintable() and len(name.encode()) <= 420 for name in kept)


@pytest.mark.parametrize(
    ("sources", "words"),
    [([], "at least one document"), (["/nergens"], "there is no document"), (["a\0b"], "there is no document")],
)
def test_a_source_that_is_not_there_is_an_error(memory: Workbench, sources: list[str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        ingest(memory, sources)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 15},
        {"max_tokens": 9000},
        {"overlap_tokens": 350},
        {"overlap_tokens": -1},
        {"max_tokens": True},
        {"pages": 1},
        {"language": "nederlands!"},
    ],
    ids=str,
)
def test_options_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        IngestOptions(**wrong)  # type: ignore[arg-type]


def test_limits_come_from_the_environment(memory: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXASM_INGEST_FILE_MB", "1")
    report = ingest(memory, [("a.txt", b"tekst " * 200_000), ("b.txt", b"tekst")])
    assert report.broken[0].reason == "it is larger than 1 MB (CTXASM_INGEST_FILE_MB): split it"
    monkeypatch.setenv("CTXASM_INGEST_SECONDS", "veel")
    with pytest.raises(InvalidInput, match="CTXASM_INGEST_SECONDS must be a whole number"):
        ingest(memory, [("b.txt", b"tekst")])


def test_sections_and_pages_part_chunks_where_asked(memory: Workbench) -> None:
    data = (FILES / "gids.pdf").read_bytes()
    ingest(memory, [("g.pdf", data)], IngestOptions(pages=False), name="whole")
    assert len(memory.document_chunks("g.pdf", "whole")) == 1
    ingest(memory, [("o.md", (FILES / "opname.md").read_bytes())], IngestOptions(headings=True), name="parts")
    assert [chunk.section for chunk in memory.document_chunks("o.md", "parts")] == [
        "Opname",
        "Bezoekuren",
        "Bezoekuren › Mee te brengen",
        "Kosten",
    ]


def test_a_document_that_no_tokenizer_counts_is_a_problem_of_its_own(memory: Workbench) -> None:
    report = ingest(memory, [("leeg.txt", b"a" + b" " * 500_000 + b"b"), ("b.txt", b"tekst")], limits=ReadLimits())
    assert [problem.file for problem in report.broken] == ["leeg.txt"]
    assert "blanks" in report.broken[0].reason


INVOICE = b"INVOICE\n" + b" " * 110 + b"Total: 12 euros\n"


def test_a_line_that_begins_far_to_the_right_loads(memory: Workbench) -> None:
    report = ingest(memory, [("b.txt", INVOICE), ("c.txt", b"tekst")], name="d")
    assert report.problems == ()
    assert memory.document_chunks("b.txt", "d")[0].text == INVOICE.decode().strip("\n")


class PanicException(BaseException):
    """As what a library in Rust raises, no Exception."""


PanicException.__module__ = "pyo3_runtime"


@pytest.mark.parametrize("fault", [IndexError("list index out of range"), PanicException("a\nb"), MemoryError()], ids=repr)
def test_any_fault_after_reading_is_one_line_and_the_rest_loads(
    memory: Workbench, texts: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    import ctxasm.data.documents.ingesting as ingesting

    whole = ingesting.cut

    def broken(name: str, *rest: Any) -> Any:
        if name == "3.txt":
            raise fault
        return whole(name, *rest)

    monkeypatch.setattr(ingesting, "cut", broken)
    for read in (6, 0):
        report = ingest(memory, [texts])
        assert (report.read, report.read + report.reused, report.load is not None) == (read, 6, True)
        ((file, reason, _),) = report.broken
        assert (file, reason.splitlines()) == ("3.txt", [reason])
        assert reason.startswith(f"it cannot be made into chunks: '{type(fault).__name__}: ")
    monkeypatch.setattr(ingesting, "cut", whole)
    assert ingest(memory, [texts]).problems == ()


def test_a_request_to_end_is_no_fault_of_a_document(memory: Workbench, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("ctxasm.data.documents.ingesting.cut", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ingest(memory, [texts])


def test_a_damaged_entry_of_any_packing_is_one_line(memory: Workbench) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", "Een zin over het bezoek. " * 40)
        archive.writestr("b.txt", "tekst")
    data = bytearray(stream.getvalue())
    data[40:60] = b"\xff" * 20
    report = ingest(memory, [("doos.zip", bytes(data))])
    assert [problem.file for problem in report.broken] == ["a.txt"]
    assert report.load is not None


def test_a_dataset_that_another_process_changed_meanwhile_is_said(tmp_path: Path, texts: Path) -> None:
    workbench, other = (Workbench(Config(f"sqlite:///{tmp_path / 's.db'}")) for _ in range(2))
    ingest(workbench, [texts])
    (texts / "6.txt").write_text("Iets anders.")

    def interfere(progress: Progress) -> None:
        if progress.done == 7:
            other.store.add(Bundle("teksten", chunks=(Chunk("a", 0, "tekst"),)))
            other.store.forget("ingest teksten")

    with pytest.raises(InvalidInput, match="another process has loaded or deleted this dataset"):
        ingest(workbench, [texts], report=interfere)
    assert workbench.document_chunks("a", "teksten")[0].text == "tekst"
    assert ingest(workbench, [texts]).read == 7
    workbench.close()
    other.close()


def test_labels_and_hits_follow_a_document_that_changed(bench: Workbench, tmp_path: Path) -> None:
    place, options = tmp_path / "hulp", IngestOptions(max_tokens=20, overlap_tokens=0)
    place.mkdir()
    lines = [f"Kamer {number} opent om {number} uur en sluit om {number + 9} uur." for number in range(1, 9)]
    (place / "a.txt").write_text("\n\n".join(lines))
    ingest(bench, [place], options, over="new")
    dataset = bench.dataset("hulp")
    (found,) = dataset.find_text("Kamer 5 opent")
    key = found.chunk_index
    log = Bundle("hulp", queries=(Query("Wanneer?", (Hit("a.txt", key, 1.0),), "loaded", (GoldChunk("a.txt", key),)),))
    bench.store.add(log, join=True)
    bench.store.save_query("hulp", Query("Hoe laat?", (Hit("a.txt", key, 1.0),), "saved", (GoldChunk("a.txt", key, "hand"),)))
    (place / "a.txt").write_text("\n\n".join(["Dit staat er nu voor, en het is een hele nieuwe alinea.", *lines]))
    report = ingest(bench, [place], options, over="new")
    moved, count = {query.query_id: query for query in bench.dataset("hulp").queries()}, 0
    for query in moved.values():
        (gold,) = query.gold
        texts = {chunk.chunk_index: chunk.text for chunk in bench.document_chunks("a.txt", "hulp")}
        assert gold.chunk_index != key
        assert "Kamer 5 opent" in (gold.text or texts[gold.chunk_index])
        assert "Kamer 5 opent" in texts[query.retrieved[0].chunk_index]
        count += 1
    assert count == 2
    assert any(note.startswith("2 labels followed their text to other chunks, the first: 'loaded'") for note in report.notes)
    (place / "a.txt").write_text("\n\n".join(line for line in lines if "Kamer 5" not in line))
    report = ingest(bench, [place], options, over="new")
    assert any("2 labels are lost, no chunk of their document holds their text" in note and "Kamer 5" in note for note in report.notes)
    assert all(query.lost_labels and query.lost_hits and not query.retrieved for query in bench.dataset("hulp").queries())
    (assembled,) = (bench.assemble(query, AssemblySettings(), "hulp") for query in bench.dataset("hulp").queries()[:1])
    assert [state.state for state in bench.evidence(assembled, "hulp")] == ["lost"]
