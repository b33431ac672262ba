"""`ctxasm load`: files become a dataset.

PATH is a bundle (a folder or .zip), or any files that go together: JSON, JSON Lines, CSV, TSV, Parquet, a .zip of them, or -
for what is pasted into standard input. Columns are guessed; --preview shows how, --map says otherwise.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxasm.app.commands.common import (
    Command,
    add_database,
    add_on_conflict,
    explain_taken_name,
    parse_mapping,
    read_on_conflict,
    say,
    show,
    standard_input,
    workbench_of,
)
from ctxasm.app.workbench import SAMPLE, SAMPLE_NL, Workbench
from ctxasm.data.files.loading import LoadReport, files_at, join_paths, load_paths, one_mapping, preview_files
from ctxasm.data.load_conflicts import NOUNS, Over
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput

if TYPE_CHECKING:
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.importing import FilePreview

MOST_PROBLEMS, ROW_CHARS = 50, 200


def add_load(parser: ArgumentParser) -> None:
    """PATH… or --sample or --sample-nl, --data, --replace or --into, --map, --kind, --valid-only, --number-by-order, --preview, --db."""
    parser.add_argument("path", nargs="*", metavar="PATH", help="a folder, .zip or file, several that go together, or - for standard input")
    parser.add_argument("--sample", action="store_const", const=SAMPLE, help="load the sample data that ships with ctxasm instead")
    parser.add_argument("--sample-nl", dest="sample", action="store_const", const=SAMPLE_NL, help="the same hospital in Dutch")
    parser.add_argument(
        "--data",
        "--name",
        dest="name",
        metavar="NAME",
        help="name of the dataset (default: the folder's or file's name)",
    )
    add_on_conflict(parser)
    parser.add_argument(
        "--join", metavar="DATASET", help="add only the questions, with their hits on the chunks of this dataset or linked table"
    )
    parser.add_argument(
        "--map",
        dest="columns",
        metavar="FIELD=PATH",
        action="append",
        default=[],
        help="the column of a field, or a path in JSON; of a list of hits hits=results[*] and hits.text=node.text",
    )
    parser.add_argument("--kind", help="what the rows are: chunks, documents, queries, retrievals or answers (default: guessed)")
    parser.add_argument("--valid-only", action="store_true", help="leave out the rows that fail instead of loading nothing")
    parser.add_argument(
        "--number-by-order",
        action="store_true",
        help="number the chunks of each document 0, 1, 2 … in the order of their indexes, where these have gaps (10, 20, 30)",
    )
    parser.add_argument("--preview", action="store_true", help="show how the files are understood, and load nothing")
    add_database(parser)


def run_load(args: Namespace) -> int:
    """Load, and print the name of the dataset."""
    if (args.sample is not None) == bool(args.path) or (args.sample and (args.name is not None or args.into is not None)):
        raise InvalidInput("load takes either a PATH (with or without --data or --into) or one of --sample and --sample-nl alone")
    name, over = read_on_conflict(args, args.name, "--data")
    if args.join is not None and (args.sample or args.into is not None or args.replace or name is not None):
        raise InvalidInput("--join names the dataset that questions are added to: leave out --sample…, --data, --into and --replace")
    if args.number_by_order and (args.sample or args.join is not None or args.into is not None):
        raise InvalidInput("--number-by-order is for chunks that are loaded by themselves: leave out --sample…, --join and --into")
    workbench = workbench_of(args, makes=True)
    if args.preview:
        return _preview(workbench, args)
    with explain_taken_name(None if args.sample else "--data"):
        report = workbench.load_sample(over, args.sample) if args.sample else _load(workbench, args, name, over)
    for note in report.notes:
        say(f"note: {note}")
    say(report.summary if report.changed else f"{report.summary} (already loaded)")
    print(report.info.name)
    return 0


def _load(workbench: Workbench, args: Namespace, name: str | None, over: Over) -> LoadReport:
    if args.join is not None:
        return join_paths(workbench, args.path, args.join, _mappings(args), args.valid_only, _pasted)
    return load_paths(workbench, args.path, name, _mappings(args), args.valid_only, over, _pasted, args.number_by_order)


def _pasted(most: int) -> bytes:
    return standard_input().read(most)


def _mappings(args: Namespace) -> dict[str, ColumnMapping]:
    """What --map and --kind say, for every file."""
    return one_mapping(parse_mapping(args.columns), args.kind)


def _preview(workbench: Workbench, args: Namespace) -> int:
    if args.sample:
        raise InvalidInput("--preview takes a PATH")
    found = preview_files(workbench, files_at(args.path, workbench.config, _pasted), _mappings(args), args.into, args.join)
    for file in found.files:
        _show_file(file)
    counts = ", ".join(counted(count, NOUNS[kind]) for kind, count in found.counts.items() if count)
    for note in found.notes:
        show(f"note: {note}")
    added = args.into or args.join
    where = f"add to {added}" if added is not None else f"load as {found.name}"
    show(f"would {where}: {counts}" if counts else "would load nothing")
    for problem in found.problems[:MOST_PROBLEMS]:
        say(str(problem))
    if found.problems:
        say(f"{counted(len(found.problems), 'problem')}; --valid-only leaves out the rows that fail")
    return 1 if found.problems else 0


def _show_file(file: FilePreview) -> None:
    show(f"{file.file}: {file.understood}; {counted(file.row_count, 'row')}, {file.failing:,} with a problem")
    if file.mapping is not None:
        for field, column in file.mapping.columns.items():
            show(f"  {field} = {column} ({file.mapping.reasons.get(field, 'as you said')})")
    for note in file.notes:
        show(f"  note: {note}")
    for asked in file.asked:
        show(f"  asks: {_cut(asked.question)} ({counted(asked.hits, 'hit')})")
        for text, score in asked.best:
            show(f"    {'' if score is None else f'{score:.4g} '}{_cut(text)}")
    for number, row in file.rows:
        text = json.dumps(row, ensure_ascii=False, default=str)
        show(f"  {file.unit} {number}: {_cut(text)}")


def _cut(text: str) -> str:
    line = " ".join(text[: ROW_CHARS * 2].split())
    return line if len(line) <= ROW_CHARS else line[: ROW_CHARS - 1] + "…"


LOAD = Command(
    "load a bundle, or files of JSON, JSON Lines, CSV or Parquet, as a dataset",
    """`ctxasm load`: files become a dataset.

PATH is a bundle (a folder or .zip), or any files that go together: JSON, JSON Lines, CSV, TSV, Parquet, a .zip of them, or -
for what is pasted into standard input. Columns are guessed; --preview shows how, --map says otherwise.
""",
    add_load,
    run_load,
)
