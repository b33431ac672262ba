"""Verdicts as annotations of spans: on the ids that came from an imported trace, in the form that Phoenix's client declares."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from ctxasm.__main__ import main
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.phoenix import annotations_of, fact_annotation, otel_span_id

VALID = Path(__file__).parents[1] / "data/files/valid"
ALLOWED = {"span_id", "name", "annotator_kind", "result", "metadata", "identifier"}
"""The keys of `SpanAnnotationData` in arize-phoenix-client 3.5."""
pytestmark = pytest.mark.usefixtures("own_database")


@pytest.fixture
def own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'own.db'}")


def written(path: Path) -> list[dict[str, Any]]:
    body = json.loads(path.read_text())
    assert list(body) == ["data"]
    for one in body["data"]:
        assert one.keys() <= ALLOWED
        assert one["annotator_kind"] == "CODE"
        assert one["result"].keys() <= {"label", "score", "explanation"}
    keys = [(one["span_id"], one["name"], one["identifier"]) for one in body["data"]]
    assert len(set(keys)) == len(keys)
    return list(body["data"])


def spans_of_models(file: str) -> set[str]:
    """The ids of the spans of models in a fixture, in hex: OTLP's JSON as Python writes it has them in base64."""
    rows = [json.loads(line) for line in (VALID / "openinference" / file).read_text().splitlines()]
    if "resourceSpans" not in rows[0]:
        llm = [row for row in rows if row["attributes"].get("openinference.span.kind") == "LLM"]
        return {row["context"]["span_id"].removeprefix("0x") for row in llm}
    spans = [span for row in rows for outer in row["resourceSpans"] for scope in outer["scopeSpans"] for span in scope["spans"]]
    kind = {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}}
    return {b64decode(span["spanId"]).hex() for span in spans if kind in span["attributes"]}


@pytest.mark.parametrize("file", ["otel_spans.jsonl", "otlp.jsonl"])
def test_verdicts_go_back_to_the_spans_that_gave_the_answers(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_check, of_why = tmp_path / "check.json", tmp_path / "why.json"
    assert main(["load", str(VALID / "openinference" / file)]) == 0
    assert main(["check", "--annotations", str(of_check)]) == 0
    assert main(["why", str(VALID / "openinference" / file), "--annotations", str(of_why)]) == 0
    checked, followed = written(of_check), written(of_why)
    assert {one["span_id"] for one in checked} == {one["span_id"] for one in followed} == spans_of_models(file)
    assert {one["name"] for one in checked} == {"ctxasm support", "ctxasm citation", "ctxasm claim"}
    whys = [one for one in followed if one["name"] == "ctxasm why"]
    assert {one["result"]["label"] for one in whys} == {"wrong_number"}


def test_answers_of_other_tools_have_no_span_and_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(VALID / "langsmith/runs.jsonl"), "--annotations", str(tmp_path / "out.json")]) == 0
    assert written(tmp_path / "out.json") == []
    assert "3 answers came with no OpenTelemetry span id" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told_before_anything_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(VALID / "langsmith/runs.jsonl"), "--annotations", "/nowhere/out.json"]) == 2
    assert "--annotations cannot write to '/nowhere/out.json'" in capsys.readouterr().err


def test_a_score_is_the_share_of_claims_that_are_carried_and_of_those_cited_right() -> None:
    sources = grounds_of_sources([{"n": 1, "text": "The desk opens at nine. The tower is green."}, {"n": 2, "text": "Parking is free."}])
    answer = "The desk opens at nine [1]. The tower is green [2]. Bananas are cheap."
    found = annotations_of(check_answer(answer, sources, LexicalScorer()), "a" * 16)
    assert [(one["name"], one["result"]["label"], one["result"]["score"]) for one in found[:2]] == [
        ("ctxasm support", "not found", 0.6667),
        ("ctxasm citation", "wrong number", 0.3333),
    ]
    (support,) = annotations_of(check_answer("The desk opens at nine.", sources, LexicalScorer(), voice=True), "a" * 16)
    assert support["result"]["score"] == 1.0
    (support,) = annotations_of(check_answer("The sources do not say when the desk opens.", sources, LexicalScorer()), "a" * 16)
    assert support["name"] == "ctxasm support"


@pytest.mark.parametrize(("outcome", "score"), [("cited", 1.0), ("not_cited", 0.0)])
def test_a_fact_that_was_cited_scores_one_and_any_other_nothing(outcome: str, score: float) -> None:
    assert fact_annotation("a" * 16, outcome, "It says so.", "A fact.", 1)["result"]["score"] == score


@pytest.mark.parametrize(("length", "kept"), [(2000, True), (2001, False)])
def test_of_a_fact_two_thousand_characters_are_sent(length: int, kept: bool) -> None:
    made = fact_annotation("ab" * 8, "cited", "It was cited.", "x" * length, 1)
    assert (made["metadata"]["fact"] == "x" * length, len(made["metadata"]["fact"])) == (kept, 2000)


def test_ids_are_as_opentelemetry_writes_them() -> None:
    assert otel_span_id("0x44C802E85DC6F08C") == otel_span_id("44c802e85dc6f08c") == otel_span_id("RMgC6F3G8Iw=") == "44c802e85dc6f08c"
    assert [otel_span_id(other) for other in (None, "", "01a2073c-b95c-740c", "l2", "\ud800", "a" * 15)] == [None] * 6


def test_keys_of_a_trace_are_never_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = {"messages": [{"role": "user", "content": "[1] Opens at ten.\n\n[2] Closes at nine.\n\nQuestion: When does it open?"}]}
    trace = {
        "request": {**request, "api_key": "sk-of-somebody", "headers": {"Authorization": "Bearer sk-of-somebody"}},
        "response": "Ten [1].",
    }
    file = tmp_path / "request.json"
    file.write_text(json.dumps(trace))
    assert main(["why", str(file), "--json"]) == 0
    assert main(["why", str(file), "--query", "none"]) == 2
    out, err = capsys.readouterr()
    assert "Opens at ten" in out
    assert "sk-of-somebody" not in out + err
