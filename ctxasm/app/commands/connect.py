"""`ctxasm connect`: your own tables, read where they are."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from ctxasm.app.commands.common import (
    Command,
    add_database,
    add_on_conflict,
    as_json,
    explain_taken_name,
    read_on_conflict,
    say,
    show,
    terminal_progress,
    workbench_of,
)
from ctxasm.config import CONNECTION
from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.data.tables.catalogue import TableInfo
    from ctxasm.data.tables.checks import MappingCheck
    from ctxasm.data.tables.connecting import SavedMapping
    from ctxasm.data.tables.mapping import TableMapping

COLUMN_CHARS = 40


def add_connect(parser: ArgumentParser) -> None:
    """--connection, --table, --map, and what to do with it."""
    parser.add_argument("--connection", metavar="NAME", help="a connection (default: the only one there is)")
    parser.add_argument("--table", metavar="TABLE", help="a table or view; SCHEMA.TABLE where its schema is not searched")
    parser.add_argument(
        "--map",
        metavar="FIELD=COLUMN",
        action="append",
        default=[],
        dest="fields",
        help="a column or path (metadata->>'page_summary') for a field, on top of the guess; FIELD= leaves it out; repeatable",
    )
    parser.add_argument("--documents", metavar="TABLE", help="the table of documents, with its fields as documents.FIELD=COLUMN in --map")
    parser.add_argument("--mapping", metavar="NAME", help="start from a saved mapping instead of a guess")
    parser.add_argument("--save", metavar="NAME", help="keep the mapping under a name")
    parser.add_argument("--link", metavar="DATASET", help="make the table a dataset that is read where it is")
    parser.add_argument(
        "--copy", metavar="DATASET", help="load the first rows as an ordinary dataset; without chunk_index they are counted by order_by"
    )
    add_on_conflict(parser)
    parser.add_argument(
        "--number-by-order",
        action="store_true",
        help="with --copy: number the chunks of each document 0, 1, 2 … in the order of chunk_index, where that has gaps (10, 20, 30)",
    )
    parser.add_argument("--limit", metavar="N", type=int, default=None, help="rows that --copy takes (default: 100,000)")
    parser.add_argument("--unlink", metavar="DATASET", help="take a link back; your table stays as it is")
    parser.add_argument("--sql", action="store_true", help="print the exact SQL of every operation")
    parser.add_argument("--explain", action="store_true", help="print the plan of a fetch")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the lists, and of the mapping")
    add_database(parser)


def run_connect(args: Namespace) -> int:
    """Do what the arguments ask for; 1 where the mapping has problems."""
    with closing(workbench_of(args, makes=_keeps(args))) as workbench:
        return _run(workbench, args)


def _keeps(args: Namespace) -> bool:
    return any(given is not None for given in (args.link, args.copy, args.into, args.save))


def _run(workbench: Workbench, args: Namespace) -> int:
    from ctxasm.data.tables import connecting

    if args.unlink is not None:
        connecting.unlink(workbench, args.unlink)
        say(f"{args.unlink} is no dataset any more; its table stays as it is")
        return 0
    found = connecting.connections(workbench.config)
    saved = _saved(workbench, args.mapping)
    named = args.connection or (saved.connection if saved is not None else None)
    if args.table is None and saved is None:
        if named is None:
            lines = [f"{c.name}\t{c.problem or c.database}" for c in found]
            return _list(lines, [c._asdict() for c in found], args.format, f"no connection is configured: set {CONNECTION}NAME to a URL")
        tables = connecting.tables(workbench, named)
        lines = [_table_line(info) for info in tables]
        return _list(lines, [info._asdict() for info in tables], args.format, "there is no table that this user may read")
    if named is None and len(found) != 1:
        raise InvalidInput(
            f"--connection must name one of {', '.join(connection.name for connection in found) or 'none, none is configured'}"
        )
    connection = named or found[0].name
    mapping = _mapping(workbench, connection, args, saved)
    return _use(workbench, connection, mapping, args)


def _saved(workbench: Workbench, name: str | None) -> SavedMapping | None:
    from ctxasm.data.tables import connecting

    if name is None:
        return None
    known = connecting.mappings(workbench)
    if name not in known:
        raise InvalidInput(f"--mapping must be one of {', '.join(map(shown, known)) or 'none, none is saved'}, got {shown(name)}")
    return known[name]


def _mapping(workbench: Workbench, connection: str, args: Namespace, saved: SavedMapping | None) -> TableMapping:
    """The saved mapping or the guess, with every --map on top."""
    from ctxasm.data.tables.connecting import chosen_mapping
    from ctxasm.data.tables.mapping import numbered_by_order

    fields = []
    for given in args.fields:
        name, mark, place = given.partition("=")
        if not mark:
            raise InvalidInput(f"--map must be FIELD=COLUMN, got {shown(given)}")
        fields.append((name, place))
    start = saved.mapping if saved is not None else None
    mapping = chosen_mapping(workbench, connection, args.table, fields, args.documents, start)
    return numbered_by_order(mapping) if args.number_by_order else mapping


def _use(workbench: Workbench, connection: str, mapping: TableMapping, args: Namespace) -> int:
    from ctxasm.data.tables import connecting

    if args.save is not None:
        connecting.save_mapping(workbench, args.save, connection, mapping)
        say(f"the mapping is kept as {args.save}")
    if args.sql:
        for name, sql in connecting.statements(workbench, connection, mapping).items():
            show(f"-- {name}\n{sql}\n")
    if args.explain:
        show(connecting.explain(workbench, connection, mapping))
    if args.link is not None or args.copy is not None or args.into is not None:
        dataset, over = read_on_conflict(args, args.copy if args.link is None else args.link, "--copy or --link")
        if args.link is not None:
            report = connecting.link(workbench, connection, mapping, args.link, over)
        else:
            most = connecting.COPY_ROWS if args.limit is None else args.limit
            with explain_taken_name("--copy"), terminal_progress() as told:
                report = connecting.copy_table(workbench, connection, mapping, str(dataset), most, told, over=over)
        for note in report.notes:
            say(f"note: {note}")
        say(report.summary)
        show(report.info.name)
        return 0
    return 0 if args.sql or args.explain else _describe(workbench, connection, mapping, args)


def _describe(workbench: Workbench, connection: str, mapping: TableMapping, args: Namespace) -> int:
    """The first rows, the mapping and what it finds."""
    from ctxasm.data.tables import connecting
    from ctxasm.data.tables.mapping import written_mapping

    if args.format == "json":
        show(as_json(written_mapping(mapping)))
    else:
        _show_rows(workbench, connection, mapping)
        for field, place in mapping.fields.items():
            show(f"{field} = {place}")
        if mapping.documents is not None:
            show(f"documents: table {mapping.documents.table}")
            for field, place in mapping.documents.fields.items():
                show(f"documents.{field} = {place}")
    if mapping.missing:
        wanted = (f"{name} (or order_by)" if name == "chunk_index" else name for name in mapping.missing)
        say(f"still to choose with --map: {', '.join(wanted)}")
        return 1
    found = connecting.check_mapping(workbench, connection, mapping)
    _say_check(found)
    return 1 if found.problems or not found.usable else 0


def _show_rows(workbench: Workbench, connection: str, mapping: TableMapping) -> None:
    from ctxasm.data.tables import connecting

    rows = connecting.sample(workbench, connection, mapping.table, mapping.schema, 5)
    show(" | ".join(_cut(name) for name in rows.columns))
    for row in rows.rows:
        show(" | ".join("" if value is None else _cut(value) for value in row))
    show("")


def _say_check(found: MappingCheck) -> None:
    for finding in found.findings:
        say(f"{finding.kind}: {finding.sentence}")
        if finding.remedy:
            say(f"  {finding.remedy}")
    rows = "" if found.estimate is None else f" of about {found.estimate:,}" if not found.whole else ""
    say(f"{found.usable_rows:,} of {found.rows:,} rows looked at{rows} are chunks")


def _table_line(info: TableInfo) -> str:
    name = info.name if info.schema is None else f"{info.schema}.{info.name}"
    rows = "" if info.rows is None else f"{'' if info.exact else 'more than ' if info.more else 'about '}{info.rows:,} rows"
    return f"{name}\t{info.kind}\t{rows}"


def _list(lines: list[str], rows: list[dict[str, object]], form: str, empty: str) -> int:
    if form == "json":
        show(as_json(rows))
    for line in lines if form == "text" else ():
        show(line)
    if not rows:
        say(empty)
    return 0


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= COLUMN_CHARS else flat[: COLUMN_CHARS - 1] + "…"


CONNECT = Command(
    "look into your own tables, map their columns, link or copy them as a dataset",
    """`ctxasm connect`: your own tables in PostgreSQL or SQLite, read where they are.

  ctxasm connect                                    the connections
  ctxasm connect --connection NAME                  its tables
  ctxasm connect --connection NAME --table T        the first rows, the guessed mapping, what it finds
  ctxasm connect --connection NAME --table T --map text=content --link DATASET

A connection is CTXASM_CONNECTION_NAME=postgresql://user@host/name (or sqlite:///folder/file.db), or [connections.NAME] in
.streamlit/secrets.toml. It is only read: nothing is ever written there.
""",
    add_connect,
    run_connect,
)
