"""An answer as a session keeps it: as far as it has come, how it was asked for, and what the check says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxasm.citations.checked import CheckedAnswer
from ctxasm.citations.markers import ResolvedMarker

if TYPE_CHECKING:
    from ctxasm.asking import AnswerResult


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as far as it has come, for one scene. `note` and `error` say why it is not whole.

    `asked` says how it was asked for, `marked` whether for markers: without them the blocks are its sources. `check` is
    None until it is checked; `unchecked` says why it cannot be.
    """

    stamp: str
    model: str
    is_language_model: bool
    text: str = ""
    markers: tuple[ResolvedMarker, ...] = ()
    done: bool = False
    complete: bool = False
    note: str | None = None
    error: str | None = None
    elapsed_ms: float = 0.0
    first_piece_ms: float | None = None
    called: bool = True
    asked: str = ""
    marked: bool = True
    check: CheckedAnswer | None = None
    scorer: str = ""
    unchecked: str = ""

    def finished(self, result: AnswerResult) -> Told:
        """The answer with all that its result says."""
        return replace(
            self,
            text=result.text,
            markers=result.markers,
            done=True,
            complete=result.complete,
            note=result.note,
            error=result.error,
            elapsed_ms=result.elapsed_ms,
            first_piece_ms=result.first_piece_ms,
            called=result.called,
            marked=result.marked,
        )


Attempt = tuple[Told, ...]
"""The answers that one press of the button brought: one for each model."""
KEPT_ATTEMPTS = 5
"""Answers to flip between that a session keeps."""
