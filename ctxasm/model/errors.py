"""Every error a user can meet, as one tree. A message says what, what is allowed, what came, and what to do."""

from __future__ import annotations

import sys

from ctxasm.model.amounts import counted


class CtxasmError(Exception):
    """Base of all errors that ctxasm raises on purpose."""


class InvalidInput(CtxasmError):
    """A record, file or argument from outside is not usable. Nothing was changed."""


class InvalidSetting(InvalidInput):
    """A setting is unknown or out of range. `name` is the setting, `value` what came, `allowed` the range."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} must be {allowed}, got {shown(value)}")


class UnknownSetting(InvalidSetting):
    """No setting has this name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("setting name", name, f"one of {', '.join(known)}")


class InvalidBundle(InvalidInput):
    """The files of a bundle do not hold what they must. `problems` lists all of them, in file and line order."""

    def __init__(self, where: str, problems: tuple[object, ...]) -> None:
        self.where, self.problems = where, problems
        lines = [f"{where}: {counted(len(problems), 'problem')}, nothing was loaded"]
        lines += [f"  {problem}" for problem in problems[:50]]
        if len(problems) > 50:
            lines.append(f"  … and {len(problems) - 50} more")
        super().__init__("\n".join(lines))


class NotFound(InvalidInput):
    """A dataset, query or document of this name is not in the store."""


class StoreUnavailable(CtxasmError):
    """The database cannot be reached or refused the work. The message names the remedy and never the password."""


class DamagedData(StoreUnavailable):
    """A stored value is not what was written: the database is damaged. `what` says which value, `where` the database."""

    def __init__(self, what: str, where: str = "the database", remedy: str = "") -> None:
        self.what = what
        super().__init__(f"{where} is damaged ({what}): restore a copy of it, or load its data into a new one{remedy}")


class TokenizerUnavailable(CtxasmError):
    """No vocabulary for the encoding can be had on this machine. The message names the remedies."""


class ModelUnavailable(CtxasmError):
    """The language model could not answer. `partial` holds the text that had arrived before it failed."""

    def __init__(self, message: str, partial: str = "") -> None:
        self.partial = partial
        super().__init__(message)


class WindowExceeded(ModelUnavailable):
    """Prompt and answer do not fit the window that the server runs the model with, as it says or as its empty answer suggests.

    `prompt`: tokens of the prompt by the server's count, None where it does not say.
    """

    def __init__(self, message: str, partial: str = "", prompt: int | None = None) -> None:
        self.prompt = prompt
        super().__init__(message, partial)


def is_fault(error: BaseException) -> bool:
    """Whether something went wrong: any Exception, and the panic of a library in Rust, which is none. No request to end is one."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def reason_of(error: BaseException, what: str) -> str:
    """Why one of many could not be done: a sentence of ours as it stands, else `what`, with the name and the words of the error."""
    return str(error) if isinstance(error, InvalidInput) else f"{what}: {shown(f'{type(error).__name__}: {error}')}"


def shown(value: object, limit: int = 80) -> str:
    """`value` as it may stand in a message: quoted, on one line, at most `limit` characters."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out a whole number of thousands of digits
        text = "a number of too many digits"
    return text if len(text) <= limit else text[: limit - 1] + "…"


PACKAGES = {
    "Stemmer": "PyStemmer",
    "docx": "python-docx",
    "markdown_it": "markdown-it-py",
    "psycopg": "psycopg[binary]",
    "toktok": "toktok-rs",
}
"""By the name of the module, where it is more than hyphens that differs."""


def missing_package(error: Exception) -> str:
    """What is missing and how to get it, as a sentence; "" where it is no package from outside that is not there."""
    top = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if not isinstance(error, ModuleNotFoundError) or top in ("", "ctxasm") or top in sys.stdlib_module_names:
        return ""
    package = PACKAGES.get(top, top.replace("_", "-"))
    asked = f"'{package}'" if "[" in package else package
    module = "" if error.name == package else f" (it brings {error.name})"
    return f"the package {package} is not installed{module}: run `pip install {asked}`"
