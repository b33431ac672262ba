"""Server-sent events that were saved as they came (`data: {…}` lines): the one reply that they make together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.names import ANSWER_WORDS, CARRIER_WORDS, words_of

_FIELD = re.compile(r"(?:data|event|id|retry)?[ \t]*:|\w*:[ \t\r]*$")
"""A line of a stream; what begins with the colon is a comment, as a ping is."""
_DATA, _EVENT = re.compile(r"data[ \t]*:[ \t]?(.*)"), re.compile(r"event[ \t]*:[ \t]*(.*)")
ONE_OF = frozenset(("citation", "annotation", "source_document"))
"""Names of objects that come one an event."""
GROWING = ANSWER_WORDS | CARRIER_WORDS | {"token", "chunk", "piece"}
"""Words of the names under which pieces of a text come."""


def events_in(text: str) -> list[Mapping[str, Any]] | None:
    """The objects of a saved stream; None where the text is none."""
    if "data:" not in text or _FIELD.match(text.lstrip().partition("\n")[0]) is None:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    if not all(_FIELD.match(line) for line in lines):
        return None
    return list(_events(text)) or None


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    """Each event as an object: its data, or its data under its name where they are none."""
    for block in re.split(r"\n[ \t\r]*\n", text):
        name = next((found[1].strip() for line in block.splitlines() if (found := _EVENT.match(line.strip()))), "")
        lines = [found[1] for line in block.splitlines() if (found := _DATA.match(line.rstrip("\r")))]
        whole = "\n".join(lines)
        for data in [whole] if isinstance(parsed(whole), Mapping) else lines:
            value = parsed(data)
            if isinstance(value, Mapping):
                yield value
            elif isinstance(value, list) or (data.strip() and data.strip() != "[DONE]"):
                is_piece = isinstance(value, str) and (not name or bool(set(words_of(name)) & GROWING))
                yield {"answer" if is_piece else name or "content": _text(data) if isinstance(value, str) else value}


def _text(data: str) -> str:
    try:
        return str(json.loads(data)) if data.startswith('"') else data
    except ValueError:
        return data


def merged(events: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The reply that events make: pieces of texts joined, of everything else the last that says something."""
    reply: dict[str, Any] = {}
    for event in events:
        name = next((event[key] for key in ("event", "type") if isinstance(event.get(key), str)), "")
        apart = {
            key: value
            for key, value in event.items()
            if isinstance(value, (list, Mapping)) != isinstance(reply.get(key, value), (list, Mapping)) and value is not None
        }
        _merge(reply, {**{key: value for key, value in event.items() if key not in apart}, **({name or "data": apart} if apart else {})})
    return reply


def _merge(reply: dict[str, Any], event: Mapping[str, Any]) -> None:
    for name, value in event.items():
        known = reply.get(name)
        if isinstance(value, Mapping) and name in ONE_OF:
            reply.setdefault(f"{name}s", []).append(dict(value))
        elif isinstance(value, Mapping):
            inner = known if isinstance(known, dict) else {}
            _merge(inner, value)
            reply[name] = inner
        elif isinstance(value, list) and isinstance(known, list) and value and len(value) <= len(known):
            for at, item in enumerate(value):
                if isinstance(item, Mapping) and isinstance(known[at], dict):
                    _merge(known[at], item)
                else:
                    known[at] = item
        elif isinstance(value, list):
            if value or known is None:
                reply[name] = [_copied(item) for item in value]
        elif isinstance(value, str) and isinstance(known, str) and set(words_of(name)) & GROWING and value not in ("", "[DONE]", known):
            reply[name] = (
                value if value.startswith(known) else known if known.endswith(value) and len(value) > len(known) // 2 else known + value
            )
        elif known is None or value not in (None, "", "[DONE]"):
            reply[name] = value


def _copied(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    made: dict[str, Any] = {}
    _merge(made, item)
    return made
