"""What every test stands on: no connection leaves the machine, no law has a clock, and the whole suite takes every core."""

from __future__ import annotations

import functools
import gc
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import LONG_VARIABLE, examples

# Every worker, and every process that a test starts, would compile the same files again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

TESTS = Path(__file__).resolve().parent
PLUGINS = ["postgres", "user_tables"] if (Path(__file__).parent / "postgres.py").exists() else []

SERVERS = {"postgres_server", "postgres_url", "pgvector_url", "vector_server", "vector_place"}
"""Fixtures that start a PostgreSQL."""

_LOCAL_NAMES = {"", "localhost", "localhost.localdomain", "ip6-localhost", socket.gethostname()}


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(str(name).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


_attempts: list[object] = []


def _chosen(config: pytest.Config, marker: str) -> bool:
    """Whether the marker is what was asked for."""
    expression: str = config.option.markexpr or ""
    return marker in expression and f"not {marker}" not in expression


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Every core for the whole suite. Part of it is sooner done, and can be debugged, in this process; so are figures and browsers."""
    whole = {TESTS, TESTS.parent} & {Path(argument).resolve() for argument in config.args}
    alone = config.option.keyword or config.getoption("lf", False) or _chosen(config, "bench") or _chosen(config, "browser")
    return None if whole and not alone else 0


def pytest_configure(config: pytest.Config) -> None:
    """How long an example takes says how busy the machine is, and no more: laws have no deadline."""
    if _chosen(config, "slow"):
        os.environ[LONG_VARIABLE] = "1"
    gc.disable()  # until all tests are loaded
    _stay_inside()
    if not _only_shares_out(config):
        _prepare(config)


def _only_shares_out(config: pytest.Config) -> bool:
    """Whether this process loads no test, and others wait until it has started them: it loads nothing that a test needs."""
    return getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput")


def _prepare(config: pytest.Config) -> None:
    from hypothesis import HealthCheck, settings

    for plugin in PLUGINS:
        config.pluginmanager.import_plugin(plugin)
    calm = [HealthCheck.too_slow, HealthCheck.data_too_large]
    seeded = LONG_VARIABLE not in os.environ  # the short run says the same of the same code; among the slow tests laws look further
    # A failure says by what it is found again.
    settings.register_profile(
        "calm", max_examples=examples(100), deadline=None, suppress_health_check=calm, derandomize=seeded, print_blob=True
    )
    settings.load_profile("calm")
    _tell_less(config)


def _tell_less(config: pytest.Config) -> None:
    """Of a test that passed a worker tells that it has, and no more: to tell all the rest took as long as a small test does.

    How its setup and its teardown went is told where they did not pass, or where somebody asks how long they took.
    """
    if config.option.durations is not None or config.option.verbose > 0 or config.getoption("xmlpath", None):
        return
    for teller in [plugin for plugin in config.pluginmanager.get_plugins() if type(plugin).__name__ == "WorkerInteractor"]:
        teller.sendevent = functools.partial(_tell, teller.sendevent)


def _tell(send: Callable[..., None], event: str, **told: Any) -> None:
    if event == "logstart":
        return
    if event == "testreport" and (report := told["data"])["outcome"] == "passed":
        if report["when"] in ("setup", "teardown") and not report["sections"]:
            return
        report["keywords"] = {}
    send(event, **told)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Figures and browsers are not even imported where nobody asked for them."""
    is_left_out = collection_path.parent == TESTS and collection_path.name in ("bench", "browser")
    return True if is_left_out and not _chosen(config, collection_path.name) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With all their examples, and whole texts, laws are slow tests; with PostgreSQL, any test is one of the system."""
    from hypothesis import is_hypothesis_test

    long = _chosen(config, "slow")
    for item in items:
        if long and (is_hypothesis_test(test := getattr(item, "obj", None)) or _has_more_to_try(test)):
            item.add_marker("slow")
        if _needs_postgres(item):
            item.add_marker("system")


def _has_more_to_try(test: object) -> bool:
    return not {"is_linear", "few", "in_turn"}.isdisjoint(getattr(getattr(test, "__code__", None), "co_names", ()))


def _needs_postgres(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    kinds = callspec.params.values() if callspec is not None else ()
    return "postgresql" in [kind for kind in kinds if isinstance(kind, str)] or not SERVERS.isdisjoint(getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """What was loaded stays, so no search for garbage goes through it again.

    Around each part of each test pytest visits every logger that keeps its records to itself, as some seventy of Streamlit's do.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("streamlit") and isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_sessionfinish() -> None:
    """At its end pytest looks ten times through all that is left for garbage: once will do."""
    gc.collect()
    gc.freeze()


def _stay_inside() -> None:
    """Connections and name lookups off loopback fail as on a machine without a network, and are noted."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def refuse(sock: socket.socket, address: Any) -> None:
        if sock.family != socket.AF_UNIX and not _is_local(address[0]):
            _attempts.append(address)
            raise OSError(101, f"tests reach nothing off loopback, got {address!r}")

    def guarded(sock: socket.socket, address: Any) -> None:
        refuse(sock, address)
        connect(sock, address)

    def guarded_ex(sock: socket.socket, address: Any) -> int:
        refuse(sock, address)
        return connect_ex(sock, address)

    def looked_up(host: Any, *rest: Any, **more: Any) -> Any:
        if not _is_local(host):
            _attempts.append(host)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return getaddrinfo(host, *rest, **more)

    socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo = guarded, guarded_ex, looked_up  # type: ignore[method-assign, assignment]


@pytest.fixture
def outside_attempts() -> list[object]:
    """Every attempt to leave the machine. A test that provokes one on purpose asks for this and clears it."""
    return _attempts


@pytest.fixture(autouse=True)
def no_outside() -> Iterator[None]:
    """An attempt to leave the machine fails the test."""
    yield
    tried = _attempts.copy()
    _attempts.clear()
    assert tried == [], "a test tried to leave the machine"


@pytest.fixture(scope="session", autouse=True)
def first_wait() -> Iterator[float]:
    """How long ctxasm waits before it asks a model server again, in seconds: for a test that counts that. No test waits so long."""
    from ctxasm.llm import client

    seconds = client._FIRST_WAIT
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_FIRST_WAIT", 0.02)
        yield seconds


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[None]:
    """What is written need not outlast the machine, so SQLite waits for no disk: making a database takes a third of the time."""
    from ctxasm.store.connect import Connections

    prepare = Connections._prepare

    def prepared(self: Connections, connection: Any, record: object) -> None:
        prepare(self, connection, record)
        if self.is_sqlite:
            connection.execute("PRAGMA synchronous=OFF")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connections, "_prepare", prepared)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_cache_of_statements() -> Iterator[None]:
    """An engine compiles each statement once. A process of a user has one engine, and here nearly each test its own."""
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite as Dialect

    from ctxasm.store import connect

    create_engine, kept = connect.create_engine, {}

    def created(*given: Any, **options: Any) -> Any:
        engine = create_engine(*given, **options)
        if isinstance(engine.dialect, Dialect):
            engine._compiled_cache = kept.setdefault("sqlite", engine._compiled_cache)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "create_engine", created)
        # What is compiled is found by its dialect, too.
        patch.setattr(Dialect, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(Dialect, "__hash__", lambda one: hash(type(one)))
        yield


@pytest.fixture(scope="session")
def readers_of_the_session() -> Iterator[Any]:
    from tests.kept_readers import KeptReaders

    yield KeptReaders
    KeptReaders.end()


@pytest.fixture
def kept_readers(readers_of_the_session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents are read by processes that earlier tests have started. How they start and end is told in test_hostile_documents."""
    monkeypatch.setattr("ctxasm.data.documents.ingesting.Readers", readers_of_the_session)
