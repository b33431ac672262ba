"""Any log of questions with hits is loaded whole: every question, its hits in order with their texts and scores, or refused in words.

`python -m tests.data.files.test_hit_shapes` lists the shapes and counts those that are loaded whole.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.data.files.importing import Preview, import_files, preview
from ctxasm.data.files.loading import one_mapping
from ctxasm.data.files.reading import Reading
from ctxasm.model.errors import CtxasmError, InvalidBundle, InvalidInput
from ctxasm.model.records import Bundle
from tests.data.files.hit_shapes import PLAIN, QUESTIONS, SCORED, SHAPES, TEXTS, Shape, hits
from tests.examples import examples

KEYS = st.text("abcxyz_", min_size=1, max_size=5).map(lambda name: f"k{name}")


def read(rows: list[Any], **fields: str) -> Reading:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return import_files([("log.jsonl", data)], one_mapping({name.replace("__", "."): path for name, path in fields.items()}), "log")


def seen(rows: list[Any], **fields: str) -> Preview:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return preview([("log.jsonl", data)], mappings=one_mapping({name.replace("__", "."): path for name, path in fields.items()}))


def told(bundle: Bundle) -> list[tuple[str, list[tuple[str | None, float]]]]:
    """Each question with the texts and scores of its hits, best first."""
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in bundle.chunks}
    found = []
    for query in bundle.queries:
        is_ranked = all(hit.rank is not None for hit in query.retrieved)
        ordered = sorted(query.retrieved, key=lambda hit: (hit.rank or 0) if is_ranked else -hit.score)
        found.append((query.query, [(texts.get((hit.document_id, hit.chunk_index)), hit.score) for hit in ordered]))
    return found


def lacking(shape: Shape) -> str:
    """What a load of a shape leaves out, "" where it is whole."""
    try:
        found = told(import_files([(shape.file, shape.data)], one_mapping(shape.fields), "log").bundle)
    except CtxasmError as error:
        return f"refused: {error}"
    if [question for question, _ in found] != list(QUESTIONS[: shape.asked]):
        return f"questions {[question for question, _ in found]}"
    for question, ranked in found:
        scores = [score for _, score in ranked]
        if [text for text, _ in ranked] != [TEXTS[name] for name, _ in SCORED[question]]:
            return f"hits {ranked}"
        if scores != sorted(scores, reverse=True) or len(set(scores)) < len(scores):
            return f"scores {scores}"
    return ""


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_loaded_whole(name: str) -> None:
    assert lacking(SHAPES[name]) == ""


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.scored])
def test_a_preview_shows_the_first_questions_as_they_are_loaded(name: str) -> None:
    shape = SHAPES[name]
    asked = [one for file in preview([(shape.file, shape.data)], mappings=one_mapping(shape.fields)).files for one in file.asked]
    assert [one.question for one in asked] == list(QUESTIONS[: shape.asked])
    assert all({text for text, _ in one.best} <= set(TEXTS.values()) and one.hits == 3 for one in asked)


@st.composite
def nested(draw: st.DrawFn) -> tuple[list[Any], dict[str, str], list[Any]]:
    """Rows in a random form, the paths that read them, and what they say."""
    around, question = draw(st.lists(KEYS, max_size=3)), "asked"
    text, score, name = draw(st.permutations(["t", "s", "n"]))
    inside = draw(st.lists(KEYS, max_size=2))
    is_listed = draw(st.booleans())
    said = []
    rows = []
    for at in range(draw(st.integers(1, 3))):
        found = draw(st.lists(st.tuples(st.text("ab c", min_size=1).filter(str.strip), st.floats(-9, 9)), min_size=1, max_size=4))
        found = sorted(dict(found).items(), key=lambda hit: -hit[1])
        own: Any = [{score: value, name: f"n{at}-{place}", **_deep(inside, {text: body})} for place, (body, value) in enumerate(found)]
        rows.append({question: f"question {at}", **_deep([*around, "hits"], [own] if is_listed else own)})
        said.append((f"question {at}", sorted(value for _, value in found)))
    list_path = ".".join([*around, "hits"]) + ("[*][*]" if is_listed else "[*]")
    paths = {"query": question, "hits": list_path, "hits.text": ".".join([*inside, text]), "hits.score": score, "hits.id": name}
    return rows, paths, said


def _deep(keys: list[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


@given(nested())
@settings(max_examples=examples(60))
def test_a_mapping_reads_hits_wherever_they_are(case: tuple[list[Any], dict[str, str], list[Any]]) -> None:
    rows, paths, said = case
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    bundle = import_files([("log.jsonl", data)], one_mapping(paths), "log").bundle
    assert [(query.query, sorted(hit.score for hit in query.retrieved)) for query in bundle.queries] == said


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda v: (
            st.lists(v, max_size=3)
            | st.dictionaries(
                st.sampled_from(["query", "hits", "text", "score", "documents", "ids", "id", "", "a.b", "[*]", "->"]), v, max_size=3
            )
        ),
        max_leaves=12,
    )
)
@settings(max_examples=examples(80))
def test_anything_is_read_or_refused_in_words(value: Any) -> None:
    try:
        bundle = read([{"query": "why?", "x": value}]).bundle
    except (InvalidBundle, InvalidInput):
        return
    assert all(query.query == "why?" for query in bundle.queries if bundle.chunks == ())


def _rows(form: Any = PLAIN, key: str = "hits") -> list[Any]:
    return [{"query": QUESTIONS[at], key: hits(at, form)} for at in (0, 1)]


def test_a_list_without_a_hit_is_refused_and_a_question_without_one_is_counted() -> None:
    with pytest.raises(InvalidBundle, match=r"hits: no row has a hit at 'found\[\*\]'"):
        read([{"query": "why?", "found": []}], hits="found[*]")
    rows = [*_rows(), {"query": "And on Sundays?", "hits": []}]
    found = read(rows)
    assert [len(query.retrieved) for query in found.bundle.queries] == [3, 3, 0]
    assert "log.jsonl: questions without a hit at 'hits[*]': 1" in found.notes


def test_lists_that_are_not_understood_are_named() -> None:
    notes = read([{"query": "why?", "audit": [{"a": 1}]}]).notes
    assert "log.jsonl: no hits are loaded; if they are in 'audit[*]', map them, as in hits=audit[*]" in notes


def test_a_path_that_leads_nowhere_names_those_that_there_are() -> None:
    with pytest.raises(InvalidBundle, match=r"hits\.text: no hit has 'body': a hit has 'id', 'text', 'score'"):
        read(_rows(), hits__text="body")
    with pytest.raises(InvalidBundle, match=r"query: 'hits\[\*\]\.text' must stand around the list of hits"):
        read(_rows(), query="hits[*].text", hits="hits[*]")
    with pytest.raises(InvalidInput, match="as in hits=results"):
        read([{"query": "why?", "text": "so"}], text="x[*]")


def test_a_text_of_a_document_is_no_question() -> None:
    rows = [{"query": row["hits"][0]["text"], "hits": row["hits"]} for row in _rows()]
    with pytest.raises(InvalidBundle, match="is the text of its own hits: map another"):
        read(rows)


def test_hits_without_a_question_say_what_to_map() -> None:
    found = read([{"said": "Aha", "hits": row["hits"]} for row in _rows()])
    assert any("nothing in it is known as a question: map one, as in query=PATH; its texts are at said" in note for note in found.notes)
    assert [question for question, _ in told(read([{"said": "Aha", "hits": row["hits"]} for row in _rows()], query="said").bundle)] == [
        "Aha"
    ] * 2


def test_a_question_asked_again_is_another_query() -> None:
    bundle = read([*_rows(), *_rows()]).bundle
    assert len(bundle.queries) == 4
    assert [query.query for query in bundle.queries] == [*QUESTIONS, *QUESTIONS]


def test_only_what_is_corrected_is_said() -> None:
    found = seen(_rows(lambda n, t, s: {"id": n, "text": "the same", "real": t, "score": s}), hits__text="real")
    columns = found.files[0].mapping.columns if found.files[0].mapping else {}
    assert columns == {"query": "query", "hits": "hits[*]", "hits.text": "real", "hits.score": "score", "hits.id": "id"}


def test_hits_that_name_their_chunks_bring_none() -> None:
    bundle = read(_rows(lambda n, t, s: {"document_id": "guide", "chunk_index": int(n[1]), "score": s})).bundle
    assert not bundle.chunks
    assert [(hit.document_id, hit.chunk_index) for hit in bundle.queries[0].retrieved] == [("guide", 1), ("guide", 2), ("guide", 4)]


@pytest.mark.parametrize(
    "row",
    [
        {
            "document_id": "a",
            "chunk_index": 0,
            "text": "Some words.",
            "entities": [{"text": "words", "score": 0.4}, {"text": "some", "score": 0.1}],
        },
        {"text": "Some words of a text.", "keywords": [{"text": "words", "score": 0.4}]},
    ],
)
def test_a_chunk_with_a_list_in_it_is_a_chunk(row: Any) -> None:
    assert [chunk.text for chunk in read([row]).bundle.chunks] == [row["text"]]


if __name__ == "__main__":
    every = {name: lacking(shape) for name, shape in SHAPES.items()}
    for name, lacks in every.items():
        print(f"{'whole' if not lacks else 'NOT  '} {name}{': ' if lacks else ''}{lacks[:150]}".replace("\n", " "))
    print(f"{sum(not lacks for lacks in every.values())} of {len(every)} whole")
