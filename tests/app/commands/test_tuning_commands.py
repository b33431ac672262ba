"""compare, sweep, recommend, and evidence as a check: text, JSON, files and exit codes."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import ctxasm
from ctxasm.__main__ import main
from ctxasm.app.commands.query import EvidenceTally
from ctxasm.app.tuning_runs import open_engine
from ctxasm.config import DATABASE_URL, shipped
from ctxasm.model.errors import InvalidInput
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_environment, from_toml, from_url

QUESTIONS = 16


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample with its first questions: a command has no more to say of sixty."""
    url = f"sqlite:///{tmp_path_factory.mktemp('tuning') / 'c.db'}"
    bundle = ctxasm.load_bundle(shipped("sample_data/hospital-nl"), "sample")
    with ctxasm.open_store(url) as store:
        store.add(replace(bundle, queries=bundle.queries[:QUESTIONS]))
    return url


@pytest.fixture(autouse=True)
def _loaded(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABASE_URL, database)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(list(arguments)) == code, capsys.readouterr().err
    said = capsys.readouterr()
    return said.out, said.err


def some_ids(count: int) -> list[str]:
    store = ctxasm.open_store()
    ids = [query.query_id for query in store.dataset().queries()[:count]]
    store.close()
    return [part for query_id in ids for part in ("--query-id", query_id)]


def test_one_question_is_not_several(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = some_ids(1)
    out, _ = ran(capsys, "compare", "--b", "expand_window=1", *one)
    assert "By all evidence: 0 wins, 1 tie, 0 losses" in out
    bundle = tmp_path / "one"
    bundle.mkdir()
    (bundle / "chunks.jsonl").write_text('{"document_id": "a", "chunk_index": 0, "text": "The desk opens at nine."}\n')
    (bundle / "queries.jsonl").write_text('{"query_id": "q", "query": "When?"}\n')
    hits = '{"query_id": "q", "retrieved": [{"document_id": "a", "chunk_index": 0, "score": 1}]}\n'
    (bundle / "retrievals.jsonl").write_text(hits)
    database = ("--db", f"sqlite:///{tmp_path / 'one.db'}")
    ran(capsys, "load", str(bundle), *database)
    _, err = ran(capsys, "assemble", "--all", "--format", "jsonl", *database)
    assert "1 query of one\n" in err
    out, _ = ran(capsys, "compare", "--b", "expand_window=1", *database)
    assert "By all evidence" not in out  # nothing is labelled


def test_compare_as_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = ran(capsys, "compare", "--a", "max_tokens=500", "--b", "five_stage", "--b", "max_tokens=2000", *some_ids(12))
    sentence, labels, counts, *rows = out.splitlines()
    assert sentence.startswith("B holds the evidence of ")
    assert labels == "Labels: 12 questions by spans."
    assert re.fullmatch(r"By all evidence: \d+ wins?, \d+ ties?, \d+ loss(es)?", counts)
    assert all(row.split()[0] in ("better", "worse") for row in rows)
    out, _ = ran(capsys, "compare", "--a", "max_tokens=500", "--b", "max_tokens=2000", "--format", "json", *some_ids(12))
    found = json.loads(out)
    assert found["a"] == {"max_tokens": 500}
    assert found["sentence"] == sentence
    assert found["win"] + found["tie"] + found["loss"] == found["labelled"]


def test_answers_are_estimated_asked_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["compare", "--a", "enabled=false", "--b", "enabled=true", "--answers", "--price-sent", "2", *some_ids(3)]
    assert "0 of 6 answers known already, 6 calls" in ran(capsys, *asked, "--estimate")[0]
    head, *rows = ran(capsys, *asked)[0].splitlines()
    assert "3 questions answered under both, 0 of 6 answers known already" in head
    assert {row.split()[0] for row in rows} <= {"support", "citation", "passages", "declined", "sent", "written", "cost"}
    found = json.loads(ran(capsys, *asked, "--format", "json")[0])
    assert (found["reused"], len(found["questions"])) == (6, 3)
    assert json.loads(ran(capsys, *asked, "--estimate", "--format", "json")[0])["asked"] == 0
    out, err = ran(capsys, *asked, "--model", "scripted:cut", code=1)
    assert "0 questions answered" in out
    assert err.count("question ") == 3


def test_sweep_as_text_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    grid = ["--grid", "expand_window=0,1", "--grid", "max_tokens=500,2000", *some_ids(8)]
    out, err = ran(capsys, "sweep", *grid)
    assert out.startswith(("Keep yours", "Take "))
    assert "\nLabels: 8 questions by spans.\nWhat varies in evidence is due to: " in out
    assert [line.split()[0] for line in out.splitlines() if ">" in line.split()[0]] != []  # the row of one's own settings
    assert "cells of sample in " in err
    for suffix in ("csv", "parquet", "json"):
        said, _ = ran(capsys, "sweep", *grid, "--out", str(tmp_path / f"s.{suffix}"))
        assert said.splitlines() == out.splitlines()[: len(said.splitlines())]
        assert said.startswith(("Keep yours", "Take "))
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text(encoding="utf-8").splitlines()))
    table = pyarrow.parquet.read_table(tmp_path / "s.parquet").to_pylist()
    stored = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert len(rows) == len(table) == len(stored["rows"]) == 5
    assert [int(row["whole"]) for row in rows] == [row["whole"] for row in table] == [row["whole"] for row in stored["rows"]]
    assert [row["start"] for row in rows] == ["False"] * 4 + ["True"]
    _, err = ran(capsys, "sweep", *grid)
    assert "48 kept from before" in err


