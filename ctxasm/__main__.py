"""The command line: `ctxasm …`, the same as `python -m ctxasm …`.

Exit code 0 is fine, 1 a check that failed, 2 bad input, 70 a fault of ctxasm itself, 130 an interrupt. Results go to standard
output, messages to standard error, both UTF-8 whatever the locale. Every failure gives a sentence, never a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

from ctxasm import __version__
from ctxasm.model.errors import CtxasmError, missing_package

if TYPE_CHECKING:
    from ctxasm.app.commands.common import Command

COMMANDS = {
    "demo": "tune",
    "load": "data",
    "ingest": "data",
    "enrich": "data",
    "connect": "connect",
    "datasets": "data",
    "delete": "data",
    "assemble": "query",
    "search": "query",
    "questions": "review",
    "ask": "query",
    "converse": "converse",
    "check": "check",
    "why": "why",
    "compare": "tune",
    "sweep": "tune",
    "recommend": "tune",
    "label": "review",
    "review": "review",
    "history": "review",
    "report": "review",
    "export": "data",
    "settings": "serve",
    "fit": "tune",
    "serve": "serve",
}
"""Every command, and the module of `ctxasm.app.commands` that it stands in."""
INTERRUPTED = 130
FAULT = 70
"""As `EX_SOFTWARE` of sysexits.h."""
_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What writing a result can end in. An error in reading a file names the file."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115 (closed by who started us)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    argv = sys.argv[1:] if argv is None else argv
    try:
        args = parse(argv)
        code = int(args.run(args))
        sys.stdout.flush()
    except SystemExit as stop:  # argparse: --help, --version, a mistake in the arguments
        return stop.code if isinstance(stop.code, int) else 0
    except CtxasmError as error:
        print(f"ctxasm: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ctxasm: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (`| head`). Python flushes once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 (whatever it is, the user gets a sentence)
        return _unforeseen(error, argv)
    return code


def _unforeseen(error: Exception, argv: Sequence[str]) -> int:
    """Say what no command saw coming; returns the exit code."""
    if isinstance(error, OSError) and error.errno in _OUTPUT and error.filename is None:
        print(f"ctxasm: the result cannot be written: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    if missing := missing_package(error):
        print(f"ctxasm: {missing}", file=sys.stderr)
        return 2
    from ctxasm.app.faults import report_crash

    print(f"ctxasm: {report_crash(error, argv)}", file=sys.stderr)
    return FAULT


def parse(argv: Sequence[str]) -> Namespace:
    """The arguments, with `run` of the command they name. Only `serve` takes arguments that are not its own."""
    parser = _parser(argv)
    args, rest = parser.parse_known_args(argv)
    if rest and args.command != "serve":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    args.rest = rest
    return args


def command_of(name: str) -> Command:
    """One of COMMANDS, read when it is needed."""
    found: Command = getattr(import_module(f"ctxasm.app.commands.{COMMANDS[name]}"), name.upper())
    return found


def _parser(argv: Sequence[str]) -> ArgumentParser:
    """The command that is named first, else every command, with the arguments of those that are named: all take longer than most run."""
    parser = ArgumentParser(prog="ctxasm", description="A workbench for tuning RAG context assembly.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"ctxasm {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in argv[:1] if argv and argv[0] in COMMANDS else COMMANDS:
        command = command_of(name)
        added = commands.add_parser(
            name, help=command.summary, description=command.description, allow_abbrev=False, formatter_class=RawDescriptionHelpFormatter
        )
        if name in argv:
            command.add_arguments(added)
        added.set_defaults(run=command.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
