"""Any log of questions with hits is loaded whole: every question, its hits in order with their texts and scores, or refused in words."""

from __future__ import annotations

import pytest

from ctxasm.data.files.importing import import_files
from ctxasm.data.files.loading import one_mapping
from ctxasm.model.errors import CtxasmError
from tests.data.files.hit_shapes import QUESTIONS, SCORED, SHAPES, TEXTS, Shape


def lacking(shape: Shape) -> str:
    """What a load of a shape leaves out, "" where it is whole."""
    try:
        bundle = import_files([(shape.file, shape.data)], one_mapping(shape.fields), "log").bundle
    except CtxasmError as error:
        return f"refused: {error}"
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in bundle.chunks}
    if (asked := tuple(query.query for query in bundle.queries)) != QUESTIONS[: shape.asked]:
        return f"questions {asked}"
    for query in bundle.queries:
        expected = SCORED[query.query]
        ranked = [hit.rank for hit in query.retrieved]
        found = sorted(query.retrieved, key=lambda hit: hit.rank if all(ranked) else -hit.score)  # type: ignore[arg-type, return-value]
        if [texts.get((hit.document_id, hit.chunk_index)) for hit in found] != [TEXTS[name] for name, _ in expected]:
            return f"hits {[(hit, texts.get((hit.document_id, hit.chunk_index))) for hit in found]}"
        scores = [hit.score for hit in found]
        if scores != sorted(scores, reverse=True) or len(set(scores)) < len(scores):
            return f"scores {scores}"
    return ""


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_loaded_whole(name: str) -> None:
    assert lacking(SHAPES[name]) == ""


if __name__ == "__main__":
    told = {name: lacking(shape) for name, shape in SHAPES.items()}
    for name, lacks in told.items():
        print(f"{'whole' if not lacks else 'NOT  '} {name}{': ' if lacks else ''}{lacks[:150]}".replace("\n", " "))
    print(f"{sum(not lacks for lacks in told.values())} of {len(told)} whole")
