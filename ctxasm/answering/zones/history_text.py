"""Earlier turns as text that a person types or a file holds: a transcript, a JSON list, or JSON Lines.

A transcript names the speaker at the start of a line ("User: …", "Assistant: …", also in Dutch); what follows belongs to that
turn. The JSON forms have a `role` and a `content` each, as chat clients write them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import Turn
from ctxasm.text.terms import as_matched

ROLES = ("user", "assistant", "system")
_SPEAKERS = {
    **dict.fromkeys(("user", "human", "gebruiker"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "assistent"), "assistant"),
    "system": "system",
}
_SPEAKER = re.compile(rf"(?im)^({'|'.join(_SPEAKERS)}):[ \t]*")
MOST_CHARS = 2_000_000
"""The longest history that is read."""


def parse_history(text: str) -> tuple[Turn, ...]:
    """The turns of a text, oldest first. Raises InvalidInput saying where it cannot be read and which forms can."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > MOST_CHARS:
        raise InvalidInput(f"a history must be at most {MOST_CHARS:,} characters, got {len(text):,}: leave the oldest turns out")
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text):
        raise InvalidInput("a history must be text, got NUL or a lone surrogate in it: save it as UTF-8 again")
    if not text:
        return ()
    return _turns(_values(text)) if text[0] in "[{" else _transcript(text)


def _values(text: str) -> list[tuple[str, Any]]:
    """Every value of a JSON list, or of JSON Lines, with the place that it has."""
    try:
        if text[0] == "[":
            listed = json.loads(text)
            return [(f"history[{position}]", value) for position, value in enumerate(listed)]
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        return [(f"line {number}", json.loads(line)) for number, line in lines]
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        reason = str(error) if isinstance(error, json.JSONDecodeError) else "too deeply nested, or a number of too many digits"
        raise InvalidInput(
            f'a history must be a JSON list, or a line each, of {{"role", "content"}}; this is not valid JSON: {reason}'
        ) from None


def _turns(values: Sequence[tuple[str, Any]]) -> tuple[Turn, ...]:
    turns = []
    for place, value in values:
        role, content = (value.get("role"), value.get("content")) if isinstance(value, dict) else (None, None)
        if role not in ROLES:
            raise InvalidInput(f"{place}: role must be one of {', '.join(ROLES)}, got {shown(role if isinstance(value, dict) else value)}")
        if not isinstance(content, str) or "\0" in content or any("\ud800" <= char <= "\udfff" for char in content):
            raise InvalidInput(f"{place}: content must be a text, got {shown(content)}")
        turns.append(Turn(role, content))
    return tuple(turns)


def _transcript(text: str) -> tuple[Turn, ...]:
    starts = list(_SPEAKER.finditer(text))
    if not starts or starts[0].start() > 0:
        line = text.partition("\n")[0]
        raise InvalidInput(f'a history must begin with a speaker, such as "User: …" or "Assistant: …", got {shown(line, 60)}')
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return tuple(Turn(_SPEAKERS[as_matched(match[1])], text[match.end() : end].strip()) for match, end in zip(starts, ends, strict=True))


def write_history(turns: Sequence[Turn]) -> str:
    """The turns as a transcript where `parse_history` reads that back, else as JSON Lines."""
    text = "\n".join(f"{turn.role.capitalize()}: {turn.content}" for turn in turns)
    try:
        if parse_history(text) == tuple(turns):
            return text
    except InvalidInput:
        pass
    return "\n".join(json.dumps({"role": turn.role, "content": turn.content}, ensure_ascii=False) for turn in turns)
