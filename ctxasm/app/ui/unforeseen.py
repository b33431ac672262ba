"""What a page says where something is wrong that no page foresaw: a sentence, and never a stack trace. And what the secrets hold."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import streamlit as st

from ctxasm.app.ui.guard import MARK
from ctxasm.app.ui.words import plain
from ctxasm.model.errors import CtxasmError, missing_package


def secrets() -> Mapping[str, object]:
    """Streamlit's secrets, empty where there is no file."""
    try:
        return {str(name): value for name, value in st.secrets.items()}
    except (FileNotFoundError, st.errors.StreamlitSecretNotFoundError):
        return {}


UNGUARDED = (
    "This way to start the workbench takes any Host header, and so lets web pages in: nothing is shown. "
    "Start it with `ctxasm serve`, `streamlit run app.py` or `uvicorn app:app`."
)


def show_unforeseen(error: Exception) -> bool:
    """Say what is missing, what the error itself says where it is one of ours, or where the trace is; True: Streamlit adds nothing."""
    sentence = str(error) if isinstance(error, CtxasmError) else missing_package(error)
    if not sentence:
        from ctxasm.app.faults import report_crash

        sentence = report_crash(error, secrets=secrets())
    st.error(f"This page cannot go on: {plain(sentence)}")
    return True


def refuse_unguarded() -> None:
    """Show nothing where the request did not come through the guard; under test there is no request."""
    headers = st.context.headers
    if headers and MARK not in headers:
        print(f"ctxasm: {UNGUARDED}", file=sys.stderr, flush=True)
        st.error(UNGUARDED)
        st.stop()
