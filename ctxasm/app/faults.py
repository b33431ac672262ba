"""What nobody foresaw, for the user: one sentence, and the full trace in a file that only they can read. No key is in it."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from urllib.parse import unquote

from ctxasm import __version__
from ctxasm.config import connection_secrets
from ctxasm.model.errors import InvalidInput

_SECRET = re.compile(r"key|token(?!s)|secret|passw|credential|url", re.IGNORECASE)
_PASSWORD = re.compile(r"://[^:/\s]*:(.*)@|[?&]password=([^&\s]*)")


def told(error: Exception, argv: Sequence[str] = (), secrets: Mapping[str, object] | None = None) -> str:
    """The sentence for an error that is none of ctxasm's own, with the place of its trace.

    `argv` are the arguments of the command, `secrets` what no file may hold (default: the connections of Streamlit's secrets).
    """
    what = f"this is a fault of ctxasm itself ({type(error).__name__})"
    try:
        return f"{what}: please report it with its full trace, which is in {_write(error, argv, secrets)}"
    except OSError as failure:
        return f"{what}, and its full trace cannot be written ({failure.strerror or failure}): name a folder for it in TMPDIR"


def _write(error: Exception, argv: Sequence[str], secrets: Mapping[str, object] | None) -> str:
    from ctxasm.llm.redaction import without_secrets

    head = f"ctxasm {__version__}, Python {platform.python_version()}, {sys.platform}"
    trace = "".join(traceback.format_exception(error))
    text = without_secrets(f"{head}\n\n{trace}", secret_values(argv, secrets))
    return _file_of(text)


@lru_cache(maxsize=64)
def _file_of(text: str) -> str:
    """A file for this text that only its owner can read; the same one again for a page that fails at every run."""
    number, path = tempfile.mkstemp(prefix="ctxasm-fault-", suffix=".txt")
    with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return path


def secret_values(argv: Sequence[str], secrets: Mapping[str, object] | None) -> Iterator[str]:
    """Every value that may be a key, and every address in which one may stand."""
    known = secrets
    if known is None:
        known = {}
        with suppress(InvalidInput, OSError, RuntimeError):  # a file that cannot be read held nothing that was used
            known = connection_secrets()
    given = {str(at): argument.rpartition("=")[2] if argument.startswith("--") else argument for at, argument in enumerate(argv)}
    for name, value in (*os.environ.items(), *_leaves("", known), *given.items()):
        is_address = "://" in value and not value.startswith("sqlite")
        if is_address or (_SECRET.search(name) and "://" not in value):
            yield value
        yield from (form for found in _PASSWORD.finditer(value) for part in found.groups() if part for form in (part, unquote(part)))


def _leaves(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(str(key), inner)
    elif isinstance(value, str):
        yield name, value
