"""Reading and writing the files that a user can load. All validation of files lives in this room.

Start at `load_paths` for whatever a user gives, `load_bundle` for a bundle alone: a folder or .zip of JSON Lines (`documents`, `chunks`,
`queries`, `retrievals`, `answers`). Reading is all or nothing, and every problem of every file is collected before one error is raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.data.files.bundle import write_bundle
    from ctxasm.data.files.exporting import ExportReport, export
    from ctxasm.data.files.loading import LoadReport, join_paths, load_paths, one_mapping
    from ctxasm.data.files.problems import Problem
    from ctxasm.data.files.reading import Reading, load_bundle, load_bundle_bytes, read_bundle, read_bundle_bytes

__all__ = [
    "ExportReport",
    "LoadReport",
    "Problem",
    "Reading",
    "export",
    "join_paths",
    "load_bundle",
    "load_bundle_bytes",
    "load_paths",
    "one_mapping",
    "read_bundle",
    "read_bundle_bytes",
    "write_bundle",
]
__getattr__ = door(
    __name__,
    exporting="ExportReport export",
    loading="LoadReport join_paths load_paths one_mapping",
    problems="Problem",
    reading="Reading load_bundle load_bundle_bytes read_bundle read_bundle_bytes",
    bundle="write_bundle",
)
