"""Files that are loaded: what they are taken for, and what came of a load."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import count as counting
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.browser import bring_into_view
from ctxasm.app.ui.frame.layout import show_trouble, within
from ctxasm.app.ui.frame.session import FILE_MAPPING, LoadRequest, TakenName, forget_widgets, once, session
from ctxasm.app.ui.frame.work import cancel_work, wait_for
from ctxasm.app.ui.load.documents import show_ingested
from ctxasm.app.ui.load.enrich import show_enriched, show_made
from ctxasm.app.ui.load.jobs import (
    ADD,
    EXPLAIN,
    IMPORT,
    LONGEST_NAME,
    OTHER,
    REPLACE,
    ask_over,
    asked_rows,
    begin,
    begin_load,
    chosen_over,
    free_name,
    notes_html,
    preview_html,
    problems_csv,
    problems_html,
    question_html,
    taken_by,
)
from ctxasm.app.ui.load.mapping import lacking, mapping_editor
from ctxasm.app.ui.markup import boxed, table_html
from ctxasm.app.ui.words import cut, number, plain
from ctxasm.data.files.cells import HIT_FIELDS
from ctxasm.data.load_conflicts import NOUNS, Over, joined_dataset
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError, InvalidBundle
from ctxasm.model.events import NUMBERED
from ctxasm.model.presets import PRESET_HELP, RECOMMENDED, is_recommended, other_choice

if TYPE_CHECKING:
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.importing import FilePreview, Preview
    from ctxasm.data.files.reading import Reading


def show_outcome() -> None:
    """What the last load said, scrolled to when it is new."""
    report = session.report
    if report is None:
        return
    if session.reported is not report:
        session.reported, session.reports = report, session.reports + 1
    with st.container(key="outcome"):
        _show(report)
    bring_into_view("outcome", session.reports)


def _show(report: Any) -> None:
    if isinstance(report, TakenName):
        _show_question(report)
    elif isinstance(report, InvalidBundle):
        show_problems(report)
    elif isinstance(report, CtxasmError):
        show_trouble("Nothing was loaded", str(report), "What was loaded before is untouched.")
    else:
        PANELS.get(type(report).__name__, _show_loaded)(report)


PANELS: Mapping[str, Callable[[Any], None]] = {"IngestReport": show_ingested, "EnrichReport": show_enriched, "MadeQueries": show_made}
"""What draws a report, by its class: to name the classes would load what reads documents and what enriches."""


def _show_question(report: TakenName) -> None:
    """What would go, and the ways on."""
    request, there = report
    name = there.standing.info.name
    st.html(question_html(there.standing))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="taken_ways"):
        if not request.only_replaces and st.button(ADD, key="taken_add", icon=":material/add:"):
            begin_load(request, name, "join")
        if st.button(REPLACE, key="taken_replace", icon=":material/swap_horiz:"):
            begin_load(request, name, "replace")
        if not request.only_replaces:
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content"):
                other = within("A name", st.text_input(OTHER, free_name(name), key=f"taken_name/{name}", width=200), LONGEST_NAME)
                if st.button("Take this name", key="taken_other", disabled=not other) and other:
                    begin_load(request, other)


def show_problems(report: InvalidBundle) -> None:
    """All problems of a load that was refused: a table, and a CSV to work through."""
    count = len(report.problems)
    st.html(
        boxed(
            f'<div class="cx-panel warn" role="alert" id="ctx-problems"><h3>{escape(report.where)}: {counted(count, "problem")}, '
            'nothing was loaded</h3><p class="cx-mute">What was loaded before is untouched. Repair the rows below and load again.</p></div>'
            f'<div style="height:10px"></div>{problems_html(report.problems)}'
        )
    )
    problems_download(report.problems, "problems_csv")


def problems_download(problems: Any, key: str) -> None:
    """All problems as a file."""
    st.download_button("All of them as CSV", lambda: problems_csv(problems), "problems.csv", "text/csv", key=key, on_click="ignore")


def _show_loaded(report: Any) -> None:
    state = "" if getattr(report, "changed", True) else " (already loaded, nothing changed)"
    st.html(
        boxed(
            f'<div class="cx-panel ok" role="status" id="ctx-report"><h3>Loaded{state}</h3><p>{escape(report.summary)}</p>'
            f"{notes_html(report.notes)}</div>"
        )
    )
    show_recommended()


def show_recommended() -> None:
    """What to begin with on data of one's own, its gain and what it gives up; one click takes it, undo goes back."""
    settings = session.now
    if is_recommended(settings):
        says = "The recommended choice is in use: Inspect shows what it does to each question, and Undo there goes back."
        st.html(boxed(f'<p class="cx-note" role="status" id="ctx-recommended-taken">{says}</p>'))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="begin_recommended"):
        st.html(boxed(f'<p class="cx-note cx-small">{escape(PRESET_HELP[RECOMMENDED])}</p>'), width="stretch")
        help = "The five stages stay as they are until you take this; undo goes back."
        st.button("Begin with recommended", key="take_recommended", on_click=state.apply, args=(other_choice(settings),), help=help)


