"""What Streamlit reads as markdown: an image in it is fetched from wherever it says, so text of others is never in it as it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ctxasm.app.ui

ALERTS = {"error", "warning", "info", "success", "toast", "write", "exception"}
"""They quote names of files, tables and servers: `show_problem` and `show_trouble` show these as text."""
FILES = sorted(Path(ctxasm.app.ui.__file__).parent.rglob("*.py"))


def is_own(words: ast.expr) -> bool:
    """A constant, by its text or its name, or words in which `plain` takes every value."""
    match words:
        case ast.JoinedStr(values):
            return all(is_own(value) for value in values)
        case ast.FormattedValue(value):
            return is_own(value)
        case ast.Call(ast.Name("plain")):
            return True
        case ast.Name(name):
            return name.isupper()
    return isinstance(words, ast.Constant)


def alerts(source: str) -> list[str]:
    """The words of alerts that are not ours."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("st" | "place"), drawn), [words, *_]) if drawn in ALERTS and not is_own(words):
                found.append(ast.unparse(words))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_alert_takes_words_of_others_for_markdown(file: Path) -> None:
    assert alerts(file.read_text(encoding="utf-8")) == []


def test_an_alert_with_words_of_others_is_found() -> None:
    assert alerts("st.error(problem)\nplace.error(str(error), icon='x')\nst.write(f'it says {message}')") == [
        *("problem", "str(error)", "f'it says {message}'")
    ]
    assert alerts('st.error("no data")\nst.error(UNGUARDED)\nst.error(f"it says {plain(message)}")') == []
