"""The answers that a dataset records, read once for a version of it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import once, session

if TYPE_CHECKING:
    from ctxasm.model.records import Answer


def data_key(dataset: str) -> Hashable:
    """What the questions of a dataset are kept under: another load or a saved question makes it another."""
    info = session.info
    return (dataset, info.dataset_id if info else 0, session.loads, session.saves)


def recorded_answers(dataset: str) -> dict[str, Answer]:
    """The answers that a dataset records, by question; read once for a version of it."""
    info = session.info
    if info is None or not info.answers:
        return {}
    answers = server.workbench().dataset(dataset).answers
    return dict(once("recorded", data_key(dataset), lambda: {answer.query_id: answer for answer in answers()}))
