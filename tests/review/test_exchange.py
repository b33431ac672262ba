"""Reviews leave and come back the same; no cell is a formula; what a reviewer says leaves as annotations."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from ctxasm.model.characters import FORMULA, harmless_cell
from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.runs import Judgement, Passage, Run, RunSource, as_json
from ctxasm.review.exchange import (
    COLUMNS,
    annotations_of_reviews,
    as_csv,
    as_xlsx,
    export_lines,
    import_lines,
    table_rows,
)
from ctxasm.store.database import MemoryStore
from tests.examples import examples
from tests.review_strategies import NASTY, judged_runs

CLAIM = {"start": 0, "end": 4, "text": "=said", "kind": "sentence", "markers": [1], "axes": {"support": "full", "citation": "right"}}
SOURCE = RunSource(1, "one", "@One", "d", (1,))
RUN = Run("r", "2026-11-28", "=Which?", "said [1]", {"claims": [CLAIM]}, sources=(SOURCE,), span_id="00f067aa0ba902b7")
SAID = Judgement("r", "0:1", "An", "outdated", "+1")
WHOLE = Judgement("r", "answer", "An", answers="partly", complete=False, should_cite=(Passage("d", 2, "two"),))


def store_with(*judgements: Judgement, run: Run = RUN) -> MemoryStore:
    store = MemoryStore()
    store.keep_runs([run])
    for judgement in judgements:
        assert store.judge(judgement, 0).saved
    return store


def everything(store: MemoryStore) -> str:
    return "".join(export_lines(store, [entry.run_id for entry in store.runs()]))


@given(judged_runs())
@settings(max_examples=examples(1000))
def test_export_import_export_is_identical(found: tuple[list[Run], list[Judgement]]) -> None:
    """1,000 sets of runs among the slow tests, a part of them here."""
    first, second = MemoryStore(), MemoryStore()
    first.keep_runs(found[0])
    assert first.add_judgements(found[1]) == []
    whole = everything(first)
    report = import_lines(second, whole.encode().splitlines(keepends=True))
    assert (report.runs, report.judgements, report.known, report.conflicts) == (len(found[0]), len(found[1]), 0, ())
    assert everything(second) == whole
    again = import_lines(second, whole.splitlines(keepends=True))
    assert (again.runs, again.judgements, again.known) == (0, 0, len(found[0]) + len(found[1]))


def test_a_conflict_is_reported_and_what_stands_stays() -> None:
    here, there = store_with(SAID), store_with(replace(SAID, verdict="right"))
    before = everything(here)
    report = import_lines(here, everything(there).splitlines())
    ((given, standing),) = report.conflicts
    assert (given.verdict, standing.verdict) == ("right", "outdated")
    assert report.sentence() == "0 runs and 0 judgements new, 1 here already, 1 conflict left as they are here"
    assert everything(here) == before


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r'line 2: must be {"run": …} or {"judgement": …} in JSON'),
        ("3", "line 2: must be"),
        ('{"run":{},"judgement":{}}', "line 2: must be"),
        ('{"note":1}', "line 2: must be a run or a judgement, got 'note'"),
        ('{"run":{"run_id":1}}', "line 2: "),
        (f'{{"run":{as_json(replace(RUN, run_id="other", check={"claims": 1}))}}}', r"check\.claims"),
        (f'{{"judgement":{as_json(replace(SAID, item="x"))}}}', "an item must be"),
        (f'{{"judgement":{as_json(replace(SAID, version=3))}}}', "version 3 of item 0:1 of run 'r' comes without the version before it"),
        (f'{{"run":{as_json(replace(RUN, answer="other"))}}}', "kept with other content"),
        ("[" * 100_000, "line 2: must be"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_imported(line: str, said: str) -> None:
    store = store_with()
    before = everything(store)
    with pytest.raises(InvalidInput, match=said):
        import_lines(store, [f'{{"run":{as_json(replace(RUN, run_id="new"))}}}', line])
    assert everything(store) == before


def test_judgements_of_a_run_that_is_nowhere_are_refused() -> None:
    with pytest.raises(NotFound):
        import_lines(MemoryStore(), [f'{{"judgement":{as_json(SAID)}}}'])


@given(st.lists(st.text() | NASTY.flatmap(lambda head: st.text(max_size=4).map(lambda rest: head + rest)), min_size=1, max_size=4))
def test_no_cell_is_a_formula_and_both_tables_are_read_back(cells: list[str]) -> None:
    row = tuple(map(harmless_cell, cells))
    assert [cell for cell in row if cell.startswith(FORMULA) or cell.lstrip().startswith(("=", "+", "-", "@"))] == []
    head, read = csv.reader(io.StringIO(as_csv([row]).decode("utf-8-sig"), newline=""))
    assert (tuple(head), tuple(read)) == (COLUMNS, row)
    with zipfile.ZipFile(io.BytesIO(as_xlsx([row]))) as archive:
        assert archive.testzip() is None
        trees = {name: etree.fromstring(archive.read(name)) for name in archive.namelist()}
    sheet = trees["xl/worksheets/sheet1.xml"]
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    assert not sheet.xpath("//m:f", namespaces=space)
    assert {cell.get("t") for cell in sheet.iterfind(".//m:c", space)} == {"inlineStr"}
    assert len(sheet.findall(".//m:row", space)) == 2


def test_the_table_has_a_row_for_each_judgement_that_stands() -> None:
    (answer, citation) = sorted(table_rows(store_with(SAID, WHOLE), ["r"]), key=lambda row: row[7], reverse=True)
    read = dict(zip(COLUMNS, citation, strict=True))
    assert (read["question"], read["claim"], read["source_title"], read["note"]) == ("'=Which?", "'=said", "'@One", "'+1")
    assert (read["verdict"], read["reviewer"], read["version"]) == ("outdated", "An", "1")
    whole = dict(zip(COLUMNS, answer, strict=True))
    assert (whole["answers"], whole["complete"], whole["should_cite"]) == ("partly", "no", "d:2 two")


def test_judgements_are_annotations_by_a_person() -> None:
    store = store_with(SAID, WHOLE)
    found, without = annotations_of_reviews(store, ["r"])
    citation, answer = found
    assert without == 0
    assert citation == {
        "span_id": "00f067aa0ba902b7",
        "name": "ctxasm review citation",
        "annotator_kind": "HUMAN",
        "result": {"label": "right, but outdated", "score": 0.0, "explanation": "+1"},
        "metadata": {
            "run_id": "r", "query_id": "", "item": "0:1", "version": 1, "claim": "=said", "source": 1, "reviewer": "An",
        },
        "identifier": "ctxasm:review:r:0:1:An",
    }  # fmt: skip
    assert answer["result"] == {"label": "partly", "score": 0.5}
    assert answer["metadata"]["should_cite"] == ["d:2"]
    assert len({one["identifier"] for one in found}) == 2
    json.dumps(found, allow_nan=False)
    assert annotations_of_reviews(store_with(SAID, run=replace(RUN, span_id=None)), ["r"]) == ([], 1)
