"""A user's table as a dataset: linked, and read where it is; or some of its rows copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.ui import desk
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.outcome import begin

if TYPE_CHECKING:
    from ctxasm.store.own.mapping import TableMapping

COPY_ONLY = (
    "It has no chunk_index, by which a link looks chunks up, so its rows can only be copied: those of each document are counted then. "
    "Map a column of whole numbers from 0 in each document to chunk_index to link it."
)
NOTE = "Linked, every question reads the table as it is then. A copy is a dataset of its own, and stays as it is."


def link_controls(connection: str, mapping: TableMapping) -> None:
    """The name, and the two ways."""
    from ctxasm.connecting import COPY_ROWS, copy_table, link

    workbench = desk.workbench()
    st.html(boxed(f'<p class="cx-note">{COPY_ONLY if mapping.counted else NOTE}</p>'))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        typed = st.text_input(
            "Dataset name", key="linked_name", placeholder=mapping.table, max_chars=100, persist_state="session", width=260
        )
        name = typed.strip() or mapping.table
        if not mapping.counted and st.button("Link the table", key="load_linked", type="primary", icon=":material/link:"):
            begin(
                f"link {name}",
                f"Linking {name}",
                name,
                lambda report, cancelled: link(workbench, connection, mapping, name),
                (connection, repr(mapping)),
            )
        most = int(st.number_input("Rows to copy", 1, 10_000_000, COPY_ROWS, 1000, key="copy_rows", persist_state="session", width=160))
        if st.button("Copy the rows", key="load_copy", icon=":material/content_copy:"):
            begin(
                f"copy {name}",
                f"Copying {name}",
                name,
                lambda report, cancelled: copy_table(workbench, connection, mapping, name, most, report, cancelled),
                (connection, repr(mapping), most),
            )
