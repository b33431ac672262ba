"""What several commands share: the database, the dataset and the settings that they take, and how they print, report progress and end."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import shlex
import signal
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

from ctxasm.answering.history import parse_history
from ctxasm.answering.zones import conversation_line, zones_line
from ctxasm.app.workbench import Workbench
from ctxasm.config import DATABASE_URL, Config, connection_secrets, database_file, read_config
from ctxasm.data.load_conflicts import NameTaken, Over
from ctxasm.model.amounts import counted
from ctxasm.model.characters import harmless
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.events import Failed
from ctxasm.model.frames import as_csv
from ctxasm.model.presets import GIVEN_UP, PRESETS, RECOMMENDED, RECOMMENDED_GAIN, preset
from ctxasm.model.progress import Cancelled, Progress, Report, silent
from ctxasm.model.records import Query
from ctxasm.model.regular_files import read_text
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_assignments, from_environment, read_settings

if TYPE_CHECKING:
    from ctxasm.tuning.compare import Comparison
    from ctxasm.tuning.sweep_results import SweepResult

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended before its work was done."""


def add_database(parser: ArgumentParser) -> None:
    """`--db`."""
    parser.add_argument("--db", metavar="URL", help=f"database URL (default: {DATABASE_URL}, else a SQLite file in your data folder)")


def add_dataset(parser: ArgumentParser) -> None:
    """`--db` and `--data`."""
    add_database(parser)
    parser.add_argument("--data", metavar="NAME", help="dataset (default: the newest)")


def standard_input() -> BinaryIO:
    """What `-` reads. Raises InvalidInput where the command was started without a standard input."""
    if sys.stdin is None:
        raise InvalidInput("there is no standard input: give a file")
    return sys.stdin.buffer


def parse_mapping(assignments: Sequence[str]) -> dict[str, str]:
    """What every --map says: a field and its column or path. Raises InvalidInput."""
    columns = {}
    for assignment in assignments:
        field, equals, column = assignment.partition("=")
        if not equals or not field.strip():
            raise InvalidInput(f"--map takes FIELD=PATH, such as text=body or hits=results[*], got {shown(assignment)}")
        columns[field.strip()] = column
    return columns


def add_on_conflict(parser: ArgumentParser) -> None:
    """`--replace` and `--into`: what becomes of a dataset whose name is taken."""
    parser.add_argument("--replace", action="store_true", help="load over a dataset of that name, whatever it holds")
    parser.add_argument("--into", metavar="NAME", help="add to this dataset; a record that is there with other content is a problem")


def read_on_conflict(args: Namespace, named: str | None, flag: str) -> tuple[str | None, Over]:
    """The name of the dataset, and what becomes of one that has it. Raises InvalidInput."""
    if args.into is None:
        return named, "replace" if args.replace else "new"
    if args.replace:
        raise InvalidInput("--replace and --into exclude each other: a dataset is loaded over, or added to")
    if named is not None:
        raise InvalidInput(f"--into and {flag} both name the dataset: give one of them")
    return args.into, "join"


@contextmanager
def explain_taken_name(flag: str | None) -> Iterator[None]:
    """A name that is taken, with what can be said: `flag` gives another one, None where there is no other way than replacing."""
    try:
        yield
    except NameTaken as error:
        into = shlex.quote(error.standing.info.name)
        others = f", --into {into} to add to it, or another name with {flag}" if flag else ""
        raise InvalidInput(f"{error}. Say --replace to load over it{others}") from None


def add_settings(parser: ArgumentParser) -> None:
    """`--preset`, `--settings` and `--set`, in the order in which each goes before the one before it."""
    gain = f"{RECOMMENDED} (all evidence in more contexts than by default: {RECOMMENDED_GAIN}; it gives up {GIVEN_UP})".replace("%", "%%")
    parser.add_argument("--preset", metavar="NAME", help=f"start from a preset; for your own data {gain}. All: {', '.join(PRESETS)}")
    parser.add_argument(
        "--settings",
        metavar="FILE",
        help="a TOML file with a table [context_assembly], on top of the preset (the workbench copies its own)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="assignments",
        help="change one setting, on top of both; repeatable",
    )


