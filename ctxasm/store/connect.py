"""Vendor errors to one sentence each: what could not be done, and the remedy. No password, no statement, no row.

The sentences name the database by kind, host and name only; the address itself is never shown, as a password can stand
in any part of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import RLock
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, StaticPool, create_engine, event, exc, make_url

from ctxasm.model.errors import CtxasmError, DamagedData, InvalidInput, StoreUnavailable
from ctxasm.store.statements import POSTGRESQL, SQLITE, Dialect

ADDRESSES = "sqlite:///folder/file.db or postgresql://user@host/name"

_SQLITE = (
    ("unable to open database file", "cannot be opened: check that its folder exists and may be written"),
    ("readonly", "may only be read: make the file and its folder writable, or load into another file"),
    ("database is locked", "is being written by another process: wait for it to finish and try again"),
    ("not a database", "is not an SQLite database: choose another file"),
    ("disk is full", "cannot grow, the disk is full: free some space and try again"),
    ("disk i/o error", "cannot be read or written (disk error): check the disk and that the file system allows locks"),
)

_DAMAGED = re.compile(
    r"malformed|could not decode to utf-8|no such table: (?!ctxasm_search_)|no such column|datatype mismatch|fts5: corruption"
    r"|invalid page|could not read block|missing chunk number|invalid memory alloc"
)
"""What a database says of a file that something else has written into. Only the tables of searches go while they are used."""

_POSTGRESQL = (
    ("password authentication failed", "refused the user name or password: check both"),
    ("no password supplied", "asks for a password: put it into the address or into a PostgreSQL password file"),
    ("no pg_hba.conf entry", "does not let this user or machine in: ask its administrator"),
    ("connection refused", "does not answer: check that the server runs and that host and port are right"),
    ("no such file or directory", "does not answer: check that the server runs and that the socket folder is right"),
    ("could not translate host name", "has an unknown host name: check the address"),
    ("failed to resolve host", "has an unknown host name: check the address"),
    ("invalid connection option", "does not know an option of its address: check what stands after the question mark"),
    ("timeout expired", "did not answer in time: check host, port and network"),
    ("does not exist", "or its user does not exist: create it or check the address"),
    ("permission denied", "does not allow this user to do that: ask its administrator for the right"),
    ("read-only transaction", "may only be read: load into a writable database"),
    ("lock timeout", "is being written by another process: wait for it to finish and try again"),
    ("too many clients", "has no connection left: close other programs that use it, or try again later"),
    ("no space left", "cannot grow, its disk is full: free some space and try again"),
)


def describe(url: URL) -> str:
    """The database in words that are safe to show."""
    if url.get_backend_name() == "sqlite":
        return f"the SQLite file {url.database}" if url.database else "the SQLite database in memory"
    host = url.host or url.query.get("host") or "the local socket"
    port = f":{url.port}" if url.port else ""
    return f"the PostgreSQL database {url.database or ''} on {host}{port}".replace("  ", " ")


def unusable_address() -> StoreUnavailable:
    """The address itself makes no sense. It is not repeated: a password may stand in it."""
    return StoreUnavailable(f"the database address cannot be read: it must look like {ADDRESSES}")


def translated(error: Exception, url: URL) -> CtxasmError:
    """The error of our own tree for an error of SQLAlchemy or of a driver."""
    cause = error.orig if isinstance(error, exc.DBAPIError) and error.orig is not None else error
    if _is_bad_value(cause):
        return InvalidInput(f"{describe(url)} cannot keep one of the values (too large a number, or a character it does not take)")
    if isinstance(cause, exc.TimeoutError):
        return StoreUnavailable(f"{describe(url)} is in use by too many requests of this program at once: try again")
    if isinstance(cause, DamagedData):
        return damaged(cause.what, url)
    said = str(cause).lower()
    if isinstance(cause, UnicodeDecodeError) or _DAMAGED.search(said):
        return damaged(" ".join(str(cause).split()), url)
    known = _SQLITE if url.get_backend_name() == "sqlite" else _POSTGRESQL
    for part, sentence in known:
        if part in said:
            return StoreUnavailable(f"{describe(url)} {sentence}")
    if (isinstance(error, exc.DBAPIError) and error.connection_invalidated) or "connection" in said:
        return StoreUnavailable(f"{describe(url)} closed the connection: check that the server runs and try again")
    return StoreUnavailable(f"{describe(url)} refused the work ({type(cause).__name__}): check the database and try again")


def damaged(what: str, url: URL) -> DamagedData:
    """The error for a database with a value or a page that is not what was written, with what can be done."""
    remedy = "; `sqlite3 FILE .recover | sqlite3 NEW` saves what can still be read" if url.get_backend_name() == "sqlite" else ""
    return DamagedData(what, describe(url), remedy)


def _is_bad_value(cause: BaseException) -> bool:
    """Numbers past 64 bits and text that is not UTF-8: found out by the driver, after our own checks."""
    return isinstance(cause, (OverflowError, UnicodeEncodeError)) or type(cause).__name__ in {"DataError", "NumericValueOutOfRange"}


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
        self.is_private = self.is_sqlite and self.url.database in (None, "", ":memory:")
        """In memory, and nobody else can open it."""
        self.in_memory = self.is_private or (self.is_sqlite and self.url.query.get("mode") == "memory")
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
