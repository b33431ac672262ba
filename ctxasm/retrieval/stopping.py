"""Ending a search on request."""

from __future__ import annotations

from ctxasm.model.errors import CtxasmError
from ctxasm.model.progress import Cancelled


class SearchStopped(CtxasmError):
    """The search, or the making of its index, was ended on request. Nothing was changed."""

    def __init__(self) -> None:
        super().__init__("the search was stopped on request")


def stop_if(cancelled: Cancelled) -> None:
    """Raise SearchStopped when cancelled."""
    if cancelled():
        raise SearchStopped