OWN_CHUNKS = ""
"""Chosen where hits bring their own chunks."""
Files = Sequence[tuple[str, bytes]]
VERBS: dict[Over | None, str] = {None: "Import", "new": "Import", "replace": "Replace", "join": "Add"}
LEFT_OUT = re.compile(r": left out ")
ROWS = re.compile(r"([\d,]+) rows?\b")


def import_controls(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], unready: str, stamp: str) -> None:
    """All problems, the name, and the buttons."""
    notes = [note for note in preview.notes if not any(note in file.notes for file in preview.files)]
    st.html(notes_html(notes) or "<div></div>")
    if preview.problems:
        _show_problems(preview)
    if any(file.asked for file in preview.files):
        _ask_onto()
    if (onto := joined_onto()) is not None:
        _offer_join(taken, preview, mappings, onto, unready)
        return
    name = st.text_input("Dataset name", key="files_name", placeholder=preview.name, persist_state="session")
    bare = within("A name", name, LONGEST_NAME)
    if bare is None:
        return
    chosen = bare or preview.name
    over = ask_over("files_name", chosen, preview)
    asks = "" if over is not None else f"Say first what becomes of {chosen}."
    by_order = _ask_order(preview, over)
    blocked = bool(preview.problems or unready or over is None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(VERBS[over], key="load_files", type="primary", disabled=blocked, icon=":material/download:") and over is not None:
            _import(taken, mappings, chosen, False, over, by_order)
        st.html(boxed(f'<p class="cx-note" id="ctx-import">{escape(unready or asks) or _what(preview)}</p>'))
    if preview.problems and not unready and over is not None:
        _offer_valid_part(taken, preview, mappings, chosen, stamp, over)


def _ask_order(preview: Preview, over: Over | None) -> bool:
    """Whether to number chunks whose indexes leave gaps; asked only where there are such."""
    if preview.obstacle is None or preview.obstacle.obstacle not in NUMBERED or over == "join":
        return False
    return st.checkbox("Number by order", key="number_by_order", help="0, 1, 2 … in each document; metadata keeps the index of the file")


def joined_onto() -> str | None:
    """The dataset on whose chunks the hits of the files are to be; None where the files bring their own."""
    chosen = session.files_onto
    return chosen if chosen and any(info.name == chosen for info in server.datasets()) else None


def _ask_onto() -> None:
    st.selectbox(
        "Whose chunks the hits are",
        [OWN_CHUNKS, *(info.name for info in server.datasets())],
        format_func=lambda name: str(name) or "their own: the files become a dataset",
        key="files_onto",
        persist_state="session",
        help="Hits are found in a dataset by id, by place or by their text; neighbours, titles and summaries then come from there.",
    )


def _offer_join(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], onto: str, unready: str) -> None:
    """The button that adds the questions to a dataset."""
    from ctxasm.data.files.loading import join_files

    queries = counted(preview.counts.get("queries", 0), "question")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(
            "Add the questions", key="join_files", type="primary", disabled=bool(preview.problems or unready), icon=":material/join:"
        ):
            workbench = server.workbench()
            request = LoadRequest(
                IMPORT,
                "Joining",
                lambda name, *_: join_files(workbench, taken, name, mappings),
                (tuple(taken), repr(mappings), "join"),
            )
            begin_load(request, onto, "join")
        words = unready or (_what(preview) if preview.problems else f"{queries} of {onto}, without a chunk of their own.")
        st.html(boxed(f'<p class="cx-note" id="ctx-join">{escape(words)}</p>'))


def joined_name(taken: Files) -> str | None:
    """The dataset that the files are to join, as was said before; None where they make one of their own."""
    from ctxasm.data.files.importing import default_name

    name = (session.files_name or "").strip() or default_name(taken)
    return name if chosen_over(name) == "join" else None


