"""Opening and writing the paths that a user names. A pipe, socket or device would be waited for, or read for ever: none is opened."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import IO, BinaryIO

from ctxasm.model.errors import InvalidInput, shown

NOT_REGULAR = "it is not a regular file"
STDIN = "give a file, or - and the text on standard input"


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file for reading. Raises OSError for anything else, with the reason in its `strerror`."""
    _check(os.stat(path).st_mode)  # before it is opened: that alone would set the writer of a pipe going
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check(os.fstat(number).st_mode)  # and what was opened, where something else took its place
    except OSError:
        os.close(number)
        raise
    return os.fdopen(number, "rb")


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file. Raises as `open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


def read_text(path: str | os.PathLike[str], what: str, mend: str) -> str:
    """The text of a regular file in UTF-8. Raises InvalidInput: `what` cannot be read, why, and what to do (`mend`)."""
    try:
        return read_regular(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InvalidInput(f"{what} {shown(os.fspath(path))} cannot be read ({reason}): {mend}") from None


def write_file(what: str, path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write a file, in place of what is there. Raises InvalidInput: `what` cannot be written, and why."""
    try:
        Path(path).write_bytes(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{what} {shown(os.fspath(path), 300)} cannot be written ({reason}): name another file") from None


def standard_input() -> BinaryIO:
    """What `-` reads. Raises InvalidInput where the program was started without a standard input."""
    if sys.stdin is None:
        raise InvalidInput("there is no standard input: give a file")
    return sys.stdin.buffer


def refuse_irregular(place: Path, instead: str = "give a file") -> None:
    """Raises InvalidInput where something is at `place` that is neither a regular file nor a folder; OSError as `Path.exists`."""
    if place.exists() and not place.is_file() and not place.is_dir():
        raise InvalidInput(f"{shown(str(place), 300)} must be a regular file or a folder, not a pipe, socket or device: {instead}")


def _check(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NOT_REGULAR)
