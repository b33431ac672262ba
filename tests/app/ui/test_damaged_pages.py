"""Pages on a database that something else has written into: a sentence in the page, never a fault."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.app.ui.unforeseen import show_unforeseen
from ctxasm.model.errors import DamagedData
from tests.app.ui.pages import html, opened

PAGES = ("inspect", "ask", "review", "compare", "sweep", "load", "show_me")
CHANGES = (
    "UPDATE ctxasm_datasets SET loaded_at = 'yesterday'",
    "UPDATE ctxasm_queries SET payload = '{\"retrieved\": 5}'",
    "UPDATE ctxasm_documents SET metadata = '['",
    "UPDATE ctxasm_chunks SET text = x'ff'",
    "DROP TABLE ctxasm_documents",
)


@pytest.mark.parametrize("change", CHANGES)
def test_every_page_says_that_the_database_is_damaged_or_shows_what_it_has(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "damaged.db"
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{path}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["load", "--sample"]) == 0
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(change)
    said = ""
    for page in PAGES:
        app = opened(page)
        assert [error.value for error in app.exception] == [], page
        said += html(app)
    assert "is damaged (" in said
    assert not list(tmp_path.glob("ctxasm-fault-*"))


def test_an_error_of_ours_that_no_page_caught_is_its_own_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("streamlit.error", said.append)
    assert show_unforeseen(DamagedData("query 'q' cannot be read"))
    (sentence,) = said
    assert "the database is damaged" in sentence
    assert "fault" not in sentence
