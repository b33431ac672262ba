"""What the types of a database are for us, and how a value of the driver becomes one of ours."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

from ctxasm.model.characters import mended, storable

Kind = Literal["whole", "number", "text", "uuid", "json", "vector", "floats", "tsvector", "date", "boolean", "bytes", "other"]

_POSTGRESQL: Mapping[str, Kind] = {
    **dict.fromkeys(("int2", "int4", "int8"), "whole"),
    **dict.fromkeys(("numeric", "float4", "float8"), "number"),
    **dict.fromkeys(("text", "varchar"), "text"),
    **dict.fromkeys(("json", "jsonb"), "json"),
    **dict.fromkeys(("vector", "halfvec"), "vector"),
    **dict.fromkeys(("_float4", "_float8"), "floats"),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), "date"),
    "uuid": "uuid",
    "tsvector": "tsvector",
    "bool": "boolean",
    "bytea": "bytes",
}
_SQLITE: tuple[tuple[str, Kind], ...] = (
    ("json", "json"),
    ("uuid", "other"),
    ("int", "whole"),
    ("char", "text"),
    ("clob", "text"),
    ("text", "text"),
    ("blob", "bytes"),
    ("bool", "boolean"),
    ("date", "date"),
    ("time", "date"),
    ("real", "number"),
    ("floa", "number"),
    ("doub", "number"),
    ("num", "number"),
    ("dec", "number"),
)
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def kind_of_postgresql(base: str) -> Kind:
    """By the name of the type in pg_type."""
    return _POSTGRESQL.get(base, "other")


def kind_of_sqlite(declared: str) -> Kind:
    """By the declared type, as SQLite itself judges affinity; JSON by its name."""
    lowered = declared.lower()
    return next((kind for part, kind in _SQLITE if part in lowered), "other")


def own_text(value: Any) -> str | None:
    """A value as text, None for NULL. What no tokenizer takes becomes U+FFFD, one for one."""
    match value:
        case None:
            return None
        case str():
            text = value
        case bytes() | memoryview():
            text = bytes(value).decode("utf-8", "replace")
        case datetime() | date():
            text = value.isoformat()
        case dict() | list():
            text = json.dumps(value, ensure_ascii=False)
        case _:
            text = str(value)
    return mended(text)


def own_whole(value: Any) -> int | None:
    """A value as a whole number, None where it is none."""
    match value:
        case bool():
            return None
        case int():
            return value
        case float() | Decimal():
            number = float(value)
            return int(number) if abs(number) < 2**53 and number.is_integer() else None
        case str() if _WHOLE.fullmatch(value.strip()):
            return int(value)
        case _:
            return None


def is_key(value: str, kind: Kind) -> bool:
    """Whether `value` is how a key of this kind is written: then it can be sent as one, and no other text means the same key."""
    if kind == "whole":
        return bool(re.fullmatch(r"0|-?[1-9][0-9]{0,18}", value)) and -(2**63) <= int(value) < 2**63
    if kind == "uuid":
        try:
            return str(uuid.UUID(value)) == value
        except ValueError:
            return False
    return storable(value)
