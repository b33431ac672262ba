"""`ctxasm load LOG`: a list of hits mapped by hand, and questions on the chunks that are there, stored or in a linked table."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from ctxasm.__main__ import main

pytestmark = pytest.mark.usefixtures("own_database")

TEXTS = ("De balie opent elke dag om zeven uur.", "Bezoek mag na twaalf uur.", "Parkeren kost twee euro per uur.")
QUESTION = "Hoe laat opent de balie?"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    nodes = [{"node": {"text": text.replace(" ", "  ")}, "score": 0.9 - at / 10} for at, text in enumerate((TEXTS[0], TEXTS[2]))]
    path = tmp_path / "prod.jsonl"
    path.write_text(
        json.dumps({"input": {"ask": QUESTION}, "source_nodes": [*nodes, {"node": {"text": "Dit staat er niet."}, "score": 0.1}]})
    )
    return path


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> tuple[str, str]:
    assert main(list(argv)) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return out, err


def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "gids.jsonl"
    path.write_text("".join(json.dumps({"document_id": "gids", "chunk_index": at, "text": text}) + "\n" for at, text in enumerate(TEXTS)))
    return path


def test_a_list_of_hits_is_mapped_and_shown(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mapped = ("--map", "query=input.ask", "--map", "hits=source_nodes[*]", "--map", "hits.text=node.text")
    out, _ = run(capsys, "load", str(log), *mapped, "--preview")
    assert "prod.jsonl: questions with their hits, by its columns" in out
    assert "  hits.score = score ('score' is a usual name of it)" in out
    assert f"  asks: {QUESTION} (3 hits)\n    0.9 De balie opent" in out
    assert run(capsys, "load", str(log), *mapped)[0] == "prod\n"


def test_one_hit_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "one.csv"
    table.write_text("question,text,score\nHoe laat?,Om negen uur.,0.5\n")
    out, _ = run(capsys, "load", str(table), "--preview")
    assert "; 1 row, 0 with a problem" in out
    assert "  asks: Hoe laat? (1 hit)" in out


def test_the_questions_of_a_log_join_a_dataset(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "load", str(corpus(tmp_path)))
    out, _ = run(capsys, "load", str(log), "--join", "gids", "--preview")
    assert "would add to gids: 1 query" in out
    out, err = run(capsys, "load", str(log), "--join", "gids")
    assert out == "gids\n"
    assert "2 of 3 retrieved chunks were found in dataset 'gids': 2 by text but for white space and Unicode form" in err
    assert "not found in dataset 'gids', so hits on them were left out" in err
    assert "note: added 1 query to gids" in err
    assert "all of it was in gids already" in run(capsys, "load", str(log), "--join", "gids")[1]


def test_the_questions_of_a_log_join_a_linked_table(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(tmp_path / "own.db") as own:
        own.execute("CREATE TABLE stukken (document_id TEXT, chunk_index INTEGER, text TEXT)")
        own.executemany("INSERT INTO stukken VALUES ('gids', ?, ?)", enumerate(TEXTS))
    own.close()
    monkeypatch.setenv("CTXASM_CONNECTION_OWN", f"sqlite:///{tmp_path / 'own.db'}")
    run(capsys, "connect", "--table", "stukken", "--link", "live")
    out, err = run(capsys, "load", str(log), "--join", "live")
    assert out == "live\n"
    assert "saved 1 question beside the table of live" in err
    assert "2 of 3 retrieved chunks were found in dataset 'live'" in err


@pytest.mark.parametrize("more", [("--into", "a"), ("--replace",), ("--data", "a")])
def test_join_names_the_dataset_alone(log: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert "--join names the dataset that questions are added to" in run(capsys, "load", str(log), "--join", "x", *more, code=2)[1]


def test_a_dataset_that_is_not_there(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "x" in run(capsys, "load", str(log), "--join", "x", code=2)[1]
