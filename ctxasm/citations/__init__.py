"""From an answer to verdicts: markers, claims, and what carries each claim or stands against it.

Start at `check`. Who says how far a text carries a claim is a scorer: `lexical`, which needs no model, or one of `scorers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.citations.checked import CheckedClaim, Claim, Figures, Support
    from ctxasm.citations.checking import check
    from ctxasm.citations.report import CheckedAnswer, summary_sentence

__all__ = ["CheckedAnswer", "CheckedClaim", "Claim", "Figures", "Support", "check", "summary_sentence"]
__getattr__ = door(
    __name__,
    checking="check",
    checked="CheckedClaim Claim Figures Support",
    report="CheckedAnswer summary_sentence",
)
