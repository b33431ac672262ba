"""`ctxasm export`: what is written loads back equal, whole or not at all."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ctxasm.__main__ import main
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.data.files import load_bundle
from ctxasm.data.files.exporting import export
from ctxasm.data.files.loading import files_at, load_files
from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from ctxasm.store.database import MemoryStore

SAMPLE = Path(__file__).parents[3] / "sample_data" / "hospital-nl"
SAVED = Query("Wat kost het?", (Hit("a", 0, 0.5, 1, {"bm25": 2.5}),), "typed-1", search_method="bm25_only", bm25_matches=1)
HOSTILE = "'; DROP TABLE x; -- <b>=1+1</b> \r\n\t\u2028 é 👩‍🚀 [1]"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the sample and a dataset that attacks, to be copied."""
    file = tmp_path_factory.mktemp("export") / "store.db"
    workbench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{file}"}))
    workbench.load(SAMPLE, "sample")
    documents = (Document("a", HOSTILE, HOSTILE, None, "2026", {"k": [1, HOSTILE]}), Document("b"))
    chunks = (Chunk("a", 0, HOSTILE, 0, len(HOSTILE), 3, HOSTILE, 4, {"n": None}), Chunk("a", 2, "two"), Chunk("b", 0, "b"))
    workbench.store.add(Bundle("hostile", documents, chunks, (Query("q?", query_id="q1", history=()),)))
    workbench.store.save_query("hostile", SAVED)
    workbench.store.set_summaries("hostile", {"b": "Made."}, "test")
    workbench.close()
    return file


@pytest.fixture
def url(filled: Path, tmp_path: Path) -> str:
    return f"sqlite:///{shutil.copy(filled, tmp_path / 'store.db')}"


@pytest.fixture
def workbench(url: str) -> Workbench:
    return Workbench(read_config({"CTXASM_DATABASE_URL": url}))


@pytest.mark.parametrize("out", ["out", "deep/er/out.zip"])
@pytest.mark.parametrize("name", ["sample", "hostile"])
def test_a_bundle_loads_back_equal(workbench: Workbench, tmp_path: Path, out: str, name: str) -> None:
    report = export(workbench, name, tmp_path / out)
    dataset = workbench.dataset(name)
    again = load_bundle(report.path, name)
    assert again == replace(dataset.bundle(), queries=tuple(dataset.queries()))
    assert (report.documents, report.chunks, report.queries) == (len(again.documents), len(again.chunks), len(again.queries))
    if name == "sample":
        assert MemoryStore(None).add(again).content_hash == dataset.info.content_hash
    assert [path.name for path in (tmp_path / out).parent.iterdir() if path.name.startswith(".")] == []
    workbench.close()


def test_a_flat_table_holds_every_chunk(workbench: Workbench, tmp_path: Path) -> None:
    report = export(workbench, "sample", tmp_path / "out.parquet", "parquet")
    load_files(workbench, files_at([report.path], workbench.config), "again")
    one, other = workbench.dataset("sample"), workbench.dataset("again")
    assert [chunk[:5] for chunk in other.iter_chunks()] == [chunk[:5] for chunk in one.iter_chunks()]
    assert [d.title for d in other.documents()] == [d.title for d in one.documents()]
    workbench.close()


def test_the_rows_of_a_flat_table(workbench: Workbench, tmp_path: Path) -> None:
    export(workbench, "hostile", tmp_path / "out.parquet", "parquet")
    first, second, third = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert (first["text"], first["title"], first["metadata"]) == (HOSTILE, HOSTILE, '{"n": null}')
    assert {name: value for name, value in second.items() if value is not None} == {
        "document_id": "a",
        "chunk_index": 2,
        "text": "two",
        "title": HOSTILE,
        "source": HOSTILE,
        "date": "2026",
    }
    assert third["summary"] == "Made."
    workbench.close()


