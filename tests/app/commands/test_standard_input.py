"""Commands that are started without a standard input (`<&-`): a sentence, and no fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxasm.__main__ import COMMANDS, main

READING = {"load": ["load", "-"], "check": ["check", "-"], "why": ["why", "-"], "load_preview": ["load", "-", "--preview"]}
OTHERS = {name: [name] for name in COMMANDS if name != "serve"}


@pytest.fixture(autouse=True)
def closed(own_database: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("argv", [pytest.param(argv, id=name) for name, argv in READING.items()])
def test_a_command_that_reads_it_says_that_there_is_none(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err == "ctxasm: there is no standard input: give a file\n"


@pytest.mark.parametrize("argv", [pytest.param(argv, id=name) for name, argv in OTHERS.items()])
def test_no_other_command_needs_one(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) in (0, 1, 2)
    assert "fault" not in capsys.readouterr().err


@pytest.mark.parametrize("score", ["high", [1], {"cosine": 1}, True])
def test_the_preview_of_a_log_whose_score_is_no_number_is_a_row(score: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hit = {"document_id": "a", "chunk_index": 0, "text": "Open on Sunday.", "score": score}
    (tmp_path / "log.jsonl").write_text(json.dumps({"query_id": "q", "query": "When?", "retrieved": [hit]}), encoding="utf-8")
    mapped = [part for field in ("hits=retrieved", "hits.text=text", "hits.score=score", "query=query") for part in ("--map", field)]
    code = main(["load", "log.jsonl", "--preview", *mapped])
    out, err = capsys.readouterr()
    assert "    Open on Sunday.\n" in out
    assert (code, "score" in err) == (1, True)
