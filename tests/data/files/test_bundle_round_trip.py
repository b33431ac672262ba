"""What is written reads back equal; and the real bundles beside the project load."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.data.files import Problem, load_bundle, write_bundle
from ctxasm.data.files.bundle import KNOWN_FILES, MAX_NUMBER
from ctxasm.model.characters import is_visible
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Hit, Query, Span, Turn
from ctxasm.store.database import MemoryStore, Store
from ctxasm.text.tokens import open_counter
from tests.examples import examples

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
maybe = st.none() | texts
ids = texts.filter(is_visible)
wholes = st.integers(0, MAX_NUMBER)
reals = st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | wholes | reals | texts
metadata = st.dictionaries(texts, plain | st.lists(plain, max_size=2) | st.dictionaries(texts, plain, max_size=2), max_size=2)


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    names = draw(st.lists(ids, unique=True, max_size=3))
    documents = tuple(Document(name, *(draw(maybe) for _ in range(4)), draw(metadata)) for name in names)
    chunks = tuple(draw(_chunk(name, index)) for name in names for index in sorted(draw(st.sets(wholes, max_size=3))))
    keys = [(chunk.document_id, chunk.chunk_index) for chunk in chunks]
    queries = tuple(draw(_query(name, keys, names)) for name in draw(st.lists(ids, unique=True, max_size=3)))
    rows = st.builds(lambda more, n, text: more | {"n": n, "text": text}, metadata, wholes, texts)
    answers = tuple(
        Answer(
            draw(st.sampled_from(queries)).query_id, draw(texts), tuple(draw(st.lists(rows, max_size=2))), (draw(metadata),), draw(metadata)
        )
        for _ in range(draw(st.integers(0, 2)) if queries else 0)
    )
    return Bundle("b", documents, chunks, queries, answers)


@st.composite
def _chunk(draw: st.DrawFn, name: str, index: int) -> Chunk:
    start, end = draw(st.none() | st.tuples(wholes, wholes).map(sorted)) or (None, None)
    page, row = draw(st.none() | wholes), draw(st.none() | wholes)
    return Chunk(name, index, draw(texts), start, end, page, draw(maybe), row, draw(metadata))


@st.composite
def _query(draw: st.DrawFn, name: str, keys: list[tuple[str, int]], names: list[str]) -> Query:
    some = st.lists(st.sampled_from(keys), max_size=3) if keys else st.just([])
    hits = tuple(
        Hit(*key, draw(reals), draw(st.none() | st.integers(1, 99)), draw(st.dictionaries(texts, reals, max_size=1))) for key in draw(some)
    )
    votes = draw(st.none() | st.just((1, 2)))
    gold = tuple(GoldChunk(*key, by=None if votes is None else "cited", votes=votes) for key in dict.fromkeys(draw(some)))
    places = draw(st.lists(st.sampled_from(names), max_size=2)) if names and not keys else []
    spans = tuple(Span(place, 0, 1, (Span(place, 2, 3),)) for place in places)
    history = tuple(Turn(role, draw(texts)) for role in draw(st.lists(st.sampled_from(["user", "assistant", "system"]), max_size=2)))
    facts = (draw(maybe), draw(st.none() | wholes), draw(st.none() | reals), draw(maybe), draw(maybe))
    return Query(draw(ids), hits, name, gold, spans, draw(maybe), history, *facts, draw(metadata))


@given(bundles())
@settings(max_examples=examples(60))
def test_what_is_written_reads_back_equal(bundle: Bundle) -> None:
    if not (bundle.documents or bundle.queries):
        return
    with tempfile.TemporaryDirectory() as folder:
        assert write_bundle(bundle, Path(folder) / "b")
        assert load_bundle(Path(folder) / "b") == bundle
    with Store("sqlite://", open_counter()) as store:  # what a bundle may hold, a store takes and gives back
        store.add(bundle)
        kept = store.dataset().bundle()
    assert (kept.documents, set(kept.chunks), kept.queries, kept.answers) == (
        bundle.documents,
        set(bundle.chunks),
        bundle.queries,
        bundle.answers,
    )


rows = st.fixed_dictionaries(
    {},
    optional={
        "document_id": st.sampled_from(["a", "b", "", "\0", "\ud800", 1, None]),
        "chunk_index": st.sampled_from([0, 1, -1, 10**30, "0", 1.5, True]),
        "text": texts | st.none(),
        "query_id": st.sampled_from(["q", "", 0]),
        "query": texts,
        "retrieved": st.lists(st.fixed_dictionaries({"document_id": st.just("a"), "chunk_index": st.just(0), "score": plain}), max_size=2),
        "spans": st.lists(st.fixed_dictionaries({"document_id": st.just("a"), "start": plain, "end": plain}), max_size=1),
        "start": plain,
        "end": plain,
        "metadata": metadata | plain,
        "answer": maybe,
    },
)
junk = st.binary(max_size=40) | st.lists(rows, max_size=3).map(lambda found: "\n".join(map(json.dumps, found)).encode())


@given(st.dictionaries(st.sampled_from(KNOWN_FILES), junk, min_size=1))
@settings(max_examples=examples(150))
def test_any_bytes_give_a_bundle_or_sentences(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        try:
            MemoryStore().add(load_bundle(folder, "b"))
        except InvalidBundle as error:
            found = error.problems
        except InvalidInput as error:
            found = (Problem("", None, "", str(error)),)
        else:
            found = ()
    assert all(isinstance(problem, Problem) and problem.message and "\n" not in str(problem) for problem in found)


def test_writing_again_leaves_no_old_file(tmp_path: Path) -> None:
    write_bundle(Bundle("b", (Document("a"),), (Chunk("a", 0, "t"),)), tmp_path)
    written = write_bundle(Bundle("b", (Document("z"),)), tmp_path)
    assert [path.name for path in written] == ["documents.jsonl"] == [path.name for path in tmp_path.iterdir()]


def _shared_data() -> Path:
    return Path(os.environ.get("CTXASM_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.mark.parametrize("name", ["andocs", "chunkeval", "cited-hagrid", "codebase", "debfaq-nl"])
def test_real_bundles_load_and_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    folder = _shared_data() / name
    if not folder.is_dir():
        pytest.skip(f"the real bundles are not beside the project ({folder}); CTXASM_DATA names another folder")
    bundle = load_bundle(folder)
    assert bundle.queries
    write_bundle(bundle, tmp_path / name)
    assert load_bundle(tmp_path / name) == bundle
