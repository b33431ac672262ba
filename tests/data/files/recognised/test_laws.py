"""Laws of what shapes share: literals, dotted names, the place of a chunk, the direction of scores."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxasm.data.files.literals import NotLiteral, parsed, read_literal
from ctxasm.data.files.recognised.passages import MAX_TRIMMED, Passage, nested, passage, place, rising, score, whole
from tests.examples import examples

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
NAMES = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=4)


@given(VALUES)
@example(["it's", 'a "b"', "\\n", "\n\t\0é\U0001f600"])
@example([1e300, -0.5, 10**50])
def test_what_python_writes_is_read_as_it_was(value: Any) -> None:
    assert read_literal(repr(value)) == value


@given(st.text())
@example("[" * 10_000)
@example("{'a': " * 500)
@example("array([" * 5_000)
@example("__import__('os').system('x')")
@example("['a', open('b')]")
@example("[1" + "0" * 5_000 + "]")
def test_any_other_text_is_refused_and_never_run(text: str) -> None:
    with suppress(NotLiteral):
        assert isinstance(read_literal(text), (list, dict, str, int, float, type(None)))
    assert isinstance(parsed(text), (list, dict, str))


def test_lists_of_numpy_are_lists() -> None:
    assert read_literal("['a' 'b']") == ["a", "b"]
    assert read_literal("array(['a', 'b'], dtype=object)") == ["a", "b"]
    assert read_literal("[{'document.id': 'x', 'document.score': nan}]") == [{"document.id": "x", "document.score": None}]


def test_objects_that_python_prints_are_their_fields() -> None:
    printed = (
        """[Document(id=None, metadata={'page': 2}, page_content="The doctor's bay."), (Document(page_content='a\\nb'), np.float32(0.5))]"""
    )
    assert parsed(printed) == [{"id": None, "metadata": {"page": 2}, "page_content": "The doctor's bay."}, [{"page_content": "a\nb"}, 0.5]]
    assert parsed("[Node(kind=<Kind.TEXT: '1'>, links={<Link.SOURCE: 'a'>: Info(id='x')})]") == [{"kind": "1", "links": {"a": {"id": "x"}}}]
    assert parsed("[<Kind.TEXT: 1, 2>]") == "[<Kind.TEXT: 1, 2>]"
    assert parsed("[f(1, a=2)]") == "[f(1, a=2)]"


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not below:
        return {name: value}
    return {key: leaf for step, inner in below for key, leaf in _flat(inner, f"{name}.{step}".lstrip(".")).items()}


@given(
    st.dictionaries(
        NAMES, st.recursive(LEAVES, lambda v: st.lists(v, min_size=1) | st.dictionaries(NAMES, v, min_size=1), max_leaves=4), min_size=1
    )
)
@settings(max_examples=examples(50))
def test_dotted_names_become_what_they_were(value: dict[str, Any]) -> None:
    assert nested(_flat(value)) == value


def test_a_huge_place_in_a_list_makes_no_huge_list() -> None:
    flat = {f"retrieval.documents.{at}.document.content": text for at, text in ((999_999_999, "b"), (7, "a"))}
    assert nested(flat) == {"retrieval": {"documents": [{"document": {"content": "a"}}, {"document": {"content": "b"}}]}}
    assert nested({".".join("a" * 5_000): 1, "b": 2}) == {"b": 2}


@given(st.integers() | st.floats() | st.text() | st.booleans() | st.none())
def test_a_whole_number_is_one_that_fits(value: Any) -> None:
    found = whole(value)
    assert found is None or (0 <= found < 10**9 and not isinstance(value, bool))


# The place of a chunk


def cut(lengths: list[tuple[int, int]]) -> list[Passage]:
    """Passages with true offsets: each (gap, length) follows the one before; a negative gap overlaps."""
    found, at = [], 0
    for gap, length in lengths:
        begin = max((found[-1].start or 0) + 1 if found else 0, at + gap)
        found.append(passage(f"{len(found)}:" + "x" * length, {"start_index": begin}))
        at = begin + len(str(found[-1].text))
    return found


PIECES = st.lists(st.tuples(st.integers(-5, 40), st.integers(5, 50)), min_size=2, max_size=12)


@given(PIECES, st.randoms())
def test_chunks_stand_in_the_order_of_their_characters_and_touch_where_these_do(lengths: list[tuple[int, int]], chance: Any) -> None:
    passages = cut(lengths)
    shuffled = passages.copy()
    chance.shuffle(shuffled)
    placed = dict(zip([p.start for p in shuffled], place(shuffled, is_whole=False).indexes, strict=True))
    indexes = [placed[p.start] for p in passages]
    for before, after, low, high in zip(passages, passages[1:], indexes, indexes[1:], strict=False):
        gap = (after.start or 0) - (before.start or 0) - len(str(before.text))
        assert high - low == (1 if gap <= MAX_TRIMMED else 2)


@given(PIECES)
def test_of_a_listed_corpus_nothing_is_missing(lengths: list[tuple[int, int]]) -> None:
    assert place(cut(lengths), is_whole=True).indexes == list(range(len(lengths)))


@given(st.integers(2, 12), st.data())
def test_linked_nodes_stand_as_they_are_linked_whatever_the_order(count: int, data: Any) -> None:
    kept = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=2)))
    chain = {
        at: Passage(f"text {at}", passage_id=f"n{at}", start=10 * at, previous=f"n{at - 1}" if at else None, following=f"n{at + 1}")
        for at in kept
    }
    shuffled = data.draw(st.permutations(kept))
    placed = dict(zip(shuffled, place([chain[at] for at in shuffled], is_whole=False).indexes, strict=True))
    for before, after in pairwise(kept):
        assert placed[after] - placed[before] == (1 if after == before + 1 else 2)


@given(st.lists(st.tuples(st.none() | st.integers(0, 5), st.none() | st.integers(0, 5)), min_size=2, max_size=6))
def test_links_in_a_ring_or_a_knot_still_give_every_node_its_own_place(links: list[tuple[int | None, int | None]]) -> None:
    nodes = [
        Passage(f"text {at}", passage_id=f"n{at}", previous=None if a is None else f"n{a}", following=None if b is None else f"n{b}")
        for at, (a, b) in enumerate(links)
    ]
    indexes = place(nodes, is_whole=False).indexes
    assert len(set(indexes)) == len(nodes)
    assert min(indexes) >= 0


def test_a_number_of_its_own_wins_unless_two_chunks_share_it() -> None:
    own = [passage("a", {"chunk_index": 7, "start_index": 0}), passage("b", {"chunk_index": 3, "start_index": 9})]
    assert place(own, is_whole=False) == ([7, 3], "metadata chunk_index")
    shared = [passage("a", {"chunk": 1, "start_index": 0}), passage("b", {"chunk": 1, "start_index": 1})]
    assert place(shared, is_whole=False) == ([0, 1], "where they start in the document")


def test_what_is_not_known_to_touch_does_not() -> None:
    bare = [passage(text, {}) for text in "abc"]
    assert place(bare, is_whole=False).indexes == [0, 2, 4]
    assert place(bare, is_whole=True).indexes == [0, 1, 2]
    pages = [passage("a", {"page": 0, "total_pages": 3, "start_index": 0}), passage("b", {"page": 1, "total_pages": 3, "start_index": 0})]
    assert place(pages, is_whole=False).indexes == [0, 2]
    lines = [passage(str(low), {"loc": {"lines": {"from": low, "to": high}}}) for low, high in ((10, 20), (1, 9), (40, 50))]
    assert place(lines, is_whole=False) == ([1, 0, 3], "their lines")


# Scores

DISTANCES = st.lists(st.floats(0, 1e6), min_size=1, max_size=8, unique=True)


@given(DISTANCES)
def test_a_turned_distance_keeps_the_order_and_is_a_score(distances: list[float]) -> None:
    found = [passage("x", {"distance": value}) for value in sorted(distances)]
    scored = score(found, are_distances=False)
    assert scored.scores == sorted(scored.scores, reverse=True)
    assert scored.ranked
    assert all(0 < value <= 1 for value in scored.scores)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_scores_that_fall_stay_as_they_are(values: list[float]) -> None:
    found = [passage("x", {"score": value}) for value in sorted(values, reverse=True)]
    assert not rising([found])
    assert score(found, are_distances=False) == (sorted(values, reverse=True), True, "")


def test_one_short_list_that_rises_proves_nothing_and_several_do() -> None:
    def listed(*values: float) -> list[Passage]:
        return [passage("x", {"score": value}) for value in values]

    assert not rising([listed(0.1, 0.2, 0.3)])
    assert rising([listed(0.1, 0.2, 0.3, 0.4)])
    assert rising([listed(0.1, 0.2, 0.3), listed(0.2, 0.3, 0.4)])
    assert not rising([listed(0.1, 0.2, 0.3), listed(0.2, 0.3, 0.4), listed(0.5, 0.4)])
    assert not rising([])
    assert rising([[Passage("x", score=0.1, measure="pair"), Passage("y", score=0.4, measure="pair")]])
    assert not rising([[passage("x", {"relevance_score": value}) for value in (0.1, 0.2, 0.3, 0.4)]])


def test_a_passage_without_a_score_beside_others_is_no_hit() -> None:
    assert score([passage("a", {"score": 0.5}), passage("b", {})], False) == ([0.5, None], False, "added")
    assert score([passage("a", {}), passage("b", {})], False) == ([1.0, 0.5], True, "no_score")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "high", {}, True])
def test_a_score_that_is_none_is_left_for_the_validation(value: Any) -> None:
    (kept, _) = score([passage("a", {}, score=value), passage("b", {}, score=0.1)], False).scores
    assert kept is value or kept != kept


def test_metadata_says_where_a_passage_belongs() -> None:
    one = passage(
        "t", {"source": "a.pdf", "page": 0, "page_label": "iv", "total_pages": 9, "title": "A", "relevance_score": 0.9, "score": 2}
    )
    assert (one.document_id, one.source, one.title, one.page, one.score, one.measure) == ("a.pdf", "a.pdf", "A", 1, 0.9, "rerank")
    assert passage("t", {"page": 4}).page == 4
    assert passage("t", {"page_label": "12", "page": 11}).page == 12
    long = passage("t", {"source": "s" * 9_000}).document_id
    assert long is not None
    assert len(long) <= 500
    assert passage("t", {"source": "s" * 9_001}).document_id != long
    assert json.dumps(one.scores) == '{"rerank": 0.9, "score": 2}'
