"""`ctxasm converse`: conversations replayed turn by turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.data.files import write_bundle
from ctxasm.model.records import Bundle, Chunk, Document

TEXTS = ("A cargo bike is lent for fourteen days.", "The deposit is forty euros.", "A late return costs two euros a day.")
TURNS = [
    {
        "question": "How long is the loan?",
        "answer": "Fourteen days [1].",
        "retrieved": [{"document_id": "d0", "chunk_index": 0, "score": 2.0}],
    },
    {"question": "What does a late return cost?"},
]


@pytest.fixture
def log(own_database: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    documents = tuple(Document(f"d{at}", f"Page {at}") for at in range(len(TEXTS)))
    write_bundle(Bundle("bikes", documents, tuple(Chunk(f"d{at}", 0, text) for at, text in enumerate(TEXTS))), tmp_path / "bikes")
    assert main(["load", str(tmp_path / "bikes")]) == 0
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"conversation_id": "talk", "turns": TURNS}) + "\n\n", encoding="utf-8")
    capsys.readouterr()
    return path


def test_each_turn_says_what_came_stayed_and_was_sent_before(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["converse", str(log), "--layout", "append", "--price", "2:0.2:8"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0] == "talk: 2 turns"
    assert lines[1].startswith("  1. ")
    assert lines[1].endswith(" new")
    assert "; 0 as before, " in lines[1]
    assert lines[2] == "     came: [1]"
    assert "     stayed: [1]" in lines  # the second question was searched, and its evidence joins the first
    assert "tokens sent" in said.err
    assert "cost 0.00" in said.err


def test_json_holds_every_turn(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["converse", str(log), "--format", "json", "--set", "top_k=1"]) == 0
    record = json.loads(capsys.readouterr().out)
    first, second = record["turns"]
    assert (record["conversation_id"], record["cost"]) == ("talk", None)
    assert [source["document_id"] for source in first["sources"]] == ["d0"]
    assert first["window"].keys() == {"system", "history", "evidence", "question", "answer"}
    # The first source was cited: it stays under its number beside what the second question found.
    assert {source["number"]: source["document_id"] for source in second["sources"]} == {1: "d0", 2: "d2"}
    assert second["cached_tokens"] + second["new_tokens"] == sum(second["window"].values()) - second["window"]["answer"]


@pytest.mark.parametrize("line", ["{", '{"turns": [{}]}', '{"turns": 3}', "[]", '{"turns": [{"question": "x", "retrieved": [{}]}]}'])
def test_a_line_of_another_kind_is_named(log: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text(log.read_text() + line)
    assert main(["converse", str(log)]) == 2
    assert "line 3: a line must be an object with turns" in capsys.readouterr().err


@pytest.mark.parametrize("price", ["1:2", "1:2:x", "1:2:-3", "inf:1:1"])
def test_a_price_is_three_amounts(log: Path, price: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["converse", str(log), "--price", price]) == 2
    assert "--price is written IN:CACHED:OUT" in capsys.readouterr().err


def test_a_window_that_is_too_small_says_what_takes_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["converse", str(log), "--window", "100"]) == 2
    assert "window must leave room for evidence" in capsys.readouterr().err
