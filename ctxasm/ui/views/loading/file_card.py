"""One table of the files: what it was recognised as, its columns as fields, its first rows, how it was read."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.ui.load_tables import cut, notes_html, preview_html
from ctxasm.ui.mapping_choices import lacking
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.mapping import mapping_editor
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.bundle.importing import FilePreview
    from ctxasm.bundle.mapping_form import ColumnMapping


def mappings_in_use() -> tuple[dict[str, ColumnMapping], str]:
    """The mappings that the user chose and that can be used, and what the first of the others still needs."""
    chosen: dict[str, ColumnMapping] = st.session_state.get("_mappings", {})
    needs = [f"{cut(file, 60)}: {words}" for file, mapping in chosen.items() if (words := lacking(mapping))]
    return {file: mapping for file, mapping in chosen.items() if not lacking(mapping)}, next(iter(needs), "")


def file_card(file: FilePreview, at: int, is_only: bool) -> None:
    """The card of a table; its rows lie open where it is the only one, or its columns are to be looked at."""
    chosen: dict[str, Any] = st.session_state.get("_mappings", {})
    mapping = chosen.get(file.file, file.mapping)
    with st.container(border=True, key=f"file_{at}"):
        st.html(boxed(_head(file, chosen)))
        if mapping is None and file.columns:
            if st.toggle("Map its columns myself", key=f"_own_mapping_{at}", value=file.shape is None and not _is_bundle(file)):
                mapping_editor(file, None, at)
        elif mapping is not None:
            mapping_editor(file, mapping, at)
        shown = mapping if mapping is not None and not lacking(mapping) else None
        used = {column: field for field, column in shown.columns.items()} if shown is not None else {}
        if file.rows:
            with st.expander(_rows_label(file), expanded=is_only or mapping is not None, key=f"rows_{at}"):
                st.html(boxed(preview_html(file.columns, file.rows, used, f"{cut(file.file, 60)}, first rows")))


def _is_bundle(file: FilePreview) -> bool:
    return file.understood.endswith(" of a bundle")


def _rows_label(file: FilePreview) -> str:
    shown = len(file.rows)
    return f"First {shown} of {number(file.row_count)} rows" if file.row_count > shown else plural(shown, "row")


def _head(file: FilePreview, chosen: dict[str, Any]) -> str:
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
        f'<span class="cx-badge">{plural(file.row_count, "row")}</span>{failing}</div>{notes_html(file.notes)}</div>'
    )


def _failing(file: FilePreview) -> str:
    if file.failing:
        return f"{plural(file.failing, 'row')} with a problem"
    return plural(len(file.problems), "problem")