def test_a_sweep_is_estimated_first(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = ran(capsys, "sweep", "--estimate", "--grid", "expand_window=0,1,2", *some_ids(2))
    assert out.startswith("3 settings × 2 questions = 6 cells, about ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sweep", "--grid", "expand_window=9"], "expand_window"),
        (["sweep", "--out", "table.xlsx"], ".parquet"),
        (["sweep", "--engine", "gpu"], "engine must be one of local, cores, dask"),
        (["compare", "--b", "no-such-file.toml"], "no-such-file.toml"),
        (["recommend", "--delta", "2"], "delta"),
        (["assemble", "--all", "--fail-below", "evidence=2"], "from 0 to 1"),
        (["assemble", "--query-id", "x", "--fail-below", "evidence=.5"], "--all"),
        (["assemble", "--all", "--fail-if-worse-than", "no-such.json"], "no-such.json"),
    ],
)
def test_mistakes_are_sentences(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert said in ran(capsys, *arguments, code=2)[1]


def test_recommend_as_text_json_and_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    ids = some_ids(4)
    out, _ = ran(capsys, "recommend", *ids)
    assert out.startswith(("Take ", "Keep yours"))
    assert "Labels: 4 questions by spans." in out
    found = json.loads(ran(capsys, "recommend", "--format", "json", *ids)[0])
    shipped = AssemblySettings.from_dict(found["settings"])
    toml = ran(capsys, "recommend", "--format", "toml", *ids)[0]
    assert out.partition("\n\n")[2] == toml
    assert from_toml(toml) == shipped
    assert toml.startswith(f"# ctxasm {ctxasm.__version__}, data sample {found['digest'][:12]}, 4 labelled questions\n# ")
    written = {form: ran(capsys, "recommend", "--format", form, *ids)[0] for form in ("environment", "link", "python", "llamaindex")}
    assert from_environment(dict(line.split("=", 1) for line in written["environment"].splitlines())) == shipped
    parameters = dict(part.split("=", 1) for part in written["link"].strip().lstrip("?").split("&") if part)
    assert from_url(parameters)[0] == shipped
    assert eval(written["python"], {"AssemblySettings": AssemblySettings}) == shipped
    assert "ContextAssemblyPostprocessor(settings=AssemblySettings(" in written["llamaindex"]


@pytest.mark.parametrize("form", ["python", "langchain", "llamaindex"])
def test_snippets_are_python(capsys: pytest.CaptureFixture[str], form: str) -> None:
    out, _ = ran(capsys, "settings", "--set", "summary_template=„{summary}“", "--set", "expand_window=2", "--format", form)
    compile(out, form, "exec")
    assert "expand_window=2" in out


def test_evidence_is_told_and_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    quiet = ["assemble", "--all", "--format", "jsonl"]
    _, err = ran(capsys, *quiet, "--write-evidence", baseline)
    assert "evidence: " in err
    stored = json.loads(Path(baseline).read_text(encoding="utf-8"))
    assert 0 < stored["evidence"] <= 1
    _, err = ran(capsys, *quiet, "--fail-below", "evidence=0", "--fail-if-worse-than", baseline)
    assert "evidence against the baseline: 0.0 points" in err
    worse = [*quiet, "--set", "max_tokens=500", "--set", "expand_window=0", "--fail-if-worse-than", baseline]
    _, err = ran(capsys, *worse, code=1)
    assert "check failed: evidence against the baseline: −" in err
    assert "more than chance explains" in err
    assert "less for " in err
    ran(capsys, *worse, "--least-drop", "0.9")  # shown, and smaller than what was stated
    _, err = ran(capsys, *quiet, "--set", "max_tokens=6000", "--fail-if-worse-than", baseline)  # a drop within noise fails nothing
    assert "within noise" in err
    few = dict(list(stored["questions"].items())[:5])
    Path(baseline).write_text(json.dumps({**stored, "questions": few}), encoding="utf-8")
    _, err = ran(capsys, *worse, code=2)
    assert "not comparable" in err
    assert "left out of the comparison" in err
    assert "got 5: write the baseline anew" in err
    Path(baseline).write_text(json.dumps(stored), encoding="utf-8")
    one = EvidenceTally(dict.fromkeys(few, (1, 1, 9)))
    with pytest.raises(InvalidInput, match="got 5: label more questions"):  # a baseline of the same five would be no better
        one.is_worse(dict.fromkeys(few, (1, 1)), 0.01)
    bar = min(1.0, stored["evidence"] + 0.001)
    _, err = ran(capsys, *quiet, "--set", "max_tokens=500", "--set", "expand_window=0", "--fail-below", f"whole={bar}", code=1)
    assert "check failed: whole is " in err
    Path(baseline).write_text("[]", encoding="utf-8")
    assert "--write-evidence" in ran(capsys, *quiet, "--fail-if-worse-than", baseline, code=2)[1]


def test_the_python_doors_are_the_same(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    ids = some_ids(6)[1::2]
    store = ctxasm.open_store(database)
    options: dict[str, Any] = {"query_ids": ids}
    swept = ctxasm.sweep({"expand_window": (0, 1)}, store, **options)
    assert [row.changes for row in swept.rows()] == [{"expand_window": 0}, {"expand_window": 1}]
    compared = ctxasm.compare(AssemblySettings(expand_window=0), AssemblySettings(), store, **options)
    assert compared.whole_b == swept.rows()[1].whole
    made = ctxasm.recommend(store, **options)
    assert tomllib.loads(ran(capsys, "recommend", "--format", "toml", *some_ids(6))[0]) == {"context_assembly": made.settings.changed()}
    store.close()


def test_engines_have_names() -> None:
    assert type(open_engine("local")).__name__ == "InProcess"
    assert open_engine("cores:3").workers == 3  # type: ignore[attr-defined]
    assert open_engine("dask:tcp://127.0.0.1:1").scheduler == "tcp://127.0.0.1:1"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="local, cores, dask"):
        open_engine("cores:many")
