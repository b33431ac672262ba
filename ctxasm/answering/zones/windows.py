"""The table of model windows: what ships, what a user's own file adds, and finding a model in it.

A name is found as it stands, without its provider ("openai/gpt-4o"), without the date or `latest` that only names a
version of the same model. Nothing else is guessed: a window that is not known is a question to the user.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import read_text
from ctxasm.model.settings import ENCODINGS

LARGEST_WINDOW = 2_000_000_000
_VERSION = re.compile(r"(-\d{4}-\d{2}-\d{2}|-20\d{6}|-latest|:latest)$")
_FIELDS = {"window", "encoding", "note"}


class ModelWindow(NamedTuple):
    """A model's window in tokens. `encoding` is its vocabulary where tiktoken has it, None where it is another one."""

    name: str
    window: int
    encoding: str | None = None
    note: str = ""


Windows = Mapping[str, ModelWindow]
"""The table, by name in lower case."""


@cache
def shipped_windows() -> Windows:
    """The table that ships with ctxasm."""
    return windows_from_toml(files("ctxasm.answering.zones").joinpath("windows.toml").read_text("utf-8"), "windows.toml")


def read_windows(path: str | None = None) -> Windows:
    """The table that ships, with what the file at `path` adds or replaces. Raises InvalidInput naming all that is wrong in it."""
    if path is None:
        return shipped_windows()
    text = read_text(path, "the table of model windows", "set CTXASM_MODEL_WINDOWS")
    return {**shipped_windows(), **windows_from_toml(text, path)}


def windows_from_toml(text: str, where: str = "the table of model windows") -> Windows:
    """A table from TOML: `[models."NAME"]` with `window`, and if wanted `encoding` and `note`.

    Raises InvalidInput naming what is wrong, the first five.
    """
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOML that is wrong, a number of thousands of digits, tables in tables in tables
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "too deeply nested, or a number of too many digits"
        raise InvalidInput(f"{where} is not valid TOML: {reason}") from None
    models = content.get("models")
    if not isinstance(models, dict):
        raise InvalidInput(f'{where} must have tables [models."NAME"] with a window, got {shown(sorted(content))}')
    problems: list[str] = []
    found = {name.strip().lower(): _entry(name.strip(), values, problems) for name, values in models.items()}
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise InvalidInput(f"{where}: {'; '.join(problems[:5])}{more}")
    return found


def _entry(name: str, values: Any, problems: list[str]) -> ModelWindow:
    if not name:
        problems.append("a model must have a name with at least one visible character")
    if not isinstance(values, dict):
        problems.append(f'models."{name}" must be a table with a window, got {shown(values)}')
        return ModelWindow(name, 0)
    window, encoding, note = values.get("window"), values.get("encoding"), values.get("note", "")
    if not isinstance(window, int) or isinstance(window, bool) or not 1 <= window <= LARGEST_WINDOW:
        problems.append(f'models."{name}".window must be a whole number from 1 to {LARGEST_WINDOW}, got {shown(window)}')
    if encoding is not None and encoding not in ENCODINGS:
        problems.append(f'models."{name}".encoding must be one of {", ".join(ENCODINGS)}, or left out, got {shown(encoding)}')
    if not isinstance(note, str):
        problems.append(f'models."{name}".note must be a text, got {shown(note)}')
    if unknown := sorted(values.keys() - _FIELDS):
        problems.append(f'models."{name}" takes window, encoding and note, got {shown(unknown)}')
    return ModelWindow(name, window if isinstance(window, int) else 0, encoding, note if isinstance(note, str) else "")


def window_of(model_name: str, table: Windows) -> ModelWindow | None:
    """The entry of a model, None where the table does not know it."""
    return next((table[form] for form in name_forms(model_name) if form in table), None)


def name_forms(model_name: str) -> tuple[str, ...]:
    """The names under which a model may be known: as it stands, without its version, without its provider, without both."""
    name = model_name.strip().lower()
    forms = (each for form in (name, name.rpartition("/")[2]) for each in (form, _VERSION.sub("", form)))
    return tuple(dict.fromkeys(filter(None, forms)))


def unknown_window(model_name: str, table: Windows) -> InvalidInput:
    """The question to the user that an unknown window is."""
    if not model_name.strip():
        return InvalidInput("budget_mode=window needs a model: set model_name, or model_window to its window in tokens")
    close = get_close_matches(model_name.strip().lower(), list(table), 3, 0.6)
    alike = f"; the table knows {', '.join(table[name].name for name in close)}" if close else ""
    return InvalidInput(
        f"which window has the model {shown(model_name.strip())}? The table of models does not know it{alike}: "
        "set model_window to its window in tokens, or add it to the file that CTXASM_MODEL_WINDOWS names"
    )
