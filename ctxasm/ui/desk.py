"""The workbench behind the pages: opened once per server, the sample loaded where the store is empty."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.caching import cache_resource

from ctxasm.config import read_config
from ctxasm.ui.jobs import Jobs
from ctxasm.ui.zones_state import with_typed_turns
from ctxasm.workbench import SAMPLE, Workbench

if TYPE_CHECKING:
    from ctxasm.model.records import Query
    from ctxasm.store.listing import DatasetInfo, QueryEntry


def secrets() -> Mapping[str, object]:
    """Streamlit's secrets, empty where there is no file."""
    try:
        return {str(name): value for name, value in st.secrets.items()}
    except (FileNotFoundError, st.errors.StreamlitSecretNotFoundError):
        return {}


def workbench() -> Workbench:
    """The one workbench of this server for the database that the environment names. Raises CtxasmError."""
    return _opened(os.environ.get("CTXASM_DATABASE_URL", ""))


@cache_resource(max_entries=4, show_spinner=False)
def _opened(database_url: str) -> Workbench:
    # The argument only names the cache entry: the config reads the same variable, and the secrets where it is not set.
    desk = Workbench(read_config(secrets=secrets()))
    if not desk.datasets():
        desk.load_sample()
    return desk


def jobs() -> Jobs:
    """The long work of this server for that database."""
    return _jobs(os.environ.get("CTXASM_DATABASE_URL", ""))


@cache_resource(max_entries=4, show_spinner=False)
def _jobs(database_url: str) -> Jobs:
    return Jobs()


def datasets() -> list[DatasetInfo]:
    """All datasets, the sample first, then the newest."""
    return sorted(workbench().datasets(), key=lambda info: info.name != SAMPLE)


def query_list(info: DatasetInfo) -> list[QueryEntry]:
    """The queries of a dataset version; read once per session and version."""
    kept = st.session_state.get("_query_list")
    if kept is None or kept[0] != info.dataset_id:
        kept = (info.dataset_id, workbench().query_list(info.name))
        st.session_state["_query_list"] = kept
    entries: list[QueryEntry] = kept[1]
    return entries


def query(info: DatasetInfo, query_id: str) -> Query:
    """A query of a dataset version, with the earlier turns that were typed for it; the last one is kept."""
    kept = st.session_state.get("_query")
    if kept is None or kept[0] != (info.dataset_id, query_id):
        kept = ((info.dataset_id, query_id), workbench().query(info.name, query_id))
        st.session_state["_query"] = kept
    found: Query = kept[1]
    return with_typed_turns(info.name, found)
