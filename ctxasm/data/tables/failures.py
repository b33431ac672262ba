"""What went wrong in a user's own database, in one sentence: what, and what to do. No password, no statement, no row."""

from __future__ import annotations

from sqlalchemy import URL, exc

from ctxasm.model.errors import CtxasmError, InvalidInput, StoreUnavailable
from ctxasm.store.failures import describe, translated

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
