"""`ctxasm settings` and `ctxasm serve`: the table of settings, and the workbench in the browser."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from ctxasm.app.commands.common import (
    Command,
    add_database,
    add_dataset,
    add_settings,
    as_json,
    config_of,
    settings_of,
    snippet_url,
    workbench_of,
)
from ctxasm.app.hosts import HOST_NAMES, read_hosts
from ctxasm.app.integrations.settings_forms import FORMS, FRAMEWORKS, written_as
from ctxasm.config import DATABASE_URL, shipped
from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.settings import AssemblySettings, specs
from ctxasm.model.settings_text import ENVIRONMENT_PREFIX, write


def add_settings_table(parser: ArgumentParser) -> None:
    """--format, the settings themselves, and the dataset that a snippet names."""
    parser.add_argument("--format", choices=("text", "json", *FORMS), default="text")
    add_settings(parser)
    add_dataset(parser)


def run_settings(args: Namespace) -> int:
    """Print the table (text, json) or what differs from the defaults, written down."""
    settings = settings_of(args)
    if args.format in FORMS:
        is_snippet = args.format in FRAMEWORKS
        dataset, url = (_dataset(args), snippet_url(args)) if is_snippet else (None, None)
        print(written_as(settings, args.format, dataset, url=url), end="")
    elif args.format == "json":
        print(as_json(rows(settings)))
    else:
        print(table(settings))
    return 0


def _dataset(args: Namespace) -> str | None:
    """The dataset that neighbours come from: the one that is named, else the newest; None where there is none yet."""
    if args.data is not None:
        return str(args.data)
    try:
        return workbench_of(args).dataset().info.name
    except NotFound:
        return None


def rows(settings: AssemblySettings) -> list[dict[str, object]]:
    """One row a setting, in the order of the table."""
    return [
        {
            "name": spec.name,
            "value": getattr(settings, spec.name),
            "default": spec.default,
            "allowed": spec.allowed,
            "url": spec.url,
            "environment": ENVIRONMENT_PREFIX + spec.name.upper(),
            "stage": spec.stage,
            "help": spec.help,
        }
        for spec in specs()
    ]


def table(settings: AssemblySettings) -> str:
    """The same as aligned text; a value that differs from its default is marked with a star."""
    cells = [("NAME", "VALUE", "DEFAULT", "URL", "ALLOWED", "HELP")]
    for spec in specs():
        value = getattr(settings, spec.name)
        mark = "" if value == spec.default else " *"
        cells.append((spec.name, write(spec, value) + mark, write(spec, spec.default), spec.url, spec.allowed, spec.help))
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    return "\n".join("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]).rstrip() for row in cells)


SETTINGS = Command(
    "show every setting: value, default, allowed values, URL key, what it does",
    """`ctxasm settings`: the table of settings, or the values that a command line means.""",
    add_settings_table,
    run_settings,
)


def add_serve(parser: ArgumentParser) -> None:
    """--port, --host-name, --db; what else is given goes to streamlit."""
    parser.add_argument("--port", metavar="PORT", help="port to listen on (default: 8501, or the next that is free)")
    parser.add_argument(
        "--host-name", metavar="NAME", action="append", default=[], help="answer under this name too, beside localhost; repeatable"
    )
    add_database(parser)


def run_serve(args: Namespace) -> int:
    """Become (on Windows: run) streamlit. Its own exit code is ours."""
    if find_spec("streamlit") is None:
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")
    names = ",".join(sorted(read_hosts(os.environ, args.host_name).named))
    environment = {**os.environ, DATABASE_URL: config_of(args).database_url, HOST_NAMES: names}
    return _become(serve_command(args.port, args.rest), environment)


def serve_command(port: str | None, rest: Sequence[str]) -> list[str]:
    """The streamlit command line. The configuration beside app.py applies by itself: streamlit reads it last."""
    command = [sys.executable, "-m", "streamlit", "run", str(shipped("app.py"))]
    if port is not None:
        if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
            raise InvalidInput(f"port must be a whole number between 1 and 65535, got {shown(port)}")
        command += ["--server.port", port]
    return [*command, *rest]


def _become(command: list[str], environment: Mapping[str, str]) -> int:
    # In place of this process rather than below it, so that a signal reaches the server itself.
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(command[0], command, dict(environment))  # noqa: S606 - our own command
    return subprocess.run(command, env=dict(environment), check=False).returncode  # noqa: S603 - our own command


SERVE = Command(
    "run the workbench in the browser (further arguments go to `streamlit run`)",
    """`ctxasm serve`: the workbench in the browser, from a source tree or an installed wheel.""",
    add_serve,
    run_serve,
)
