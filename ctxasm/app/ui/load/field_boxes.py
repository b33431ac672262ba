"""Boxes that say from which column each field comes; used for files and for tables alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.ui.load_tables import cut
from ctxasm.ui.pictures import boxed

IN_A_ROW = 3
NONE = ""
"""What a box holds where no column is chosen."""


class Boxes(NamedTuple):
    """What the boxes offer and hold: `columns` by field, `reasons` why each was guessed, `labels` those
    that are not called by their field. `pick` is told the field and the key.

    `key` begins the keys of the boxes; other columns must come with another key, so that no box shows an old pick.
    """

    columns: Mapping[str, str]
    paths: Sequence[str]
    needed: Collection[str]
    key: str
    pick: Callable[[str, str], None]
    reasons: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}


def field_boxes(first: Sequence[str], later: Sequence[str], boxes: Boxes) -> None:
    """A box for each field; the later ones behind a click."""
    _rows(first, boxes)
    if later:
        with st.expander(f"{len(later)} more fields", key=f"{boxes.key}/more"):
            _rows(later, boxes)


def _rows(fields: Sequence[str], boxes: Boxes) -> None:
    for start in range(0, len(fields), IN_A_ROW):
        for place, field in zip(st.columns(IN_A_ROW, gap="small"), fields[start : start + IN_A_ROW], strict=False):
            with place:
                _box(field, boxes)


def _box(field: str, boxes: Boxes) -> None:
    column = boxes.columns.get(field)
    options = [NONE, *boxes.paths, *([column] if column is not None and column not in boxes.paths else [])]
    key = f"{boxes.key}/{field}"
    st.selectbox(
        f"{field} *" if field in boxes.needed else boxes.labels.get(field, field),
        options,
        index=0 if column is None else options.index(column),
        format_func=lambda path: cut(str(path), 60) or "no column",
        accept_new_options=True,
        key=key,
        on_change=boxes.pick,
        args=(field, key),
    )
    if reason := boxes.reasons.get(field, ""):
        st.html(boxed(f'<p class="cx-why">{escape(cut(reason, 90))}</p>'))