def _what(preview: Preview) -> str:
    if preview.problems:
        return "Nothing can be imported as a whole: repair the rows above and drop the files again."
    parts = [counted(count, NOUNS[kind]) for kind, count in preview.counts.items() if count]
    return ", ".join(parts) + ": all or nothing." if parts else ""


def _show_problems(preview: Preview) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        heading = f'<h2 class="cx-h"><span class="cx-dot warn"></span>{counted(len(preview.problems), "problem")}</h2>'
        st.html(boxed(f'<div class="cx-count" role="alert">{heading}</div>'))
        problems_download(preview.problems, "problems_csv")
    st.html(boxed(problems_html(preview.problems), "ctx-problems"))


def _offer_valid_part(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], name: str, stamp: str, over: Over) -> None:
    """The part that is valid, with exactly what is left out; nothing where there is none."""
    from ctxasm.data.files.importing import import_files
    from ctxasm.data.files.loading import limits_of

    workbench = server.workbench()
    limits, info = limits_of(workbench.config), taken_by(name) if over == "join" else None

    def tried(report: Any, cancelled: Any) -> Reading:
        into = joined_dataset(workbench, name, over)
        return import_files(taken, mappings, "part", valid_only=True, limits=limits, into=into)

    try:
        part: Reading = wait_for("valid_part", (stamp, repr(mappings), None if info is None else info.dataset_id), tried)
    except CtxasmError as error:
        st.html(boxed(f'<p class="cx-note">No part of it can be imported by itself: {escape(str(error).splitlines()[0])}</p>'))
        return
    left_out = [note for note in part.notes if LEFT_OUT.search(note)]
    rows, gone = sum(file.row_count for file in preview.files), sum(_count(note) for note in left_out)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = f"{VERBS[over]} the valid part only ({number(rows - gone)} of {number(rows)} rows)"
        if st.button(label, key="load_valid", icon=":material/rule:"):
            _import(taken, mappings, name, True, over)
        st.html(boxed(f'<div id="ctx-left-rows">{notes_html(left_out)}</div>'))


def _count(note: str) -> int:
    """The rows that a note says are left out."""
    return sum(int(count.replace(",", "")) for count in ROWS.findall(LEFT_OUT.split(note, 1)[1]))


def _import(taken: Files, mappings: Mapping[str, ColumnMapping], name: str, valid_only: bool, over: Over, by_order: bool = False) -> None:
    from ctxasm.data.files.loading import load_files

    workbench = server.workbench()
    request = LoadRequest(
        IMPORT,
        "Importing",
        lambda name, over, *_: load_files(workbench, taken, name, mappings, valid_only, over, by_order),
        (tuple(taken), repr(mappings), valid_only, by_order),
    )
    begin_load(request, name, over)


Taken = tuple[str, bytes]
KINDS = ["json", "jsonl", "ndjson", "csv", "tsv", "txt", "parquet", "zip", "gz"]
NOTE = "Chunks, results, traces, logs of questions, or a table with text. Several files make one dataset."
READS = (
    "Dumps of LangChain, LlamaIndex and Haystack; traces of Phoenix, Langfuse and LangSmith; Ragas and BEIR files; logs of questions with "
    "their found chunks; tables with a column of text; or a bundle:"
)
MOST_CARDS = 20
MOST_PASTED = 2_000_000
EXPLAINS = (
    "A trace or log with an answer, or a prompt with its answer: what was sent beside what would be sent here, and where the fact went."
)
BUNDLE = (
    ("documents.jsonl", "document_id, title?, source?, summary?, date?"),
    ("chunks.jsonl", "document_id, chunk_index, text, start?, end?, page_number?, section?"),
    ("queries.jsonl", "query_id, query, gold?, spans?, answer?, history?"),
    ("retrievals.jsonl", "query_id, retrieved: [document_id, chunk_index, score, rank?], search_method?, bm25_matches?"),
    ("answers.jsonl", "query_id, answer (optional file)"),
)


def told_apart(files: list[Taken], taken: set[str]) -> list[Taken]:
    """The files, one of a name that is taken under a name with a number: of two dropped together none may be lost."""
    named: list[Taken] = []
    names = set(taken)
    for file, data in files:
        stem, dot, endings = file.partition(".")
        numbered = (f"{stem} ({at}){dot}{endings}" for at in counting(2))
        name = file if file not in names else next(name for name in numbered if name not in names)
        names.add(name)
        named.append((name, data))
    return named


def _size(count: int) -> str:
    if count < 1000:
        return counted(count, "byte")
    return f"{number(count / 1000)} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def _is_bundle(file: FilePreview) -> bool:
    return file.understood.endswith(" of a bundle")


