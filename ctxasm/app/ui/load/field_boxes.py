"""Boxes that say from which column each field comes; used for files and for tables alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import Generic, NamedTuple, TypeVar

import streamlit as st

from ctxasm.app.ui.frame.session import Kept, session
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import cut

IN_A_ROW = 3
P = TypeVar("P")
M = TypeVar("M")
NONE = ""
"""What a box holds where no column is chosen."""


class KeptMappings(Generic[P, M]):
    """What a user chose instead of the guess, by file or table, kept in the session."""

    def __init__(self, mappings: Kept[Mapping[P, M]], turn: Kept[int]) -> None:
        self._mappings, self._turn = mappings, turn

    @property
    def all(self) -> Mapping[P, M]:
        """The chosen mappings."""
        return session.read(self._mappings)

    @property
    def turn(self) -> int:
        """Part of the keys of all boxes: in another turn they start anew, so that none shows an old pick."""
        return session.read(self._turn)

    def keep(self, place: P, mapping: M) -> None:
        """Use this mapping from now on."""
        session.keep(self._mappings, {**self.all, place: mapping})

    def forget(self, place: P) -> None:
        """Back to what was guessed."""
        session.keep(self._mappings, {key: value for key, value in self.all.items() if key != place})
        self.start_anew()

    def start_anew(self) -> None:
        """Let every box show what its mapping says."""
        session.keep(self._turn, self.turn + 1)


def show_lacking(words: str) -> None:
    """What a mapping still needs, where it needs something."""
    if words:
        st.html(boxed(f'<p class="cx-need" role="alert">{escape(words)}</p>'))


class Boxes(NamedTuple):
    """What the boxes offer (`paths`, for some fields `own_paths`) and hold: `columns` by field, `reasons` why each was guessed,
    `labels` those that are not called by their field. `pick` is told the field and the key.

    `key` begins the keys of the boxes; other columns must come with another key, so that no box shows an old pick.
    """

    columns: Mapping[str, str]
    paths: Sequence[str]
    needed: Collection[str]
    key: str
    pick: Callable[[str, str], None]
    reasons: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    own_paths: Mapping[str, Sequence[str]] = {}


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
    paths = boxes.own_paths.get(field, boxes.paths)
    options = [NONE, *paths, *([column] if column is not None and column not in paths else [])]
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
