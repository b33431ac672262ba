"""Reading and writing the files that a user can load. All validation of files lives in this room.

A bundle is a folder or .zip of JSON Lines (`documents`, `chunks`, `queries`, `retrievals`, `answers`). Reading is all or
nothing, and every problem of every file is collected before one error is raised. Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxasm.data.archives import ZipLimits
    from ctxasm.data.files.problems import Problem
    from ctxasm.data.files.reading import Reading, load_bundle, load_bundle_bytes, read_bundle, read_bundle_bytes
    from ctxasm.data.files.writing import write_bundle

__all__ = [
    "Problem",
    "Reading",
    "ZipLimits",
    "load_bundle",
    "load_bundle_bytes",
    "read_bundle",
    "read_bundle_bytes",
    "write_bundle",
]
_ELSEWHERE = {"Problem": "ctxasm.data.files.problems", "ZipLimits": "ctxasm.data.archives", "write_bundle": "ctxasm.data.files.writing"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_ELSEWHERE.get(name, "ctxasm.data.files.reading")), name)
    globals()[name] = value
    return value
