"""Reading and writing the files that a user can load. All validation of files lives in this room.

A bundle is a folder or .zip of JSON Lines (`documents`, `chunks`, `queries`, `retrievals`, `answers`). Reading is all or
nothing, and every problem of every file is collected before one error is raised.
"""

from ctxasm.bundle.files import ZipLimits
from ctxasm.bundle.problems import Problem
from ctxasm.bundle.reading import Reading, load_bundle, load_bundle_bytes, read_bundle, read_bundle_bytes
from ctxasm.bundle.writing import write_bundle

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
