"""Zones on the command line: the limit that they leave, what is said of it, and earlier turns from a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.config import read_config
from tests.fake_model_server import serving

QUERY = ["--query-id", "follow-up-drive-after"]
WINDOW = ["--set", "budget_mode=window", "--set", "model_name=gemma2:9b"]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('zones') / 'c.db'}"
    assert main(["load", "--sample", "--db", url]) == 0
    return url


@pytest.fixture(autouse=True)
def clean(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("CONTEXT_ASSEMBLY_", "CTXASM_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", database)


def assembled(argv: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["assemble", *argv, "--format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


def test_the_json_has_the_zones_and_the_limit_that_they_leave(capsys: pytest.CaptureFixture[str]) -> None:
    found = assembled([*QUERY, *WINDOW], capsys)
    zones = {zone["name"]: zone for zone in found["zones"]}  # type: ignore[attr-defined]
    assert sum(zone["tokens"] for zone in zones.values()) == found["model_window"] == 8_192
    assert zones["context"] == {"name": "context", "tokens": found["max_tokens"], "how": "left"}
    assert zones["answer"]["how"] == "reserved"
    assert zones["history"]["how"] == "counted"
    plain = assembled(QUERY, capsys)
    assert (plain["zones"], plain["model_window"], plain["zone_hints"], plain["max_tokens"]) == ([], None, [], 8_000)
    assert plain["history"]["trimmed"] == 0  # type: ignore[index]


def test_the_text_says_how_the_window_is_shared_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assemble", *QUERY, *WINDOW, "--set", "history_tokens=10"]) == 0
    err = capsys.readouterr().err
    assert "window of 8,192 tokens: system " in err
    assert "History: of 2 earlier turns 2 turns (34 tokens) left out, oldest first; 0 tokens are sent." in err
    assert "no room is kept for that (safety_margin=0)" in err


def test_an_unknown_model_is_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(["ask", *QUERY, "--set", "budget_mode=window", "--set", "model_name=ours"], capsys)
    assert "which window has the model 'ours'?" in err
    assert main(["assemble", *QUERY, "--set", "budget_mode=window", "--set", "model_name=ours", "--set", "model_window=4000"]) == 0


def test_a_table_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[models.ours]\nwindow = 4000\n", "utf-8")
    monkeypatch.setenv("CTXASM_MODEL_WINDOWS", str(file))
    assert read_config().model_windows == str(file)
    ours = [*QUERY, "--set", "budget_mode=window", "--set", "model_name=ours"]
    assert assembled(ours, capsys)["model_window"] == 4_000
    file.write_text("[models.ours]\nwindow = -1\n", "utf-8")
    assert 'models."ours".window must be a whole number from 1' in refused(["ask", *ours], capsys)


def test_earlier_turns_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.txt"
    file.write_text("User: Hoe lang duurt het?\nAssistant: Twintig minuten.\nUser: Dank.\nAssistant: Graag.\n", "utf-8")
    found = assembled([*QUERY, "--history", str(file)], capsys)
    assert [turn["content"] for turn in found["history"]["turns"]] == ["Hoe lang duurt het?", "Twintig minuten.", "Dank.", "Graag."]  # type: ignore[index]
    assert "the history" in refused(["ask", *QUERY, "--history", str(tmp_path / "none.txt")], capsys)
    file.write_text("zomaar", "utf-8")
    assert "must begin with a speaker" in refused(["ask", *QUERY, "--history", str(file)], capsys)
    assert "name it with --query-id" in refused(["assemble", "--all", "--history", str(file)], capsys)


def test_ask_says_when_the_answer_may_be_longer_than_its_zone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", *QUERY, *WINDOW, "--max-answer-tokens", "2000"]) == 0
    assert "max-answer-tokens is 2000, more than answer_tokens reserves (1024): set answer_tokens=2000" in capsys.readouterr().err
    assert main(["ask", *QUERY, *WINDOW]) == 0
    assert "max-answer-tokens" not in capsys.readouterr().err


def test_the_configured_model_summarises_older_turns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    summarise = [*QUERY, "--set", "history_summarise_after=0"]
    assert "no language model was asked" in assembled(summarise, capsys)["history"]["note"]  # type: ignore[index]
    with serving() as models:
        monkeypatch.setenv("CTXASM_LLM_BASE_URL", models.base_url)
        monkeypatch.setenv("CTXASM_LLM_MODEL", "good")
        history = assembled(summarise, capsys)["history"]
        assert (history["summarised"], history["trimmed"], history["note"]) == (2, 0, "")  # type: ignore[index]
        assert history["summary"] == history["turns"][1]["content"]  # type: ignore[index]
        monkeypatch.setenv("CTXASM_LLM_MODEL", "401")
        failed = assembled(summarise, capsys)["history"]
        assert failed["trimmed"] == 2  # type: ignore[index]
        assert "left out instead of summarised" in failed["note"]  # type: ignore[index]
