"""Where a field stands in a table or a row of a file: a column, or a place inside the JSON of a column.

A path is read by this small grammar and by nothing else, so that no text of a user ever becomes part of a statement but
as a quoted identifier or a quoted key:

    path    = column | column arrows | column dots
    column  = name | '"' … '"'            (a doubled quote stands for one)
    arrows  = { "->" key } ( "->" | "->>" ) key
    key     = "'" … "'" | digits          (a doubled quote stands for one; digits are a place in a JSON array)
    dots    = { "." name | "[" digits "]" | "[*]" }       ("[*]" is every item of a list: in files alone)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ctxasm.model.errors import InvalidInput, shown

MAX_KEYS = 16
MAX_LENGTH = 500
EVERY = "[*]"
"""Every item of a list, or every value of an object."""
EXAMPLES = "a column, or a path such as metadata->>'page_summary' or metadata.page.title"

_COLUMN = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^\W\d][\w$]*))\s*')
_ARROW = re.compile(r"(->>?)\s*(?:'((?:[^']|'')*)'|(\d{1,9}))\s*")
_NAME = re.compile(r"[^\W\d][\w$]*")
_DOTTED = re.compile(r"\.([\w$-]+)|\[(\d{1,9})\]")
_PLACE = re.compile(r"\[(\d{1,9})\]")
_UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Path:
    """A column, and the keys that lead to a value inside its JSON (none: the column itself)."""

    column: str
    keys: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        """As it is typed."""
        if not self.keys:
            return self.column
        name = self.column if re.fullmatch(r"[^\W\d][\w$]*", self.column) else _quoted(self.column)
        keys = [str(key) if isinstance(key, int) else "'" + key.replace("'", "''") + "'" for key in self.keys]
        return name + "".join(f"->{key}" for key in keys[:-1]) + f"->>{keys[-1]}"


def read_path(text: str, columns: Collection[str], field: str) -> Path:
    """The place that `text` names in a table of these columns. Raises InvalidInput naming `field`.

    A text that is the name of a column is that column, whatever it holds. A bare name is also found in lower case.
    """
    if text in columns:
        return Path(text)
    if len(text) > MAX_LENGTH or _UNFIT.search(text):
        raise _unreadable(text, field)
    path = _arrows(text) or _dots(text, columns)
    if path is None or len(path.keys) > MAX_KEYS:
        raise _unreadable(text, field)
    if path.column not in columns and path.column.lower() in columns:
        path = Path(path.column.lower(), path.keys)
    if path.column not in columns:
        known = ", ".join(shown(name) for name in list(columns)[:12])
        raise InvalidInput(f"{field} must be {EXAMPLES}, got {shown(text)}: the table has no column {shown(path.column)}, it has {known}")
    return path


def read_paths(text: str, columns: Collection[str], field: str) -> tuple[Path, ...]:
    """The places that `text` names, with commas between. Raises InvalidInput naming `field`."""
    if text in columns:
        return (Path(text),)
    return tuple(read_path(part if part in columns else part.strip(), columns, field) for part in _listed(text))


def written_paths(paths: Sequence[Path]) -> str:
    """The text that `read_paths` reads as these; of several, a column's name is quoted where it could be taken for more."""
    if len(paths) == 1:
        return str(paths[0])
    return ", ".join(str(p) if p.keys or re.fullmatch(r"[^\W\d][\w$]*", p.column) else _quoted(p.column) for p in paths)


def dotted(text: str) -> str:
    """A path of any spelling with dots alone, as the rows of a file are read: its longest keys count."""
    arrows = _arrows(text) if "->" in text else None
    if arrows is not None:
        return ".".join(map(str, (arrows.column, *arrows.keys)))
    return _PLACE.sub(r".\1", text)


def lists_of(text: str) -> tuple[str, ...]:
    """The dotted parts of a path between its lists: one more than it has `[*]`."""
    return tuple(part.strip(".") for part in dotted(text).split(EVERY))


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _listed(text: str) -> list[str]:
    """The parts between commas that stand inside no quotes."""
    parts, quote = [""], ""
    for character in text:
        if character == "," and not quote:
            parts.append("")
            continue
        if character in "\"'" and quote in ("", character):
            quote = "" if quote else character
        parts[-1] += character
    return parts


def _arrows(text: str) -> Path | None:
    if (head := _COLUMN.match(text)) is None:
        return None
    column = head[1].replace('""', '"') if head[1] is not None else head[2]
    keys: list[str | int] = []
    at, last = head.end(), ""
    while step := _ARROW.match(text, at):
        if last == "->>":
            return None
        last, at = step[1], step.end()
        keys.append(int(step[3]) if step[3] is not None else step[2].replace("''", "'"))
    return Path(column, tuple(keys)) if at == len(text) else None


def _dots(text: str, columns: Collection[str]) -> Path | None:
    """The longest column that the text begins with, and what follows it, key by key."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(column) and (keys := _dotted_keys(text[len(column) :])):
            return Path(column, keys)
    if (head := _NAME.match(text)) is not None and (keys := _dotted_keys(text[head.end() :])):
        return Path(head[0], keys)
    return None


def _dotted_keys(text: str) -> tuple[str | int, ...]:
    """The keys of `.name[0]…`, none where the text is no such thing."""
    found = list(_DOTTED.finditer(text))
    if "".join(key[0] for key in found) != text:
        return ()
    return tuple(key[1] if key[1] is not None else int(key[2]) for key in found)


def _unreadable(text: str, field: str) -> InvalidInput:
    return InvalidInput(f"{field} must be {EXAMPLES}, got {shown(text)}")
