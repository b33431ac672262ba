"""The README in short: its two commands, its example, and that it stays a page. The other documents: `test_docs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_docs import blocks, links

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 200


def test_it_is_read_in_one_go() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES


def test_it_shows_the_workbench() -> None:
    assert [target for target in links(TEXT) if target.endswith(".png")] == [
        ".github/screenshots/inspect-dark.png",
        ".github/screenshots/inspect-light.png",
    ]


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [part.strip() for block in blocks(TEXT, "sh")[:2] for part in block.split("&&")]
    assert commands[:3] == ["python3 -m venv .venv", ".venv/bin/pip install -c constraints.txt .", ".venv/bin/ctxasm serve"]
    assert commands[4:] == ['.venv/bin/pip install -c constraints.txt -e ".[dev]"', ".venv/bin/pytest"]
    assert ".venv/bin/pip install -q -c constraints.txt -e '.[dev]'" in script
    assert '\ncheck .venv/bin/pytest "${jobs[@]}"\n' in script


def test_the_example_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(TEXT, "python")  # the others are tested beside what they show
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)
    names["store"].close()  # type: ignore[attr-defined]
    shown = capsys.readouterr().out
    assert shown.startswith("[1] Source: ")
    assert " of 2000 tokens in cl100k_base" in shown
    assert "kept" in shown
    assert "contradicted ('45 minutes',) Conflict(kind='number', claim='45 minutes', source='30 minutes'" in shown
