"""Advice on the page: the line says what compare says, the button names what it applies, source text stays text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from threading import Event
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app import tuning_runs
from ctxasm.app.ui.inspect.evidence import ADVICE, NOT_TRIED
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html, kept, opened, with_settings

NOW = AssemblySettings(max_tokens=600)


def paragraph(topic: str, lines: int) -> str:
    return " ".join(f"{topic} nummer {n} staat hier in een hele zin." for n in range(lines))


@pytest.fixture
def set_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Twelve questions whose evidence fits with another policy, two whose evidence is there, and one that nobody labelled."""
    url = f"sqlite:///{tmp_path / 'set.db'}"
    monkeypatch.setenv("CTXASM_DATABASE_URL", url)
    texts = {"groot": paragraph("Balie", 20), "middel": paragraph("Garage", 40), "klein": f"{HOSTILE} {paragraph('Kaart', 8)}"}
    hits = (Hit("groot", 0, 0.9), Hit("middel", 0, 0.8), Hit("klein", 0, 0.7))
    queries = [Query(f"Waar is {at}?", hits, f"q{at:02}", gold=(GoldChunk("klein" if at < 12 else "groot", 0),)) for at in range(14)]
    with ctxasm.open_store(url) as store:
        documents, chunks = zip(*((Document(name), Chunk(name, 0, text)) for name, text in texts.items()), strict=True)
        store.add(Bundle("set", documents, chunks, (*queries, Query("Wie?", hits, "none"))))
    return url


def rested(app: AppTest) -> AppTest:
    """The page at rest after what was done."""
    app.session_state["at_rest"] = True
    return fine(app.run())


def line(app: AppTest) -> str:
    """What the line of advice says, without its tags; "" for an empty place."""
    ((kind, inner),) = re.findall(r'data-advice="(\w+)">(.*?)</p>', html(app))
    assert kind == {"": "none", "…": "waits"}.get(inner, kind)
    return unescape(re.sub(r"<[^>]+>", "", inner))


def test_the_line_says_what_compare_says_and_opens_it(set_url: str) -> None:
    app = fine(opened(data="set", q="q00", mt="600"))
    assert line(app) == "…"
    app = rested(app)
    name, said = line(app).split(": ", 1)
    _, advice, _ = app.session_state["advice"]
    with ctxasm.open_store(set_url) as store:
        found = ctxasm.compare(NOW, advice.settings, store, "set", keep=False)
    assert (len(found.better), len(found.worse), found.labelled) == (12, 0, 14)
    assert re.fullmatch(r"brings “<script>alert\(1\).*…” back; helps 12 of 14 questions, hurts 0, \+\d+ % tokens", said)
    assert "<script" not in html(app)
    (address,) = re.findall(r'href="\./compare\?([^"]*)"[^>]*>helps', html(app))
    button = app.button(key="apply_advice")
    assert button.label.lower() == f"apply {name}".lower()
    assert found.result.points() in button.help.replace("\\", "")
    compared = fine(opened("compare", **dict(parse_qsl(unescape(address)))))
    assert kept(compared, "pinned") == NOW
    assert kept(compared, "now") == advice.settings


def test_the_button_applies_it_and_undo_takes_it_back(set_url: str) -> None:
    app = rested(opened(data="set", q="q00", mt="600"))
    _, advice, _ = app.session_state["advice"]
    fine(app.button(key="apply_advice").click().run())
    assert kept(app, "now") == advice.settings
    assert line(app) == "…"
    fine(app.button(key="undo").click().run())
    assert kept(app, "now") == NOW


@pytest.mark.parametrize(("query_id", "said"), [("q13", "same evidence here; "), ("none", "")])
def test_a_question_that_it_does_not_help_is_told_so(set_url: str, query_id: str, said: str) -> None:
    app = rested(opened(data="set", q=query_id, mt="600"))
    assert f": {said}helps 12 of 14 questions" in line(app)


def test_the_place_is_empty_where_nothing_is_shown_to_help(set_url: str) -> None:
    assert line(rested(opened(data="set", q="q00", mt="4000"))) == ""
    with ctxasm.open_store(set_url) as store:
        for at in range(8):
            ctxasm.label(f"q{at:02}", [("groot", 0)], store, "set", "replace")
    app = rested(opened(data="set", q="q11", mt="600"))
    assert line(app) == ""
    assert "apply_advice" not in {button.key for button in app.button}


def test_work_is_given_up_as_soon_as_the_settings_move(set_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, given_up = Event(), Event()

    def counting(*_: object, cancelled: object, **__: object) -> None:
        begun.set()
        while not cancelled():  # type: ignore[operator]
            pass
        given_up.set()

    monkeypatch.setattr(tuning_runs, "advice", counting)
    monkeypatch.setattr("ctxasm.app.ui.inspect.evidence.asked_to_end", lambda: begun.is_set)
    app = rested(opened(data="set", q="q00", mt="600"))
    assert line(app) == "…"
    assert not given_up.is_set()
    app.session_state["now"] = AssemblySettings(max_tokens=700)
    fine(app.run())
    assert given_up.wait(60)
    assert ADVICE not in app.session_state["background"]


def test_a_count_that_fails_says_why(set_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise InvalidInput(f"the weights {HOSTILE} cannot be read")

    monkeypatch.setattr(tuning_runs, "advice", failing)
    app = rested(opened(data="set", q="q00", mt="600"))
    assert line(app) == f"No advice: the weights {HOSTILE} cannot be read"
    assert "<script" not in html(app)


def test_what_would_ask_an_embedder_or_a_model_is_not_tried(set_url: str) -> None:
    assert line(fine(opened(data="set", q="q00", ds="on"))) == NOT_TRIED


def test_a_dataset_without_questions_is_no_error(tmp_path: Path) -> None:
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path / 'bare.db'}"}))
    bench.store.add(Bundle("bare", (Document("a"),), (Chunk("a", 0, "tekst"),), ()))
    assert tuning_runs.advice(bench, NOW, "bare") is None
    bench.close()


def place_of(block, key: str) -> list[int]:
    """The path of the container of a key, as Streamlit tells it to the browser."""
    for at, child in block.children.items():
        if key in str(getattr(child.proto, "id", "")):
            return [at]
        if getattr(child, "children", None) and (found := place_of(child, key)):
            return [at, *found]
    return []


def test_nothing_that_comes_and_goes_moves_the_advice(open_app):
    """Else what its fragment draws of a run that was ended early meets an element of the page where its own place was."""
    app = open_app()
    place = place_of(app.main, "-said")
    assert place
    app.session_state["gold_problem"] = "This passage cannot be marked."
    app = with_settings(app)
    assert "cannot be marked" in html(app)
    assert place_of(app.main, "-said") == place
