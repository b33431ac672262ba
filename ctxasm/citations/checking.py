"""An answer held against the context that it was given: the door of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxasm.citations.figures import Likeness
    from ctxasm.citations.report import CheckedAnswer
    from ctxasm.model.messages import Cancel
    from ctxasm.model.results import Assembly
    from ctxasm.model.support import Scorer


def check(
    assembly: Assembly, answer: str, scorer: Scorer, cancel: Cancel | None = None, cut: bool = False, likeness: Likeness | None = None
) -> CheckedAnswer:
    """Every claim of an answer from this context, with its verdict, and whether it may answer the question.

    `cut` for an answer that broke off; `likeness` is that of an embedder, for answers that share few words with the question.

    Raises ModelUnavailable where the scorer's model fails.
    """
    from ctxasm.citations.alignment import check_answer
    from ctxasm.citations.grounds import grounds_of_assembly
    from ctxasm.text.formats import expects_markers

    query, settings = assembly.query, assembly.settings
    return check_answer(
        answer,
        grounds_of_assembly(assembly),
        scorer,
        query_id=query.query_id,
        question=query.query,
        voice=settings.channel == "voice",
        marked=expects_markers(settings),
        cut=cut,
        likeness=likeness,
        reading="strict",
        cancel=cancel,
    )
