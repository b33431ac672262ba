"""A sweep counts what assembling cell by cell would, counts nothing twice, and gives the same bytes whoever counts."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.errors import InvalidInput, InvalidSetting
from ctxasm.model.progress import Progress
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.tuning.counting import Counting, Outcome, case_of
from ctxasm.tuning.engines import AllCores, InProcess, PlainTools, WorkersEnd
from ctxasm.tuning.evidence import evidence_documents, evidence_states
from ctxasm.tuning.recommend import decide
from ctxasm.tuning.sweep import Grid, axes_of, default_axes, estimate, grid_of, outcomes_key, settings_of, sweep
from ctxasm.tuning.sweep_results import SweepResult, rivals
from tests.examples import examples
from tests.tuning.sweeps import context, new_store, plain_tools, sample_store

AXES: dict[str, tuple[Any, ...]] = {"expand_window": (0, 2), "max_tokens": (500, 1500), "budget_policy": ("drop_documents", "segments")}
START = AssemblySettings()


def grid(axes: Mapping[str, tuple[Any, ...]] = AXES) -> Grid:
    return grid_of(START, settings_of(START, axes), axes)


def swept(count: int = 8, **options: Any) -> SweepResult:
    tried = options.pop("grid", grid())
    return sweep(context(sample_store().dataset().queries()[:count], **options), tried)


def cell_by_cell(query: Query, settings: AssemblySettings) -> Outcome:
    dataset = sample_store().dataset()
    tools = plain_tools()
    from ctxasm.app.parts import open_compressor
    from ctxasm.config import read_config

    compressor = None if settings.compression == "off" else open_compressor(settings, read_config({}))
    done = assemble(query, dataset, settings, tools.counter(settings.encoding), compressor=compressor)
    states = evidence_states(done, {name: dataset.document_chunks(name) for name in evidence_documents(query)})
    return Outcome(done.token_count, sum(s.state == "found" for s in states), sum(s.state != "unknown" for s in states))


def any_settings() -> st.SearchStrategy[AssemblySettings]:
    def choices(name: str) -> st.SearchStrategy[Any]:
        return st.sampled_from(spec_of(name).choices)

    changes = {
        "enabled": st.sampled_from([True, True, True, False]),
        "expand_window": st.integers(0, 3),
        "top_k": st.sampled_from([None, 1, 4]),
        "relevance_floor": st.sampled_from([None, None, 5.0]),
        "max_tokens": st.sampled_from([500, 700, 1500, 4000]),
        "dedup_exact": st.booleans(),
        "dedup_near": st.booleans(),
        "dedup_keep": choices("dedup_keep"),
        "budget_policy": choices("budget_policy"),
        "oversized": choices("oversized"),
        "budget_scope": choices("budget_scope"),
        "min_overlap_chars": st.sampled_from([0, 20]),
        "ordering": choices("ordering"),
        "format": choices("format"),
        "citation_unit": choices("citation_unit"),
        "compression": st.sampled_from(["off", "off", "extractive"]),
        "encoding": st.sampled_from(["cl100k_base", "cl100k_base", "o200k_base"]),
        "decay_mode": choices("decay_mode"),
        "pool_window": st.sampled_from([None, 0, 2, 6, 12]),
    }
    return st.fixed_dictionaries({}, optional=changes).map(lambda found: AssemblySettings(**found))


@given(st.lists(any_settings(), min_size=1, max_size=6), st.integers(0, 10**6))
@hypothesis_settings(max_examples=examples(60))
def test_what_is_shared_changes_nothing(tried: list[AssemblySettings], which: int) -> None:
    dataset = sample_store().dataset()
    queries = dataset.queries()
    query = queries[which % len(queries)]
    case = case_of(query, dataset, dataset.document_chunks, "cl100k_base")
    counted = Counting(tried, plain_tools()).count(case, range(len(tried)), {})
    assert counted == [cell_by_cell(query, settings) for settings in tried]


def test_a_supplement_is_counted() -> None:
    dataset = sample_store().dataset()
    query = replace(dataset.queries()[0], supplement="More of it. " * 20, best_similarity=0.1)
    case = case_of(query, dataset, dataset.document_chunks, "cl100k_base")
    tried = [START, START.replace(supplement_mode="never")]
    with_, without = Counting(tried, plain_tools()).count(case, (0, 1), {})
    assert with_.tokens > without.tokens
    assert with_ == cell_by_cell(query, START)


def test_the_ceiling_is_what_the_hits_could_give() -> None:
    found = swept(12)
    assert (found.ceiling[:, 1] >= found.outcomes[:, :, 1].max(axis=0)).all()
    assert int(found.reachable.sum()) >= int(found.whole.sum(axis=1).max())


def test_a_second_sweep_counts_only_what_is_new() -> None:
    store, dataset = new_store(), sample_store().dataset()
    queries = dataset.queries()[:6]
    first = sweep(context(queries[:4], keep=store), grid())
    again = sweep(context(queries, keep=store), grid())
    cells = len(first.settings) + 1  # the ceiling is one more
    assert (first.reused, again.reused) == (0, 4 * cells)
    wider = sweep(context(queries, keep=store), grid({**AXES, "max_tokens": (500, 1500, 3000)}))
    assert wider.reused == 6 * cells
    assert again.to_json() == sweep(context(queries), grid()).to_json()
    assert sweep(context(queries, version="2", keep=store), grid()).reused == 0


def test_other_data_under_the_same_name_is_counted_anew() -> None:
    store, dataset = new_store(), sample_store().dataset()
    query = dataset.queries()[0]
    sweep(context([query], keep=store), grid())
    fewer = replace(query, retrieved=query.retrieved[:-1])
    assert sweep(context([fewer], keep=store), grid()).reused == 0
    relabelled = replace(query, spans=(), gold=())
    assert sweep(context([relabelled], keep=store), grid()).reused == 0


def test_a_sweep_that_is_ended_goes_on() -> None:
    store, dataset = new_store(), sample_store().dataset()
    queries, seen = dataset.queries()[:5], list[Progress]()
    ended = sweep(context(queries, keep=store, report=seen.append, cancelled=lambda: len(seen) >= 2), grid())
    assert ended.cancelled
    assert 0 < (ended.outcomes[0, :, 0] >= 0).sum() < 5
    assert ended.outcome(0, 4) is None
    assert len(ended.labelled) <= 2
    whole = sweep(context(queries, keep=store), grid())
    assert whole.reused == 2 * (len(whole.settings) + 1)
    assert whole.to_json() == swept(5).to_json()


class _Fails:
    """An engine that ends after so many questions, as a crash would."""

    def __init__(self, after: int) -> None:
        self.after = after

    def run(self, *args: Any) -> Any:
        for number, done in enumerate(InProcess().run(*args)):
            if number == self.after:
                raise MemoryError
            yield done


def test_what_was_counted_before_a_crash_is_kept() -> None:
    store, dataset = new_store(), sample_store().dataset()
    queries = dataset.queries()[:5]
    with pytest.raises(MemoryError):
        sweep(context(queries, keep=store, engine=_Fails(3)), grid())
    again = sweep(context(queries, keep=store), grid())
    assert again.reused == 3 * (len(again.settings) + 1)
    assert len(store.read_kept(outcomes_key("1"))) == 5 * (len(again.settings) + 1)


def test_a_question_that_cannot_be_assembled_is_named() -> None:
    dataset = sample_store().dataset()
    queries = [dataset.queries()[0], replace(dataset.queries()[1], query=" ")]
    found = sweep(context(queries), grid())
    assert list(found.failures) == [queries[1].query_id]
    assert found.labelled == (0,)


@pytest.mark.system
def test_all_cores_give_the_same_bytes() -> None:
    assert swept(6, engine=AllCores(2)).to_json() == swept(6).to_json()


def killing(engine: type[Any], times: int) -> Any:
    """An engine with two processes, one of which is killed after every result, `times` in all; what was counted stands in `counted`."""

    class Killing(engine):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(workers=2)
            self.killed, self.counted = set[int](), list[int]()

        def run(self, *args: Any) -> Any:
            for done in super().run(*args):
                self.counted.append(done.task.number)
                alive = self.pids - self.killed  # one that was killed stays among them until it is replaced
                if alive and len(self.killed) < times:
                    os.kill(min(alive), signal.SIGKILL)
                    self.killed |= {min(alive)}
                yield done

    return Killing()


@pytest.mark.system
def test_a_killed_process_loses_nothing() -> None:
    engine = killing(AllCores, 2)
    assert swept(8, engine=engine).to_json() == swept(8).to_json()


def dask_engine() -> type[Any]:
    pytest.importorskip("distributed")
    from ctxasm.tuning.engines import Dask

    return Dask


@pytest.mark.slow
@pytest.mark.parametrize("engine_of", [lambda: AllCores, dask_engine], ids=["cores", "dask"])
def test_fifty_killed_processes_lose_nothing_and_nothing_is_counted_twice(engine_of: Any) -> None:
    store, dataset = new_store(), sample_store().dataset()
    queries = [replace(query, query_id=f"{turn} {query.query_id}") for turn in range(3) for query in dataset.queries()]
    engine = killing(engine_of(), 50)
    found = sweep(context(queries, keep=store, engine=engine), grid())
    assert sorted(engine.counted) == list(range(len(queries)))
    assert len(engine.killed) == 50
    assert found.to_json() == sweep(context(queries), grid()).to_json()


class _Deadly(PlainTools):
    """Tools that end whoever unpacks them."""

    def counter(self, encoding: str) -> Any:
        return _DeadlyCounter()


class _DeadlyCounter:
    def __reduce__(self) -> Any:
        return os._exit, (1,)


@pytest.mark.slow
@pytest.mark.parametrize("engine_of", [lambda: AllCores, dask_engine], ids=["cores", "dask"])
def test_a_question_that_ends_every_process_is_named_after_so_many(engine_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of()
    monkeypatch.setattr(sys.modules[engine.__module__], "ATTEMPTS", 4)
    dataset = sample_store().dataset()
    with pytest.raises(WorkersEnd, match=r"ends \(out of memory\?\): use --engine local"):
        sweep(context(dataset.queries()[:1], tools=_Deadly({}, None), engine=engine(workers=1)), grid())


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    dask = sys.modules[dask_engine().__module__]
    monkeypatch.setattr(dask, "LOOK_S", 0.1)
    monkeypatch.setattr(dask, "PATIENCE_S", 1.0)
    with pytest.raises(WorkersEnd, match="start workers"):
        swept(1, engine=dask.Dask(workers=0))


def test_what_needs_a_model_stays_in_this_process() -> None:
    asking = grid_of(START, [START.replace(dedup_semantic=True)], {})
    with pytest.raises(InvalidInput, match="engine local"):
        swept(1, grid=asking, engine=AllCores(2))


def test_zones_say_the_limit() -> None:
    windowed = START.replace(budget_mode="window", model_window=20_000)
    with pytest.raises(InvalidInput, match="limit_of"):
        raise_failures(swept(1, grid=grid_of(windowed, [windowed], {})))
    found = swept(3, grid=grid_of(windowed, [windowed], {}), limit_of=lambda query, settings: 600)
    assert int(found.outcomes[0, :, 0].max()) <= 600
    fixed = START.replace(max_tokens=600)
    assert (found.outcomes[0] == swept(3, grid=grid_of(fixed, [fixed], {})).outcomes[0]).all()


def raise_failures(found: SweepResult) -> None:
    for why in found.failures.values():
        raise InvalidInput(why)


def test_rows_fronts_and_what_matters() -> None:
    found = swept(30)
    rows = found.rows()
    assert rows[found.start].settings == START
    assert rows[0].changes == {"expand_window": 0, "max_tokens": 500, "budget_policy": "drop_documents"}
    assert rows[0].whole == sum(found.outcome(0, at).found == found.outcome(0, at).needed for at in found.labelled)  # type: ignore[union-attr]
    front = found.front()
    assert [found.tokens(at) for at in front] == sorted(found.tokens(at) for at in front)
    best = max(int(row.whole) for row in rows)
    assert rows[front[-1]].whole == best
    shares = found.importance()
    assert set(shares) == set(AXES)
    assert 0 <= sum(shares.values()) <= 1 + 1e-9
    gained, lost = found.flips(1, 0)
    assert len(gained) - len(lost) == rows[1].whole - rows[0].whole


def test_an_axis_that_alone_matters_has_all_the_importance() -> None:
    found = swept(30, grid=grid({"max_tokens": (500, 4000), "gap_mark": ("[…]", "[..]")}))
    shares = found.importance()
    assert shares["max_tokens"] > 0.95
    assert shares["gap_mark"] < 0.05


def test_a_decision_is_adjusted_for_all_that_were_tried() -> None:
    small = START.replace(max_tokens=500, expand_window=0)
    axes = {"max_tokens": (500, 4000), "expand_window": (0, 1)}
    found = sweep(context(sample_store().dataset().queries()), grid_of(small, settings_of(small, axes), axes))
    made = decide(found)
    assert (made.verdict, made.settings.max_tokens) == ("gain", 4000)
    assert made.sentences()[0].startswith("Take Neighbours 1, Max tokens 4,000, the rest as yours: ")
    assert "adjusted for 4 settings" in made.sentences()[1]
    unlabelled = [replace(query, gold=(), spans=()) for query in sample_store().dataset().queries()[:2]]
    assert decide(sweep(context(unlabelled), grid())).verdict == "keep"


def of_outcomes(
    axes: Mapping[str, tuple[Any, ...]], outcomes: Callable[[AssemblySettings, int], tuple[int, int, int]], n: int
) -> SweepResult:
    """A sweep over `n` questions that came to these outcomes."""
    tried = grid(axes)
    cells = np.array([[outcomes(settings, question) for question in range(n)] for settings in tried.settings])
    ids = tuple(map(str, range(n)))
    return SweepResult("d", "", "1", tried.settings, tried.axes, tried.start, ids, cells, np.array([(1, 1, 1)] * n))


RIVALS = {"expand_window": (0, 1), "top_k": (4, None), "max_tokens": (500, 8000)}


@pytest.mark.parametrize(
    ("whole", "sentence"),
    [
        (lambda window, question: window == 1, "a wider window holds more than more hits: +100.0 points ["),
        (lambda window, question: window == 0, "more hits hold more than a wider window: −100.0 points ["),
        (lambda window, question: window == question % 2, "a wider window against more hits: 0.0 points ["),
    ],
)
def test_a_wider_window_is_held_against_more_hits_at_equal_tokens(whole: Callable[[int, int], bool], sentence: str) -> None:
    def outcome(settings: AssemblySettings, question: int) -> tuple[int, int, int]:
        hits = 8 if settings.top_k is None else settings.top_k
        # Eight hits alone are as long as four with their neighbours; under the large limit they are longer, and nothing is shorter.
        tokens = hits * 100 if settings.expand_window == 0 else hits * (200 if settings.max_tokens == 500 else 150)
        return tokens, int(whole(settings.expand_window, question)), 1

    found = of_outcomes(RIVALS, outcome, 40)
    made = rivals(found)
    assert made is not None
    pairs = [tuple(found.settings[at] for at in (one.wider, one.below, one.above)) for one in made.all]
    more = START.replace(expand_window=0, top_k=None, max_tokens=500)
    assert pairs == [(START.replace(expand_window=1, top_k=4, max_tokens=500), more, more)]
    assert made.result.interval.low <= made.result.difference <= made.result.interval.high
    assert decide(found).sentences()[-1].startswith(f"At equal tokens (1 comparison) {sentence}")


def test_between_two_numbers_of_hits_the_rival_is_as_far_as_its_tokens() -> None:
    def outcome(settings: AssemblySettings, question: int) -> tuple[int, int, int]:
        hits = 8 if settings.top_k is None else settings.top_k
        if settings.expand_window:
            return hits * 175, int(question < 10), 1
        return hits * 100, int(question < (20 if hits == 8 else 0)), 1

    made = rivals(of_outcomes({"expand_window": (0, 1), "top_k": (4, 6, None)}, outcome, 40))
    assert made is not None
    (only,) = made.all  # four hits with neighbours take 700 tokens: halfway between six and eight hits alone
    assert only.share == 0.5
    assert made.result.difference == pytest.approx((10 - (0 + 20) / 2) / 40)


def test_rivals_need_both_axes_and_equal_tokens() -> None:
    assert rivals(swept(4)) is None
    assert rivals(of_outcomes(RIVALS, lambda settings, _: (1000 * (1 + settings.expand_window), 1, 1), 4)) is None


def test_an_estimate_counts_cells_and_calls() -> None:
    dataset = sample_store().dataset()
    told = estimate(context(dataset.queries()[:4]), grid())
    assert (told.settings, told.questions, told.cells) == (9, 4, 36)
    assert told.seconds is not None
    assert told.seconds > 0
    modelled = grid_of(START, [START.replace(compression="model", expand_window=0)], {})
    asked = estimate(context(dataset.queries()[:2]), modelled)
    assert asked.seconds is None
    assert asked.model_chunks == sum(len(query.retrieved) for query in dataset.queries()[:2])


def test_axes_are_read_as_settings_are() -> None:
    assert axes_of(["expand_window=0,1,1", "top_k=5,all"]) == {"expand_window": (0, 1), "top_k": (5, None)}
    with pytest.raises(InvalidSetting, match="expand_window"):
        axes_of(["expand_window=0,9"])
    with pytest.raises(InvalidInput, match="name=value"):
        axes_of(["expand_window"])
    with pytest.raises(InvalidInput, match="twice"):
        axes_of(["expand_window=0", "expand_window=1"])
    with pytest.raises(InvalidInput, match="20,000"):
        settings_of(START, {"max_tokens": tuple(range(500, 16000)), "expand_window": (0, 1)})
    assert len(settings_of(START, default_axes())) == 36 * len(spec_of("budget_policy").choices)


def test_progress_ends_at_the_whole() -> None:
    seen = list[Progress]()
    swept(4, report=seen.append)
    assert seen[-1].done == seen[-1].total == 4 * 10
    assert [each.done for each in seen] == sorted(each.done for each in seen)
