"""Vendor errors to one sentence each: what could not be done, and the remedy. No password, no statement, no row.

The sentences name the database by kind, host and name only; the address itself is never shown, as a password can stand
in any part of it.
"""

from __future__ import annotations

import re

from sqlalchemy import URL, exc

from ctxasm.model.errors import CtxasmError, DamagedData, InvalidInput, StoreUnavailable

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
