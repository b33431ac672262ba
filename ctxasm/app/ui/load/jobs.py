"""What loading shows of its work: tables of rows and problems, and loads that go on in the background."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame import work as long_work
from ctxasm.app.ui.frame.address import COMPARE
from ctxasm.app.ui.frame.jobs import Job, Work
from ctxasm.app.ui.frame.session import DATASET, OVER, QUERY_ID, SENT, LoadRequest, TakenName, forget_widgets, once, session
from ctxasm.app.ui.frame.work import PANEL_REDRAWN_S, cancel_work, job_card
from ctxasm.app.ui.markup import boxed, table_html
from ctxasm.app.ui.words import cut, number, plain
from ctxasm.data.load_conflicts import NameTaken, Over, Standing, lacks_sent, standing
from ctxasm.model.amounts import counted
from ctxasm.model.characters import harmless_cell
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.data.files.importing import AskedPreview, Preview
    from ctxasm.model.datasets import DatasetInfo


MOST_NAME = 60
"""Characters of a column's name that a head shows."""
MOST_COLUMNS = 30
"""Columns of a preview; the rest is counted."""
MOST_PROBLEMS = 500
"""Problems of a table; the rest is in the CSV."""
HEADS = ("file", "row", "field", "problem", "got")


class ProblemRow(NamedTuple):
    """A problem as cells of plain text."""

    file: str
    row: str
    field: str
    message: str
    value: str


def problem_row(problem: object) -> ProblemRow:
    """The cells of a problem; one that is only a sentence fills only that cell."""
    if not hasattr(problem, "file"):
        return ProblemRow("", "", "", str(problem), "")
    line = getattr(problem, "line", None)
    return ProblemRow(
        str(problem.file),
        "" if line is None else str(line),
        str(getattr(problem, "field", "") or ""),
        str(getattr(problem, "message", "") or ""),
        str(getattr(problem, "value", "") or ""),
    )


def problems_html(problems: Sequence[object], caption: str = "") -> str:
    """The problems as a table that scrolls, with a sentence for those it has no room for."""
    cells = [_problem_cells(problem_row(problem)) for problem in problems[:MOST_PROBLEMS]]
    more = len(problems) - len(cells)
    rest = f'<p class="cx-note">… and {number(more)} more, all of them in the CSV.</p>' if more > 0 else ""
    return f'<div class="cx-scroll cx-problems">{table_html(HEADS, cells, (1,), escape(caption))}</div>{rest}'


def _problem_cells(row: ProblemRow) -> tuple[str, ...]:
    line = number(int(row.row)) if row.row.isdecimal() else escape(row.row)
    return escape(row.file), line, f"<code>{escape(row.field)}</code>", escape(row.message), f"<code>{escape(cut(row.value))}</code>"


