"""The use cases, over a store in memory and over a file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from ctxasm.answering.asking import AnswerResult
from ctxasm.app import workbench as workbench_module
from ctxasm.app.workbench import SAMPLE, Workbench
from ctxasm.config import Config
from ctxasm.data.files import write_bundle
from ctxasm.data.files.loading import LoadReport, load_files
from ctxasm.llm import MODEL_NAMES
from ctxasm.model.errors import InvalidBundle, InvalidInput, NotFound
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query, Span
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter

TEXTS = ("The desk opens at seven. ", "Visitors come after noon. ", "Parking costs two euros. ")
BUNDLE = Bundle(
    "tiny",
    (Document("a", "Opening hours"),),
    tuple(Chunk("a", i, text, sum(map(len, TEXTS[:i])), sum(map(len, TEXTS[: i + 1]))) for i, text in enumerate(TEXTS)),
    (Query("when?", (Hit("a", 0, 2.0),), "q", spans=(Span("a", 4, 60),)),),
)


@pytest.fixture(params=["memory", "file"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workbench]:
    made = Workbench(Config(f"sqlite:///{tmp_path / 'new' / 'w.db'}"), MemoryStore(open_counter()) if request.param == "memory" else None)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(BUNDLE, tmp_path / "tiny")
    return tmp_path / "tiny"


def test_from_a_folder_to_a_context(bench: Workbench, folder: Path) -> None:
    (folder / "notes.txt").write_text("x")
    report = bench.load(folder)
    assert report.summary == "tiny: 1 document, 3 chunks, 1 query"
    assert report.notes == ("not read, because a bundle has no such file: notes.txt",)
    assert report.changed
    assert report.info.origin == str(folder)
    query = bench.query("tiny", "q")
    assert [entry.query_id for entry in bench.query_list()] == [q.query_id for q in bench.dataset("tiny").queries()] == ["q"]
    narrow, wide = (bench.assemble(query, AssemblySettings(expand_window=window), "tiny") for window in (0, 2))
    assert [state.state for state in bench.evidence(narrow, "tiny")] == ["partly"]
    assert [state.state for state in bench.evidence(wide, "tiny")] == ["found"]
    assert [chunk.chunk_index for chunk in bench.find_text("tiny", "EUROS")] == [2]
    assert [chunk.chunk_index for chunk in bench.document_chunks("a")] == [0, 1, 2]
    assert [document.title for document in bench.dataset().documents()] == ["Opening hours"]
    assert bench.dataset().answers() == []


def test_loading_again_replaces_and_a_broken_bundle_changes_nothing(bench: Workbench, folder: Path) -> None:
    bench.load(folder)
    query = bench.query("tiny", "q")
    write_bundle(Bundle("tiny", chunks=(Chunk("a", 0, "All is new. "),), queries=BUNDLE.queries[:0]), folder)
    bench.load(folder)
    assert bench.assemble(query, AssemblySettings(), "tiny").text.endswith("All is new. ")
    (folder / "chunks.jsonl").write_text("{}")
    with pytest.raises(InvalidBundle):
        bench.load(folder)
    assert [info.name for info in bench.datasets()] == ["tiny"]
    assert bench.document_chunks("a", "tiny")[0].text == "All is new. "


def test_an_upload_and_a_delete(bench: Workbench, folder: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    assert load_files(bench, [("up.zip", stream.getvalue())]).info.name == "up"
    assert load_files(bench, [("up.zip", stream.getvalue())], "other").info.name == "other"
    assert [info.name for info in bench.datasets()] == ["other", "up"]
    assert bench.dataset("up").info.name == "up"
    bench.delete("up")
    with pytest.raises(NotFound):
        bench.query("up", "q")
    with pytest.raises(NotFound, match="'other'"):
        bench.delete("up")


def test_the_sample_is_loaded_once_and_again_when_it_changed(
    bench: Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workbench_module, "shipped", lambda name: folder)
    first, second = bench.load_sample(), bench.load_sample()
    assert (first.info.name, first.changed, second.changed) == (SAMPLE, True, False)
    assert first.info.dataset_id == second.info.dataset_id
    write_bundle(Bundle("tiny", BUNDLE.documents, BUNDLE.chunks[:2]), folder)
    third = bench.load_sample()
    assert (third.changed, third.info.chunks) == (True, 2)
    bench.load(folder, SAMPLE)  # a user's own data under that name
    assert bench.load_sample().changed


def test_the_real_sample_loads(bench: Workbench) -> None:
    report = bench.load_sample()
    assert report.info.queries
    entry = bench.query_list(SAMPLE)[0]
    assembly = bench.assemble(bench.query(SAMPLE, entry.query_id), AssemblySettings(), SAMPLE)
    assert assembly.text
    assert assembly.exact


def test_opened_once_by_many_threads(folder: Path, tmp_path: Path) -> None:
    bench = Workbench(Config(f"sqlite:///{tmp_path / 'threads.db'}"))
    stores: list[object] = []
    threads = [Thread(target=lambda: stores.append(bench.store)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, stores))) == 1
    bench.close()
    assert bench.datasets() == []  # opens again
    bench.close()


def test_a_counter_is_made_once() -> None:
    bench = Workbench(Config("sqlite://"))
    assert bench.counter("cl100k_base") is bench.counter("cl100k_base")


def test_the_summary_counts_what_was_replaced(bench: Workbench) -> None:
    info = bench.store.add(Bundle("n", chunks=(Chunk("a", 0, "\ufffd"),), replaced=1))
    assert LoadReport(info, True, ()).summary == "n: 1 document, 1 chunk; 1 character became U+FFFD (NUL, lone surrogates)"


def test_asking(bench: Workbench, folder: Path) -> None:
    bench.load(folder)
    assembly = bench.assemble(bench.query("tiny", "q"), AssemblySettings(), "tiny")
    *_, result = bench.ask(assembly)
    assert isinstance(result, AnswerResult)
    assert (result.complete, result.is_language_model) == (True, False)
    assert [bench.open_model(name).is_language_model for name in MODEL_NAMES if name != "openai"].count(True) == 0


def test_the_configured_endpoint_is_the_default_model() -> None:
    configured = Workbench(Config("sqlite://", "http://127.0.0.1:9/v1", "m", "sk-secret", llm_timeout=7))
    assert configured.open_model().name == "m at 127.0.0.1:9"
    assert "sk-secret" not in repr(configured.open_model())
    assert configured.open_model("extractive").is_language_model is False
    for half in (Config("sqlite://", llm_model="m"), Config("sqlite://", "http://h/v1")):
        assert Workbench(half).open_model().is_language_model is False
        with pytest.raises(InvalidInput, match="needs an endpoint"):
            Workbench(half).open_model("openai")
    with pytest.raises(InvalidInput, match="base URL must look like"):
        Workbench(Config("sqlite://", "ftp://h", "m")).open_model()
