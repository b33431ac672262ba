"""Reviews leave and come back: whole as JSON Lines, as a table for a spreadsheet, and as annotations of spans."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import Any
from xml.sax.saxutils import escape

from ctxasm.citations.phoenix import otel_span_id, reviewer_annotation
from ctxasm.model.amounts import counted
from ctxasm.model.characters import harmless_cell
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.runs import ANSWER_ITEM, Judgement, Run, RunStore, as_json, parts_of_item, read_judgement, read_run
from ctxasm.review.judging import claims_of
from ctxasm.review.reviewers import WORDS

COLUMNS: tuple[str, ...] = (
    *("run_id", "kept_at", "dataset", "query_id", "question", "answer", "model", "item", "claim", "source", "source_title", "reviewer"),
    *("version", "verdict", "answers", "complete", "note", "should_cite", "changed_at"),
)
LONGEST_LINE = 64 * 2**20
_CONTROL = {code: "\ufffd" for code in range(32) if code not in (9, 10, 13)}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought: new `runs` and `judgements`, those that were `known`. `conflicts` are pairs (given, standing): a version
    of a judgement that says something else here, which stays as it is.
    """

    runs: int
    judgements: int
    known: int
    conflicts: tuple[tuple[Judgement, Judgement], ...]

    def sentence(self) -> str:
        """In one line."""
        said = f"{counted(self.runs, 'run')} and {counted(self.judgements, 'judgement')} new, {self.known:,} here already"
        return f"{said}, {counted(len(self.conflicts), 'conflict')} left as they are here" if self.conflicts else said


def export_lines(store: RunStore, run_ids: Iterable[str]) -> Iterator[str]:
    """Runs and every version of their judgements as JSON Lines, in an order that the content alone decides. Raises NotFound."""
    wanted = sorted(set(run_ids))
    for run_id in wanted:
        yield f'{{"run":{as_json(store.run(run_id))}}}\n'
    for judgement in store.judgements(wanted, history=True):
        yield f'{{"judgement":{as_json(judgement)}}}\n'


def import_lines(store: RunStore, lines: Iterable[str | bytes]) -> ImportReport:
    """Keep what `export_lines` wrote. Nothing is kept where a line is wrong. Raises InvalidInput naming the line."""
    runs: list[Run] = []
    judgements: list[Judgement] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _record(line)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}: {error}; nothing was imported") from None
        if isinstance(record, Run):
            runs.append(record)
        else:
            judgements.append(record)
    named = [run.run_id for run in runs] + [each.run_id for each in judgements]
    before = len(there := store.judgements(named, history=True))
    _check_versions(store, runs, judgements, there)
    kept = store.keep_runs(runs)
    conflicts = store.add_judgements(judgements)
    new = len(store.judgements(named, history=True)) - before
    return ImportReport(kept, new, len(runs) - kept + len(judgements) - new - len(conflicts), tuple(conflicts))


def _check_versions(store: RunStore, runs: Sequence[Run], given: Sequence[Judgement], there: Sequence[Judgement]) -> None:
    """Refuse judgements of runs that are nowhere, and versions after a gap, before anything is kept."""
    for run_id in {each.run_id for each in given} - {run.run_id for run in runs}:
        store.run(run_id)
    known = {each.order for each in there}
    for each in sorted(given, key=lambda each: each.order):
        key = each.order
        if each.version > 1 and (*key[:3], each.version - 1) not in known:
            where = f"item {each.item} of run {shown(each.run_id)}"
            raise InvalidInput(f"version {each.version} of {where} comes without the version before it")
        known.add(key)


def _record(line: str | bytes) -> Run | Judgement:
    if len(line) > LONGEST_LINE:
        raise InvalidInput(f"a line may have at most {LONGEST_LINE:,} bytes, got {len(line):,}")
    try:
        record = json.loads(line)
        ((kind, value),) = record.items()
        text = json.dumps(value)
    except (ValueError, AttributeError, RecursionError):
        raise InvalidInput(f'must be {{"run": …}} or {{"judgement": …}} in JSON, got {shown(line)}') from None
    if kind == "run":
        run = read_run(text)
        claims_of(run)
        return run
    if kind == "judgement":
        return read_judgement(text)
    raise InvalidInput(f"must be a run or a judgement, got {shown(kind)}")


# For a spreadsheet