def _rows_label(file: FilePreview) -> str:
    shown = len(file.rows)
    return f"First {shown} of {number(file.row_count)} rows" if file.row_count > shown else counted(shown, "row")


def _failing(file: FilePreview) -> str:
    if file.failing:
        return f"{counted(file.failing, 'row')} with a problem"
    return counted(len(file.problems), "problem")


def _head(file: FilePreview, chosen: Mapping[str, ColumnMapping]) -> str:
    understood = "mapped by you" if file.file in chosen else file.understood
    known = file.shape is not None or file.mapping is not None or _is_bundle(file) or file.file in chosen
    look = "ok" if known else "warn"
    dot = '<span class="cx-dot"></span>' if known else '<span class="cx-dot warn"></span>'
    failing = (
        f'<span class="cx-badge warn"><span class="cx-dot warn"></span>{_failing(file)}</span>' if file.failing or file.problems else ""
    )
    return (
        f'<div class="cx-file" data-file="{escape(file.file)}"><b dir="auto">{escape(cut(file.file, 120))}</b>'
        f'<div class="cx-badges"><span class="cx-badge {look}" data-understood="{escape(understood)}">{dot}{escape(understood)}</span>'
        f'<span class="cx-badge">{counted(file.row_count, "row")}</span>{failing}</div>{notes_html(file.notes)}</div>'
    )


def show_files() -> None:
    """Take files in; then what they hold, and the way to import it."""
    st.html(boxed(f'<p class="cx-note">{NOTE}</p>'))
    turn = session.files_generation
    st.file_uploader(
        "Files",
        KINDS,
        accept_multiple_files=True,
        key=f"files_{turn}",
        on_change=_take,
        args=(turn,),
        max_upload_size=server.workbench().config.max_upload_mb,
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, gap="small"):
        _paste()
        with st.popover("Which files?"):
            rows = [(f"<code>{file}</code>", fields) for file, fields in BUNDLE]
            st.html(boxed(f'<p class="cx-note">{READS}</p>{table_html(("file", "fields of a line (? may be absent)"), rows)}'))
    if taken := _taken():
        _show_taken(taken)


def _taken() -> tuple[Taken, ...]:
    return session.files


def _take(turn: int) -> None:
    """Keep what was dropped, and give the drop zone a fresh start: it forgets its files when another tab is opened."""
    files: Any = st.session_state.get(f"files_{turn}") or ()
    _add(told_apart([(file.name, file.getvalue()) for file in files], set()))
    session.files_generation = turn + 1


def _add(files: list[Taken]) -> None:
    """Take them in; one that was dropped before is dropped again because it was repaired."""
    kept = dict(_taken()) | dict(files)
    session.files, session.report = tuple(kept.items()), None


def _paste() -> None:
    # With another key it is closed once a text is taken: it would cover what the text was taken for.
    with st.popover("Paste text", icon=":material/content_paste:", key=f"paste_{len(_taken())}"):
        st.text_area(
            "JSON, JSON Lines, a table, or a prompt with its answer",
            key="pasted",
            height=200,
            placeholder='{"document_id": "a", "chunk_index": 0, "text": "…"}',
        )
        within("A pasted text", session.pasted or "", MOST_PASTED, "drop it as a file")
        with st.container(horizontal=True, gap="small"):
            st.button("Take it", key="take_pasted", on_click=_take_pasted, type="primary")
            if st.button("Why this answer?", key="explain_pasted", help=EXPLAINS, icon=":material/troubleshoot:"):
                _explain_pasted()


def _pasted(name: str) -> list[Taken]:
    text = session.pasted or ""
    return [(name, text.encode("utf-8", "surrogatepass"))] if 0 < len(text.strip()) <= MOST_PASTED else []


def _take_pasted() -> None:
    if pasted := _pasted("pasted.txt"):
        _add(told_apart(pasted, {name for name, _ in _taken()}))
        session.pasted = ""


def _explain_pasted() -> None:
    """Load what was pasted, and go to Compare, which says where the fact went that its answer lacks."""
    from ctxasm.app.why import open_trace
    from ctxasm.data.files.loading import PASTED

    if pasted := tuple(_pasted(PASTED)):
        workbench, digest = server.workbench(), hashlib.sha256(pasted[0][1]).hexdigest()
        begin(f"{EXPLAIN} {digest[:16]}", "Reading the answer", PASTED, lambda report, cancelled: open_trace(workbench, pasted), digest)


