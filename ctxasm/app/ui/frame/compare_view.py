"""What Compare shows of A and B: kept by the session, and part of the address of that page alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from ctxasm.app.ui.frame.session import session
from ctxasm.model.settings import AssemblySettings

View = Literal["question", "all", "answers", "blind"]
VIEWS: tuple[View, ...] = get_args(View)
COMPARE = "compare"
"""The path of the page."""
VIEW, ONLY = "view", "only"
"""The URL parameters of the view, and of the questions that "all" lists."""
FIRST: View = "question"
EVERY = "all"
"""What of the questions is listed where no filter is chosen."""


def view_address(view: str, only: str = EVERY) -> dict[str, str]:
    """What of an address says it: nothing of what is shown without being asked for."""
    return {VIEW: view} | ({ONLY: only} if view == "all" and only != EVERY else {}) if view != FIRST else {}


def shown_address(path: str) -> dict[str, str]:
    """The same of what is shown now; nothing on other pages."""
    return view_address(session.compare_view, session.compare_filter) if path == COMPARE else {}


def is_blind(path: str) -> bool:
    """Whether a blind review is shown: then nothing names a question but the review itself."""
    return path == COMPARE and session.compare_view == "blind" and isinstance(session.pinned, AssemblySettings)


def is_about_a_question(path: str) -> bool:
    """Whether what is shown is about the question of the sidebar: not a view of Compare over all of them, nor a blind review."""
    return path != COMPARE or session.compare_view == FIRST or not isinstance(session.pinned, AssemblySettings)


def take_view(path: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Show what an address of Compare says; sentences on what of it cannot be used."""
    if path != COMPARE:
        return ()
    view = parameters.get(VIEW, FIRST)
    session.compare_view, session.compare_filter = view if view in VIEWS else FIRST, parameters.get(ONLY, EVERY)
    return () if view in VIEWS else (f"{VIEW} must be one of {', '.join(VIEWS)}, got {view[:60]!r}",)
