"""Before and after a changed setting: what is compared, and with what."""

from __future__ import annotations

import pytest
from hypothesis import given

from ctxasm.app.ui.frame.session import Scene
from ctxasm.app.ui.inspect import change
from ctxasm.app.ui.inspect.budget_bar import budget_html
from ctxasm.app.ui.inspect.change import (
    Delta,
    changed_settings,
    compare,
    fresh_chunks,
    ledger,
    ledger_html,
    sent_chunks,
    settle,
    strip_html,
)
from ctxasm.app.ui.words import plain
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings
from tests.app.ui.builders import HOSTILE, assembled, empty, hostile
from tests.app.ui.pages import at, fine, html, with_settings
from tests.app.ui.test_html import Page
from tests.app.ui.test_inspect_chunks import law
from tests.app.ui.test_inspect_strategies import editions
from tests.fakes import FakeClock
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_


@law
@given(cases(), settings_(), settings_(), LIMITS)
def test_what_came_and_went_turns_the_former_context_into_this_one(case: Case, one, other, limit):
    before, now = (assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit) for chosen in (one, other))
    compared = compare(before, now)
    came, went = ({moved.key for moved in each} for each in (compared.came, compared.went))
    assert (sent_chunks(before) - went) | came == sent_chunks(now)
    assert not came & sent_chunks(before)
    assert not went & sent_chunks(now)
    assert bool(compared.says) == (not came and not went)
    assert {change.name for change in compared.settings} == {
        name for name, value in other.to_dict().items() if value != one.to_dict()[name]
    }


@law
@given(cases(), settings_(), LIMITS)
def test_an_assembly_compared_with_itself_has_not_changed(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    compared = compare(done, done)
    assert (compared.settings, compared.came, compared.went) == ((), (), ())
    assert all(delta.before == delta.now and delta.verdict == "" for delta in compared.deltas)
    assert compared.says == "The context is the same, to the letter."


def test_the_figures_are_those_of_the_two_assemblies():
    before, now = assembled(limit=230), assembled(limit=400, budget_policy="greedy")
    deltas = {delta.name: delta for delta in compare(before, now).deltas}
    assert (deltas["tokens"].before, deltas["tokens"].now) == (before.token_count, now.token_count)
    assert (deltas["unused"].before, deltas["unused"].now) == (before.unused_tokens, now.unused_tokens)
    assert (deltas["blocks"].before, deltas["blocks"].now) == (len(before.citations), len(now.citations))
    assert deltas["hits"].of == 6
    assert deltas["hits"].now > deltas["hits"].before
    assert "evidence" not in deltas


@pytest.mark.parametrize(
    ("name", "before", "now", "verdict"),
    [("hits", 3, 4, "better"), ("evidence", 2, 1, "worse"), ("regret", 5, 0, "better"), ("regret", 0, 5, "worse"), ("tokens", 1, 2, "")],
)
def test_only_what_is_good_or_bad_by_itself_is_judged(name, before, now, verdict):
    assert Delta(name, name, before, now).verdict == verdict


def test_the_same_chunks_in_another_order_are_called_that():
    before, now = assembled(citation_unit="chunk"), assembled(citation_unit="chunk", ordering="bookend")
    assert compare(before, now).says == "The same chunks, in another order."
    assert compare(assembled(), assembled(format="xml")).says.startswith("The same chunks in the same order")


def test_a_supplement_that_came_in_is_said():
    before, now = editions(supplement_mode="never"), editions(supplement_mode="always")
    assert compare(before, now).says == "The supplement came in; the chunks are the same."
    assert compare(now, before).says.startswith("The supplement went out")


def test_values_are_written_as_on_every_page():
    changed = changed_settings(AssemblySettings(), AssemblySettings(max_tokens=4000, max_chars=900, dedup_near=True, ordering="auto"))
    assert [(change.name, *change.words) for change in changed] == [
        ("dedup_near", "off", "on"),
        ("max_tokens", "8,000", "4,000"),
        ("max_chars", "none", "900"),
        ("ordering", "document first", "auto"),
    ]


def test_the_strip_is_whole_and_hostile_text_stays_text():
    before, now = hostile(), assembled(model_name=HOSTILE)
    page = Page(strip_html(compare(before, now), HOSTILE))
    assert page.open == []
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert HOSTILE in page.text


def test_new_chunks_are_marked_on_bar_and_ledger():
    before, now = assembled(limit=230), assembled(limit=400, budget_policy="greedy")
    fresh = sent_chunks(now) - sent_chunks(before)
    page = Page(budget_html(now, "", fresh))
    marked = [attrs for _, attrs in page.tags if "new" in (attrs.get("class") or "").split() and "cx-part" in attrs["class"]]
    assert len(marked) >= len(fresh) > 0
    assert f"{len(fresh)} new" in Page(ledger_html(ledger(now), len(fresh))).text
    assert "new" in page.text
    assert "new" not in Page(budget_html(now, "")).text


def test_a_label_shows_markup_as_text():
    assert plain("Prijs $5$ :red[x] [1] *a*_b_ <i>") == r"Prijs \$5\$ \:red\[x\] \[1\] \*a\*\_b\_ \<i\>"


@pytest.fixture
def session(monkeypatch):
    kept: dict = {}
    monkeypatch.setattr(change.st, "session_state", kept)
    return kept


def scene_of(assembly) -> Scene:
    return Scene("d", assembly.query, assembly.settings)


def test_a_change_is_compared_with_what_was_settled_before_it(session):
    first, second, third = assembled(), assembled(budget_policy="pack"), assembled(budget_policy="greedy")
    for each in (first, second, second, third):
        settle(scene_of(each), each)
    assert (session["compared"].before, session["compared"].now) == (second, third)


def test_the_same_settings_once_more_keep_the_comparison(session):
    first, second, again = assembled(), assembled(budget_policy="pack"), assembled(budget_policy="pack")
    for each in (first, second, again):
        settle(scene_of(each), each)
    assert session["compared"].before is first
    assert session["compared"].now is again


def test_another_query_begins_anew(session):
    settle(scene_of(assembled()), assembled())
    other = empty()
    settle(scene_of(other), other)
    assert session["compared"].before is None
    assert fresh_chunks(other) == frozenset()


def test_while_a_limit_is_dragged_new_is_what_the_settled_context_lacks(session):
    small, large = assembled(230, max_tokens=500), assembled(max_tokens=900)
    settle(scene_of(small), small)
    assert fresh_chunks(small) == frozenset()
    assert fresh_chunks(large) == sent_chunks(large) - sent_chunks(small) != frozenset()


def test_the_strip_keeps_its_place_before_anything_was_changed_and_undo_is_the_way_back(open_app):
    app = with_settings(at(mt="2000", q="private-room-cost"))
    assert 'id="ctx-change"' not in html(app)
    assert 'id="ctx-unchanged"' in html(app)
    app.selectbox(key="pk").set_value("greedy").run()
    drawn = html(fine(app))
    assert 'data-setting="budget_policy"' in drawn
    assert 'data-delta="evidence"' in drawn
    assert 'data-moved="came in"' in drawn
    app.button(key="undo").click().run()
    assert app.selectbox(key="pk").value == "drop_documents"
    assert "</s> → drop documents" in html(fine(app))


def test_another_query_has_no_strip(open_app):
    app = with_settings(at(mt="2000", q="private-room-cost"))
    app.selectbox(key="pk").set_value("greedy").run()
    app.button(key="next_query").click().run()
    assert 'id="ctx-change"' not in html(fine(app))
