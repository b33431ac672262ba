"""Real bundles, where they lie beside the project. They are public data of others and never part of it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ctxasm.data.files import load_bundle
from ctxasm.model.records import Bundle

REAL = ("chunkeval", "codebase", "debfaq-nl", "andocs")
"""The bundles with a corpus."""


def real_folder() -> Path | None:
    """The folder of real bundles: CTXASM_DATA, else `shared/data` beside the project; None where there is none."""
    folder = Path(os.environ.get("CTXASM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    return folder if folder.is_dir() else None


@cache
def load_real(name: str) -> Bundle:
    """One of them, read and checked."""
    folder = real_folder()
    assert folder is not None
    return load_bundle(folder / name)
