"""The address of a user's own database, out of a table of Streamlit's secrets or an environment variable.

Streamlit's `[connections.NAME]` either has a `url` or its parts (dialect, driver, username, password, host, port,
database, query). Only PostgreSQL and SQLite files can be read; a password is never part of a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import URL, exc, make_url

from ctxasm.model.errors import InvalidInput, StoreUnavailable, shown

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
