"""Laws of a conversation: numbers stay, nothing is sent twice, the window holds, what leaves is said, replay is the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.answering.conversation import LAYOUTS, Conversation, Layout, Price, Turn, conversation_from_dict, together
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Key
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeSource
from tests.strategies import COUNTER, Case, cases, settings_

LAYOUT = st.sampled_from(LAYOUTS)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Case, list[Query], list[int]]:
    """A corpus, questions over it, and for each a number that says which of its sources the answer cites."""
    case = draw(cases())
    keys = [(chunk.document_id, chunk.chunk_index) for chunk in case.chunks] or [("d0", 0)]
    wanted = draw(st.lists(st.lists(st.sampled_from(keys), max_size=5), min_size=1, max_size=5))
    queries = [
        Query(f"Vraag {at}: wanneer?", tuple(Hit(*key, 9.0 - place) for place, key in enumerate(own)), f"q{at}")
        for at, own in enumerate(wanted)
    ]
    return case, queries, [draw(st.integers(0, 3)) for _ in queries]


def asked(conversation: Conversation, case: Case, queries: list[Query], cites: list[int]) -> list[Turn]:
    """The turns of a whole conversation; each answer cites one of the sources that stand."""
    turns = []
    source = case.source()
    for query, cite in zip(queries, cites, strict=True):
        turn = conversation.ask(query, source, COUNTER)
        turns.append(turn)
        numbers = sorted({block.number for block in turn.standing})
        conversation = turn.answered(f"Zo is het [{numbers[cite % len(numbers)]}]." if numbers and cite else "Dat staat er niet.")
    return turns


@given(conversations(), LAYOUT, settings_(enabled=True, budget_mode="fixed"), st.integers(900, 2500))
def test_a_number_is_one_source_and_the_window_holds(
    drawn: tuple[Case, list[Query], list[int]], layout: Layout, settings: AssemblySettings, window: int
) -> None:
    case, queries, cites = drawn
    documents: dict[int, str] = {}
    given: dict[str, int] = {}
    before: dict[Key, int] = {}
    for turn in asked(Conversation(settings, layout, window, answer_tokens=50), case, queries, cites):
        for block in turn.standing:
            assert documents.setdefault(block.number, block.document_id) == block.document_id
            if settings.citation_unit == "document":
                assert given.setdefault(block.document_id, block.number) == block.number
        counted = sum(COUNTER.count(message.content) for message in turn.messages)
        assert counted == turn.window.prompt <= window - 50
        assert min(turn.window) >= 0
        assert 0 <= turn.cached_tokens <= counted
        # Nothing vanishes without a word, and nothing is said to leave that stands.
        now = {key: block.number for block in turn.standing for key in block.keys}
        left = {(entry.document_id, index) for entry in turn.left for index in entry.chunk_indexes}
        assert left == before.keys() - now.keys() if layout == "rebuild" else left >= before.keys() - now.keys()
        before = now


@given(conversations(), settings_(enabled=True, budget_mode="fixed"), st.integers(900, 2500))
def test_what_stands_is_not_sent_twice_and_earlier_messages_are_kept(
    drawn: tuple[Case, list[Query], list[int]], settings: AssemblySettings, window: int
) -> None:
    case, queries, cites = drawn
    last: Turn | None = None
    for turn in asked(Conversation(settings, "append", window, answer_tokens=50), case, queries, cites):
        stands = [key for block in turn.standing for key in block.keys]
        assert len(stands) == len(set(stands))
        if last is not None and not turn.left and not turn.forgotten:
            assert turn.messages[: len(last.messages)] == last.messages
            assert turn.cached_tokens >= last.window.prompt
        last = turn


@given(conversations(), LAYOUT, settings_(enabled=True, budget_mode="fixed"), st.integers(900, 2500))
def test_replay_and_json_give_the_same_conversation(
    drawn: tuple[Case, list[Query], list[int]], layout: Layout, settings: AssemblySettings, window: int
) -> None:
    case, queries, cites = drawn
    turn = asked(Conversation(settings, layout, window, answer_tokens=50), case, queries, cites)[-1]
    done = turn.answered("Klaar [1].")
    replayed = done.replayed(case.source(), COUNTER)
    assert replayed.sent == done.sent
    assert replayed.left == done.left
    assert replayed.numbering == done.numbering
    assert [each.message for each in replayed.exchanges] == [each.message for each in done.exchanges]
    again = conversation_from_dict(json.loads(json.dumps(done.to_dict(), allow_nan=False)))
    assert again.to_dict() == done.to_dict()
    question = Query("En nu?", queries[0].retrieved, "next")
    assert again.ask(question, case.source(), COUNTER).messages == done.ask(question, case.source(), COUNTER).messages


@given(cases(), LAYOUT, settings_(budget_mode="fixed"))
def test_one_turn_is_one_assembly(case: Case, layout: Layout, settings: AssemblySettings) -> None:
    turn = Conversation(settings, layout, 100_000).ask(case.query, case.source(), COUNTER)
    alone = assemble(replace(case.query, history=()), case.source(), settings, COUNTER)
    assert (turn.assembly.text, turn.assembly.citations, turn.assembly.trace.fates) == (alone.text, alone.citations, alone.trace.fates)
    assert (turn.cached_tokens, turn.left, turn.number) == (0, (), 1)
    assert {block.keys for block in turn.standing} == {
        tuple((entry.document_id, index) for index in entry.chunk_indexes) for entry in alone.citations
    }
    texts = {source["n"]: source["text"] for source in turn.sources()}
    assert set(texts) == {entry.number for entry in alone.citations}
    assert all(text in turn.messages[-1].content for text in texts.values())


BIKES = "A cargo bike is lent for fourteen days."
DEPOSIT = "The deposit is forty euros."
LATE = "A late return costs two euros a day."


def library() -> FakeSource:
    texts = {"bikes": BIKES, "deposit": DEPOSIT, "late": LATE}
    return FakeSource([Document(name, name.title()) for name in texts], [Chunk(name, 0, text) for name, text in texts.items()], COUNTER)


def hits(*names: str) -> tuple[Hit, ...]:
    return tuple(Hit(name, 0, 9.0 - place) for place, name in enumerate(names))


def test_cited_evidence_keeps_its_number_and_what_nobody_cited_leaves() -> None:
    conversation = Conversation(layout="rebuild")
    first = conversation.ask(Query("How long is the loan?", hits("bikes", "deposit")), library(), COUNTER)
    assert [(entry.number, entry.document_id) for entry in first.assembly.citations] == [(1, "bikes"), (2, "deposit")]
    second = first.answered("Forty euros [2].").ask(Query("And when it is late?", hits("late")), library(), COUNTER)
    assert [(entry.number, entry.document_id) for entry in second.assembly.citations] == [(3, "late"), (2, "deposit")]
    assert "[3] Source: Late" in second.messages[-1].content
    assert [(entry.number, entry.reason) for entry in second.left] == [(1, "uncited")]
    assert second.left[0].sentence.startswith("left at turn 2: uncited, ")
    assert second.came == {("late", 0)}
    third = second.answered("Two euros [3].").ask(Query("How long again?", hits("bikes")), library(), COUNTER)
    assert {entry.number: entry.document_id for entry in third.assembly.citations} == {1: "bikes", 2: "deposit", 3: "late"}


def test_appended_messages_stay_and_evidence_that_stands_is_named_as_sent() -> None:
    first = Conversation(layout="append").ask(Query("How long is the loan?", hits("bikes", "deposit")), library(), COUNTER)
    second = first.answered("Fourteen days [1].").ask(Query("What does it cost?", hits("deposit", "late")), library(), COUNTER)
    assert second.messages[:2] == first.messages
    assert second.messages[2].content == "Fourteen days [1]."
    assert [entry.document_id for entry in second.assembly.citations] == ["late"]
    assert [fate.reason for fate in second.assembly.trace.fates if fate.document_id == "deposit"] == ["already_sent"]
    assert [(source["n"], source["title"]) for source in second.sources()] == [(1, "Bikes"), (2, "Deposit"), (3, "Late")]
    assert second.cached_tokens >= first.window.prompt


def test_where_the_window_is_full_uncited_evidence_leaves_first_with_a_receipt() -> None:
    texts = {name: f"{name} " + " ".join(f"{name}{n}" for n in range(60)) for name in "abc"}
    source = FakeSource([Document(name) for name in texts], [Chunk(name, 0, text) for name, text in texts.items()], COUNTER)
    first = Conversation(layout="append", window=1900, answer_tokens=50, receipts=True).ask(Query("One?", hits("a", "b")), source, COUNTER)
    second = first.answered("Yes [2].").ask(Query("Two?", hits("c")), source, COUNTER)
    whole = Conversation(layout="append", window=9000, answer_tokens=50).ask(Query("One?", hits("a", "b")), source, COUNTER)
    most = whole.answered("Yes [2].").ask(Query("Two?", hits("c")), source, COUNTER).window.prompt
    tight = replace(first.answered("Yes [2]."), window=most + 50 - 10).ask(Query("Two?", hits("c")), source, COUNTER)
    assert not second.left
    assert [(entry.number, entry.reason) for entry in tight.left] == [(1, "uncited")]
    assert f"[1] {tight.left[0].sentence}" in tight.messages[1].content
    assert {source["n"] for source in tight.sources()} == {2, 3}
    assert tight.window.prompt <= most - 10


def test_the_cost_of_a_turn_counts_what_the_cache_had() -> None:
    first = Conversation(layout="append").ask(Query("How long?", hits("bikes")), library(), COUNTER)
    second = first.answered("Long [1].").ask(Query("What?", hits("late")), library(), COUNTER)
    price = Price(1.0, 0.1, 4.0)
    assert second.cost(price, 10) == pytest.approx((second.new_tokens + 0.1 * second.cached_tokens + 40) / 1e6)
    assert second.new_tokens + second.cached_tokens == second.window.prompt


def test_several_searches_of_one_question_are_fused() -> None:
    query = together([Query("Which?", hits("bikes", "late")), Query("When?", hits("late", "deposit"))])
    assert (query.query, [hit.document_id for hit in query.retrieved]) == ("Which?", ["late", "bikes", "deposit"])
    assert [hit.rank for hit in query.retrieved] == [1, 2, 3]


@pytest.mark.parametrize("changes", [{"layout": "sideways"}, {"window": 0}, {"window": True}, {"answer_tokens": -1}])
def test_what_cannot_be_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(changes))} must be"):
        Conversation(**changes)  # type: ignore[arg-type]


def test_a_window_without_room_says_what_takes_it() -> None:
    with pytest.raises(InvalidInput, match="window must leave room for evidence"):
        Conversation(window=300, answer_tokens=200).ask(Query("How long?", hits("bikes")), library(), COUNTER)


@pytest.mark.parametrize("record", [{}, {"settings": {}}, None, {"settings": {}, "given": [1]}])
def test_a_record_of_another_kind_is_refused(record: object) -> None:
    with pytest.raises(InvalidInput, match="a conversation must be what"):
        conversation_from_dict(record)  # type: ignore[arg-type]
