"""`--settings FILE`: what the workbench copies as TOML, on every command that takes `--set`, between the preset and `--set`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import MOST_BYTES, from_toml, to_toml


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("CONTEXT_ASSEMBLY_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
    monkeypatch.chdir(tmp_path)


def written(capsys: pytest.CaptureFixture[str], *flags: str) -> AssemblySettings:
    assert main(["settings", "--format", "toml", *flags]) == 0
    return from_toml(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    assert main(["settings", *flags]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_what_is_copied_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = AssemblySettings(max_tokens=900, gap_mark="§ … \x7f", dedup_semantic=True, top_k=7)
    Path("a.toml").write_text("\ufeff# mine\n" + to_toml(chosen), "utf-8")
    assert written(capsys, "--settings", "a.toml") == chosen


def test_a_preset_then_the_file_then_each_setting(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text("[context_assembly]\nmax_tokens = 900\nexpand_window = 0\n")
    alone = written(capsys, "--preset", "wide_window")
    assert (alone.max_tokens, alone.expand_window) == (12_000, 2)
    found = written(capsys, "--set", "expand_window=3", "--settings", "a.toml", "--preset", "wide_window")
    assert found == alone.replace(max_tokens=900, expand_window=3)


def test_a_file_takes_the_place_of_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CONTEXT_ASSEMBLY_TOP_K", "3")
    Path("a.toml").write_text("[context_assembly]\nmax_tokens = 900\n")
    assert written(capsys, "--settings", "a.toml") == AssemblySettings(max_tokens=900)
    assert written(capsys) == AssemblySettings(top_k=3)


def test_every_command_that_takes_set_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text("[context_assembly]\nmax_tokens = 900\n")
    assert main(["load", "--sample"]) == 0
    capsys.readouterr()
    query = ["--query-id", "private-room-cost"]
    for command in (["assemble", *query], ["search", "parkeren", "--method", "bm25", "--assemble"]):
        assert main([*command, "--settings", "a.toml", "--format", "json"]) == 0
        assert '"max_tokens": 900' in capsys.readouterr().out
    assert main(["ask", *query, "--settings", "a.toml"]) == 0
    assert "of 900" in capsys.readouterr().err
    assert main(["check", "--settings", "absent.toml"]) == 2
    assert "settings: the file 'absent.toml' cannot be read: No such file or directory" in capsys.readouterr().err
    assert main(["search", "parkeren", "--settings", "a.toml"]) == 2
    assert "--set, --settings and --preset are for assembling" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[context_assembly]\ntop_k = 2\nexpand_window = 9\n", "line 3: expand_window must be a whole number between 0 and 3, got 9"),
        ("[context_assembly]\ntop_k = 2\n\n  'nope' = 1\n", "line 4: setting name must be one of enabled, relevance_floor"),
        ("[context_assembly]\nmax_tokens = [1]\n", "line 2: max_tokens must be a whole number"),
        ("[context_assembly]\nmax_tokens.a = 1\n", "line 2: max_tokens must be a whole number"),
        ("[context_assembly]\nmax_tokens = \n", "the settings are not valid TOML: Invalid value (at line 2, column 14)"),
        ("max_tokens = 900\n", "the settings need a table [context_assembly]"),
        ("context_assembly = 900\n", "the settings need a table [context_assembly]"),
        (f"a = {'[' * 5000}", "the settings are not valid TOML: too deeply nested"),
    ],
)
def test_an_error_names_the_file_and_the_line(text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(text)
    found = refused(capsys, "--settings", "a.toml")
    assert found.startswith("ctxasm: settings: 'a.toml'")
    assert told in found


def test_a_file_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("large.toml").write_bytes(b"#" * (MOST_BYTES + 1))
    assert "'large.toml' has more than the 1,000,000 bytes that are allowed" in refused(capsys, "--settings", "large.toml")
    Path("fits.toml").write_bytes(b"[context_assembly]\n".ljust(MOST_BYTES, b"\n"))
    assert written(capsys, "--settings", "fits.toml") == AssemblySettings()
    Path("bytes.toml").write_bytes(b"\xff\xfe\0")
    assert "'bytes.toml' cannot be read: it is no text" in refused(capsys, "--settings", "bytes.toml")
    Path("folder").mkdir()
    assert "'folder' cannot be read: Is a directory" in refused(capsys, "--settings", "folder")
    assert "cannot be read: it is no text" in refused(capsys, "--settings", "a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes the POSIX way")
def test_a_pipe_is_never_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    for place in ("pipe", "/dev/zero"):
        assert f"'{place}' cannot be read: it is not a regular file" in refused(capsys, "--settings", place)
