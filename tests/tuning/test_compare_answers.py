"""The same model asked under two settings: every figure by hand, nothing asked twice, nothing secret kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from ctxasm.app.tuned import AnswerWorkbench
from ctxasm.app.workbench import Workbench
from ctxasm.citations.figures import used_passages
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.config import read_config
from ctxasm.llm import Endpoint, ExtractiveModel, OpenAIModel, ScriptedModel
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.compare_answers import GIVEN_UP_AFTER, AnswerDesk, How, Prices
from ctxasm.tuning.statistics import paired_difference
from tests.fake_model_server import serving
from tests.tuning.sweeps import new_store, sample_store

OFF, LESS, MORE = AssemblySettings(enabled=False), AssemblySettings(max_tokens=500), AssemblySettings(max_tokens=1000)
SECRET = "sk-never-on-disk"


def desk(model: object, count: int, keep: MemoryStore | None = None, version: str = "1") -> AnswerDesk:
    tools = AnswerWorkbench(Workbench(read_config({}), sample_store()), sample_store().dataset().info.name)
    return AnswerDesk(tools, questions(count), How(model), LexicalScorer(), version, keep)  # type: ignore[arg-type]


def questions(count: int) -> Sequence:
    return sample_store().dataset().queries()[:count]


class Noting(ExtractiveModel):
    """The key-free model, which notes what it is asked; from `fails_from` on it cannot be reached."""

    def __init__(self, fails_from: int = 10**6) -> None:
        self.asked: list[str] = []
        self.fails_from = fails_from

    def stream(self, messages, **options):
        self.asked.append(options["assembly"].query.query_id)
        if len(self.asked) > self.fails_from:
            return ScriptedModel("cut").stream(messages, **options)
        return super().stream(messages, **options)


def test_every_figure_is_the_paired_mean_of_its_questions() -> None:
    model = Noting()
    found = desk(model, 4).compare(LESS, MORE, Prices(3, 5))
    assert [pair.query_id for pair in found.pairs] == [query.query_id for query in questions(4)]
    figures = {each.name: each for each in found.figures}
    bench = Workbench(read_config({}), sample_store())
    for pair, query in zip(found.pairs, questions(4), strict=True):
        for one, settings in ((pair.a, LESS), (pair.b, MORE)):
            assembly = bench.assemble(query, settings)
            text = bench.ask(assembly, ExtractiveModel()).result().text
            assert one.answer == text
            assert one.checked.claims == bench.check(assembly, text).claims
            assert (one.used, one.expected) == used_passages(assembly, one.checked)
            assert one.written == open_counter("cl100k_base").count(text)
            assert one.sent > assembly.token_count
    sent = [pair.b.sent - pair.a.sent for pair in found.pairs]
    assert figures["sent"].result.difference == pytest.approx(sum(sent) / 4)
    assert figures["sent"].result == paired_difference(sent, max(map(abs, sent)))
    assert "too few questions to tell" in figures["sent"].result.certainty()
    assert figures["sent"].result.interval.low <= figures["sent"].result.difference * 4 / 6 <= figures["sent"].result.interval.high
    expected = [pair for pair in found.pairs if pair.a.expected and pair.b.expected]
    assert figures["passages"].result.n == len(expected)
    assert figures["passages"].without == 4 - len(expected)
    assert figures["passages"].b == pytest.approx(sum(pair.b.used / pair.b.expected for pair in expected) / len(expected))
    assert figures["cost"].a == pytest.approx(sum(3 * pair.a.sent + 5 * pair.a.written for pair in found.pairs) / 4 / 1e6)
    assert json.loads(json.dumps(found.to_dict()))["figures"].keys() == figures.keys()
    assert "cost" not in {each.name for each in desk(model, 1).compare(LESS, MORE).figures}


def test_a_model_that_cites_wrongly_has_its_support_and_no_citation() -> None:
    figures = {each.name: each.b for each in desk(ScriptedModel("wrong_number"), 3).compare(MORE, MORE).figures}
    assert (figures["support"], figures["citation"]) == (1.0, 0.0)


def test_there_are_no_shares_over_answers_that_only_quote() -> None:
    figures = desk(ExtractiveModel(), 3).compare(MORE, MORE).figures
    assert not {"support", "citation"} & {each.name for each in figures}
    assert all(each.result.difference == 0 and each.result.p == 1.0 for each in figures)


def test_nothing_is_asked_twice_and_what_was_ended_goes_on() -> None:
    store, model, stop = new_store(), Noting(), [False]
    ended = desk(model, 5, store).compare(LESS, MORE, report=lambda told: stop.__setitem__(0, told.done == 2), cancelled=lambda: stop[0])
    assert (len(ended.pairs), ended.cancelled, len(model.asked)) == (2, True, 4)
    left = desk(model, 5, store).estimate(LESS, MORE, Prices(1, 1))
    assert (left.answers, left.known, left.asked) == (10, 4, 6)
    same = desk(model, 5, store).estimate(OFF, OFF)
    assert (same.answers, same.known, same.asked) == (10, 0, 5)
    assert left.written == 6 * 512
    assert left.cost == pytest.approx((left.sent + left.written) / 1e6)
    whole = desk(model, 5, store).compare(LESS, MORE)
    assert (len(whole.pairs), whole.reused, len(model.asked)) == (5, 4, 10)
    assert left.sent == sum(pair.a.sent + pair.b.sent for pair in whole.pairs[2:])
    again = desk(model, 5, store).compare(MORE, LESS)
    assert (again.reused, len(model.asked)) == (10, 10)
    assert [pair.a for pair in again.pairs] != [pair.b for pair in again.pairs]
    assert desk(model, 5, store).kept_pair(questions(5)[4], LESS, MORE).b.answer == whole.pairs[4].b.answer  # type: ignore[union-attr]


@pytest.mark.parametrize("other", ["model", "prompt", "version", "settings"])
def test_another_model_prompt_version_or_context_is_asked_anew(other: str) -> None:
    store, model = new_store(), Noting()
    desk(model, 1, store).compare(MORE, MORE)
    assert len(model.asked) == 1
    asking = desk(ScriptedModel("none") if other == "model" else model, 1, store, "2" if other == "version" else "1")
    if other == "prompt":
        asking = replace(asking, how=How(model, temperature=0.5))
    b = OFF if other == "settings" else MORE
    assert asking.kept_pair(questions(1)[0], b, b) is None


def test_a_model_that_fails_is_said_and_asked_again_next_time() -> None:
    store, model = new_store(), Noting(fails_from=3)
    found = desk(model, 4, store).compare(LESS, MORE)
    assert [pair.query_id for pair in found.pairs] == [questions(4)[0].query_id]
    assert list(found.failures) == [query.query_id for query in questions(4)[1:]]
    assert all("broke off" in why or "model" in why for why in found.failures.values())
    model.fails_from = 10**6
    assert len(desk(model, 4, store).compare(LESS, MORE).pairs) == 4


def test_a_model_that_is_not_there_is_given_up() -> None:
    model = Noting(fails_from=0)
    found = desk(model, 9).compare(LESS, MORE)
    assert len(model.asked) == len(found.failures) == GIVEN_UP_AFTER
    assert found.figures == ()


@pytest.fixture
def endpoint() -> Iterator[OpenAIModel]:
    with serving() as server:
        yield OpenAIModel(Endpoint(server.base_url, "ok", SECRET))


def test_an_endpoint_answers_and_its_key_is_kept_nowhere(endpoint: OpenAIModel) -> None:
    store = new_store()
    asking = desk(endpoint, 1, store)
    found = asking.compare(OFF, LESS)
    assert len(found.pairs) == 1
    assert all(pair.a.answer and pair.b.answer for pair in found.pairs)
    kept = store.read_kept(asking.known.name)
    assert len(kept) == 2
    assert SECRET not in json.dumps(kept) + json.dumps(found.to_dict())
    assert all(set(json.loads(value)) == {"answer", "complete", "called"} for value in kept.values())
