"""`ctxasm demo`: what it prints is what compare counts, and it leaves nothing behind."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from ctxasm import compare, preset
from ctxasm.__main__ import main
from ctxasm.app.commands.demo import NEXT
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.settings_text import read_settings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.compare import Comparison


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home that is also the working folder, and no database."""
    place = tmp_path / "home"
    place.mkdir()
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(place))
    monkeypatch.delenv("CTXASM_DATABASE_URL", raising=False)
    monkeypatch.chdir(place)
    return place


@pytest.fixture(scope="module")
def found() -> Comparison:
    store = MemoryStore(open_counter("cl100k_base"))
    Workbench(read_config({}), store).load_sample()
    return compare(*(preset(name).replace(max_tokens=2000) for name in ("five_stage", "recommended")), store, keep=False)


def printed(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(argv) == 0
    return capsys.readouterr().out


def test_the_text_is_what_compare_counts(found: Comparison, capsys: pytest.CaptureFixture[str], home: Path) -> None:
    lines = printed(["demo"], capsys).splitlines()
    n = found.labelled
    assert f"five stages     {found.whole_a} of {n} whole, {found.tokens_a:,.0f} tokens a question" in lines
    assert f"recommended     {found.whole_b} of {n} whole, {found.tokens_b:,.0f} tokens a question" in lines
    assert f"difference      {found.result.sentence()}" in lines
    gains = f"recommended gains {len(found.better)} questions and loses {len(found.worse)} ({', '.join(found.worse)})."
    assert gains in lines
    listed = [line for line in lines if line.endswith(")") and line.startswith("  ") and not line.startswith("    ")]
    assert [line.rpartition(" (")[2][:-1] for line in listed] == list(found.better[:3])
    assert [f"{what:<15} {command}" for what, command in NEXT.items()] == lines[-len(NEXT) :]
    assert list(home.rglob("*")) == []


def test_each_lost_fact_is_text_of_its_document_that_the_five_stages_leave_out(
    found: Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = json.loads(printed(["demo", "--format", "json"], capsys))["gained"]
    outcomes = {each.query_id: each.a for each in found.questions}
    workbench = Workbench(read_config({}), MemoryStore(open_counter("cl100k_base")))
    workbench.load_sample()
    for question in questions:
        outcome = outcomes[question["query_id"]]
        context = workbench.assemble(workbench.query(None, question["query_id"]), found.a).text
        assert len(question["facts"]) == outcome.needed - outcome.found > 0
        for fact in question["facts"]:
            chunks = [chunk.text for chunk in workbench.document_chunks(fact["document_id"])]
            assert any(fact["text"] in text for text in chunks)
            assert fact["text"] not in context
            assert fact["lost"] in ("at Budget", "never retrieved")


def test_the_commands_that_it_names_do_what_they_say(
    found: Comparison, capsys: pytest.CaptureFixture[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo: dict[str, Any] = json.loads(printed(["demo", "--format", "json"], capsys))
    assert demo["comparison"] == found.to_dict()
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{home / 'again.db'}")
    load, again = (shlex.split(command)[1:] for command in demo["next"]["to count again"].split("&&"))
    printed(load, capsys)
    counted = json.loads(printed([*again, "--format", "json"], capsys))
    assert {**counted, "digest": ""} == {**demo["comparison"], "digest": ""}
    shipped = home / "shipped.toml"
    shipped.write_text(printed(shlex.split(demo["next"]["to ship it"])[1:], capsys), encoding="utf-8")
    assert read_settings(str(shipped)) == found.b


def test_the_environment_changes_nothing(found: Comparison, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXASM_DATABASE_URL", "nothing://at all")
    monkeypatch.setenv("CTXASM_VALUE_WEIGHTS", "/nowhere")
    monkeypatch.setenv("CONTEXT_ASSEMBLY_EXPAND_WINDOW", "0")
    assert found.result.sentence() in printed(["demo"], capsys)
