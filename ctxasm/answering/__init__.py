"""From context to answer: the prompt, the window it must fit, the streamed answer.

Start at `ask`: it streams an answer to the query of an assembly. What is sent is put together in `prompts`; how a window is shared out
among prompt, history, context and answer is worked out in `zones`, before anything is assembled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.answering.asking import AnswerResult, AnswerStream, Marked, Piece, answer, ask

__all__ = ["AnswerResult", "AnswerStream", "Marked", "Piece", "answer", "ask"]
__getattr__ = door(
    __name__,
    asking="AnswerResult AnswerStream Marked Piece answer ask",
)
