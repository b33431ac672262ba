"""`ctxasm search`: hits as text and JSON, assembled, saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.config import DATABASE_URL
from ctxasm.data.files import write_bundle
from ctxasm.model.records import Bundle, Chunk, Document


@pytest.fixture(autouse=True)
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(DATABASE_URL, f"sqlite:///{tmp_path / 'c.db'}")
    texts = ("Bezoekuren zijn van 14 tot 20 uur.", "Parkeren kost twee euro.\x1b[31m")
    write_bundle(
        Bundle("h", (Document("a", "Bezoek"),), tuple(Chunk("a", place, text) for place, text in enumerate(texts))), tmp_path / "h"
    )
    assert main(["load", str(tmp_path / "h")]) == 0
    capsys.readouterr()


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["search", *arguments]) == code
    said = capsys.readouterr()
    return said.out, said.err


def test_hits_are_listed_best_first(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = ran(capsys, "Wat zijn de bezoekuren?")
    assert out.splitlines()[0].startswith("1. a 0  (bm25 ")
    assert out.splitlines()[1] == "   Bezoekuren zijn van 14 tot 20 uur."
    assert err.startswith("2 hits in h (hybrid_bm25_vector, ")
    assert "fused by reciprocal rank (k = 60), vectors weighing 0.1 of BM25, 1 share a word" in err


def test_json_is_a_line_of_retrievals_with_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = ran(capsys, "bezoekuren", "--method", "bm25", "--limit", "1", "--format", "json")
    found = json.loads(out)
    assert found["query_id"].startswith("typed-")
    assert (found["query"], found["search_method"], found["bm25_matches"]) == ("bezoekuren", "bm25_only", 1)
    assert [(hit["document_id"], hit["chunk_index"], hit["rank"]) for hit in found["retrieved"]] == [("a", 0, 1)]


def test_a_saved_question_can_be_assembled_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = ran(capsys, "bezoekuren", "--save")
    query_id = err.split()[-1]
    assert main(["assemble", "--query-id", query_id]) == 0
    assert "Bezoekuren zijn van 14" in capsys.readouterr().out


def test_hits_go_straight_into_a_context(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = ran(capsys, "bezoekuren", "--assemble", "--set", "format=xml")
    assert 'index="1"' in out
    assert "of 8,000 tokens" in err


def test_what_is_wrong_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        ((" ",), "the question must be a text"),
        (("uren", "--set", "max_tokens=900"), "add --assemble"),
        (("uren", "--limit", "0"), "limit of a search must be"),
        (("uren", "--embedder", "x"), "the embedder must be one of"),
        (("uren", "--text", "enriched"), "enriched"),
        (("uren", "--data", "x"), "no dataset 'x'"),
    ):
        out, err = ran(capsys, *arguments, code=2)
        assert out == ""
        assert said in err
        assert len(err.splitlines()) == 1
