"""A session that can only read: every statement in a READ ONLY transaction, with a timeout.

PostgreSQL: `SET TRANSACTION … READ ONLY` and `SET LOCAL statement_timeout` at the start of every transaction, and
`default_transaction_read_only` where the server (or the pooler before it) takes it in the first packet. Nothing is set for
longer than a transaction and nothing is prepared, so that a pooler's connections stay as they were. One snapshot a
transaction: what one read brings together belongs together.

SQLite: the file opens with `mode=ro` (a missing one is an error, none is made) and `PRAGMA query_only`; a progress handler
ends what takes too long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, CursorResult, create_engine, exc

from ctxasm.data.tables.address import existing_file
from ctxasm.data.tables.failures import own_failure
from ctxasm.model.errors import StoreUnavailable
from ctxasm.store.failures import describe

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
