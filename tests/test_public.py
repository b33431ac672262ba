"""The public surface: its names, that importing is light, and that the README's example works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ctxasm
from ctxasm import (
    AssemblySettings,
    Bundle,
    Chunk,
    Document,
    Hit,
    MemoryStore,
    Query,
    assemble,
    check,
    load_bundle,
    open_store,
    write_bundle,
)

HEAVY = ("streamlit", "pandas", "plotly", "sqlalchemy", "psycopg", "pydantic", "openai", "tiktoken", "httpx")
BUNDLE = Bundle(
    "tiny",
    (Document("a", "Opening hours"),),
    tuple(Chunk("a", index, f"On floor {index} the desk opens at {index + 7} o'clock. ") for index in range(4)),
    (Query("when?", (Hit("a", 1, 2.0),), "q"),),
)


def test_every_public_name_is_there_and_documented() -> None:
    for name in ctxasm.__all__:
        assert getattr(ctxasm, name).__doc__, name
    assert set(ctxasm.__all__) <= set(dir(ctxasm))
    with pytest.raises(AttributeError, match="No ctxasm attribute nothing"):
        ctxasm.nothing


def test_importing_is_light() -> None:
    code = "import json, sys, ctxasm; json.dump(sorted(sys.modules), sys.stdout)"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert "ctxasm" in loaded
    assert [name for name in loaded if name.partition(".")[0] in HEAVY] == []
    assert [name for name in loaded if name.startswith("ctxasm.")] == []


def test_settings_and_records_are_light_too() -> None:
    code = "import json, sys; from ctxasm import AssemblySettings, Query, Hit; json.dump(sorted(sys.modules), sys.stdout)"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert [name for name in loaded if name.partition(".")[0] in HEAVY] == []


def test_the_example_of_the_readme(tmp_path: Path) -> None:
    write_bundle(BUNDLE, tmp_path / "tiny")
    store = open_store(f"sqlite:///{tmp_path / 'new folder' / 'ctxasm.db'}")
    try:
        store.add(load_bundle(tmp_path / "tiny"))
        query = store.dataset().query("q")
        assembly = assemble(query, store, AssemblySettings(expand_window=1))
        assert "[1]" in assembly.text
        assert "On floor 2" in assembly.text
        assert assembly.token_count <= 8000
        assert [citation.document_id for citation in assembly.citations] == ["a"]
        assert json.loads(json.dumps(assembly.to_dict(), allow_nan=False))["query_id"] == "q"
        checked = check(assembly, "On floor 2 the desk opens at 9 o'clock [1]. On floor 2 it opens at 10 o'clock [1].")
        assert [claim.verdict for claim in checked.claims] == ["supported", "contradicted"]
        assert json.loads(json.dumps(checked.to_dict(), allow_nan=False))["claims"][0]["markers"] == [1]
        assert assemble(query, store.dataset("tiny"), AssemblySettings(expand_window=1)).text == assembly.text
    finally:
        store.close()
    memory = MemoryStore()
    memory.add(BUNDLE)
    assert assemble(query, memory, AssemblySettings(expand_window=1)).text == assembly.text


def test_the_default_store_is_the_one_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'e.db'}")
    with open_store() as store:
        assert store.datasets() == []
    assert (tmp_path / "e.db").exists()
