"""What went wrong in a user's own database, in one sentence: what, and what to do. No password, no statement, no row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, CursorResult, create_engine, exc, make_url

from ctxasm.model.errors import CtxasmError, InvalidInput, StoreUnavailable, shown
from ctxasm.store.connect import describe, translated

_TOO_LONG = (
    "did not answer within {seconds:g} s and was stopped: create the index that the check of the mapping names, ask for less, or raise "
    "CTXASM_STATEMENT_TIMEOUT"
)
_NO_TABLE = "has no table or view of this name that this user may see: choose another one"
_NO_COLUMN = "has no column of this name any more: check the mapping"

_UNAVAILABLE = {
    "QueryCanceled": _TOO_LONG,
    "LockNotAvailable": "has a table that another process holds locked: try again when it is done",
    "InsufficientPrivilege": "does not let this user read that: ask its administrator for the right to SELECT",
    "OutOfMemory": "has not enough memory for that: ask for less",
}
_INVALID = {
    "UndefinedTable": _NO_TABLE,
    "UndefinedColumn": _NO_COLUMN,
    "ReadOnlySqlTransaction": "was asked to write by a view or function, which is never allowed here: choose another table",
    "InvalidTextRepresentation": "holds a value that is not of the type the mapping needs: check the mapping",
    "UndefinedFunction": "cannot compare or search a column of this type: check the mapping",
    "UndefinedObject": "lacks an extension or a language of full text that the mapping needs: check the mapping",
    "WrongObjectType": "cannot take that out of a column of this type: check the mapping",
    "DataException": "holds a value of another kind or size than the mapping needs: check the mapping and the embedder",
    "DataError": "holds a value of another kind or size than the mapping needs: check the mapping and the embedder",
}
_SQLITE_INVALID = (
    ("no such table", _NO_TABLE),
    ("no such column", _NO_COLUMN),
    ("no such module", "has a table that needs an extension which is not here: choose another one"),
    ("no such function", "has a view or index that needs a function which is not here: choose another table"),
    ("malformed json", "holds a text that is no JSON where the mapping takes a value out of it: check the mapping"),
    ("json path", "cannot read this path into a JSON text: check the mapping"),
    ("readonly", "was asked to write, which is never allowed here: choose another table"),
)


def own_failure(error: Exception, url: URL, seconds: float) -> CtxasmError:
    """The error of our own tree for an error of SQLAlchemy or of a driver."""
    cause = error.orig if isinstance(error, exc.DBAPIError) and error.orig is not None else error
    subject, said = describe(url), str(cause).lower()
    if url.get_backend_name() == "sqlite":
        if "interrupted" in said:
            return StoreUnavailable(f"{subject} {_TOO_LONG.format(seconds=seconds)}")
        if "unable to open" in said:
            return StoreUnavailable(f"{subject} cannot be opened: check that it may be read (in WAL mode its folder must be writable too)")
        sentence = next((sentence for part, sentence in _SQLITE_INVALID if part in said), None)
        return InvalidInput(f"{subject} {sentence}") if sentence else translated(error, url)
    kinds = [kind.__name__ for kind in type(cause).__mro__]
    for kind in kinds:
        if kind in _UNAVAILABLE:
            return StoreUnavailable(f"{subject} {_UNAVAILABLE[kind].format(seconds=seconds)}")
        if kind in _INVALID:
            return InvalidInput(f"{subject} {_INVALID[kind]}")
    return translated(error, url)


_EXAMPLES = "postgresql://user@host/name or sqlite:///folder/file.db"


def address_of(name: str, table: Mapping[str, Any]) -> URL:
    """The address of the connection `name`. Raises InvalidInput for one that is not PostgreSQL and not a SQLite file."""
    url = _given(name, table)
    kind = url.get_backend_name()
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise InvalidInput(f"connection {shown(name)} must lead to PostgreSQL or to a SQLite file, got {shown(kind)}")
    if not sqlite_path(url):
        raise InvalidInput(f"connection {shown(name)} must name a SQLite file, such as sqlite:///folder/file.db, got a database in memory")
    return url.set(drivername="sqlite")


def _given(name: str, table: Mapping[str, Any]) -> URL:
    try:
        if text := str(table.get("url") or "").strip():
            return make_url(text)
        if not table.get("dialect"):
            raise InvalidInput(f"connection {shown(name)} must have a url, such as {_EXAMPLES}, or at least a dialect and a database")
        port, query = table.get("port"), table.get("query")
        return URL.create(
            str(table["dialect"]).partition("+")[0],
            username=_text(table.get("username") or table.get("user")),
            password=_text(table.get("password")),
            host=_text(table.get("host")),
            port=int(port) if port not in (None, "") else None,
            database=_text(table.get("database") or table.get("dbname")),
            query={str(key): str(value) for key, value in query.items()} if isinstance(query, Mapping) else {},
        )
    except (exc.ArgumentError, ValueError, TypeError, AttributeError):
        # The address itself is not repeated: a password may stand in any part of it.
        raise InvalidInput(f"the address of connection {shown(name)} cannot be read: it must look like {_EXAMPLES}") from None


def _text(value: object) -> str | None:
    return None if value in (None, "") else str(value)


def sqlite_path(url: URL) -> str:
    """The file a SQLite address names, empty for a database in memory."""
    path = (url.database or "").removeprefix("file:").partition("?")[0] if (url.database or "").startswith("file:") else url.database or ""
    return "" if path == ":memory:" or url.query.get("mode") == "memory" else path


def existing_file(url: URL) -> Path:
    """The SQLite file, which must be there: reading never makes one. Raises StoreUnavailable."""
    path = Path(sqlite_path(url))
    if not path.is_file():
        raise StoreUnavailable(f"the SQLite file {path} does not exist: check the address of the connection")
    return path


TIMEOUT_S = 10.0
CONNECT_SECONDS = 5
_STEPS = 20_000  # of SQLite's machine between two looks at the clock: some milliseconds

Row = Sequence[Any]
Parameters = Mapping[str, Any]


class OwnDatabase:
    """A user's database. Usable from several threads. `timeout_s` is the most that one statement may take."""

    def __init__(self, url: URL, timeout_s: float = TIMEOUT_S) -> None:
        self.url, self.timeout_s = url, timeout_s
        self.is_sqlite = url.get_backend_name() == "sqlite"
        try:
            self._engine = create_engine(
                url if not self.is_sqlite else "sqlite://",
                isolation_level="AUTOCOMMIT",
                hide_parameters=True,
                creator=self._open_file if self.is_sqlite else self._open_server,
                poolclass=None if not self.is_sqlite else _queue_pool(),
                pool_size=2,
                max_overflow=8,
            )
        except ImportError:
            raise StoreUnavailable("PostgreSQL needs the psycopg driver: run `pip install 'psycopg[binary]'`") from None
        self._driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error

    @property
    def false(self) -> str:
        """What is never true."""
        return "0" if self.is_sqlite else "false"

    @property
    def description(self) -> str:
        """The database in words, without its password."""
        return describe(self.url)

    def quoted(self, name: str) -> str:
        """An identifier as it stands in a statement that is sent, whatever characters it holds."""
        return self._engine.dialect.identifier_preparer.quote_identifier(name)

    def shown_name(self, name: str) -> str:
        """An identifier as a person would type it: not doubled for the driver."""
        quoted = self.quoted(name)
        return quoted if self.is_sqlite else quoted.replace("%%", "%")

    def literal(self, text: str) -> str:
        """A text as it stands in a statement that is sent: for keys of JSON paths, which an index only serves as literals."""
        quoted = "'" + text.replace("'", "''") + "'"  # standard_conforming_strings is on: a backslash is a backslash
        return quoted if self.is_sqlite else quoted.replace("%", "%%")

    def mark(self, name: str) -> str:
        """The place of a parameter."""
        return f":{name}" if self.is_sqlite else f"%({name})s"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection inside one READ ONLY transaction that is rolled back in the end. Errors come as sentences."""
        try:
            with self._begun() as connection:
                try:
                    yield connection
                finally:
                    with suppress(exc.SQLAlchemyError, self._driver_error):
                        connection.exec_driver_sql("ROLLBACK")
        except (exc.SQLAlchemyError, self._driver_error, OverflowError, UnicodeError) as error:
            raise own_failure(error, self.url, self.timeout_s) from None

    def rows(self, sql: str, parameters: Parameters) -> list[Row]:
        """All rows of one statement. The driver's own rows: a fetch of hundreds is a third faster with them."""
        with self.reading() as connection:
            return ask(connection, sql, parameters)

    def stream(self, sql: str, parameters: Parameters, size: int = 1000) -> Iterator[list[Row]]:
        """The rows of one statement in batches, never all of them in memory: one snapshot, the timeout for each batch."""
        with self.reading() as connection:
            cursor: CursorResult[Any] = connection.execution_options(stream_results=True, max_row_buffer=size).exec_driver_sql(
                sql, dict(parameters)
            )
            try:
                while batch := cursor.fetchmany(size):
                    yield [tuple(row) for row in batch]
                    self._wind(connection)
            finally:
                cursor.close()

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _begun(self) -> Connection:
        """A connection whose transaction has begun; another one where the server had closed the first meanwhile."""
        connection = self._engine.connect()
        try:
            self._begin(connection)
        except exc.DBAPIError as error:
            connection.close()
            if not error.connection_invalidated:
                raise
            connection = self._engine.connect()
            self._begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: Connection) -> None:
        if self.is_sqlite:
            connection.exec_driver_sql("BEGIN DEFERRED")
            self._wind(connection)
            return
        milliseconds = max(1, round(self.timeout_s * 1000))
        # No parameters: several statements in one trip. jit: a compiled plan costs more than the whole read.
        connection.exec_driver_sql(
            "BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            f"SET LOCAL statement_timeout = {milliseconds}; SET LOCAL lock_timeout = {milliseconds}; "
            "SET LOCAL jit = off; SET LOCAL standard_conforming_strings = on"
        )

    def _wind(self, connection: Connection) -> None:
        """Start SQLite's clock anew."""
        if self.is_sqlite:
            deadline = monotonic() + self.timeout_s
            raw: Any = connection.connection.dbapi_connection
            raw.set_progress_handler(lambda: 1 if monotonic() > deadline else 0, _STEPS)

    def _open_file(self) -> Any:
        import sqlite3

        path = existing_file(self.url).resolve()
        opened = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False, timeout=5, isolation_level=None)
        # A text that is no UTF-8 is shown with marks rather than refused: it is the user's table.
        opened.text_factory = lambda data: data.decode("utf-8", "replace")
        opened.create_function("ctxasm_contains", 2, _contains, deterministic=True)
        # Not trusted_schema=OFF: SQLite then refuses json_extract in an index, and this build has no function with effects.
        for pragma in ("query_only=ON", "mmap_size=2147418112"):
            opened.execute(f"PRAGMA {pragma}").close()
        return opened

    def _open_server(self) -> Any:
        import psycopg

        address = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        known = {"connect_timeout": CONNECT_SECONDS, "application_name": "ctxasm (read only)"}
        options: dict[str, Any] = {key: value for key, value in known.items() if key not in self.url.query}
        own = self.url.query.get("options")
        asked = " ".join(part for part in (own if isinstance(own, str) else "", "-c default_transaction_read_only=on") if part)
        try:
            return psycopg.connect(address, autocommit=True, prepare_threshold=None, options=asked, **options)
        except psycopg.OperationalError as error:
            if "startup parameter" not in str(error):
                raise
        # A pooler that takes no such parameter. Every transaction says READ ONLY for itself.
        return psycopg.connect(address, autocommit=True, prepare_threshold=None, **options)


def ask(connection: Connection, sql: str, parameters: Parameters) -> list[Row]:
    """All rows of one statement on an open connection."""
    cursor = connection.exec_driver_sql(sql, dict(parameters)).cursor
    return list(cursor.fetchall()) if cursor is not None else []


def _contains(text: object, lowered_phrase: str) -> bool:
    return isinstance(text, str) and lowered_phrase in text.lower()


def _queue_pool() -> Any:
    from sqlalchemy import QueuePool

    return QueuePool