def test_the_command(workbench: Workbench, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workbench.close()
    out = tmp_path / "x.zip"
    assert main(["export", "hostile", "--out", str(out), "--db", url]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (f"{out}\n", "hostile: 2 documents, 3 chunks, 2 queries\n")
    assert main(["export", "hostile", "--out", str(out), "--db", url]) == 2
    assert f"{out} is there already: give another place, or --force to replace it" in capsys.readouterr().err
    assert main(["export", "--out", str(out), "--db", url, "--force"]) == 0
    assert capsys.readouterr().err == "hostile: 2 documents, 3 chunks, 2 queries\n"
    assert main(["export", "nothing", "--out", str(tmp_path / "y"), "--db", url]) == 2
    assert main(["export", "sample", "--out", str(tmp_path / "y"), "--format", "csv", "--db", url]) == 2
    assert "format must be one of bundle, parquet, got 'csv'" in capsys.readouterr().err
    assert not (tmp_path / "y").exists()


def test_what_is_there_is_kept_unless_told(workbench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    for force in (False, True):
        with pytest.raises(InvalidInput):
            export(workbench, "sample", tmp_path / "mine", force=force)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    export(workbench, "sample", tmp_path / "out")
    with pytest.raises(InvalidInput, match="is there already"):
        export(workbench, "hostile", tmp_path / "out")
    assert load_bundle(tmp_path / "out").documents == load_bundle(SAMPLE).documents
    export(workbench, "hostile", tmp_path / "out", force=True)
    assert len(load_bundle(tmp_path / "out").documents) == 2
    (tmp_path / "empty").mkdir()
    export(workbench, "hostile", tmp_path / "empty")
    assert len(load_bundle(tmp_path / "empty").documents) == 2
    workbench.close()


def test_places_that_cannot_be_written(workbench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file" / "below", "nul\x00", tmp_path / ("x" * 300)):
        with pytest.raises(InvalidInput) as raised:
            export(workbench, "sample", place)
        assert "\n" not in str(raised.value)
    assert sorted(os.listdir(tmp_path)) == sorted(path for path in os.listdir(tmp_path) if path.startswith(("file", "store.db")))
    workbench.close()


def test_a_dataset_replaced_meanwhile_is_not_written(workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxasm.data.files import bundle

    write = bundle.json_line

    def replacing(row: dict[str, object]) -> bytes:
        monkeypatch.setattr(bundle, "json_line", write)
        workbench.store.add(Bundle("hostile", (Document("other"),)))
        return write(row)

    monkeypatch.setattr(bundle, "json_line", replacing)
    with pytest.raises(StoreUnavailable, match="was replaced while it was read"):
        export(workbench, "hostile", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with zipfile.ZipFile(export(workbench, "hostile", tmp_path / "out.zip").path) as archive:
        assert archive.namelist() == ["documents.jsonl", "queries.jsonl", "retrievals.jsonl"]
    workbench.close()


def test_what_another_process_loaded_meanwhile_is_exported(workbench: Workbench, url: str, tmp_path: Path) -> None:
    assert workbench.dataset("hostile").documents()
    other = Workbench(read_config({"CTXASM_DATABASE_URL": url}))
    other.store.add(Bundle("hostile", (Document("new"),), (Chunk("new", 0, "new"),)))
    other.close()
    report = export(workbench, "hostile", tmp_path / "out.parquet", "parquet")
    assert (report.chunks, pq.read_table(report.path)["text"].to_pylist()) == (1, ["new"])


@pytest.mark.parametrize("out", ["old", "old.zip"])
def test_what_is_there_stays_where_it_cannot_be_replaced(
    workbench: Workbench, tmp_path: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = export(workbench, "hostile", tmp_path / out).path

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ctxasm.data.files.exporting.os.replace", refuse)
    with pytest.raises(InvalidInput, match="cannot be written: Permission denied"):
        export(workbench, "sample", place, force=True)
    assert load_bundle(place, "hostile").documents[0].document_id == "a"
