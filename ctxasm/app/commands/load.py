"""`ctxasm load`: files become a dataset.

PATH is a bundle (a folder or .zip), or any files that go together: JSON, JSON Lines, CSV, TSV, Parquet, a .zip of them, or -
for what is pasted into standard input. Columns are guessed; --preview shows how, --map says otherwise.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxasm.commands.options import add_database, say, show, workbench_of
from ctxasm.loading import LoadReport, files_at, limits_of, load_files, preview_files
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.workbench import Workbench

if TYPE_CHECKING:
    from ctxasm.bundle.importing import FilePreview
    from ctxasm.bundle.mapping import ColumnMapping

SUMMARY = "load a bundle, or files of JSON, JSON Lines, CSV or Parquet, as a dataset"
PASTED = "pasted"
MOST_PROBLEMS, ROW_CHARS = 50, 200


def add_arguments(parser: ArgumentParser) -> None:
    """PATH… or --sample, --data, --map, --kind, --valid-only, --preview, --db."""
    parser.add_argument("path", nargs="*", metavar="PATH", help="a folder, .zip or file, several that go together, or - for standard input")
    parser.add_argument("--sample", action="store_true", help="load the sample data that ships with ctxasm instead")
    parser.add_argument(
        "--data",
        "--name",
        dest="name",
        metavar="NAME",
        help="name of the dataset (default: the folder's or file's name); one of that name is replaced",
    )
    parser.add_argument(
        "--map", dest="columns", metavar="FIELD=COLUMN", action="append", default=[], help="the column of a field; a dotted path for JSON"
    )
    parser.add_argument("--kind", help="what the rows are: chunks, documents, queries, retrievals or answers (default: guessed)")
    parser.add_argument("--valid-only", action="store_true", help="leave out the rows that fail instead of loading nothing")
    parser.add_argument("--preview", action="store_true", help="show how the files are understood, and load nothing")
    add_database(parser)


def run(args: Namespace) -> int:
    """Load, and print the name of the dataset."""
    if args.sample == bool(args.path) or (args.sample and args.name is not None):
        raise InvalidInput("load takes either a PATH (with or without --data) or --sample alone")
    workbench = workbench_of(args)
    if args.preview:
        return _preview(workbench, args)
    report = workbench.load_sample() if args.sample else _load(workbench, args)
    for note in report.notes:
        say(f"note: {note}")
    say(report.summary if report.changed else f"{report.summary} (already loaded)")
    print(report.info.name)
    return 0


def _load(workbench: Workbench, args: Namespace) -> LoadReport:
    mappings = _mappings(args)
    if len(args.path) == 1 and not mappings and not args.valid_only and _is_bundle(args.path[0]):
        return workbench.load(args.path[0], args.name)
    files = _files(workbench, args.path)
    name = args.name if args.name is not None or len(args.path) > 1 else _name_of(Path(args.path[0]), bool(mappings))
    return load_files(workbench, files, name, mappings, args.valid_only)


def _name_of(path: Path, mapped: bool) -> str | None:
    """The folder that a path is, or that a file of a bundle lies in, names the dataset; a file that is mapped names it itself."""
    from ctxasm.bundle.kinds import KNOWN_FILES

    if path.is_dir() or path.name not in KNOWN_FILES:
        return path.resolve().name if path.is_dir() else None
    return path.stem if mapped else path.resolve().parent.name


def _is_bundle(path: str) -> bool:
    """Whether a path is for the reader of bundles: a folder or .zip that has one, or nothing at all (which it says best)."""
    from ctxasm.bundle.kinds import KNOWN_FILES
    from ctxasm.bundle.opening import is_bundle_archive

    try:
        place = Path(path).expanduser()
        if place.is_dir():
            return any((place / file).exists() for file in KNOWN_FILES) and not (place / "corpus.jsonl").exists()
        return path != "-" and (not place.exists() or is_bundle_archive(place))
    except (OSError, RuntimeError, ValueError):
        return True


def _files(workbench: Workbench, paths: list[str]) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for path in paths:
        if path == "-":
            found.append((PASTED, sys.stdin.buffer.read(limits_of(workbench.config).upload_bytes + 1)))
        else:
            found += files_at([path], workbench.config)
    return found


def _mappings(args: Namespace) -> dict[str, ColumnMapping]:
    """What --map and --kind say, for every file."""
    if not args.columns and args.kind is None:
        return {}
    from ctxasm.bundle.mapping import ColumnMapping

    columns = {}
    for assignment in args.columns:
        field, equals, column = assignment.partition("=")
        if not equals or not field.strip():
            raise InvalidInput(f"--map takes FIELD=COLUMN, such as text=body, got {shown(assignment)}")
        columns[field.strip()] = column
    return {"": ColumnMapping(args.kind or "", columns, guess_rest=True)}


def _preview(workbench: Workbench, args: Namespace) -> int:
    if args.sample:
        raise InvalidInput("--preview takes a PATH")
    found = preview_files(workbench, _files(workbench, args.path), _mappings(args))
    for file in found.files:
        _show_file(file)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in found.counts.items() if count)
    show(f"would load as {found.name}: {counts}" if counts else "would load nothing")
    for problem in found.problems[:MOST_PROBLEMS]:
        say(str(problem))
    if found.problems:
        say(f"{len(found.problems):,} problems; --valid-only leaves out the rows that fail")
    return 1 if found.problems else 0


def _show_file(file: FilePreview) -> None:
    show(f"{file.file}: {file.understood}; {file.row_count:,} rows, {file.failing:,} with a problem")
    if file.mapping is not None:
        for field, column in file.mapping.columns.items():
            show(f"  {field} = {column} ({file.mapping.reasons.get(field, 'as you said')})")
    for note in file.notes:
        show(f"  note: {note}")
    for number, row in file.rows:
        text = json.dumps(row, ensure_ascii=False, default=str)
        show(f"  {file.unit} {number}: {text if len(text) <= ROW_CHARS else text[: ROW_CHARS - 1] + '…'}")
