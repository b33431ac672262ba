"""Which fields of a file nothing was made of: said once a file, so that a log does not lose its prompt without a word.

A field counts as read where a value of it stands in a line that the file became. Told by values, this holds for every form of file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ctxasm.data.files.mapping_values import is_key, is_vector, parsed
from ctxasm.data.files.recognised.converted import Converted
from ctxasm.data.files.rows import Rows
from ctxasm.data.paths import EVERY
from ctxasm.model.errors import shown

ROWS, READ_ROWS, ITEMS, DEPTH = 10, 200, 4, 4
"""Rows whose fields are looked at; rows whose lines are; items of a list; levels of a path that is named."""
MOST_NAMED, EXAMPLE_CHARS, LEAST_PART = 8, 40, 8
"""Fields that the sentence names; characters of an example; characters from which a value may be part of a longer one."""


def unread_notes(rows: Rows, lines: Converted) -> tuple[str, ...]:
    """The sentence that names what was not read of a table, each field once with an example; none where all was."""
    read = _Read(rows, lines)
    fields: dict[str, Any] = {}
    known: set[str] = set()
    for _, row in islice(rows.rows, ROWS):
        for path, value in _unread(row, "", read, known):
            fields.setdefault(path, value)
    left = {path: value for path, value in fields.items() if path not in known}
    return unread_note(rows.file, left)


def unread_note(file: str, left: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentence that names fields with their values; none where there are none."""
    if not left:
        return ()
    named = ", ".join(f"{shown(path)}{_example(path, value)}" for path, value in islice(left.items(), MOST_NAMED))
    more = f" and {len(left) - MOST_NAMED:,} more" if len(left) > MOST_NAMED else ""
    return (f"{file}: not read: {named}{more}",)


class _Read:
    """The values that stand in the lines of the first rows."""

    def __init__(self, rows: Rows, lines: Converted) -> None:
        last = max((number for number, _ in islice(rows.rows, READ_ROWS)), default=0)
        self.values: set[str] = set()
        for kind in (lines.documents, lines.chunks, lines.queries, lines.retrievals, lines.answers):
            for number, line in kind:
                if number <= last:
                    self.values.update(map(str, _leaves(line)))
        self._text = "\n".join(value for value in self.values if len(value) > LEAST_PART)

    def holds(self, value: Any) -> bool:
        text = str(value)
        return text in self.values or (len(text) >= LEAST_PART and text in self._text)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None and value != "":
        yield value


def _unread(value: Any, path: str, read: _Read, known: set[str]) -> Iterator[tuple[str, Any]]:
    """The paths below a value of which nothing was read, the highest ones; those of which something was are put into `known`."""
    for name, given in value.items():
        inner = parsed(given) if isinstance(given, str) else given
        at = f"{path}{name}"
        if is_vector(str(name), inner) or next(_leaves(inner), None) is None:
            continue
        if not any(read.holds(leaf) for leaf in _leaves(inner)):
            yield at, inner
            continue
        known.add(at)
        if at.count(".") >= DEPTH:
            continue
        if isinstance(inner, Mapping):
            yield from _unread(inner, f"{at}.", read, known)
        elif isinstance(inner, list):
            for item in islice(inner, ITEMS):
                if isinstance(item, Mapping):
                    yield from _unread(item, f"{at}{EVERY}.", read, known)


def _example(path: str, value: Any) -> str:
    """A short value of a field; none for what may open an account, and for the name of such a thing below it."""
    names: Sequence[str] = path.replace(EVERY, "").split(".")
    if any(map(is_key, names)) or isinstance(value, (Mapping, list)):
        return ""
    return f" (such as {shown(value, EXAMPLE_CHARS)})"
