"""What tests of commands stand on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of the test's own, and no other word of the environment."""
    for name in list(os.environ):
        if name.startswith("CTXASM_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
