"""A large bundle is loaded record by record, with the same result and the same refusals as a small one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.data.files import load_bundle, streaming, write_bundle
from ctxasm.model.errors import InvalidBundle, InvalidInput

SAMPLE = Path(__file__).parents[3] / "sample_data" / "hospital-nl"


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    monkeypatch.setattr(streaming, "LARGE_BYTES", 1000)
    return Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path}/store.db"}))


def test_the_result_is_the_same(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    large = workbench.load(SAMPLE, "large")
    monkeypatch.setattr(streaming, "LARGE_BYTES", 10**12)
    small = workbench.load(SAMPLE, "small")
    assert large.info.content_hash == small.info.content_hash
    assert (large.notes, large.info.origin) == (small.notes, small.info.origin)
    assert workbench.dataset("large").bundle() == replace(workbench.dataset("small").bundle(), name="large")
    workbench.close()


def test_a_bundle_with_problems_changes_nothing(workbench: Workbench, tmp_path: Path) -> None:
    workbench.load(SAMPLE, "sample")
    write_bundle(load_bundle(SAMPLE), tmp_path / "bad")
    with (tmp_path / "bad" / "retrievals.jsonl").open("a") as file:
        file.write('{"query_id": "nobody asked", "retrieved": [{"document_id": "nowhere", "chunk_index": 0, "score": 1}]}\n')
    with pytest.raises(InvalidBundle) as raised:
        workbench.load(tmp_path / "bad", "sample")
    assert [problem.field for problem in raised.value.problems] == ["query_id", "retrieved[0]"]
    with pytest.raises(InvalidInput, match=r"no file, folder or \.zip"):
        workbench.load(tmp_path / "nowhere", "sample")
    assert workbench.dataset("sample").bundle() == load_bundle(SAMPLE, "sample")
    workbench.close()