def problems_csv(problems: Iterable[object]) -> str:
    """All problems as CSV that no spreadsheet takes for formulas."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(HEADS)
    writer.writerows([harmless_cell(cell) for cell in problem_row(problem)] for problem in problems)
    return written.getvalue()


def cell_text(value: Any) -> str:
    """A JSON value as a cell shows it: text as it is, everything else as JSON, nothing for what is absent."""
    if value is None:
        return ""
    if isinstance(value, str):
        return cut(value)
    try:
        return cut(json.dumps(value, ensure_ascii=False, default=str))
    except ValueError:  # a number of too many digits, or a value that holds itself
        return "…"


def preview_html(columns: Sequence[str], rows: Iterable[tuple[int, Mapping[str, Any]]], used: Mapping[str, str], caption: str) -> str:
    """The first rows of a file. `used` maps a column to the field that it is read as; those columns come first and say so."""
    ordered = sorted(columns, key=lambda column: column not in used)[:MOST_COLUMNS]
    heads = ["row", *(_head(column, used.get(column)) for column in ordered)]
    body = [(number(at), *(_cell(row, column) for column in ordered)) for at, row in rows]
    left = len(columns) - len(ordered)
    more = f'<p class="cx-note">… and {counted(left, "more column")}.</p>' if left > 0 else ""
    return f'<div class="cx-preview">{table_html(heads, body, (0,), escape(caption))}</div>{more}'


def _head(column: str, field: str | None) -> str:
    read_as = f'<span class="cx-as">→ {escape(field)}</span>' if field else ""
    return f"{escape(cut(column, MOST_NAME))}{read_as}"


def _cell(row: Mapping[str, Any], column: str) -> str:
    if column not in row:
        return '<span class="cx-absent" title="absent">·</span>'
    return escape(cell_text(row[column]))


def asked_rows(asked: Sequence[AskedPreview]) -> list[dict[str, Any]]:
    """The first questions as they would be loaded: the answer of each, how many hits it has, and the best of them."""
    most = max((len(one.best) for one in asked), default=0)
    return [
        {
            "question": cut(one.question),
            "answer": "" if one.answer is None else cut(one.answer),
            "hits": one.hits,
            **{f"hit {at + 1}": _best(one, at) for at in range(most)},
        }
        for one in asked
    ]


def _best(one: AskedPreview, at: int) -> str:
    if at >= len(one.best):
        return ""
    text, score = one.best[at]
    return cut(text) if score is None else f"{score:.3g} · {cut(text)}"


def notes_html(notes: Iterable[str]) -> str:
    """Sentences about a file as a list."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return boxed(f'<ul class="cx-notes">{items}</ul>') if items else ""


ADD, REPLACE, OTHER = "Add to it", "Replace it", "Another name"
LONGEST_NAME = 100


def question_html(there: Standing) -> str:
    """What would go, and what would stay."""
    stays = there.stays()
    stays = f" {escape(stays[0].upper() + stays[1:])} would stay." if stays else ""
    name = f'<span dir="auto">{escape(there.info.name)}</span>'
    differs = f", {there.differs}" if there.lacks_sent else ""
    return boxed(
        f'<div class="cx-panel warn" role="alert" id="ctx-taken"><h3>{name} is there already{differs}</h3>'
        f"<p>Replacing it takes away <b>{escape(there.goes())}</b>.{stays}</p></div>"
    )


def ask_over(key: str, name: str, preview: Preview) -> Over | None:
    """What becomes of a dataset of this name: nothing to ask where there is none, or the same; None until it is said.

    `key` is that of the box with the name, which another name is put into.
    """
    info = taken_by(name)
    if info is None or info.content_hash == preview.content_hash:
        return "new"
    st.html(question_html(_standing(info, preview)))
    st.segmented_control(
        "What becomes of it", (ADD, REPLACE, OTHER), key=_key(name), on_change=_choose, args=(key, name), label_visibility="collapsed"
    )
    return chosen_over(name)


def chosen_over(name: str) -> Over | None:
    """What was said should become of this dataset."""
    said: dict[str | None, Over] = {ADD: "join", REPLACE: "replace"}
    return said.get(st.session_state.get(_key(name)))


def taken_by(name: str) -> DatasetInfo | None:
    """The stored dataset of this name."""
    return next((info for info in server.workbench().store.datasets() if info.name == name), None)


def free_name(name: str) -> str:
    """A name like this one that no dataset has."""
    names, number = {info.name for info in server.datasets()}, 2
    while (free := f"{name[: LONGEST_NAME - 6]}-{number}") in names:
        number += 1
    return free


def forget_choices() -> None:
    """Ask again next time."""
    forget_widgets(OVER)


def _key(name: str) -> str:
    return f"{OVER}{name}"


def _choose(box: str, name: str) -> None:
    if st.session_state.get(_key(name)) == OTHER:
        st.session_state[box] = free_name(name)
        st.session_state[_key(name)] = None


