"""Find text: every chunk of the dataset that holds a phrase, retrieved or not, and its fate for this query."""

from __future__ import annotations

from html import escape

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty, within
from ctxasm.app.ui.widgets.context_marks import fate_chip, marked_phrase, number_chip
from ctxasm.app.ui.widgets.expected import Expected, sign_html
from ctxasm.app.ui.widgets.fates import fate_of
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.model.amounts import counted
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.results import Assembly
from ctxasm.model.stage_labels import REASONS

LIMIT = 100
LONGEST_PHRASE = 300


def _row(assembly: Assembly, chunk: FetchedChunk, phrase: str, marks: Expected) -> tuple[int, str, str]:
    key = (chunk.document_id, chunk.chunk_index)
    name = f"{sign_html(marks, key)} <b>{escape(f'{key[0]} #{key[1]}')}</b><br>{marked_phrase(chunk.text, phrase)}"
    fate = fate_of(assembly, key)
    if fate is None:
        return 3, name, '<span class="cx-fate gone">not retrieved</span><br>nor reached by expansion'
    sent = fate.fate in ("kept", "truncated", "merged")
    why = f" {number_chip(fate.block)}" if sent and fate.block is not None else f"<br>{escape(REASONS.get(fate.reason or '', ''))}"
    return (0 if sent else 1 if fate.fate == "duplicate_of" else 2), name, f"{fate_chip(fate)}{why}"


def show_find(scene: Scene, assembly: Assembly, marks: Expected, hint: bool = True) -> None:
    """A phrase, and where it went; what was found can be marked as expected. `hint`: an empty one says what it is for."""
    typed = st.text_input("Phrase", key="find_phrase", placeholder="e.g. a name, a number, half a sentence", persist_state="session")
    phrase = within("A phrase", typed, LONGEST_PHRASE)
    if not phrase:
        if hint and phrase is not None:
            told = "Type a phrase: every chunk of the dataset that holds it is listed, with its fate for this query."
            show_empty("Where did it go?", told)
        return
    found = server.workbench().find_text(scene.dataset, phrase, LIMIT)
    if not found:
        show_empty("Not in this dataset", "No chunk holds this phrase. Case does not matter, spelling does.")
        return
    rows = sorted((_row(assembly, chunk, phrase, marks) for chunk in found), key=lambda row: row[0])
    shown = (
        f"{counted(len(found), 'chunk')}{' (the first ' + str(LIMIT) + ')' if len(found) == LIMIT else ''}, "
        f"{sum(row[0] < 2 for row in rows)} of them in the context"
    )
    st.html(boxed(table_html(("chunk", "fate"), [row[1:] for row in rows], caption=escape(shown)), "ctx-find"))
