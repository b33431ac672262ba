"""The prompt that a model was sent, in whatever form a client or a tracer wrote it: as turns, in their order.

Text alone is read: pictures, tools and the parameters of a call (where keys may stand) are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.passages import Object
from ctxasm.model.characters import is_visible
from ctxasm.model.records import Turn

MAX_LEVELS = 8
MOST_CHARS = 2_000_000
"""Characters of a prompt that are kept: more than any window holds."""
AROUND = ("messages", "input_messages", "prompts", "prompt", "input", "inputs", "contents", "value", "message")
"""Where requests keep their messages, the surest name first."""
SYSTEM = ("system", "system_instructions", "system_instruction", "systemInstruction", "instructions")
"""Where some keep the first of them apart."""
ROLES = {"human": "user", "humanmessage": "user", "ai": "assistant", "aimessage": "assistant", "model": "assistant"}
ROLES |= {"systemmessage": "system", "developer": "system", "chatmessage": "user"}
PROMPT_NAMES = ("prompt", "messages", "full_prompt", "final_prompt", "rendered_prompt", "llm_input", "model_input")
"""Under which names logs keep what the model was sent."""
TEXTS = ("content", "contents", "parts", "text")


def read_messages(value: object) -> tuple[Turn, ...]:
    """The turns of a prompt, those without a visible text left out; empty where there is none."""
    turns: list[Turn] = []
    room = MOST_CHARS
    for turn in _turns(value, "user", 0):
        if room > 0 and is_visible(turn.content):
            turns.append(Turn(turn.role, turn.content[:room]))
            room -= len(turns[-1].content)
    return tuple(turns)


def prompt_text(turns: Sequence[Turn]) -> str:
    """The prompt as one text."""
    return "\n\n".join(turn.content for turn in turns)


def _turns(value: object, role: str, level: int) -> Iterator[Turn]:
    found: Any = parsed(value)
    if level > MAX_LEVELS:
        return
    if isinstance(found, str):
        yield Turn(role, found)
    elif isinstance(found, list):
        for item in found:
            yield from _turns(item, role, level + 1)
    elif isinstance(found, Mapping):
        yield from _turns_of(found, role, level)


def _turns_of(found: Object, role: str, level: int) -> Iterator[Turn]:
    inner = found.get("kwargs") if found.get("type") == "constructor" else found.get("message")
    if isinstance(inner, Mapping) and any(name in inner for name in TEXTS):
        yield from _turns_of({"role": _role(found, role), **inner}, role, level + 1)
        return
    if "role" in found or any(name in found for name in ("content", "parts")):
        parts = next((found[name] for name in TEXTS if found.get(name)), "")
        if text := _text(parts, level + 1):
            yield Turn(_role(found, role), text)
        return
    for name in SYSTEM:
        if name in found:
            yield from _turns(found[name], "system", level + 1)
    for name in AROUND:
        if name in found:
            yield from _turns(found[name], role, level + 1)
            return


def _role(found: Object, otherwise: str) -> str:
    path = found.get("id")
    told = found.get("role") or (path[-1] if isinstance(path, list) and path else found.get("type"))
    known = str(told).lower().removesuffix("chunk")
    return ROLES.get(known, known if known in ("user", "assistant", "system", "tool") else otherwise)


def _text(parts: object, level: int) -> str:
    """What parts of a message say; a part that is no text says nothing."""
    if isinstance(parts, str):
        return parts
    if level > MAX_LEVELS:
        return ""
    if isinstance(parts, list):
        return "\n".join(text for part in parts if (text := _text(part, level + 1)))
    if isinstance(parts, Mapping):
        inner = parts.get("message_content")
        return _text(inner if isinstance(inner, Mapping) else next((parts[name] for name in TEXTS if parts.get(name)), ""), level + 1)
    return ""
