"""A bundle read record by record says what a bundle read at once says, of sound files and of damaged ones."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_bundle_reading import GOOD, folder

from ctxasm.data.files import problems as problems_module
from ctxasm.data.files import read_bundle, write_bundle
from ctxasm.data.files.streaming import stream_bundle
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Bundle
from tests.examples import examples, few
from tests.real_data import REAL, load_real, real_folder

SAMPLE = Path(__file__).parents[3] / "sample_data" / "hospital-nl"


def at_once(place: Path) -> object:
    try:
        reading = read_bundle(place)
    except InvalidBundle as error:
        return [str(problem) for problem in error.problems]
    except InvalidInput as error:
        return str(error)
    return reading


def record_by_record(place: Path) -> object:
    try:
        with stream_bundle(place) as stream:
            parts = [tuple(part()) for part in (stream.documents, stream.chunks, stream.queries, stream.answers)]
            return (Bundle(stream.name, *parts, replaced=stream.replaced()), stream.notes())  # type: ignore[arg-type]
    except InvalidBundle as error:
        return [str(problem) for problem in error.problems]
    except InvalidInput as error:
        return str(error)


def alike(place: Path) -> object:
    expected = at_once(place)
    assert record_by_record(place) == expected
    return expected


def test_the_sample(tmp_path: Path) -> None:
    assert isinstance(alike(SAMPLE), tuple)
    with zipfile.ZipFile(tmp_path / "hospital.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in SAMPLE.glob("*.jsonl"):
            archive.write(path, f"hospital/{path.name}")
    assert isinstance(alike(tmp_path / "hospital.zip"), tuple)


@pytest.mark.skipif(real_folder() is None, reason="the real bundles lie beside the project")
@pytest.mark.parametrize("name", REAL)
def test_real_bundles(name: str) -> None:
    place = real_folder()
    assert place is not None
    assert record_by_record(place / name) == (load_real(name), read_bundle(place / name).notes)


FILES = ("documents", "chunks", "queries", "retrievals", "answers")
WORDS = st.sampled_from(["a", "b", "c", "x\x00y", "é"])
NUMBERS = st.integers(-1, 3)


def lines_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries(fields, optional={"note": WORDS}), max_size=6)


PLACES = st.fixed_dictionaries({"document_id": WORDS, "chunk_index": NUMBERS})
SPANS = st.fixed_dictionaries({"document_id": WORDS, "start": NUMBERS, "end": st.integers(0, 9)})
DRAWN = st.fixed_dictionaries(
    {
        "documents": st.none() | lines_of(document_id=WORDS, title=WORDS | st.none()),
        "chunks": st.none()
        | lines_of(document_id=WORDS, chunk_index=NUMBERS, text=WORDS, start=st.none() | NUMBERS, end=st.none() | NUMBERS),
        "queries": st.none() | lines_of(query_id=WORDS, query=WORDS, gold=st.lists(PLACES, max_size=2), spans=st.lists(SPANS, max_size=2)),
        "retrievals": st.none()
        | lines_of(query_id=WORDS, retrieved=st.lists(st.builds(lambda p: {**p, "score": 1.0}, PLACES), max_size=3)),
        "answers": st.none() | lines_of(query_id=WORDS, answer=WORDS),
    }
)
DAMAGE = st.lists(st.tuples(st.sampled_from(FILES), st.integers(0, 400), st.binary(max_size=3)), max_size=3)


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN, DAMAGE)
def test_any_files(tmp_path: Path, drawn: dict[str, Any], damage: list[tuple[str, int, bytes]]) -> None:
    for path in tmp_path.glob("b/*"):
        path.unlink()
    place = folder(tmp_path / "b", **dict.fromkeys(GOOD)) if all(drawn[name] is None for name in FILES) else folder(tmp_path / "b", **drawn)
    for name, at, content in damage:
        path = place / f"{name}.jsonl"
        if path.exists() and (data := path.read_bytes()):
            path.write_bytes(data[: at % len(data)] + content + data[at % len(data) + 1 :])
    alike(place)


def test_the_same_line_again_is_merged_and_another_is_told(tmp_path: Path) -> None:
    chunks = [{"document_id": "a", "chunk_index": i, "text": f"text {i}"} for i in range(1200)]
    again = [chunks[3], {"text": "text 7", "chunk_index": 7, "document_id": "a"}]
    found = alike(folder(tmp_path / "b", chunks=[*chunks, *again, chunks[1100]]))
    assert isinstance(found, tuple)
    assert "chunks.jsonl: 3 repeated lines were merged" in found[1]
    said = alike(folder(tmp_path / "b", chunks=[*chunks, chunks[5] | {"text": "other"}]))
    place = (
        "chunks.jsonl line 1201, chunk_index: document_id 'a' and chunk_index 5 stands on line 6 with other content: keep one of the two"
    )
    assert said == [place]


def test_too_many_problems_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems_module, "MAX_PROBLEMS", 5)
    for part in ("documents", "chunks", "queries", "retrievals", "answers"):
        said = record_by_record(folder(tmp_path / "b", **{part: [{}] * 9}))
        assert isinstance(said, list)
        assert any("stopped after" in line for line in said)


def test_a_bundle_without_documents_in_any_order(tmp_path: Path) -> None:
    order = random.Random(2)
    chunks = [{"document_id": f"d{d}", "chunk_index": i, "text": f"{d} {i}"} for d in range(20) for i in range(40)]
    order.shuffle(chunks)
    found = alike(folder(tmp_path / "b", documents=None, chunks=chunks, queries=None, retrievals=None))
    assert isinstance(found, tuple)
    assert len(found[0].documents) == 20


def test_damage_of_an_archive(tmp_path: Path) -> None:
    write_bundle(Bundle("x", load_sample().documents, load_sample().chunks), tmp_path / "x")
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (tmp_path / "x").iterdir():
            archive.write(file, file.name)
    data = bytearray(path.read_bytes())
    order = random.Random(1)
    for _ in few(range(160)):
        broken = bytearray(data)
        for _ in range(3):
            broken[order.randrange(len(broken))] = order.randrange(256)
        path.write_bytes(broken)
        alike(path)


def load_sample() -> Bundle:
    return read_bundle(SAMPLE).bundle


def test_no_bundle_at_all(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(InvalidInput), stream_bundle(path):
            pass


def test_its_size(tmp_path: Path) -> None:
    place = folder(tmp_path / "b")
    with stream_bundle(place) as stream:
        assert stream.size == sum(path.stat().st_size for path in place.iterdir())
        assert json.loads(next(place.glob("chunks*")).read_text())["text"] == "hello"
