"""A name that is taken: what would go is said first, then one of three: add to the dataset, replace it, or take another name."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import OVER, session
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.data.load_conflicts import Over, Standing, lacks_sent, standing

if TYPE_CHECKING:
    from ctxasm.data.files.importing import Preview
    from ctxasm.model.datasets import DatasetInfo

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
    return said.get(session.value_of(_key(name)))


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
    session.forget_all(OVER)


def _key(name: str) -> str:
    return f"{OVER}{name}"


def _choose(box: str, name: str) -> None:
    if session.value_of(_key(name)) == OTHER:
        session.put(box, free_name(name))
        session.put(_key(name), None)


def _standing(info: DatasetInfo, preview: Preview) -> Standing:
    """Read once for a version of the dataset and what would be loaded."""
    wanted = (info.dataset_id, session.saves, session.loads, preview.content_hash)
    kept = session.standing
    if kept is None or kept[0] != wanted:
        workbench, counts = server.workbench(), preview.counts
        lacking = lacks_sent(workbench, info, counts.get("chunks", 0), counts.get("queries", 0), preview.answers)
        kept = session.standing = (wanted, standing(workbench, info)._replace(lacks_sent=lacking))
    return kept[1]
