"""Files of one's own, or pasted text: taken in, understood, looked at, and imported whole or in part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from html import escape
from itertools import count as counting
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import awaited, give_up
from ctxasm.app.ui.frame.session import FILE_MAPPING, Session, session
from ctxasm.app.ui.frame.title import show_trouble, within
from ctxasm.app.ui.load.importing import import_controls, joined_name, joined_onto
from ctxasm.app.ui.load.load_jobs import EXPLAIN, begin
from ctxasm.app.ui.load.mapping import lacking, mapping_editor
from ctxasm.app.ui.load.row_tables import asked_html, notes_html, preview_html
from ctxasm.app.ui.load.taken_name import taken_by
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import cut, number, plain
from ctxasm.data.files.cells import HIT_FIELDS
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.importing import FilePreview, Preview

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
    turn = session.files_turn
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
    files: Any = session.value_of(f"files_{turn}") or ()
    _add(told_apart([(file.name, file.getvalue()) for file in files], set()))
    session.files_turn = turn + 1


def _add(files: list[Taken]) -> None:
    """Take them in; one that was dropped before is dropped again because it was repaired."""
    kept = dict(_taken()) | dict(files)
    session.files, session.report = tuple(kept.items()), None


def _paste() -> None:
    # With another key it is closed once a text is taken: it would cover what the text was taken for.
    with st.popover("Paste text", icon=":material/content_paste:", key=f"paste_{len(_taken())}"):
        st.text_area(
            "JSON, JSON Lines, a table, or a prompt with its answer",
            key=Session.pasted.key,
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
    from ctxasm.app.explained import open_trace
    from ctxasm.data.files.loading import PASTED

    if pasted := tuple(_pasted(PASTED)):
        workbench, digest = server.workbench(), hashlib.sha256(pasted[0][1]).hexdigest()
        begin(f"{EXPLAIN} {digest[:16]}", "Reading the answer", PASTED, lambda report, cancelled: open_trace(workbench, pasted), digest)


def start_over() -> None:
    """Let go of the files (a callback)."""
    session.forget_all(FILE_MAPPING)
    session.files, session.mappings, session.report = (), {}, None
    give_up("preview")
    give_up("valid_part")


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
        found: Preview = awaited("preview", wanted, lambda report, cancelled: preview_files(workbench, taken, mappings, into, onto))
    except CtxasmError as error:
        show_trouble("These files cannot be read", str(error), "Remove the file, or repair it and drop it again; nothing was loaded.")
        return None
    return found


def stamp_of_files(taken: tuple[Taken, ...]) -> str:
    """A digest of what was taken in: worked out once for the same files."""
    kept = session.files_stamp
    if kept is None or kept[0] is not taken:
        digest = hashlib.sha256()
        for name, data in taken:
            digest.update(f"{len(name)}/{len(data)}/{name}".encode("utf-8", "replace") + data)
        kept = (taken, digest.hexdigest())
        session.files_stamp = kept
    return kept[1]


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
            st.html(boxed(asked_html(file.asked)))
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
