"""JSON Lines in, Python objects out: strict JSON, with the characters no database or tokenizer takes replaced.

Strict means: no NaN or Infinity, no number beyond a float, no key twice in one object, at most MAX_DEPTH levels. Python's
own parser is used rather than a faster one because it alone reads lone surrogates (`"\ud800"`), which are then repaired.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from ctxasm.data.files.problems import Problems
from ctxasm.model.characters import UNSTORABLE
from ctxasm.model.errors import shown

MAX_JSON_DEPTH = 64
UNREAD = object()
"""Stands for a value that could not be read."""
_MAY_BREAK = re.compile(r"\\u0000|\\ud[89a-f]|[\ud800-\udfff]", re.IGNORECASE)


class _Refused(ValueError):
    """The JSON can be read but not used."""


class LineReader:
    """Reads the lines of a file. `replaced` counts the characters that became U+FFFD, one for one.

    NaN and Infinity, which JSON does not know, are problems; a lenient reader hands them on, and counts them in `not_numbers`.
    """

    def __init__(self, problems: Problems, *, lenient: bool = False) -> None:
        self._problems = problems
        self._decoder = _decoder(self._not_a_number) if lenient else _STRICT
        self.replaced = self.not_numbers = 0

    def read(self, file: str, stream: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Each line that is not blank: its number (from 1) and its object, or None where a problem was reported."""
        for number, raw in enumerate(stream, 1):
            if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                self._problems.add(file, None, "", "must be UTF-8, but is UTF-16: save it again as UTF-8")
                yield number, None
                return
            line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            if line.strip():
                yield number, self._object(file, number, line)

    def whole(self, file: str, text: str) -> Any:
        """The one value of a JSON text, or UNREAD where a problem was reported."""
        try:
            value = self._loads(text.replace("\0", "\\u0000"))
            return self._repaired(value, 0) if _may_break(text) or "\0" in text or _is_deep(value) else value
        except json.JSONDecodeError as error:
            self._problems.add(file, error.lineno, f"column {error.colno}", f"is not valid JSON ({_reason(error)})")
        except RecursionError:
            self._problems.add(file, None, "", f"may be nested at most {MAX_JSON_DEPTH} levels deep")
        except _Refused as error:
            self._problems.add(file, None, "", str(error))
        return UNREAD

    def _not_a_number(self, text: str) -> float:
        self.not_numbers += 1
        return float(text)

    def _loads(self, text: str) -> Any:
        return json.loads(text) if text.startswith("\ufeff") else self._decoder.decode(text)  # the first says what is wrong

    def _object(self, file: str, number: int, line: bytes) -> dict[str, Any] | None:
        try:
            text = _decoded(line)
            value = self._loads(text)
            if not isinstance(value, dict):
                raise _Refused(f"a line must be one JSON object, got {shown(value)}")
            if _may_break(text) or text.count("[") + text.count("{") > MAX_JSON_DEPTH:
                value = self._repaired(value, 1)
        except json.JSONDecodeError as error:
            self._problems.add(file, number, f"column {error.pos + 1}", f"is not valid JSON ({_reason(error)})")
        except UnicodeDecodeError as error:
            self._problems.add(file, number, f"byte {error.start + 1}", "is not valid UTF-8: save the file again as UTF-8")
        except RecursionError:
            self._problems.add(file, number, "", f"may be nested at most {MAX_JSON_DEPTH} levels deep")
        except _Refused as error:
            self._problems.add(file, number, "", str(error))
        else:
            return dict(value)
        return None

    def _repaired(self, value: Any, depth: int) -> Any:
        if depth > MAX_JSON_DEPTH:
            raise _Refused(f"may be nested at most {MAX_JSON_DEPTH} levels deep")
        if isinstance(value, str):
            text, count = UNSTORABLE.subn("\ufffd", value)
            self.replaced += count
            return text
        if isinstance(value, list):
            return [self._repaired(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return _pairs([(self._repaired(key, depth + 1), self._repaired(item, depth + 1)) for key, item in value.items()])
        return value


def _may_break(text: str) -> bool:
    """Whether `text` may hold what has to be repaired; every character is looked at only where that can be."""
    if "\\u" in text or "\\U" in text:
        return _MAY_BREAK.search(text) is not None
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return True
    return False


def _is_deep(value: Any) -> bool:
    """Whether something in `value` is nested deeper than MAX_DEPTH; without recursion, for whole files."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_JSON_DEPTH + 1):
        inner = (item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer))
        level = [item for item in inner if isinstance(item, (dict, list))]
    return bool(level)


def _decoded(line: bytes) -> str:
    # A raw NUL is not JSON; inside a text it is repaired like the escaped one, elsewhere the escape is an error, too.
    line = line.replace(b"\0", b"\\u0000")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogatepass")


def _reason(error: json.JSONDecodeError) -> str:
    return error.msg[0].lower() + error.msg[1:]


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"the key {shown(twice)} stands twice in one object")
    return values


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused(f"a number must be finite, got {shown(text)}")
    return number


def _int(text: str) -> int:
    if len(text) > 100:
        raise _Refused(f"a number may have at most 100 digits, got {len(text)}")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise _Refused(f"a number must be finite, got {text}: JSON knows no {text}")


def _decoder(constant: Callable[[str], Any]) -> json.JSONDecoder:
    # json.loads would make one for each line.
    return json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_float, parse_int=_int, parse_constant=constant)


_STRICT = _decoder(_constant)