def add_history(parser: ArgumentParser) -> None:
    """`--history`."""
    parser.add_argument(
        "--history", metavar="FILE", help="the earlier turns, in place of the query's own: a transcript, or JSON with role and content"
    )


def with_history(query: Query, path: str | None) -> Query:
    """The query with the turns of the file at `path`, itself where there is none. Raises InvalidInput."""
    if path is None:
        return query
    text = read_text(path, "the history", "give --history a transcript or JSON")
    return dataclasses.replace(query, history=parse_history(text))


def say_zones(assembly: Assembly) -> None:
    """How the window is shared out, what was done with the earlier turns, and what does not fit together."""
    if assembly.zones is not None:
        say(zones_line(assembly.zones))
    if assembly.conversation is not None and (line := conversation_line(assembly.conversation)):
        say(line)
    for hint in assembly.zones.hints if assembly.zones is not None else ():
        say(hint)


def say_compression(assembly: Assembly) -> None:
    """Why the model that compresses was not heard, where one was asked."""
    for event in [event for record in assembly.trace.stages for event in record.events if isinstance(event, Failed)]:
        chunks = counted(event.chunks, "chunk")
        say(f"{chunks} shortened by the question's words, because the model that compresses failed: {event.message}")


def config_of(args: Namespace) -> Config:
    """The environment's Config, with `--db` on top, and the connections of Streamlit's secrets."""
    environment = dict(os.environ) if args.db is None else {**os.environ, DATABASE_URL: args.db}
    return read_config(environment, connection_secrets())


def snippet_url(args: Namespace) -> str | None:
    """The database that a snippet has to name: that of `--db`, unless its address holds a password, which is said."""
    if args.db is None:
        return None
    address = urlsplit(args.db)
    if address.password is None and "password" not in address.query:
        return str(args.db)
    say(f"the snippet reads the database that {DATABASE_URL} names: the one of --db has a password, which is not written down")
    return None


def workbench_of(args: Namespace, makes: bool = False) -> Workbench:
    """The workbench over the database of `args`; where that is a file that is not there, over nothing, unless the command `makes` it."""
    config = config_of(args)
    if makes or not _is_missing(config):
        return Workbench(config)
    from ctxasm.store.database import MemoryStore

    return Workbench(config, MemoryStore())


def _is_missing(config: Config) -> bool:
    file = database_file(config.database_url)
    return file is not None and not file.exists()


def settings_of(args: Namespace) -> AssemblySettings:
    """The preset, then the file, then every `--set`; the environment's settings where neither preset nor file is named."""
    start = preset(args.preset) if args.preset is not None else None
    if args.settings is not None:
        start = read_settings(args.settings, start)
    return from_assignments(args.assignments, start or from_environment(os.environ))


def require_data(workbench: Workbench) -> None:
    """Refuse to go on with an empty database, and say what to do."""
    if not workbench.datasets():
        raise InvalidInput(nothing_loaded(workbench))


def nothing_loaded(workbench: Workbench) -> str:
    """That there is no dataset, where, and what to do."""
    missing = ", there is no such file" if _is_missing(workbench.config) else ""
    where = workbench.config.shown_database
    return f"no dataset is loaded in {where}{missing}: run `ctxasm load FOLDER` (or `ctxasm load --sample`) first"


def say(message: str) -> None:
    """A message for the user, beside the results."""
    print(harmless(message), file=sys.stderr)


def show(text: str, end: str = "\n") -> None:
    """A result that holds text of others: as it is for a pipe or file, harmless on a terminal."""
    print(harmless(text) if sys.stdout.isatty() else text, end=end, flush=True)


def parse_number(name: str, text: str, low: float, high: float) -> float:
    """A number that an option takes. Raises InvalidInput."""
    try:
        number = int(text) if name == "max-answer-tokens" else float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise InvalidInput(f"{name} must be a number between {low:g} and {high:g}, got {shown(text)}")
    return number


