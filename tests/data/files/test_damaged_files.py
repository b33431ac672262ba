"""Files damaged in every way: each load gives a dataset or one error that says why, and never half of anything."""

from __future__ import annotations

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.files.importing import import_files, preview
from ctxasm.data.files.loading import load_files
from ctxasm.data.files.problems import Problem
from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.store.database import MemoryStore, Store
from ctxasm.text.tokens import open_counter
from tests.data.files.damage import Files, damaged, valid_files

BEFORE = Bundle("before", (Document("a"),), (Chunk("a", 0, "untouched"),))


def difference(workbench: Workbench, info: DatasetInfo, expected: Bundle) -> str:
    """How what is stored is not what was read, "" where it is; the dataset is gone afterwards."""
    stored = workbench.store.dataset("new")
    queries, answers = stored.queries(), stored.answers()
    chunks = [(c.document_id, c.chunk_index, c.text) for d in expected.documents for c in stored.document_chunks(d.document_id)]
    workbench.delete("new")
    if info.chunks != len(expected.chunks) or info.documents != len(expected.documents):
        return "the report is wrong"
    texts = {(c.document_id, c.chunk_index, c.text) for c in expected.chunks}
    same = set(chunks) == texts and tuple(queries) == expected.queries and tuple(answers) == expected.answers
    return "" if same else "what is stored is not what was read"


def problem_with(workbench: Workbench, files: Files, valid_only: bool) -> str:
    """What is wrong with how a load went, "" where nothing is."""
    try:
        report = load_files(workbench, files, "new", valid_only=valid_only)
    except InvalidBundle as error:
        if not error.problems or not all(isinstance(problem, Problem) and problem.message for problem in error.problems):
            return f"no problem is named: {error}"
        if any("\n" in str(problem) for problem in error.problems):
            return f"a problem is no sentence: {error}"
    except InvalidInput as error:
        if "\n" in str(error) or len(str(error)) < 20:
            return f"no sentence: {error}"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {error}"
    else:
        return difference(workbench, report.info, import_files(files, None, "new", valid_only=valid_only).bundle)
    names = [info.name for info in workbench.datasets()]
    return "" if names == ["before"] else f"the failed load left {names}"


def check(count: int, store: Store | MemoryStore) -> tuple[int, list[str]]:
    """How many of `count` damaged loads were refused, and what went wrong in any."""
    valid = valid_files()
    with store:
        store.add(BEFORE)
        workbench = Workbench(Config("sqlite://"), store)
        wrong, refused = [], 0
        for at, (what, files) in enumerate(damaged(valid, count)):
            found = problem_with(workbench, files, valid_only=at % 3 == 2)
            wrong += [f"{what}: {found}"] if found else []
            try:
                refused += bool(preview(files).problems)
            except InvalidInput:
                refused += 1
            except Exception as error:  # noqa: BLE001
                wrong.append(f"{what}, preview: {type(error).__name__}: {error}")
        return refused, wrong


def test_every_valid_file_loads() -> None:
    for files in valid_files():
        reading = import_files(files, None, "new")
        assert reading.bundle.chunks or reading.bundle.queries, files[0][0]


def test_a_damaged_file_is_a_dataset_or_a_sentence() -> None:
    refused, wrong = check(30, MemoryStore())
    assert wrong == []
    assert refused > 9


@pytest.mark.slow
def test_a_thousand_damaged_files() -> None:
    refused, wrong = check(1000, Store("sqlite://", open_counter()))
    assert wrong == []
    assert refused > 350
