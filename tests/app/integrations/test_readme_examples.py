"""The examples of library use run as they stand, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctxasm import open_store
from tests.app.integrations.tuned import asked, sample

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "python.md"


def test_the_examples_of_library_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("llama_index.core")
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'e.db'}")
    with open_store() as store:
        store.add(sample(), "hospital-en")
    hit = asked(1)[0].retrieved[0]
    text = next(c.text for c in sample().chunks if (c.document_id, c.chunk_index) == (hit.document_id, hit.chunk_index))
    found = [Document(page_content=text, metadata={"document_id": hit.document_id})]
    given: dict[str, Any] = {}
    index = SimpleNamespace(docstore=None, as_query_engine=lambda **arguments: given.update(arguments))
    names: dict[str, Any] = {"my_retriever": RunnableLambda(lambda _: found), "my_index": index}
    for example in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(example, PAGE.name, "exec"), names)
    said = capsys.readouterr().out
    assert "[1] Source: The desk\nThe desk opens at nine. On Sundays it stays closed. It closes at five.\n" in said
    assert f"1 {names['document'].metadata['chunk_indexes']} [1] Source: " in said
    assert names["document"].metadata["retrieved"] == [hit.chunk_index]
    assert given["node_postprocessors"][0].settings.expand_window == 2
