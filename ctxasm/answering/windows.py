"""Model windows by name, and how many tokens a model's own server counts for what is counted here."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from threading import RLock
from typing import Any, NamedTuple

from ctxasm.answering.sent_tokens import SentTokens
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.kept import key_of
from ctxasm.model.ports import Shelf
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
    return windows_from_toml(files("ctxasm.answering").joinpath("windows.toml").read_text("utf-8"), "windows.toml")


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


LEAST_TOKENS = 100
"""A shorter prompt says more of the server's template than of its vocabulary."""
MOST_READINGS = 50
"""Prompts of a model that are kept, the newest."""
MOST_MODELS = 100
"""Models that are kept, those asked last."""
SHELF = "token ratios"


class TokenRatio(NamedTuple):
    """Tokens by a server's count for one in `encoding`: the least and the most seen, over `prompts`; `upper` is what to reckon with."""

    encoding: str
    low: float
    high: float
    prompts: int
    upper: float


class _Model(NamedTuple):
    """What was seen of a model under its name; `ratios` has one of each prompt, the newest last."""

    name: str
    encoding: str
    ratios: tuple[float, ...]


def upper_end(ratios: Sequence[float]) -> float:
    """Where the next ratio may end, rounded up to a hundredth.

    The unbiased estimate of the upper end of a uniform spread: the highest of n, and beyond it the spread over n - 1.
    """
    high = max(ratios)
    beyond = (high - min(ratios)) / (len(ratios) - 1) if len(ratios) > 1 else 0.0
    return math.ceil(round((high + beyond) * 100, 6)) / 100


class TokenRatios:
    """What was learned of the models. `shelf` is where it outlasts the process; without one it does not. May be shared by threads.

    A model stands under the name that it answers with ("m at host:port"): neither a key nor a whole address is kept.
    """

    def __init__(self, shelf: Callable[[], Shelf] | None = None) -> None:
        self._shelf = shelf
        self._known: dict[str, _Model] | None = None
        self._lock = RLock()

    def learn(self, model: str, sent: SentTokens | None) -> None:
        """Take over what the server of `model` counted for this prompt, where it says and seems to have read all of it.

        Raises StoreUnavailable where it cannot be kept; this process knows it all the same.
        """
        if sent is None or sent.server is None or not sent.exact or sent.was_cut or sent.tokens < LEAST_TOKENS or not sent.server.prompt:
            return
        key = key_of(model, sent.encoding)
        with self._lock:
            known = self._models()
            before = known.pop(key, _Model(model, sent.encoding, ()))
            ratio = round(sent.server.prompt / sent.tokens, 4)
            known[key] = found = before._replace(ratios=(*before.ratios, ratio)[-MOST_READINGS:])
            gone = list(known)[:-MOST_MODELS]
            for each in gone:
                del known[each]
            if self._shelf is not None:
                self._shelf().keep(SHELF, {key: json.dumps(found._asdict())})
                if gone:
                    self._shelf().forget(SHELF, gone)

    def find(self, model: str, encoding: str) -> TokenRatio | None:
        """What is known of the models of this name, wherever they run; None where nothing is. Raises StoreUnavailable."""
        wanted = set(name_forms(model))
        with self._lock:
            found = [one for one in self._models().values() if one.encoding == encoding and wanted & _forms(one.name)]
        if not found:
            return None
        every = [ratio for one in found for ratio in one.ratios]
        return TokenRatio(encoding, min(every), max(every), len(every), max(upper_end(one.ratios) for one in found))

    def _models(self) -> dict[str, _Model]:
        if self._known is None:
            kept = self._shelf().read_kept(SHELF) if self._shelf is not None else {}
            read = {key: json.loads(text) for key, text in kept.items()}
            self._known = {key: _Model(each["name"], each["encoding"], tuple(each["ratios"])) for key, each in read.items()}
        return self._known


def _forms(served: str) -> set[str]:
    """The names of a model that answers as "m at host", or simply as "m"."""
    return {*name_forms(served), *name_forms(served.rpartition(" at ")[0])}
