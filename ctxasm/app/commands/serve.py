"""`ctxasm serve`: the workbench in the browser, from a source tree or an installed wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from ctxasm.app.commands.common import Command, add_database, config_of
from ctxasm.app.hosts import HOST_NAMES, read_hosts
from ctxasm.config import DATABASE_URL, shipped
from ctxasm.model.errors import InvalidInput, shown



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