def _standing(info: DatasetInfo, preview: Preview) -> Standing:
    """Read once for a version of the dataset and what would be loaded."""
    wanted = (info.dataset_id, session.saves, session.loads, preview.content_hash)

    def read() -> Standing:
        workbench, counts = server.workbench(), preview.counts
        lacking = lacks_sent(workbench, info, counts.get("chunks", 0), counts.get("queries", 0), preview.answers)
        return standing(workbench, info)._replace(lacks_sent=lacking)

    return once("standing", wanted, read)


IMPORT, EXPLAIN = "import", "explain"
"""How the keys of imports begin, and those of traces that are loaded to explain their answer."""


def begin(key: str, title: str, dataset: str, work: Work, wanted: Hashable = None) -> None:
    """Begin a load; a short one is waited for. `wanted` tells work of one key apart. A callback must not call this: it draws."""
    session.report = None
    try:
        job = server.jobs().start(key, title, dataset, work, wanted)
    except CtxasmError as error:
        refuse(error)
    own = session.own_jobs
    session.own_jobs = own if job in own else [*own, job]
    with st.spinner(f"{plain(title)} …", show_time=True):
        job.wait(long_work.PATIENCE_S)
    settle()
    st.rerun()


def begin_load(request: LoadRequest, name: str, over: Over = "new") -> None:
    """Begin a load under a name; where that is taken, what should become of it is asked when it ends."""
    key = f"{request.does} {name}"
    session.requests = {**session.requests, key: request}
    begin(key, f"{request.doing} {name}", name, partial(request.work, name, over), (request.wanted, over))


def refuse(error: CtxasmError) -> NoReturn:
    """Report why nothing was begun."""
    session.report = error
    st.rerun()


def settle() -> bool:
    """Take over what this session's jobs came to since the last run, and go to the dataset that a load brought."""
    own = session.own_jobs
    ended = [job for job in own if not job.running]
    session.own_jobs = [job for job in own if job.running]
    for job in ended:
        server.jobs().dismiss(job)
        keep_outcome(job)
    return bool(ended)


def keep_outcome(job: Job) -> None:
    """What a job came to, as what the page reports."""
    request = session.requests.get(job.key)
    if isinstance(job.error, NameTaken) and request is not None:
        session.report = TakenName(request, job.error)
        return
    if isinstance(job.error, CtxasmError):
        session.report = job.error
        return
    report = job.result()
    session.report = getattr(report, "load", report) if job.key.startswith(f"{EXPLAIN} ") else report
    info = getattr(getattr(report, "load", report), "info", None)
    loaded(None if info is None else info.name, getattr(report, "query_id", None))
    if job.key.startswith(f"{EXPLAIN} "):
        session.pinned, session.going = SENT, COMPARE
    if info is not None and job.key.startswith(f"{IMPORT} "):
        # They are a dataset now; what is mapped next are other files.
        session.files, session.mappings = (), {}
        for name in ("preview", "valid_part"):
            cancel_work(name)


def loaded(name: str | None, query_id: str | None = None) -> None:
    """The data changed: forget what was read of it, and go to the dataset `name`, there to `query_id` where one is given."""
    session.loads = session.loads + 1
    server.forget_queries()
    forget_choices()
    if name is not None:
        session.asked_for = {DATASET: name, **({QUERY_ID: query_id} if query_id else {})}
        del session.query_id


def show_running() -> None:
    """A card for each job; only this part of the page runs again while they go on."""
    jobs = server.jobs().seen()
    if jobs:
        running = any(job.running for job in jobs)
        fragment(_cards, run_every=PANEL_REDRAWN_S if running else None, key="running_jobs")([job for job in jobs if job.running])


def _cards(begun: list[Job]) -> None:
    if any(not job.running for job in begun):
        # One of those that ran has ended: the datasets, the report and the other ways in change with it.
        st.rerun()
    own = session.own_jobs
    for job in server.jobs().seen():
        if job.running or job not in own:
            job_card(job)