def add_run(parser: ArgumentParser, *formats: str) -> None:
    """--query-id, --engine, --no-keep, --format, --data, --db."""
    parser.add_argument("--query-id", metavar="ID", action="append", help="only this question; repeatable (default: all of the dataset)")
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default="local",
        help="who counts: local (this process), cores or cores:N, dask or dask:ADDRESS (default: local)",
    )
    parser.add_argument("--no-keep", action="store_true", help="keep no outcomes in the database, and use none that are kept")
    parser.add_argument("--format", choices=("text", "json", *formats), default="text")
    add_dataset(parser)


def run_options(args: Namespace) -> dict[str, Any]:
    """What `add_run` took, as the use cases name it."""
    return {"dataset": args.data, "query_ids": args.query_id, "engine": args.engine, "keep": not args.no_keep}


def settings_named(parts: Iterable[str]) -> AssemblySettings:
    """Settings put together of presets, TOML files and `name=value`, each on top of those before it; none: those of the environment.

    Raises InvalidInput, InvalidSetting.
    """
    settings = from_environment(os.environ)
    for part in parts:
        if part in PRESETS:
            settings = preset(part)
        elif "=" in part:
            settings = from_assignments([part], settings)
        else:
            settings = read_settings(part, settings)
    return settings


def as_json(value: Any, indent: int | None = 2) -> str:
    """A result as strict JSON: no NaN. Control characters that JSON lets through are escaped, for terminals."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_CONTROL = re.compile("[\x7f-\x9f]")


def check_writable(flag: str, path: str) -> Path:
    """The file that `flag` names, made where it is missing. Raises InvalidInput where it cannot be written, before any work is done."""
    try:
        Path(path).open("ab").close()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{flag} cannot write to {shown(path, 300)}: {error}") from None
    return Path(path)


def write_result(flag: str, path: str, text: str) -> None:
    """Write the file that `flag` names, in place of what is there. Raises InvalidInput where it cannot be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{flag}: {shown(path)} cannot be written: {reason}; name another file") from None


TABLES = (".csv", ".json", ".parquet", ".html")
"""What `--out` of a sweep or a comparison writes: the table, all of it, or a report."""


def check_table(path: str | None) -> None:
    """Refuse a file for `--out` whose suffix says nothing, before any work is done. Raises InvalidInput."""
    if path is not None and Path(path).suffix not in TABLES:
        raise InvalidInput(f"--out needs a file that ends in one of {', '.join(TABLES)}, got {shown(path)}")


def write_table(path: str, found: SweepResult | Comparison, described: dict[str, Any], report: Callable[[], str]) -> None:
    """A result as a file, in place of what is there: by its suffix. Raises InvalidInput where it cannot be written."""
    made = Path(f"{path}.part")
    try:
        if path.endswith(".parquet"):
            found.to_pandas().to_parquet(made, index=False)
        else:
            texts = {".csv": lambda: as_csv(found.to_pandas()), ".json": lambda: as_json(described) + "\n", ".html": report}
            made.write_text(texts[Path(path).suffix](), encoding="utf-8")
        os.replace(made, path)
    except OSError as error:
        raise InvalidInput(f"--out: {shown(path)} cannot be written: {error.strerror or error}") from None


QUIET_SECONDS = 0.5
"""Work that is done by then shows nothing."""
_BETWEEN = 0.1


@contextmanager
def terminal_progress() -> Iterator[Report]:
    """A `Report` that draws on standard error while the block runs, and leaves the line empty."""
    if not sys.stderr.isatty():
        yield silent
        return
    began, drawn = monotonic(), [0.0]

    def report(progress: Progress) -> None:
        now = monotonic()
        if now - began >= QUIET_SECONDS and now - drawn[0] >= _BETWEEN:
            drawn[0] = now
            print(f"\r\033[K{progress_line(progress)}", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        if drawn[0]:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def progress_line(progress: Progress) -> str:
    """How far the work is: `embedding chunks: 512 of 1,059, 4 s left`."""
    of = f" of {progress.total:,}" if progress.total is not None else ""
    left = f", {progress.left_s:.0f} s left" if progress.left_s is not None else ""
    return f"{progress.what}: {progress.done:,}{of}{left}"


@contextmanager
def cancel_on_interrupt() -> Iterator[Cancelled]:
    """Whether Ctrl-C was pressed while the block runs; pressed a second time it interrupts as ever."""
    pressed = threading.Event()

    def press(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
