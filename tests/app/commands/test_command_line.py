"""The command line, in process: results on standard output, messages on standard error, exit codes."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxasm import __version__
from ctxasm.__main__ import COMMANDS, main
from ctxasm.app.commands import data, serve
from ctxasm.data.files import write_bundle
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from ctxasm.model.settings import specs

TEXTS = ("De balie opent om zeven uur. ", "Bezoek mag na twaalf uur. ", "Parkeren kost twee euro. ")
BUNDLE = Bundle(
    "klein",
    (Document("a", "Openingstijden"),),
    tuple(Chunk("a", index, text) for index, text in enumerate(TEXTS)),
    (Query("Hoe laat?", (Hit("a", 0, 2.0),), "q1"), Query("Wat kost\nparkeren?", (Hit("a", 2, 1.0),), "q2")),
)


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings or keys of whoever runs the tests, and a database of each test's own."""
    for name in list(os.environ):
        if name.startswith(("CONTEXT_ASSEMBLY_", "CTXASM_LLM_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(BUNDLE, tmp_path / "klein")
    return tmp_path / "klein"


@pytest.fixture
def loaded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", str(folder)]) == 0
    capsys.readouterr()


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What standard error says of a command line that exits with 2 and prints nothing."""
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


def test_load_prints_the_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", str(folder), "--name", "mijn set"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("mijn set\n", "mijn set: 1 document, 3 chunks, 2 queries\n")


def test_load_takes_a_path_or_the_sample(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (["load"], ["load", str(folder), "--sample"], ["load", "--sample", "--name", "x"]):
        assert "either a PATH" in refused(argv, capsys)
    assert main(["load", "--sample"]) == 0
    assert capsys.readouterr().out == "sample\n"
    assert main(["load", "--sample-nl"]) == 0
    assert capsys.readouterr().out == "sample-nl\n"
    assert main(["load", "--sample"]) == 0
    assert "(already loaded)" in capsys.readouterr().err


def test_a_broken_bundle_lists_its_problems_and_changes_nothing(folder: Path, loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "chunks.jsonl").write_text('{"document_id": "a", "chunk_index": "0"}\n{"a": NaN}\n')
    err = refused(["load", str(folder)], capsys)
    assert err.splitlines()[0] == f"ctxasm: {folder}: 3 problems, nothing was loaded"
    assert "  chunks.jsonl line 1, chunk_index: must be a whole number, written without quotes, got '0'" in err
    assert main(["assemble", "--query-id", "q1"]) == 0


def test_datasets_and_delete(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets"]) == 0
    assert capsys.readouterr().out.startswith("klein\t1 document\t3 chunks\t2 queries\t0 answers\t")
    assert main(["datasets", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["chunks"]) == ("klein", 3)
    assert "choose one of 'klein'" in refused(["delete", "other"], capsys)
    assert main(["delete", "klein"]) == 0
    assert main(["datasets"]) == 0
    assert "run `ctxasm load FOLDER`" in capsys.readouterr().err


def test_assemble_as_text(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assemble", "--query-id", "q1", "--set", "expand_window=1"]) == 0
    out, err = capsys.readouterr()
    assert "[1] Source: Openingstijden" in out
    assert TEXTS[0] + TEXTS[1] in out
    assert "tokens (cl100k_base), 1 citation" in err


def test_assemble_as_json(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assemble", "--query-id", "q1", "--set", "expand_window=0", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {"query_id", "text", "token_count", "exact", "segments", "citations", "stages", "fates", "fetch"} <= set(found)
    assert found["settings"]["expand_window"] == 0


def test_all_queries(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assemble", "--all", "--format", "jsonl"]) == 0
    lines: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["query_id"] for line in lines] == ["q1", "q2"]
    assert main(["assemble", "--all", "--format", "json"]) == 0
    assert [one["query_id"] for one in json.loads(capsys.readouterr().out)] == ["q1", "q2"]
    assert main(["assemble", "--all"]) == 0
    assert "=== q2: Wat kost parkeren?\n" in capsys.readouterr().out


def test_the_newest_dataset_is_the_default(loaded: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_bundle(Bundle("other", queries=(Query("Nieuw?", (), "n"),)), tmp_path / "other")
    assert main(["load", str(tmp_path / "other")]) == 0
    capsys.readouterr()
    assert "choose one of 'n'" in refused(["assemble", "--query-id", "q1"], capsys)
    assert main(["assemble", "--query-id", "q1", "--data", "klein"]) == 0
    assert main(["assemble", "--query-id", "n"]) == 0  # no hits: a valid, empty context
    assert capsys.readouterr().out.endswith("\n\n")


def test_an_empty_database_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(["assemble", "--all"], capsys)
    assert "no dataset is loaded in sqlite:///" in err
    assert "run `ctxasm load FOLDER`" in err


@pytest.mark.parametrize(
    "argv",
    [
        ["datasets"], ["assemble", "--all"], ["delete", "x"], ["search", "hello"], ["recommend"], ["sweep"], ["enrich", "--estimate"],
        ["label", "q", "a:1"], ["export", "--out", "o"], ["fit"], ["ask", "--query-id", "q"], ["compare", "--b", "top_k=3"], ["check"],
        ["why"],
    ],
)  # fmt: skip
def test_what_only_reads_makes_no_database_and_says_what_is_not_there(
    argv: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "no" / "typo.db"
    assert main([*argv, "--db", f"sqlite:///{file}"]) == (0 if argv == ["datasets"] else 2)
    assert f"no dataset is loaded in sqlite:///{file}, there is no such file: run `ctxasm load FOLDER`" in capsys.readouterr().err
    assert not file.parent.exists()
    sqlite3.connect(tmp_path / "empty.db").close()
    main([*argv, "--db", f"sqlite:///{tmp_path / 'empty.db'}"])
    assert f"no dataset is loaded in sqlite:///{tmp_path / 'empty.db'}: run" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["connect"], ["connect", "--unlink", "x"], ["connect", "--mapping", "x", "--table", "y"]])
def test_a_connection_is_looked_at_without_a_database(argv: list[str], tmp_path: Path) -> None:
    main([*argv, "--db", f"sqlite:///{tmp_path / 'typo.db'}"])
    assert not (tmp_path / "typo.db").exists()


def test_a_dataset_without_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_bundle(Bundle("c", chunks=BUNDLE.chunks), tmp_path / "c")
    assert main(["load", str(tmp_path / "c")]) == 0
    capsys.readouterr()
    assert "has no queries" in refused(["assemble", "--all"], capsys)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["nope"], "invalid choice: 'nope'"),
        (["assemble"], "one of the arguments --query-id --all is required"),
        (["assemble", "--all", "--format", "xml"], "invalid choice: 'xml'"),
        (["assemble", "--all", "--nope"], "unrecognized arguments: --nope"),
        (["settings", "--set", "expand_window=9"], "expand_window must be a whole number between 0 and 3, got 9"),
        (["settings", "--set", "expand_window=x"], "expand_window must be a whole number between 0 and 3, got 'x'"),
        (["settings", "--set", "expand_window"], "a setting is written name=value, got 'expand_window'"),
        (["settings", "--set", "nope=1"], "setting name must be one of enabled, relevance_floor, top_k"),
        (["settings", "--preset", "nope"], "preset must be one of recommended, five_stage"),
        (["load", "/nowhere"], "there is no file, folder or .zip at '/nowhere'"),
        (["datasets", "--db", "nonsense"], "must be a URL, such as sqlite:///ctxasm.db"),
        (["datasets", "--db", "mysql://u:hunter2@h/d"], "sqlite"),
        (["serve", "--port", "99999"], "port must be a whole number between 1 and 65535, got '99999'"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(argv, capsys)
    assert words in err
    assert "hunter2" not in err


def test_settings_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--set", "max_tokens=900", "--format", "json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [spec.name for spec in specs()]
    assert (rows["max_tokens"]["value"], rows["max_tokens"]["default"], rows["max_tokens"]["url"]) == (900, 8000, "mt")
    assert main(["settings", "--preset", "conversational", "--format", "toml"]) == 0
    assert capsys.readouterr().out == '[context_assembly]\nordering = "relevance"\nformat = "minimal"\n'
    assert main(["settings", "--set", "max_tokens=900"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == len(specs()) + 1
    assert "900 *" in out


def test_settings_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CONTEXT_ASSEMBLY_EXPAND_WINDOW", "3")
    assert main(["settings", "--format", "toml", "--set", "max_tokens=900"]) == 0
    assert capsys.readouterr().out == "[context_assembly]\nexpand_window = 3\nmax_tokens = 900\n"
    monkeypatch.setenv("CONTEXT_ASSEMBLY_EXPAND_WINDOW", "9")
    assert "expand_window must be" in refused(["settings"], capsys)


def test_ask_answers_with_its_sources_below(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "--query-id", "q2"]) == 0
    out, err = capsys.readouterr()
    answer, _, sources = out.partition("\n\n")
    assert answer.startswith("Parkeren kost twee euro. [1]")
    assert sources.startswith("[1] Openingstijden (")
    assert "no language model" in err


def test_ask_takes_a_prompt(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["ask", "--query-id", "q2", "--prompt", "strict", "--answer-first", "--instructions", "Wees kort."]
    assert main(ask) == 0
    assert capsys.readouterr().out.startswith("Parkeren kost twee euro. [1]")
    assert "prompt must be one of grounded, strict, soft, got 'loose'" in refused(["ask", "--query-id", "q2", "--prompt", "loose"], capsys)
    assert "instructions must be at most" in refused(["ask", "--query-id", "q2", "--instructions", "x" * 8001], capsys)


def test_a_spoken_answer_has_all_blocks_as_its_sources(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "--query-id", "q2", "--set", "channel=voice"]) == 0
    answer, _, sources = capsys.readouterr().out.partition("\n\n")
    assert answer.startswith("Parkeren kost twee euro.")
    assert "[" not in answer
    assert sources.startswith("[1] Openingstijden (")


def test_ask_names_unknown_markers_and_keeps_what_arrived(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "--query-id", "q2", "--model", "scripted:out_of_range"]) == 0
    assert "[2] unknown: the context has no source of this number" in capsys.readouterr().out
    assert main(["ask", "--query-id", "q2", "--model", "scripted:cut"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("Parkeren")
    assert "\nctxasm: " in err


def test_ask_with_an_empty_context_calls_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_bundle(Bundle("e", BUNDLE.documents, BUNDLE.chunks, (Query("Wat is de prijs?", (), "n"),)), tmp_path / "e")
    assert main(["load", str(tmp_path / "e")]) == 0
    capsys.readouterr()
    assert main(["ask", "--query-id", "n", "--model", "scripted:cut"]) == 0
    assert capsys.readouterr().out == "Geen relevante inhoud gevonden.\n"


def test_ask_refuses_what_it_cannot_use(loaded: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["ask", "--query-id", "q2"]
    assert "model must be one of extractive, openai" in refused([*ask, "--model", "gpt"], capsys)
    assert "openai needs an endpoint: set CTXASM_LLM_BASE_URL" in refused([*ask, "--model", "openai"], capsys)
    assert "temperature must be a number between 0 and 2, got 'hot'" in refused([*ask, "--temperature", "hot"], capsys)
    assert "max-answer-tokens must be a number between 1 and 32000, got '0'" in refused([*ask, "--max-answer-tokens", "0"], capsys)
    monkeypatch.setenv("CTXASM_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CTXASM_LLM_MODEL", "m")
    monkeypatch.setenv("CTXASM_LLM_API_KEY", "sk-secret")
    err = refused(ask, capsys)  # configured, so it is the default; nobody listens there
    assert "127.0.0.1:9" in err
    assert "sk-secret" not in err


def test_text_of_others_cannot_steer_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "wis \x1b[2J en \x9b31m alles. "
    write_bundle(Bundle("h", chunks=(Chunk("a", 0, hostile),), queries=(Query("wat?", (Hit("a", 0, 1.0),), "q"),)), tmp_path / "h")
    assert main(["load", str(tmp_path / "h")]) == 0
    capsys.readouterr()
    assert main(["assemble", "--query-id", "q"]) == 0
    assert hostile in capsys.readouterr().out  # to a pipe: as it is
    assert main(["assemble", "--query-id", "q", "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert hostile in json.loads(out)["text"]
    assert not {"\x1b", "\x9b"} & set(out)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["assemble", "--query-id", "q"]) == 0
    assert "wis \u241b[2J en \ufffd31m alles. " in capsys.readouterr().out


def test_serve_hands_over_to_streamlit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "shipped", lambda name: Path("/somewhere") / name)
    became: list[tuple[list[str], str]] = []

    def become(command: list[str], environment: dict[str, str]) -> int:
        became.append((command, environment["CTXASM_DATABASE_URL"]))
        return 0

    monkeypatch.setattr(serve, "_become", become)
    assert main(["serve", "--port", "8600", "--db", "sqlite:///x.db", "--server.headless", "true"]) == 0
    command = [sys.executable, "-m", "streamlit", "run", "/somewhere/app.py", "--server.port", "8600", "--server.headless", "true"]
    assert became == [(command, "sqlite:///x.db")]


def test_serve_hands_on_the_names_to_answer_under(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    named: list[str] = []
    monkeypatch.setattr(serve, "_become", lambda command, environment: named.append(environment["CTXASM_HOST_NAMES"]) or 0)
    monkeypatch.setenv("CTXASM_HOST_NAMES", "a.example")
    assert main(["serve", "--host-name", "B.example.", "--host-name", "fe80::1", "--server.headless", "true"]) == 0
    assert named == ["a.example,b.example,fe80::1"]
    assert "a name or an address alone" in refused(["serve", "--host-name", "https://b.example"], capsys)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ctxasm {__version__}\n"
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        assert f"usage: ctxasm {command}" in capsys.readouterr().out


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(data, "DATASETS", data.DATASETS._replace(run=interrupt))
    assert main(["datasets"]) == 130
    assert capsys.readouterr().err == "ctxasm: interrupted\n"


@pytest.mark.usefixtures("loaded")
def test_what_is_not_configured_is_said_once_and_of_no_query(capsys: pytest.CaptureFixture[str]) -> None:
    for wanted in (["assemble", "--all"], ["assemble", "--query-id", "q1"], ["ask", "--query-id", "q1"]):
        told = refused([*wanted, "--set", "compression=model"], capsys)
        assert told.count("compression=model needs a model: set CTXASM_LLM_BASE_URL") == 1
        assert "query q" not in told


def test_a_compressing_model_that_does_not_answer_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = " ".join(f"De balie van gang {number} opent om {number % 24} uur." for number in range(90))
    chunks = tuple(Chunk("a", index, long.replace("gang", f"gang {index}")) for index in range(3))
    query = Query("Hoe laat opent de balie?", (Hit("a", 0, 2.0), Hit("a", 2, 1.0)), "q1")
    write_bundle(Bundle("lang", (Document("a"),), chunks, (query,)), tmp_path / "lang")
    assert main(["load", str(tmp_path / "lang")]) == 0
    monkeypatch.setenv("CTXASM_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CTXASM_LLM_MODEL", "m")
    monkeypatch.setenv("CTXASM_LLM_API_KEY", "sk-never-shown")
    squeezed = ["--query-id", "q1", "--set", "compression=model", "--set", "max_tokens=600", "--set", "max_chunk_tokens=100"]
    for wanted in (["assemble"], ["ask", "--model", "extractive"]):
        assert main([*wanted, *squeezed]) == 0
        told = capsys.readouterr().err
        assert "3 chunks shortened by the question's words, because the model that compresses failed: " in told
        assert "127.0.0.1" in told
        assert "sk-never-shown" not in told


def test_datasets_counts_the_saved_questions_and_says_utc(loaded: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "hoe laat opent de balie?", "--data", "klein", "--method", "bm25", "--save"]) == 0
    capsys.readouterr()
    assert main(["datasets"]) == 0
    out = capsys.readouterr().out
    assert "\t2 queries + 1 saved\t0 answers\t" in out
    assert out.endswith(" UTC\n")
    assert main(["datasets", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["queries"], row["saved_queries"]) == (2, 1)
