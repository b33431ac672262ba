"""The session: one place declares what it keeps, and pages read the state of Streamlit only for keys that they make."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import streamlit

from ctxasm.app.ui.frame import session as declared
from ctxasm.app.ui.frame.session import NONE, Session, once, session, take

ROOT = Path(__file__).parents[3]
SCRIPTS = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "ctxasm" / "app" / "ui").rglob("*.py"))]
NAMES = set(Session.__annotations__)


def by_string(source: str) -> list[str]:
    """Where a script reads or sets by a string what `Session` declares."""
    found = []
    for node in ast.walk(ast.parse(source)):
        key = node.slice if isinstance(node, ast.Subscript) else node.args[0] if isinstance(node, ast.Call) and node.args else None
        of = node.value if isinstance(node, ast.Subscript) else node.func if isinstance(node, ast.Call) else None
        if isinstance(key, ast.Constant) and key.value in NAMES and of is not None and "session_state" in ast.unparse(of):
            found.append(f"{node.lineno}: {key.value}")
    return found


@pytest.fixture
def state(monkeypatch):
    kept: dict = {}
    monkeypatch.setattr(streamlit, "session_state", kept)
    return kept


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_declared_is_read_by_its_name(path):
    assert by_string(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("planted", ['st.session_state["now"]', 'x = st.session_state.get("now")', 'st.session_state.pop("query_id")'])
def test_a_planted_key_is_found(planted):
    assert by_string(planted) != []


def test_no_button_has_a_key_that_is_declared():
    """Streamlit lets nobody set the value of a button."""
    drawn = {
        keyword.value.value
        for path in SCRIPTS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("button")
        for keyword in node.keywords
        if keyword.arg == "key" and isinstance(keyword.value, ast.Constant)
    }
    assert len(drawn) > 50
    assert drawn & NAMES == set()


def test_a_session_reads_keeps_takes_and_forgets(state):
    assert session.loads == 0
    session.loads = 2
    assert (session.loads, state) == (2, {"loads": 2})
    assert (take("loads"), session.loads, state) == (2, 0, {})
    session.query_id = "a"
    assert state == {"query_id": "a"}
    del session.query_id
    del session.query_id
    assert (session.query_id, state) == (None, {})
    with pytest.raises(AttributeError):
        session.lodas = 3
    with pytest.raises(AttributeError):
        session.lodas


def test_what_stands_before_anything_is_kept_cannot_be_changed_by_a_reader():
    assert [name for name in NAMES if isinstance(getattr(Session, name), (list, set, dict))] == []
    with pytest.raises(TypeError):
        NONE["a"] = 1


def test_a_result_is_made_once_for_an_equal_key(state):
    made = []
    for key in ((1, "a"), (1, "a"), (2, "a"), (1, "a")):
        assert once("sum", key, lambda key=key: made.append(key) or len(made)) == len(made)
    assert once("other", (1, "a"), lambda: "apart") == "apart"
    assert made == [(1, "a"), (2, "a"), (1, "a")]
    with pytest.raises(ZeroDivisionError):
        once("sum", (3, "a"), lambda: 1 // 0)
    assert once("sum", (1, "a"), lambda: "anew") == 3


def test_widgets_whose_keys_begin_alike_start_anew_together(state):
    state.update({"_over/a": "Replace it", "_over/b": "Add to it", "over": 1})
    declared.forget_widgets(declared.OVER)
    assert state == {"over": 1}


def test_a_key_that_is_typed_is_hidden_and_in_no_address():
    drawn = [
        {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        for path in SCRIPTS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and any(ast.unparse(keyword.value) == "'llm_key'" for keyword in node.keywords)
    ]
    assert [(call["type"], "bind" in call) for call in drawn] == [("'password'", False)]
