"""The answer that Review shows: kept by the session, and part of the address of that page alone."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from ctxasm.app.ui.frame.session import Session, session

REVIEW = "review"
"""The path of the page."""
RUN = "run"
"""The URL parameter that names the answer."""


def run_address(path: str) -> dict[str, str]:
    """What of an address names the answer that is judged; nothing on other pages."""
    return {RUN: session.review_run} if path == REVIEW and session.review_run else {}


def take_run(path: str, parameters: Mapping[str, str]) -> None:
    """Open the answer that an address of Review names."""
    if path == REVIEW:
        session.review_run = parameters.get(RUN)


def review_address(dataset: str, run_id: str | None = None) -> str:
    """Of Review, on the answers of a dataset, or on one of them: the link that an engineer hands to a reviewer."""
    return f"./{REVIEW}?{urlencode({Session.dataset_name.key: dataset, **({RUN: run_id} if run_id else {})})}"
