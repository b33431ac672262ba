"""The workbench behind the pages: opened once per server, the sample loaded where the store is empty."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import TYPE_CHECKING

from streamlit.runtime.caching import cache_resource

from ctxasm.app.ui.frame import typed_questions
from ctxasm.app.ui.frame.jobs import Jobs
from ctxasm.app.ui.frame.session import once, session
from ctxasm.app.ui.frame.typed_questions import with_typed_turns
from ctxasm.app.ui.unforeseen import secrets
from ctxasm.app.workbench import SAMPLE, Workbench
from ctxasm.config import read_config
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.model.datasets import DatasetInfo, QueryEntry
    from ctxasm.model.records import Answer, Query


def workbench() -> Workbench:
    """The one workbench of this server for the database that the environment names. Raises CtxasmError."""
    return _opened(os.environ.get("CTXASM_DATABASE_URL", ""))


@cache_resource(max_entries=4, show_spinner=False)
def _opened(database_url: str) -> Workbench:
    # The argument only names the cache entry: the config reads the same variable, and the secrets where it is not set.
    opened = Workbench(read_config(secrets=secrets()))
    if not opened.datasets():
        opened.load_sample()
    return opened


def jobs() -> Jobs:
    """The long work of this server for that database."""
    return _jobs(os.environ.get("CTXASM_DATABASE_URL", ""))


@cache_resource(max_entries=4, show_spinner=False)
def _jobs(database_url: str) -> Jobs:
    return Jobs()


def datasets() -> list[DatasetInfo]:
    """All datasets, the sample first, then the newest."""
    return sorted(workbench().datasets(), key=lambda info: info.name != SAMPLE)


def unreadable(info: DatasetInfo) -> str:
    """Why the tables of a linked dataset cannot be read now, empty where they can: it is listed though its database is down."""
    try:
        linked = workbench().links.dataset(info.name)
        if linked is not None:
            linked.some(1)
    except CtxasmError as error:
        return str(error)
    return ""


def query_list(info: DatasetInfo) -> list[QueryEntry]:
    """The typed questions of this session that are not saved, then the stored queries of a dataset version."""
    own = typed_questions.entries(info)
    hidden = {entry.query_id for entry in own}
    return [*own, *(entry for entry in _stored_queries(info)[0] if entry.query_id not in hidden)]


def stored_queries(info: DatasetInfo) -> int:
    """How many queries a dataset has, those that were typed and saved among them."""
    return len(_stored_queries(info)[0])


def is_stored(info: DatasetInfo, query_id: str) -> bool:
    """Whether a query can be found by its id in another session: loaded with the dataset, or saved to it."""
    return query_id not in typed_questions.unsaved(info)


def is_saved(info: DatasetInfo, query_id: str) -> bool:
    """Whether a query was typed and saved, so that it can be deleted."""
    return is_stored(info, query_id) and query_id in _stored_queries(info)[1]


def is_saved_before(info: DatasetInfo, query_id: str) -> bool:
    """Whether this question was searched for again though it is saved: what is shown is not what is saved."""
    return not is_stored(info, query_id) and query_id in _stored_queries(info)[1]


def saved_query(info: DatasetInfo, query_id: str) -> Query | None:
    """The saved question of this id as it was saved, None where there is none."""
    return workbench().query(info.name, query_id) if query_id in _stored_queries(info)[1] else None


def forget_queries() -> None:
    """Read the queries again: one was saved, deleted or loaded."""
    session.saves = session.saves + 1


def _stored_queries(info: DatasetInfo) -> tuple[list[QueryEntry], frozenset[str]]:
    """The stored queries, and the ids of those that were saved; read once per session and version."""
    from ctxasm.retrieval.searching import loaded_ids

    def read() -> tuple[list[QueryEntry], frozenset[str]]:
        bench = workbench()
        saved = frozenset(query.query_id for query in bench.store.saved_queries(info.name))
        return bench.query_list(info.name), saved and saved - loaded_ids(bench, info.name)

    return once("queries", (info.dataset_id, session.saves), read)


def query(info: DatasetInfo, query_id: str) -> Query:
    """A query of a dataset version, with the earlier turns that were typed for it; the last one is kept."""
    if (asked := typed_questions.unsaved(info).get(query_id)) is not None:
        return with_typed_turns(info.name, asked)
    key = (info.dataset_id, query_id, session.saves)
    return with_typed_turns(info.name, once("query", key, lambda: workbench().query(info.name, query_id)))


def data_key(dataset: str) -> Hashable:
    """What the questions of a dataset are kept under: another load or a saved question makes it another."""
    info = session.info
    return (dataset, info.dataset_id if info else 0, session.loads, session.saves)


def recorded_answers(dataset: str) -> dict[str, Answer]:
    """The answers that a dataset records, by question; read once for a version of it."""
    info = session.info
    if info is None or not info.answers:
        return {}
    answers = workbench().dataset(dataset).answers
    return dict(once("recorded", data_key(dataset), lambda: {answer.query_id: answer for answer in answers()}))
