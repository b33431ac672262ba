"""A setting that is said to have no effect has none."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ctxasm.app.ui.idle import RULES, idle
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings, spec_of
from tests.strategies import COUNTER, Case, cases, settings_


def told(case: Case, chosen: AssemblySettings) -> object:
    """All that an assembly says but for its settings and the times it took."""
    found = assemble(case.query, case.source(), chosen, COUNTER, limit=None if chosen.enabled else 8000).to_dict()
    stages = [{**stage, "elapsed_ms": 0} for stage in found["stages"]]
    return {**found, "settings": None, "stages": stages, "fetch": {**found["fetch"], "elapsed_ms": 0}}


def other_value(spec):
    """Any value of a setting."""
    if spec.kind == "choice":
        return st.sampled_from(spec.choices)
    if spec.kind == "bool":
        return st.booleans()
    if spec.kind == "text":
        return st.sampled_from(["{summary}!", "[1] {summary}"])
    low, high = spec.low or 0, spec.high or 5000
    number = st.integers(int(low), int(high)) if spec.kind == "int" else st.floats(max(low, 0.01), high)
    return st.one_of(st.none(), number) if spec.optional else number


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(cases(), settings_(), st.data())
def test_an_idle_setting_changes_nothing(case, chosen, data):
    names = sorted(set(idle(chosen)) - {"encoding", "compression"})
    assume(names)
    spec = spec_of(data.draw(st.sampled_from(names)))
    changed = chosen.replace(**{spec.name: data.draw(other_value(spec))})
    assume(not needs_more(changed))
    assert told(case, changed) == told(case, chosen), f"{spec.name} is said to be idle: {idle(chosen)[spec.name]}"


def needs_more(chosen: AssemblySettings) -> bool:
    """Whether an assembly needs a model or an embedder."""
    return chosen.enabled and (chosen.compression == "model" or chosen.dedup_semantic)


CHANGES = (
    {}, {"enabled": False}, {"expand_window": 0}, {"expand_window": 2}, {"decay": 1.0}, {"dedup_near": True}, {"dedup_semantic": True},
    {"dedup_exact": False}, {"budget_mode": "window"}, {"budget_policy": "pack"}, {"compression": "extractive"},
    {"summary_prefix": False}, {"supplement_mode": "never"}, {"citation_unit": "passage"}, {"ordering": "relevance"},
    {"budget_policy": "greedy"}, {"budget_policy": "learned", "pool_window": 6},
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.reason)
def test_a_rule_holds_for_some_settings_and_not_for_others(rule):
    assert {rule.holds(AssemblySettings(**change)) for change in CHANGES} == {True, False}


def test_nothing_that_leads_is_idle_by_default():
    assert {"expand_window", "max_tokens", "budget_policy", "oversized", "ordering", "format", "citation_unit"}.isdisjoint(
        idle(AssemblySettings())
    )