def table_rows(store: RunStore, run_ids: Iterable[str]) -> list[tuple[str, ...]]:
    """What stands, a judgement a row, under `COLUMNS`; no cell is a formula."""
    wanted = sorted(set(run_ids))
    rows = []
    runs = {run_id: store.run(run_id) for run_id in wanted}
    for each in store.judgements(wanted):
        run, parts = runs[each.run_id], parts_of_item(each.item)
        claim = claims_of(run).get(parts[0]) if parts is not None else None
        source = next((s for s in run.sources if parts is not None and s.number == parts[1]), None)
        number = str(parts[1]) if parts is not None else ""
        cited = "; ".join(f"{passage.document_id}:{passage.chunk_index} {passage.text}".strip() for passage in each.should_cite)
        told = "" if each.complete is None else "yes" if each.complete else "no"
        about = (run.run_id, run.kept_at, run.dataset, run.query_id, run.question, run.answer, run.model, each.item)
        where = (claim.text if claim is not None else "", number, (source.title or "") if source is not None else "", each.reviewer)
        said = (str(each.version), each.verdict or "", each.answers or "", told, each.note, cited, each.changed_at)
        rows.append(tuple(map(harmless_cell, (*about, *where, *said))))
    return rows


def as_csv(rows: Sequence[Sequence[str]]) -> bytes:
    """The table as CSV, UTF-8 with the mark by which Excel knows it."""
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows((COLUMNS, *rows))
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def as_xlsx(rows: Sequence[Sequence[str]]) -> bytes:
    """The table as a workbook of one sheet. Every cell is a text; the same table gives the same bytes."""
    body = "".join(
        "<row>"
        + "".join(f'<c t="inlineStr"><is><t xml:space="preserve">{escape(_printable(cell))}</t></is></c>' for cell in row)
        + "</row>"
        for row in (COLUMNS, *rows)
    )
    sheet = f"{_HEAD}<worksheet {_MAIN}><sheetData>{body}</sheetData></worksheet>"
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (*_PARTS.items(), ("xl/worksheets/sheet1.xml", sheet)):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _printable(text: str) -> str:
    """Without what XML cannot hold."""
    return text.translate(_CONTROL).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_SCHEMAS = "http://schemas.openxmlformats.org"
_OFFICE = f"{_SCHEMAS}/officeDocument/2006/relationships"
_MAIN = f'xmlns="{_SCHEMAS}/spreadsheetml/2006/main"'
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_SCHEMAS}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_SCHEMAS}/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'{_HEAD}<workbook {_MAIN} xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="reviews" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'{_HEAD}<Relationships xmlns="{_SCHEMAS}/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


# As annotations


def annotations_of_reviews(store: RunStore, run_ids: Iterable[str]) -> tuple[list[dict[str, Any]], int]:
    """What stands as annotations of the spans that gave the answers, and how many judged answers came with no OpenTelemetry span id."""
    wanted = sorted(set(run_ids))
    found: list[dict[str, Any]] = []
    without: set[str] = set()
    runs = {run_id: store.run(run_id) for run_id in wanted}
    for each in store.judgements(wanted):
        run = runs[each.run_id]
        span_id = otel_span_id(run.span_id)
        if span_id is None:
            without.add(run.run_id)
        elif each.is_given or each.note:
            found.append(_annotation(run, each, span_id))
    return found, len(without)


def _annotation(run: Run, each: Judgement, span_id: str) -> dict[str, Any]:
    about: dict[str, Any] = {"run_id": run.run_id, "query_id": run.query_id, "item": each.item, "version": each.version}
    label, score = (WORDS[each.verdict], float(each.verdict == "right")) if each.verdict is not None else (None, None)
    if each.item == ANSWER_ITEM:
        label, score = each.answers, {"yes": 1.0, "partly": 0.5, "no": 0.0}.get(each.answers or "")
        about |= {"complete": each.complete, "should_cite": [f"{one.document_id}:{one.chunk_index}" for one in each.should_cite]}
    else:
        parts = parts_of_item(each.item)
        claim = claims_of(run).get(parts[0]) if parts is not None else None
        about |= {"claim": claim.text if claim is not None else "", "source": parts[1] if parts is not None else None}
    return reviewer_annotation(span_id, "answer" if each.item == ANSWER_ITEM else "citation", label, score, each.note, about, each.reviewer)
