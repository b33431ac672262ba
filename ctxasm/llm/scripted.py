"""A model that misbehaves on purpose, built from the extractive answer: for demos and tests of what a check must catch.

Where no markers are expected, as in a spoken answer, the modes that spoil markers leave it as it is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from ctxasm.llm.client import Pieces, Produce
from ctxasm.llm.extractive import extract_answer, in_words, refusal_in
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.messages import Cancel, Message
from ctxasm.model.results import Assembly
from ctxasm.text.formats import expects_markers

MODES = ("wrong_number", "out_of_range", "range", "split_tokens", "none", "stall", "cut")
STALL_SECONDS = 10.0
_MARKER = re.compile(r" ?\[(SOURCE )?(\d+)\](?= |$)")


class ScriptedModel:
    """Not a language model. `mode` is one of MODES; `stall_seconds` is how long `stall` waits before it fails."""

    is_language_model = False

    def __init__(self, mode: str, stall_seconds: float = STALL_SECONDS) -> None:
        if mode not in MODES:
            raise InvalidInput(f"scripted mode must be one of {', '.join(MODES)}, got {shown(mode)}")
        self.mode, self._stall_seconds = mode, stall_seconds

    @property
    def name(self) -> str:
        return f"scripted, no language model ({self.mode.replace('_', ' ')})"

    def stream(
        self,
        messages: Sequence[Message],
        *,
        assembly: Assembly,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> Pieces:
        """Stream the misbehaving answer. `stall` and `cut` end in ModelUnavailable with the first half as `partial`."""
        answer = extract_answer(assembly, max_tokens, refusal_in(messages))
        if expects_markers(assembly.settings):
            answer = spoil(answer, self.mode, len(assembly.citations))
        if self.mode in ("stall", "cut"):
            return Pieces(self._broken(answer, cancel))
        return Pieces(_in_characters(answer, cancel) if self.mode == "split_tokens" else in_words(answer, cancel))

    def _broken(self, answer: str, cancel: Cancel | None) -> Produce:
        half = answer[: max(1, len(answer) // 2)]
        if (yield from in_words(half, cancel)) == "cancelled":
            return "cancelled"
        if self.mode == "stall":
            until = time.monotonic() + self._stall_seconds
            while time.monotonic() < until:
                if cancel is not None and cancel():
                    return "cancelled"
                time.sleep(0.02)
            raise ModelUnavailable(
                f"the scripted model sent nothing for {self._stall_seconds:g} seconds: ask again or choose another model", half
            )
        raise ModelUnavailable("the scripted model broke off in the middle of its answer: ask again or choose another model", half)


def spoil(answer: str, mode: str, count: int) -> str:
    """`answer` with its markers made wrong as `mode` says; `count` is the number of citations."""
    if mode == "none":
        return _MARKER.sub("", answer)
    if mode == "range":
        return _renumbered(answer, lambda number: f"1-{max(2, count)}")
    if mode == "out_of_range" or (mode == "wrong_number" and count < 2):
        return _renumbered(answer, lambda number: str(number + max(1, count)))
    if mode == "wrong_number":
        return _renumbered(answer, lambda number: str(number % count + 1))
    return answer


def _renumbered(answer: str, wrong: Callable[[int], str]) -> str:
    return _MARKER.sub(lambda match: f" [{match[1] or ''}{wrong(int(match[2]))}]", answer)


def _in_characters(answer: str, cancel: Cancel | None) -> Produce:
    for char in answer:
        if cancel is not None and cancel():
            return "cancelled"
        yield char
    return "stop"
