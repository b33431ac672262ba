"""`ctxasm enrich`: by rules, by a model, what it would take and what it took, and queries of its questions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_model_server import FakeModel, serving

from ctxasm.__main__ import main
from ctxasm.app.commands.enrich import INTERRUPTED
from ctxasm.data.files import write_bundle
from tests.data.enrich.corpus import long_bundle, small_bundle, well_behaved

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("CONTEXT_ASSEMBLY_", "CTXASM_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")


@pytest.fixture
def loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_bundle(small_bundle(), tmp_path / "klein")
    assert main(["load", str(tmp_path / "klein")]) == 0
    capsys.readouterr()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModel]:
    with serving() as running:
        running.judge = well_behaved
        monkeypatch.setenv("CTXASM_LLM_BASE_URL", running.base_url)
        monkeypatch.setenv("CTXASM_LLM_MODEL", "json-ok")
        monkeypatch.setenv("CTXASM_LLM_API_KEY", KEY)
        yield running


@pytest.mark.usefixtures("loaded")
def test_by_rules_without_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["enrich"]) == 0
    out, err = capsys.readouterr()
    assert out == "klein\n"
    assert err == "klein: 6 of 6 chunks enriched (extractive), 12 questions, 2 summaries\n"
    assert main(["enrich", "--data", "klein"]) == 0
    assert "6 chunks known before" in capsys.readouterr().err


@pytest.mark.usefixtures("loaded")
def test_queries_of_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["enrich", "--questions-as-queries", "4"]) == 0
    err = capsys.readouterr().err
    assert "4 of 12 questions saved as queries of klein, each with its chunk as gold\n" in err
    assert main(["assemble", "--all", "--format", "jsonl"]) == 0
    assert capsys.readouterr().out.count('"query_id": "made-') == 4


@pytest.mark.usefixtures("loaded")
def test_what_a_model_would_take_and_took(server: FakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["enrich", "--variant", "model", "--estimate"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "klein: 6 of 6 chunks to enrich"
    assert out[1].startswith("5 calls to json-ok, ")
    assert "tokens in (counted), about" in out[1]
    assert out[2] == "no price is known for json-ok: give --price-in and --price-out"
    assert server.requests == []
    assert main(["enrich", "--variant", "model", "--estimate", "--price-in", "1", "--price-out", "2"]) == 0
    assert "(1 in and 2 out per million, as given)" in capsys.readouterr().out
    assert main(["enrich", "--variant", "model", "--price-in", "1", "--price-out", "2"]) == 0
    err = capsys.readouterr().err
    assert "5 calls to json-ok: 500 tokens in, 100 out (as the server told), $0.0007\n" in err
    assert KEY not in err


@pytest.mark.usefixtures("loaded")
def test_an_estimate_needs_no_endpoint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is sent; with the name of a model alone its price is found."""
    wanted = ["enrich", "--variant", "model", "--estimate"]
    for name in ("CTXASM_LLM_BASE_URL", "CTXASM_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert main(wanted) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "klein: 6 of 6 chunks to enrich"
    assert out[1].startswith("5 calls to a model that is not named yet, ")
    assert out[2] == "no price is known without a model: set CTXASM_LLM_MODEL, or give --price-in and --price-out"
    assert main([*wanted, "--price-in", "1", "--price-out", "2"]) == 0
    assert "(1 in and 2 out per million, as given)" in capsys.readouterr().out
    monkeypatch.setenv("CTXASM_LLM_MODEL", "gpt-4.1-mini")
    assert main(wanted) == 0
    assert "about $0.0" in capsys.readouterr().out
    assert main(["enrich", "--variant", "model"]) == 2
    assert "--variant model needs a model: set CTXASM_LLM_BASE_URL" in capsys.readouterr().err


@pytest.mark.usefixtures("loaded")
def test_batches_that_failed_are_named_and_the_exit_code_says_so(server: FakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    server.judge = lambda body: {"no": 1} if "parking" in str(body).lower() else well_behaved(body)
    assert main(["enrich", "--variant", "model", "--no-summaries"]) == 1
    out, err = capsys.readouterr()
    assert out == "klein\n"
    assert "not written: Parking, chunk 1 of 1: json-ok at 127.0.0.1" in err
    assert "1 batch failed (1 chunk)" in err


@pytest.mark.usefixtures("loaded")
def test_a_server_that_takes_nothing_is_a_mistake_of_the_user(
    server: FakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_bundle(long_bundle(20, 4), tmp_path / "lang")
    assert main(["load", str(tmp_path / "lang")]) == 0
    os.environ["CTXASM_LLM_MODEL"] = "401"
    assert main(["enrich", "--variant", "model"]) == 2
    err = capsys.readouterr().err
    assert "ctxasm: 127.0.0.1" in err
    assert "did not accept the API key" in err
    assert KEY not in err


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["--variant", "model"], "CTXASM_LLM_BASE_URL"),
        (["--data", "geen"], "klein"),
        (["--limit", "0"], "from 1"),
        (["--max-chars", "5"], "max_chars"),
        (["--no-summaries", "--no-contexts", "--no-questions"], "at least one"),
        (["--questions-as-queries", "0"], "limit must be"),
    ],
)
def test_what_cannot_be_is_a_sentence(argv: list[str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["enrich", *argv]) == 2
    assert word in capsys.readouterr().err


def test_an_empty_database_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["enrich"]) == 2
    assert "ctxasm load" in capsys.readouterr().err


@pytest.mark.system
def test_ctrl_c_keeps_what_is_done(server: FakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_bundle(long_bundle(10, 8), tmp_path / "lang")
    assert main(["load", str(tmp_path / "lang")]) == 0
    order = [
        sys.executable,
        "-m",
        "ctxasm",
        "enrich",
        "--variant",
        "model",
        "--chunks-per-call",
        "2",
        "--concurrency",
        "1",
        "--no-summaries",
    ]
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while len(server.requests) < 3 and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == INTERRUPTED, err
    assert out == ""
    assert "ended on request, what is done is kept" in err
    assert "run the same command again to go on" in err
    asked = len(server.requests)
    capsys.readouterr()
    assert main(["enrich", "--variant", "model", "--chunks-per-call", "2", "--no-summaries"]) == 0
    assert "80 of 80 chunks enriched" in capsys.readouterr().err
    assert len(server.requests) - asked <= 40 - 2
