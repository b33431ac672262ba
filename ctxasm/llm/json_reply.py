"""The JSON object in a model's reply, checked against the part of JSON Schema that judging needs.

Small on purpose: `type`, `enum`, `const`, `required`, `properties`, `items`, `anyOf`, `minimum`, `maximum`, `minItems`,
`maxItems`, `minLength`, `maxLength` and `$ref` into the schema's own `$defs`. Other keywords are not checked; fields that
the schema does not name may stand beside those it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ctxasm.model.errors import shown

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_MAX_TRIES = 100
"""Braces at which an object is looked for: each try may read to the end of the reply."""
_MAX_DEPTH = 40
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


class NotValid(Exception):
    """The reply holds no object that fits. The message says where and why, for the model and for the user."""


def object_in(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The first JSON object in `text` that fits `schema`, whatever stands around it. Raises NotValid.

    Where several objects are found and none fits, the message is about the first.
    """
    text, first, at = without_thought(text), "", -1
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for _ in range(_MAX_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            break
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if not (problem := problem_of(found, schema)):
            assert isinstance(found, dict)
            return found
        first, at = first or problem, end - 1
    raise NotValid(first or "there is no JSON object in it")


def without_thought(text: str) -> str:
    """A reply without what a reasoning model thinks aloud before it."""
    return _THOUGHT.sub("", text, count=1)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def problem_of(value: object, schema: Mapping[str, Any]) -> str:
    """What of `value` does not fit `schema`, with its path, or nothing."""
    return _problem(value, schema, schema, "the reply", 0)


def _problem(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int) -> str:
    schema = _resolved(schema, root)
    if depth > _MAX_DEPTH:
        return f"{path} is nested too deep"
    if "anyOf" in schema and all(_problem(value, branch, root, path, depth + 1) for branch in schema["anyOf"]):
        return f"{path} fits none of the allowed forms, got {shown(value, 40)}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds and not any(_TYPES[kind](value) for kind in kinds if kind in _TYPES):
        return f"{path} must be {' or '.join(kinds)}, got {shown(value, 40)}"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(value == one and type(value) is type(one) for one in allowed):
        return f"{path} must be one of {', '.join(map(shown, allowed))}, got {shown(value, 40)}"
    if bound := _out_of_bounds(value, schema):
        return f"{path} must be {bound}, got {shown(value, 40)}"
    if isinstance(value, dict):
        return _problem_inside(value, schema, root, path, depth)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        problems = (_problem(item, schema["items"], root, f"{path}[{place}]", depth + 1) for place, item in enumerate(value))
        return next(filter(None, problems), "")
    return ""


def _problem_inside(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int) -> str:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{path} lacks the field {name}"
    problems = (
        _problem(value[name], inner, root, f"{path}.{name}", depth + 1)
        for name, inner in schema.get("properties", {}).items()
        if name in value
    )
    return next(filter(None, problems), "")


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_MAX_DEPTH):
        name = schema.get("$ref")
        if not isinstance(name, str):
            break
        schema = root.get("$defs", {}).get(name.rpartition("/")[2], {})
    return schema


def _out_of_bounds(value: object, schema: Mapping[str, Any]) -> str:
    """The bound that `value` breaks, in words."""
    size: float | None = None
    low, high, unit = "minimum", "maximum", ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        size = value
    elif isinstance(value, list):
        size, low, high, unit = len(value), "minItems", "maxItems", " items"
    elif isinstance(value, str):
        size, low, high, unit = len(value), "minLength", "maxLength", " characters"
    if size is None:
        return ""
    if low in schema and size < schema[low]:
        return f"at least {schema[low]}{unit}"
    return f"at most {schema[high]}{unit}" if high in schema and size > schema[high] else ""