def start_over() -> None:
    """Let go of the files (a callback)."""
    forget_widgets(FILE_MAPPING)
    session.files, session.mappings, session.report = (), {}, None
    cancel_work("preview")
    cancel_work("valid_part")


def _remove(name: str) -> None:
    session.files = tuple(file for file in _taken() if file[0] != name)


def _show_taken(taken: tuple[Taken, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="files_taken"):
        size = sum(len(data) for _, data in taken)
        st.html(boxed(f'<h2 class="cx-h">{counted(len(taken), "file")}<small>{_size(size)}</small></h2>'))
        if len(taken) > 1:
            with st.popover("Remove one"):
                for at, (name, data) in enumerate(taken[:50]):
                    st.button(f"{plain(cut(name, 50))} · {_size(len(data))}", key=f"remove_{at}", on_click=_remove, args=(name,))
        st.button("Start over", key="start_over", on_click=start_over)
    mappings, unready = mappings_in_use()
    onto = joined_onto()
    preview = _preview(taken, mappings, None if onto else joined_name(taken), onto)
    if preview is None:
        return
    for at, file in enumerate(preview.files[:MOST_CARDS]):
        file_card(file, at, is_only=len(preview.files) == 1)
    if len(preview.files) > MOST_CARDS:
        st.html(boxed(f'<p class="cx-note">… and {counted(len(preview.files) - MOST_CARDS, "more table")}.</p>'))
    import_controls(taken, preview, mappings, unready, stamp_of_files(taken))


def _preview(taken: tuple[Taken, ...], mappings: dict[str, Any], into: str | None, onto: str | None) -> Preview | None:
    """What the files hold, beside the dataset that they are to join, with their hits on the chunks of `onto`.

    None after saying why that cannot be known.
    """
    from ctxasm.data.files.loading import preview_files

    workbench = server.workbench()
    info = None if into is None else taken_by(into)
    wanted = (stamp_of_files(taken), repr(mappings), None if info is None else info.dataset_id, onto, session.loads)
    into = None if info is None else into
    try:
        found: Preview = wait_for("preview", wanted, lambda report, cancelled: preview_files(workbench, taken, mappings, into, onto))
    except CtxasmError as error:
        show_trouble("These files cannot be read", str(error), "Remove the file, or repair it and drop it again; nothing was loaded.")
        return None
    return found


def stamp_of_files(taken: tuple[Taken, ...]) -> str:
    """A digest of what was taken in: worked out once for the same files."""

    def digest() -> str:
        sha256 = hashlib.sha256()
        for name, data in taken:
            sha256.update(f"{len(name)}/{len(data)}/{name}".encode("utf-8", "replace") + data)
        return sha256.hexdigest()

    return once("digest of files", taken, digest)


def mappings_in_use() -> tuple[dict[str, ColumnMapping], str]:
    """The mappings that the user chose and that can be used, and what the first of the others still needs."""
    chosen = session.mappings
    needs = [f"{cut(file, 60)}: {words}" for file, mapping in chosen.items() if (words := lacking(mapping))]
    return {file: mapping for file, mapping in chosen.items() if not lacking(mapping)}, next(iter(needs), "")


def file_card(file: FilePreview, at: int, is_only: bool) -> None:
    """The card of a table; its rows lie open where it is the only one, or its columns are to be looked at."""
    chosen = session.mappings
    own = chosen.get(file.file)
    mapping = file.mapping if own is None or (own.guess_rest and file.mapping is not None) else own
    with st.container(border=True, key=f"file_{at}"):
        st.html(boxed(_head(file, chosen)))
        if file.asked:
            rows = asked_rows(file.asked)
            widths = {name: st.column_config.Column(width="small" if name == "hits" else "medium") for name in rows[0]}
            st.dataframe(rows, hide_index=True, column_config=widths, key=f"asked_{at}")
        if mapping is None and file.columns:
            if st.toggle("Map its columns myself", key=f"_own_mapping_{at}", value=file.shape is None and not _is_bundle(file)):
                mapping_editor(file, None, at)
        elif mapping is not None:
            mapping_editor(file, mapping, at)
        shown = mapping if mapping is not None and not lacking(mapping) else None
        used = {column: field for field, column in shown.columns.items() if field not in HIT_FIELDS} if shown is not None else {}
        if file.rows:
            with st.expander(_rows_label(file), expanded=is_only or mapping is not None, key=f"rows_{at}"):
                st.html(boxed(preview_html(file.columns, file.rows, used, f"{cut(file.file, 60)}, first rows")))
