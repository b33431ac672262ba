"""The session: every key has one name, and nothing reads the state of a session by a string."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path

import pytest
import streamlit

from ctxasm.app.ui.frame import session as declared
from ctxasm.app.ui.frame.session import Kept, Session, Widget, session

ROOT = Path(__file__).parents[3]
SCRIPTS = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "ctxasm" / "app" / "ui").rglob("*.py"))]
KEYS = {name: kept.key for name, kept in vars(Session).items() if isinstance(kept, Kept)}


def by_string(source: str, keys: set[str]) -> list[str]:
    """Where a script reaches into the state of the session by itself, or writes down a key that is declared."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "session_state":
            found.append(f"{node.lineno}: session_state")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("_") and node.value in keys:
            found.append(f"{node.lineno}: {node.value}")
        if isinstance(node, ast.keyword) and node.arg == "key" and isinstance(node.value, ast.Constant) and node.value.value in keys:
            found.append(f"{node.value.lineno}: {node.value.value}")
    return found


@pytest.fixture
def state(monkeypatch):
    kept: dict = {}
    monkeypatch.setattr(streamlit, "session_state", kept)
    return kept


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_but_the_session_reads_by_a_key(path):
    if path != Path(declared.__file__):
        assert by_string(path.read_text(encoding="utf-8"), set(KEYS.values())) == []


@pytest.mark.parametrize(
    "planted",
    ['st.session_state["new"]', 'x = st.session_state.get("new")', 'session.put("_now", 1)', 'st.selectbox("Query", ids, key="q")'],
)
def test_a_planted_key_is_found(planted):
    assert by_string(planted, set(KEYS.values()))


def test_no_key_is_declared_twice():
    assert [key for key, times in Counter(KEYS.values()).items() if times > 1] == []
    (body,) = [node.body for node in ast.walk(ast.parse(inspect.getsource(declared))) if getattr(node, "name", "") == "Session"]
    assert sorted(node.target.id for node in body if isinstance(node, ast.AnnAssign)) == sorted(KEYS)


def test_what_is_our_own_meets_no_widget_of_the_url():
    own = [kept for kept in vars(Session).values() if isinstance(kept, Kept) and not isinstance(kept, Widget)]
    assert own
    assert all(kept.key.startswith("_") for kept in own)


def test_a_session_reads_keeps_takes_and_forgets(state):
    assert session.loads == 0
    session.loads = 2
    assert (session.loads, state) == (2, {"_loads": 2})
    assert (session.take(Session.loads), session.loads, state) == (2, 0, {})
    session.query_id = "a"
    assert state == {"q": "a"}
    del session.query_id
    del session.query_id
    assert (session.query_id, state) == (None, {})


def test_what_stands_before_anything_is_kept_cannot_be_changed_by_a_reader(state):
    shared = [name for name in KEYS if isinstance(vars(Session)[name].before, (list, set, dict))]
    assert shared == []


def test_widgets_whose_keys_begin_alike_start_anew_together(state):
    state.update({"_over/a": "Replace it", "_over/b": "Add to it", "over": 1})
    session.forget_all(declared.OVER)
    assert state == {"over": 1}


def test_a_key_that_is_typed_is_hidden_and_in_no_address():
    drawn = [
        {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        for path in SCRIPTS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and any(ast.unparse(keyword.value) == "Session.llm_key.key" for keyword in node.keywords)
    ]
    assert [(call["type"], "bind" in call) for call in drawn] == [("'password'", False)]
