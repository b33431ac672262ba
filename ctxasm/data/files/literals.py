"""Texts that hold objects or lists: JSON, or what Python printed. Nothing is ever evaluated: literals alone are read."""

from __future__ import annotations

import re
from typing import Any

from ctxasm.data.files.json_lines import UNREAD, LineReader
from ctxasm.data.files.problems import Problems

MAX_LEVELS = 32


def parsed(value: Any) -> Any:
    """What a text holds that is JSON, by the rules of a JSON file, or a Python literal; the value itself where it is neither."""
    if not isinstance(value, str):
        return value
    bare = value.strip()
    if (led := _LED.match(bare)) is not None:
        return _led(value, bare[led.end() :])
    if not bare or bare[0] not in "[{(a" or bare[-1] not in "]})":
        return value
    found = UNREAD if bare[0] in "(a" else LineReader(Problems(())).whole("", bare)
    if found is UNREAD and ("'" in bare or bare[0] in "(a"):
        try:
            found = read_literal(bare)
        except (NotLiteral, ValueError):
            return value
    return value if found is UNREAD or is_deep(found) else found


_LED = re.compile(r"data\s{0,3}:\s{0,3}(?=[\[{])")


def _led(value: str, rest: str) -> Any:
    """What a client of Milvus prints: the word data, a list, and what the search cost."""
    try:
        found = read_literal(rest, whole=False)
    except (NotLiteral, ValueError):
        return value
    return value if is_deep(found) else found


def is_deep(value: object) -> bool:
    """Whether it is nested deeper than anything that is meant as data."""
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())]
        if not level:
            return False
    return True


MAX_DEPTH = 64
MAX_CHARS = 20_000_000
_CONSTANTS = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False, "nan": None, "NaN": None}
_NEXT = re.compile(
    r"""\s*(?:(?P<quote>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<word>array\s*\(|dtype\s*=\s*\w+|[A-Za-z_][\w.]{0,99}(?:\s*[(=])?)
    |(?P<member><[A-Za-z_][\w.]{0,99}:)
    |(?P<mark>[\[\](){}:,>]))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_CLOSERS = {"[": "]", "(": ")", "{": "}", "array(": ")"}


class NotLiteral(ValueError):
    """The text is no Python literal of the kinds read here."""


def read_literal(text: str, whole: bool = True) -> Any:
    """The value written in `text`: lists (tuples become lists), objects, texts, numbers, None. Raises NotLiteral.

    An object that Python printed as a call of its class, `Document(page_content='…')`, becomes its fields; no class is looked up.
    """
    if len(text) > MAX_CHARS:
        raise NotLiteral("too long")
    reader = _Reader(text)
    value = reader.value(0)
    if whole and reader.peek() != ("end", ""):
        raise NotLiteral("something follows")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._next = self._read()

    def _read(self) -> tuple[str, str]:
        found = _NEXT.match(self._text, self._at)
        if found is None:
            if self._text[self._at :].strip():
                raise NotLiteral(f"character {self._at + 1}")
            return "end", ""
        self._at = found.end()
        kind = found.lastgroup or ""
        return kind, found[kind]

    def peek(self) -> tuple[str, str]:
        return self._next

    def take(self) -> tuple[str, str]:
        taken, self._next = self._next, self._read()
        return taken

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise NotLiteral("too deep")
        kind, word = self.take()
        if kind == "quote":
            return _ESCAPE.sub(_unescaped, word[1:-1])
        if kind == "number":
            return float(word) if len(word) > 100 or any(mark in word for mark in ".eE") else int(word)
        if kind == "word" and word in _CONSTANTS:
            return _CONSTANTS[word]
        if kind == "word" and word.startswith("array"):
            items = self._items(")", depth)
            return items[0] if items else []
        if kind == "member":  # of an enumeration: `<ObjectType.TEXT: '1'>`
            member = self.value(depth + 1)
            if self.take() != ("mark", ">"):
                raise NotLiteral("a member of an enumeration must end")
            return member
        if kind == "word" and word.endswith("("):
            return self._call(depth)
        if word in ("[", "("):
            return self._items(_CLOSERS[word], depth)
        if word == "{":
            return self._object(depth)
        raise NotLiteral(word or "it ends too early")

    def _items(self, closer: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while self.peek()[1] != closer or self.peek()[0] != "mark":
            if self.peek()[0] == "word" and self.peek()[1].startswith("dtype"):
                self.take()
            else:
                items.append(self.value(depth + 1))
            if self.peek() == ("mark", ","):
                self.take()
        self.take()
        return items

    def _call(self, depth: int) -> Any:
        """What the printed form of an object gives, as in `Document(id=None, page_content='…')`: its fields, or its only value."""
        found: dict[str, Any] = {}
        values: list[Any] = []
        while self.peek() != ("mark", ")"):
            kind, word = self.peek()
            if kind == "word" and word.endswith("="):
                self.take()
                found[word[:-1].rstrip()] = self.value(depth + 1)
            else:
                values.append(self.value(depth + 1))
            if self.peek() == ("mark", ","):
                self.take()
        self.take()
        if found and values:
            raise NotLiteral("values with and without a name")
        return found or (values[0] if len(values) == 1 else values)

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.peek() != ("mark", "}"):
            key = self.value(depth + 1)
            if not isinstance(key, str) or self.take() != ("mark", ":"):
                raise NotLiteral("a key must be a text")
            found[key] = self.value(depth + 1)
            if self.peek() == ("mark", ","):
                self.take()
        self.take()
        return found


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    return _ESCAPED.get(code, code if code in "\\'\"" else "\\" + code)
