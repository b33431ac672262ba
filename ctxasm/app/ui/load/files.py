"""Files of one's own, or pasted text: taken in, understood, looked at, and imported whole or in part."""

from __future__ import annotations

import hashlib
from itertools import count as counting
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.awaiting import awaited, give_up
from ctxasm.ui.load_tables import cut
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.plain import plain
from ctxasm.ui.views.loading.file_card import file_card, mappings_in_use
from ctxasm.ui.views.loading.importing import import_controls
from ctxasm.ui.views.title import show_trouble
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.bundle.importing import Preview

Taken = tuple[str, bytes]
KINDS = ["json", "jsonl", "ndjson", "csv", "tsv", "txt", "parquet", "zip", "gz"]
NOTE = (
    "JSON, JSON Lines, CSV, Parquet, or a .zip of them: a bundle, a dump of LangChain, LlamaIndex or Haystack, traces of Phoenix or "
    "Langfuse, Ragas or BEIR files, or any table with a column of text. Several files are loaded together, as one dataset."
)
MOST_CARDS = 20
MOST_PASTED = 2_000_000
BUNDLE = (
    ("documents.jsonl", "document_id, title?, source?, summary?, date?"),
    ("chunks.jsonl", "document_id, chunk_index, text, start?, end?, page_number?, section?"),
    ("queries.jsonl", "query_id, query, gold?, spans?, answer?, history?"),
    ("retrievals.jsonl", "query_id, retrieved: [document_id, chunk_index, score, rank?], search_method?, bm25_matches?"),
    ("answers.jsonl", "query_id, answer (optional file)"),
)


def show_files() -> None:
    """Take files in; then what they hold, and the way to import it."""
    st.html(boxed(f'<p class="cx-note">{NOTE}</p>'))
    turn = st.session_state.setdefault("_files_turn", 0)
    st.file_uploader(
        "Files",
        KINDS,
        accept_multiple_files=True,
        key=f"files_{turn}",
        on_change=_take,
        args=(turn,),
        max_upload_size=desk.workbench().config.max_upload_mb,
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, gap="small"):
        _paste()
        with st.popover("What is in a bundle?"):
            rows = [(f"<code>{file}</code>", fields) for file, fields in BUNDLE]
            st.html(boxed(table_html(("file", "fields of a line (? may be absent)"), rows)))
    if taken := _taken():
        _show_taken(taken)


def _taken() -> tuple[Taken, ...]:
    found: tuple[Taken, ...] = st.session_state.get("_files", ())
    return found


def _take(turn: int) -> None:
    """Keep what was dropped, and give the drop zone a fresh start: it forgets its files when another tab is opened."""
    files: Any = st.session_state.get(f"files_{turn}") or ()
    _add(told_apart([(file.name, file.getvalue()) for file in files], set()))
    st.session_state["_files_turn"] = turn + 1


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


def _add(files: list[Taken]) -> None:
    """Take them in; one that was dropped before is dropped again because it was repaired."""
    kept = dict(_taken()) | dict(files)
    st.session_state["_files"], st.session_state["_report"] = tuple(kept.items()), None


def _paste() -> None:
    with st.popover("Paste text", icon=":material/content_paste:"):
        st.text_area(
            "JSON, JSON Lines or a table with a line of column names",
            key="_pasted",
            height=200,
            max_chars=MOST_PASTED,
            placeholder='{"document_id": "a", "chunk_index": 0, "text": "…"}',
        )
        st.button("Take it", key="take_pasted", on_click=_take_pasted, type="primary")


def _take_pasted() -> None:
    text = str(st.session_state.get("_pasted") or "")
    if text.strip():
        _add(told_apart([("pasted.txt", text.encode("utf-8", "surrogatepass"))], {name for name, _ in _taken()}))
        st.session_state["_pasted"] = ""


def start_over() -> None:
    """Let go of the files (a callback)."""
    for key in [key for key in st.session_state if str(key).startswith("_map/")]:
        del st.session_state[key]
    st.session_state["_files"], st.session_state["_mappings"], st.session_state["_report"] = (), {}, None
    give_up("preview")
    give_up("valid_part")


def _remove(name: str) -> None:
    st.session_state["_files"] = tuple(file for file in _taken() if file[0] != name)


def _show_taken(taken: tuple[Taken, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="files_taken"):
        size = sum(len(data) for _, data in taken)
        st.html(boxed(f'<h2 class="cx-h">{plural(len(taken), "file")}<small>{_size(size)}</small></h2>'))
        if len(taken) > 1:
            with st.popover("Remove one"):
                for at, (name, data) in enumerate(taken[:50]):
                    st.button(f"{plain(cut(name, 50))} · {_size(len(data))}", key=f"remove_{at}", on_click=_remove, args=(name,))
        st.button("Start over", key="start_over", on_click=start_over)
    mappings, unready = mappings_in_use()
    preview = _preview(taken, mappings)
    if preview is None:
        return
    for at, file in enumerate(preview.files[:MOST_CARDS]):
        file_card(file, at, is_only=len(preview.files) == 1)
    if len(preview.files) > MOST_CARDS:
        st.html(boxed(f'<p class="cx-note">… and {plural(len(preview.files) - MOST_CARDS, "more table")}.</p>'))
    import_controls(taken, preview, mappings, unready, stamp_of_files(taken))


def _preview(taken: tuple[Taken, ...], mappings: dict[str, Any]) -> Preview | None:
    """What the files hold; None after saying why that cannot be known."""
    from ctxasm.loading import preview_files

    workbench = desk.workbench()
    wanted = (stamp_of_files(taken), repr(mappings))
    try:
        found: Preview = awaited("preview", wanted, lambda report, cancelled: preview_files(workbench, taken, mappings))
    except CtxasmError as error:
        show_trouble("These files cannot be read", str(error), "Remove the file, or repair it and drop it again; nothing was loaded.")
        return None
    return found


def stamp_of_files(taken: tuple[Taken, ...]) -> str:
    """A digest of what was taken in: worked out once for the same files."""
    kept = st.session_state.get("_files_stamp")
    if kept is None or kept[0] is not taken:
        digest = hashlib.sha256()
        for name, data in taken:
            digest.update(f"{len(name)}/{len(data)}/{name}".encode("utf-8", "replace") + data)
        kept = (taken, digest.hexdigest())
        st.session_state["_files_stamp"] = kept
    return str(kept[1])


def _size(count: int) -> str:
    if count < 1000:
        return plural(count, "byte")
    return f"{number(count / 1000)} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
