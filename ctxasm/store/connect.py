"""Connections: one way to read and one to write, for a SQLite file, SQLite in memory and PostgreSQL.

Connections run in autocommit and a write says BEGIN itself, because SQLite must take its write lock first (IMMEDIATE):
two writers then queue instead of failing half-way. Readers never wait: SQLite runs in WAL mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import RLock
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, StaticPool, create_engine, event, exc, make_url

from ctxasm.model.errors import DamagedData, StoreUnavailable
from ctxasm.store.failures import ADDRESSES, translated, unusable_address
from ctxasm.store.statements import POSTGRESQL, SQLITE, Dialect

BUSY_SECONDS = 20
CONNECT_SECONDS = 5
MAPPED_BYTES = 2**31 - 2**16  # the most that SQLite maps as it is usually built
LOAD_CACHE_KIB = 65536
LOG_BYTES = 2**26  # kept of the log of a large load

_Result = TypeVar("_Result")


class Connections:
    """An engine with its errors translated. Usable from several threads."""

    def __init__(self, address: str) -> None:
        self.url = parse_address(address)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.statements: Dialect = SQLITE if self.is_sqlite else POSTGRESQL
        nameless = self.url.database in (None, "", ":memory:") or self.url.query.get("mode") == "memory"
        self.in_memory = self.is_sqlite and nameless
        # One connection is all an in-memory database has: without turns, a reader would see a load half done.
        self._turn: AbstractContextManager[Any] = RLock() if self.in_memory else nullcontext()
        try:
            self._engine = create_engine(self.url, isolation_level="AUTOCOMMIT", hide_parameters=True, **self._options())
        except ImportError:
            raise StoreUnavailable("PostgreSQL needs the psycopg driver: run `pip install 'psycopg[binary]'`") from None
        except (exc.ArgumentError, TypeError, ValueError):
            raise unusable_address() from None
        driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        self._vendor_errors = (exc.SQLAlchemyError, driver_error, OverflowError, UnicodeError, DamagedData)
        event.listen(self._engine, "connect", self._prepare)

    @property
    def engine_name(self) -> str:
        return self._engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection on which each statement sees one committed state."""
        with self.translating(), self._turn, self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection inside one transaction: all of it happens, or on any error nothing."""
        with self.translating(), self._turn, self._engine.connect() as connection:
            connection.exec_driver_sql(self.statements.begin)
            try:
                yield connection
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(*self._vendor_errors):
                    connection.exec_driver_sql("ROLLBACK")
                raise

    @contextmanager
    def loading(self) -> Iterator[Connection]:
        """`writing`, for a great many rows: with a larger cache."""
        with self.writing() as connection:
            if not self.is_sqlite:
                yield connection
                return
            (cache,) = connection.exec_driver_sql("PRAGMA cache_size").one()
            connection.exec_driver_sql(f"PRAGMA cache_size=-{LOAD_CACHE_KIB}")
            try:
                yield connection
            finally:
                connection.exec_driver_sql(f"PRAGMA cache_size={cache}")

    def read(self, ask: Callable[[Connection], _Result]) -> _Result:
        """What `ask` reads; asked once more when the connection was one that the server had closed meanwhile."""
        try:
            with self._turn, self._engine.connect() as connection:
                return ask(connection)
        except exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise translated(error, self.url) from None
        except self._vendor_errors as error:
            raise translated(error, self.url) from None
        with self.reading() as connection:
            return ask(connection)

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Errors of the driver and of values that cannot be read become those of ctxasm, which name this database."""
        try:
            yield
        except self._vendor_errors as error:
            raise translated(error, self.url) from None

    def _options(self) -> dict[str, Any]:
        if self.in_memory:
            return {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
        if self.is_sqlite:
            return {"max_overflow": 40, "connect_args": {"timeout": BUSY_SECONDS}}
        known = {"connect_timeout": CONNECT_SECONDS, "application_name": "ctxasm"}
        return {"max_overflow": 10, "connect_args": {key: value for key, value in known.items() if key not in self.url.query}}

    def _prepare(self, connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        if self.is_sqlite:
            connection.create_function("ctxasm_contains", 2, _contains, deterministic=True)
            connection.create_function("ctxasm_unhex", 1, bytes.fromhex, deterministic=True)
            # Reading through a memory map takes a third off a fetch; pages of 16 KiB hold a window of chunks together.
            tuned = ("synchronous=NORMAL", "page_size=16384", f"mmap_size={MAPPED_BYTES}", f"journal_size_limit={LOG_BYTES}")
            for pragma in ("foreign_keys=ON", *tuned):
                cursor.execute(f"PRAGMA {pragma}")
        else:
            # A compiled plan costs more than the whole read: the planner takes many windows for many rows.
            cursor.execute("SET jit = off")
            cursor.execute(f"SET lock_timeout = '{3 * BUSY_SECONDS}s'")
        cursor.close()


def driver_rows(connection: Connection, sql: str, parameters: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
    """All rows of a statement as the driver makes them: what SQLAlchemy notes about them takes as long as a small fetch."""
    try:
        rows: Sequence[tuple[Any, ...]] = connection.connection.cursor().execute(sql, parameters).fetchall()
    except connection.dialect.loaded_dbapi.Error as error:
        if not connection.dialect.is_disconnect(error, connection.connection, None):
            raise
        # Asked once more by SQLAlchemy, which lets go of a connection that the server has closed.
        return connection.exec_driver_sql(sql, tuple(parameters)).fetchall()
    return rows


def parse_address(address: str) -> URL:
    """The address of a database, with the driver this project uses. Raises StoreUnavailable for any other."""
    try:
        url = make_url(address)
    except (exc.ArgumentError, ValueError, TypeError, AttributeError):
        raise unusable_address() from None
    scheme = url.drivername
    if scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if scheme in ("sqlite", "sqlite+pysqlite"):
        return url
    raise StoreUnavailable(f"a database address must look like {ADDRESSES}, got one that starts with {scheme[:30]}:")


def _contains(text: str, lowered_phrase: str) -> bool:
    return lowered_phrase in text.lower()
