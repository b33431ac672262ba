"""The zones as a picture: to scale, whole, never hidden, and harmless whatever a model is called."""

from __future__ import annotations

import dataclasses
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.frame.models import TurnRow, turn_rows, turns_html
from ctxasm.app.ui.inspect.budget_bar import LEAST, budget_html, notes, window_end, zone_stretches, zones_picture
from ctxasm.model.records import Turn
from ctxasm.model.results import ZONE_NAMES, SentHistory, Zone, Zones
from tests.app.ui.builders import HOSTILE, assembled
from tests.app.ui.test_html import Page

SIZES = st.lists(st.integers(0, 200_000), min_size=len(ZONE_NAMES), max_size=len(ZONE_NAMES))


def zones_of(sizes: list[int], over: int = 0, model: str = "m", hints: tuple[str, ...] = ()) -> Zones:
    zones = tuple(Zone(name, size, "reserved") for name, size in zip(ZONE_NAMES, sizes, strict=True))
    return Zones(model, sum(sizes) - over, zones, over, hints)


@given(SIZES)
def test_the_strip_is_whole_and_in_proportion(sizes: list[int]) -> None:
    stretches = zone_stretches(zones_of(sizes))
    assert [stretch.zone.tokens for stretch in stretches] == [size for size in sizes if size]
    at = 0.0
    for stretch in stretches:
        assert stretch.start == pytest.approx(at)
        assert stretch.width >= LEAST - 1e-9
        at += stretch.width
    assert not stretches or at == pytest.approx(100)
    ordered = sorted(stretches, key=lambda stretch: stretch.zone.tokens)
    assert all(a.width <= b.width + 1e-9 for a, b in itertools.pairwise(ordered))


@given(SIZES, st.integers(0, 50_000))
def test_what_exceeds_the_window_lies_beyond_its_end(sizes: list[int], over: int) -> None:
    zones = zones_of(sizes, min(over, max(0, sum(sizes) - 1)))
    stretches = zone_stretches(zones)
    end = window_end(stretches, zones.window)
    assert 0 <= end <= 100 + 1e-9
    assert (end < 100) == (zones.over > 0)


def test_the_bar_opens_from_the_context_zone() -> None:
    plain = assembled()
    assert 'id="ctx-window"' not in budget_html(plain, "s")
    zones = zones_of([300, 100, 5_000, 60, 64, 400, 1_000, 0])
    page = Page(budget_html(dataclasses.replace(plain, zones=zones), "s"))
    assert page.open == []
    window = page.by_id("ctx-window")
    assert (window["data-window"], window["data-over"]) == (str(sum([300, 100, 5_000, 60, 64, 400, 1_000])), "0")
    keys = {attrs["data-zone"]: attrs["data-tokens"] for _, attrs in page.tags if "data-zone" in attrs}
    assert keys == {
        "system": "300",
        "history": "100",
        "context": "5000",
        "question": "60",
        "overhead": "64",
        "margin": "400",
        "answer": "1000",
    }
    context = next(stretch for stretch in zone_stretches(zones) if stretch.zone.name == "context")
    (fan,) = re.findall(
        r"polygon\(([\d.]+)% 0, ([\d.]+)% 0, ([\d.]+)% 100%, 0 100%\)", budget_html(dataclasses.replace(plain, zones=zones), "s")
    )
    assert float(fan[0]) == pytest.approx(context.start, abs=0.001)
    assert float(fan[1]) == pytest.approx(context.start + context.width, abs=0.001)
    assert 0 < float(fan[2]) <= 100


def test_the_far_limit_of_a_large_window_leaves_the_documents_readable() -> None:
    near, far = Page(budget_html(assembled(16_000), "s")), Page(budget_html(assembled(120_000), "s"))
    widths = [
        max(float(re.search(r"width:([\d.]+)%", attrs["style"] or "")[1]) for _, attrs in page.tags if attrs.get("class") == "cx-group")  # type: ignore[index]
        for page in (near, far)
    ]
    assert widths[0] < 20 < widths[1]
    (limit,) = [attrs for _, attrs in far.tags if "cx-limit" in (attrs.get("class") or "")]
    assert limit["data-limit"] == "120000"
    assert "→" in far.text
    assert "→" not in near.text
    assert "lie to the right" not in far.text


def test_an_exceeded_window_says_by_how_much() -> None:
    html = zones_picture(dataclasses.replace(assembled(), zones=zones_of([300, 0, 8_000, 60, 64, 0, 1_000, 0], over=1_232)), 100)
    page = Page(html)
    assert "1,232 tokens over" in page.text
    assert any(tag == "i" and "beyond the window" in (attrs.get("title") or "") for tag, attrs in page.tags)


def test_nothing_of_a_name_or_a_turn_is_markup() -> None:
    zones = zones_of([1, 2, 3, 4, 5, 6, 7, 8], model=HOSTILE, hints=(HOSTILE, HOSTILE))
    conversation = SentHistory((), 0, 2, trimmed=2, trimmed_tokens=9, note=HOSTILE)
    assembly = dataclasses.replace(assembled(), zones=zones, conversation=conversation)
    rows = turn_rows(conversation, [(HOSTILE, HOSTILE), ("assistant", HOSTILE)])
    for html in (zones_picture(assembly, 50), turns_html(rows, HOSTILE)):
        page = Page(html)
        assert page.open == []
        assert HOSTILE in page.text
        assert {tag for tag, _ in page.tags} <= {"div", "ul", "li", "i", "b", "span", "details", "summary", "del"}


def test_every_turn_says_what_became_of_it() -> None:
    turns = tuple(Turn("user" if at % 2 == 0 else "assistant", f"t{at}") for at in range(6))
    conversation = SentHistory(turns[4:], 4, 6, trimmed=2, trimmed_tokens=2, summarised=2, summary="Kort.")
    rows = turn_rows(conversation, [(turn.role, turn.content) for turn in turns])
    assert [row.state for row in rows] == ["told in the summary"] * 2 + ["left out"] * 2 + ["sent"] * 2
    page = Page(turns_html(rows, conversation.summary))
    assert [attrs["data-state"] for _, attrs in page.tags if "data-state" in attrs] == ["summary", *(row.state for row in rows)]
    assert len([tag for tag, _ in page.tags if tag == "del"]) == 4
    many = tuple(TurnRow("user", f"t{at}", "sent") for at in range(60))
    assert "20 older turns" in Page(turns_html(many, "")).text


def test_what_became_of_the_turns_is_said_first() -> None:
    conversation = SentHistory((), 0, 2, trimmed=2, trimmed_tokens=9)
    zones = zones_of([1] * 8, hints=("A hint.",))
    assert notes(zones, conversation) == (
        "History: of 2 earlier turns 2 turns (9 tokens) left out, oldest first; 0 tokens are sent.",
        "A hint.",
    )
    assert notes(None, None) == ()
    assert notes(None, SentHistory((), 0, 0)) == ()
