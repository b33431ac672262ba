"""Single cells: where a field's value stands in a row, what it is as the field has it, and what is left for `metadata`.

A value that is not what its field takes is passed on as it is: the validation of the bundle then names it with its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ctxasm.data.field_names import FIELD_NAMES, plain_name
from ctxasm.data.files.lines import UNREAD, LineReader
from ctxasm.data.files.problems import Problems
from ctxasm.data.paths import dotted, lists_of

ABSENT = object()
WHOLES = ("chunk_index", "start", "end", "page_number", "row_number", "rank", "bm25_matches")
REALS = ("score", "distance", "best_similarity")
JSON_FIELDS = ("gold", "spans", "history", "retrieved", "sources", "labels")
MAX_DIGITS = 18
LEAST_VECTOR = 16
plain = lru_cache(4096)(plain_name)
"""`plain_name`, worked out once a column and not once a cell."""
METADATA = frozenset(map(plain_name, ("metadata", "meta", "cmetadata", "chunk_metadata", "meta_data", "metadatas")))
VECTORS = frozenset(plain_name(name) for field in ("embedding", "tsvector") for name in FIELD_NAMES[field])
KEYS = frozenset(("apikey", "xapikey", "authorization", "accesstoken", "secretkey", "password"))
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")
_REAL = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d{1,4})?")


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value at a column or path, ABSENT where there is none; JSON in a text cell is looked into."""
    return _present(row[path]) if path in row else _below(row, dotted(path))


def each_at(row: Any, path: str) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The values at a path with `[*]`, each with its place in those lists; one with the place () where the path has none."""
    if isinstance(row, Mapping) and path in row:
        yield (), _present(row[path])
    else:
        yield from _each(row, lists_of(path))


def _each(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    found = _below(value, parts[0])
    if len(parts) == 1:
        yield (), found
        return
    inner = parsed(found) if isinstance(found, str) else found
    listed = inner if isinstance(inner, list) else list(inner.values()) if isinstance(inner, Mapping) else ()
    for at, item in enumerate(listed):
        for place, innermost in _each(item, parts[1:]):
            yield (at, *place), innermost


def _below(value: Any, path: str) -> Any:
    """The value at a dotted path below a value, the value itself for no path."""
    rest = path
    while rest:
        if isinstance(value, str):
            value = parsed(value)
        if isinstance(value, Mapping):
            if rest in value:
                return _present(value[rest])
            at = next((end for end, letter in enumerate(rest) if letter == "." and rest[:end] in value), None)
            if at is None:
                return ABSENT
            value, rest = value[rest[:at]], rest[at + 1 :]
        elif isinstance(value, list) and (index := rest.partition(".")[0]).isdecimal() and int(index[:9]) < len(value):
            value, rest = value[int(index[:9])], rest.partition(".")[2]
        else:
            return ABSENT
    return _present(value)


def _present(value: Any) -> Any:
    return ABSENT if value is None or value == "" else value


def parsed(text: str) -> Any:
    """The JSON object or list in a text cell, by the same rules as a JSON file's, else the text."""
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]"):
        value = LineReader(Problems(())).whole("", text)
        return text if value is UNREAD else value
    return text


def field_value(name: str, value: Any) -> Any:
    """`value` as the field `name` has it where that can be told, else as it is."""
    if name in WHOLES:
        return _whole(value)
    if name in REALS:
        return _real(value)
    if name in JSON_FIELDS:
        return parsed(value) if isinstance(value, str) else value
    return _text(value)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**MAX_DIGITS:
        return int(value)
    if isinstance(value, str):
        bare = value.strip()
        if not bare:
            return ABSENT
        if _WHOLE.fullmatch(bare) and len(bare) <= MAX_DIGITS:
            return int(bare.partition(".")[0])
    return value


def _real(value: Any) -> Any:
    if isinstance(value, str):
        bare = value.strip()
        if not bare:
            return ABSENT
        if _REAL.fullmatch(bare):
            number = float(bare.replace(",", "."))  # the decimal comma of a spreadsheet
            return number if abs(number) != float("inf") else value
    return value


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value) if abs(value) < 10**MAX_DIGITS else value
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else str(value)
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return " > ".join(value)  # a path of headings
    return value


def is_vector(name: str, value: Any) -> bool:
    """Whether a cell holds an embedding or a text index, which no record needs."""
    if isinstance(value, list):
        return len(value) >= LEAST_VECTOR and all(type(number) in (int, float) for number in value)
    return isinstance(value, str) and plain(name) in VECTORS and (value[:1] == "[" or "':" in value[:1000])


def is_key(name: str) -> bool:
    """Whether something of this name opens an account: a log of requests may hold it, and what is loaded is kept and exported."""
    return plain(name) in KEYS


def metadata_of(row: Mapping[str, Any], used: frozenset[str], left_out: set[str]) -> dict[str, Any]:
    """What the mapping did not use, in one object; columns of vectors are left out and named in `left_out`."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name in used or value is None or value == "":
            continue
        if is_vector(name, value):
            left_out.add(name)
            continue
        inner = parsed(value) if isinstance(value, str) and plain(name) in METADATA else value
        if isinstance(inner, dict) and plain(name) in METADATA:
            for key, own in _without(inner, f"{name}.", used).items():
                found.setdefault(key, own)
        elif name in found:
            found[f"{name} (column)"] = value
        elif isinstance(value, dict):
            if (left := _without(value, f"{name}.", used)) or not value:
                found[name] = left
        else:
            found[name] = value
    return found


def _without(value: Mapping[str, Any], path: str, used: frozenset[str]) -> dict[str, Any]:
    """An object without what the mapping took out of it, and without objects of which nothing is left."""
    if not any(name.startswith(path) for name in used):
        return dict(value)
    left = {
        key: _without(inner, f"{path}{key}.", used) if isinstance(inner, dict) else inner
        for key, inner in value.items()
        if f"{path}{key}" not in used
    }
    return {key: inner for key, inner in left.items() if inner != {} or value[key] == {}}
