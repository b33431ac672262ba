"""A bundle that joins a dataset: read at once or record by record it says the same, and what it brings is what a store takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from test_bundle_reading import folder
from test_bundle_streaming import DRAWN, FILES

from ctxasm.data.files import load_bundle, read_bundle
from ctxasm.data.files.streaming import stream_bundle
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.store.database import MemoryStore, StoredDataset
from tests.examples import examples

STORED = Bundle(
    "stored",
    (Document("a", "a"), Document("b")),
    (Chunk("a", 0, "a", 0, 1), Chunk("a", 1, "b", 1, 2), Chunk("b", 0, "é")),
    (Query("a", (Hit("a", 0, 1.0),), "a", (GoldChunk("a", 1),)), Query("b", (), "b", metadata={"note": "a"})),
)


def stored() -> MemoryStore:
    store = MemoryStore()
    store.add(STORED)
    return store


def at_once(place: Path, into: StoredDataset) -> Any:
    try:
        return read_bundle(place, into=into)
    except InvalidBundle as error:
        return [str(problem) for problem in error.problems]
    except InvalidInput as error:
        return str(error)


def record_by_record(place: Path, into: StoredDataset) -> Any:
    try:
        with stream_bundle(place, into=into) as stream:
            return Bundle(stream.name, *(tuple(part) for part in stream.parts()), replaced=stream.replaced()), stream.notes()  # type: ignore[arg-type]
    except InvalidBundle as error:
        return [str(problem) for problem in error.problems]
    except InvalidInput as error:
        return str(error)


@settings(max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))
@given(DRAWN)
def test_any_files(tmp_path: Path, drawn: dict[str, Any]) -> None:
    for path in tmp_path.glob("b/*"):
        path.unlink()
    if all(drawn[name] is None for name in FILES):
        return
    place, store = folder(tmp_path / "b", **drawn), stored()
    found, streamed = at_once(place, store.dataset("stored")), record_by_record(place, store.dataset("stored"))
    if isinstance(found, (str, list)):
        assert streamed == found
        return
    # Only the order differs in which hits reach queries that are stored, where they have no place of their own.
    bundle, notes = streamed
    assert notes == found.notes
    assert sorted(bundle.queries, key=repr) == sorted(found.bundle.queries, key=repr)
    assert (bundle.documents, bundle.chunks, bundle.answers) == (found.bundle.documents, found.bundle.chunks, found.bundle.answers)
    # What reads without a problem joins without one.
    store.add(found.bundle, "stored", join=True)
    whole = store.dataset("stored").bundle()
    assert {chunk.text for chunk in found.bundle.chunks} <= {chunk.text for chunk in whole.chunks}
    assert {query.query_id for query in found.bundle.queries} <= {query.query_id for query in whole.queries}


def test_a_library_user_checks_a_part_against_what_is_stored(tmp_path: Path) -> None:
    queries = [{"query_id": "c", "query": "C?", "gold": [{"document_id": "b", "chunk_index": 0}]}]
    place = folder(tmp_path / "b", documents=None, chunks=None, queries=queries, retrievals=None)
    store = stored()
    bundle = load_bundle(place, into=store.dataset("stored"))
    assert store.add(bundle, "stored", join=True).queries == 3
    queries[0]["gold"] = [{"document_id": "b", "chunk_index": 7}]
    folder(tmp_path / "b", documents=None, chunks=None, queries=queries, retrievals=None)
    with pytest.raises(InvalidBundle, match="must name a chunk of the dataset 'stored', got 'b 7'"):
        load_bundle(place, into=store.dataset("stored"))
