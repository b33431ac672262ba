"""What is recorded of an answer in production: the prompt that was sent, and the names of the span that gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxasm.model.records import Answer, Turn


@dataclass(frozen=True, slots=True)
class Recorded:
    """`prompt` is empty, and the others None, where it is not recorded. `span_id` is as the trace has it."""

    prompt: tuple[Turn, ...] = ()
    model: str | None = None
    trace_id: str | None = None
    span_id: str | None = None

    @property
    def text(self) -> str:
        """The prompt as one text, a blank line between its messages."""
        return "\n\n".join(turn.content for turn in self.prompt)


def recorded_of(answer: Answer) -> Recorded:
    """Read from the metadata of an answer, whoever wrote them: what is not as it should be is not recorded."""
    listed = answer.metadata.get("prompt")
    turns = [
        Turn(str(one.get("role") or "user"), one["content"])
        for one in (listed if isinstance(listed, (list, tuple)) else ())
        if isinstance(one, Mapping) and isinstance(one.get("content"), str)
    ]
    if isinstance(listed, str) and listed.strip():
        turns = [Turn("user", listed)]
    named = {name: value for name in ("model", "trace_id", "span_id") if isinstance(value := answer.metadata.get(name), str) and value}
    return Recorded(tuple(turns), **named)
