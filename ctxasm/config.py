"""The environment and secrets -> one Config; and where the files that ship beside the package are.

Order: an environment variable, then the secrets given (the same names, any case), then the default. No key and no
password is ever part of a representation or a message.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.regular_files import read_regular, refuse_irregular

DATABASE_URL = "CTXASM_DATABASE_URL"
BASE_URL = ("CTXASM_LLM_BASE_URL", "OPENAI_BASE_URL")
MODEL = ("CTXASM_LLM_MODEL", "OPENAI_MODEL")
COMPRESS_MODEL = "CTXASM_COMPRESS_MODEL"
EMBED_MODEL, EMBED_BASE_URL, EMBED_API_KEY = "CTXASM_EMBED_MODEL", "CTXASM_EMBED_BASE_URL", "CTXASM_EMBED_API_KEY"
RERANK_MODEL = "CTXASM_RERANK_MODEL"
API_KEY = ("CTXASM_LLM_API_KEY", "OPENAI_API_KEY")
MODEL_WINDOWS = "CTXASM_MODEL_WINDOWS"
VALUE_WEIGHTS = "CTXASM_VALUE_WEIGHTS"
CONNECTION = "CTXASM_CONNECTION_"
"""Before the name of a connection to a user's own tables; its value is the URL."""
STATEMENT_TIMEOUT = "CTXASM_STATEMENT_TIMEOUT"
MAX_UPLOAD_MB = "CTXASM_MAX_UPLOAD_MB"
CONNECT_TIMEOUT, TIMEOUT = "CTXASM_LLM_CONNECT_TIMEOUT", "CTXASM_LLM_TIMEOUT"
SHIPPED = ("app.py", "pages", "sample_data/hospital-en", "sample_data/hospital-nl", ".streamlit/config.toml")
"""What a wheel carries beside the package; `pyproject.toml` must name the same."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the environment decides. Timeouts are seconds: to connect, and to the first text of an answer.

    `compress_model` is a fast and cheap model at the same address that shortens chunks (`compression=model`). `embed_model` is an
    embedding model, at `embed_base_url` (default: the same address with the same key). `rerank_model` is the folder of a cross-encoder.
    The base URL may hide a key in it, so it is not shown either; whoever opens a model validates it. `model_windows` is the
    path of the user's own table of model windows, `value_weights` that of weights made by `ctxasm fit`; both are validated by
    whoever reads them. `connections` are the databases that hold
    a user's own tables, by name, each as Streamlit's secrets give it (`url`, or its parts); `statement_timeout` is the most
    seconds that one read there may take. `max_…` limit a file that is loaded: its megabytes, rows, columns, and how many times
    its size it may unpack to.
    """

    database_url: str = field(repr=False)
    llm_base_url: str | None = field(default=None, repr=False)
    llm_model: str | None = None
    llm_api_key: str | None = field(default=None, repr=False)
    compress_model: str | None = None
    llm_connect_timeout: float = 5.0
    llm_timeout: float = 60.0
    model_windows: str | None = None
    value_weights: str | None = None
    embed_model: str | None = None
    embed_base_url: str | None = field(default=None, repr=False)
    embed_api_key: str | None = field(default=None, repr=False)
    rerank_model: str | None = None
    connections: Mapping[str, Mapping[str, object]] = field(default_factory=dict, repr=False, hash=False)
    statement_timeout: float = 10.0
    max_upload_mb: int = 200

    @property
    def has_endpoint(self) -> bool:
        """Whether a language model is configured: its address and its name."""
        return self.llm_base_url is not None and self.llm_model is not None

    @property
    def shown_database(self) -> str:
        """The database URL without its password."""
        return re.sub(r"(?<=://)([^/@]*?):[^/]*@", r"\1:…@", self.database_url)


def read_config(environment: Mapping[str, str] | None = None, secrets: Mapping[str, object] | None = None) -> Config:
    """The Config of an environment (default: this process's) and of secrets. Raises InvalidInput naming the variable."""
    known = _Values(os.environ if environment is None else environment, secrets or {})
    base_url, api_key = known.first(BASE_URL[0]), known.first(API_KEY[0])
    if base_url is None:  # a key of OpenAI's own variable never goes to another address than the one it came with
        base_url, api_key = known.first(BASE_URL[1]), api_key or known.first(API_KEY[1])
    embed_base_url = known.first(EMBED_BASE_URL)  # another address: it gets its own key or none
    return Config(
        database_url=_database_url(known.first(DATABASE_URL)) or default_database_url(known.environment),
        llm_base_url=base_url,
        llm_model=known.first(*MODEL),
        llm_api_key=api_key,
        compress_model=known.first(COMPRESS_MODEL),
        llm_connect_timeout=_seconds(CONNECT_TIMEOUT, known.first(CONNECT_TIMEOUT), 5.0),
        llm_timeout=_seconds(TIMEOUT, known.first(TIMEOUT), 60.0),
        model_windows=known.first(MODEL_WINDOWS),
        value_weights=known.first(VALUE_WEIGHTS),
        embed_model=known.first(EMBED_MODEL),
        embed_base_url=embed_base_url or base_url,
        embed_api_key=known.first(EMBED_API_KEY) or (None if embed_base_url else api_key),
        rerank_model=known.first(RERANK_MODEL),
        connections=_connections(known.environment, secrets or {}),
        statement_timeout=_seconds(STATEMENT_TIMEOUT, known.first(STATEMENT_TIMEOUT), 10.0),
        max_upload_mb=_whole(MAX_UPLOAD_MB, known.first(MAX_UPLOAD_MB), 200),
    )


def _connections(environment: Mapping[str, str], secrets: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """The connections by name: `[connections.NAME]` of the secrets, and CTXASM_CONNECTION_NAME on top, in any case of the name."""
    tables = next((value for name, value in secrets.items() if name.lower() == "connections"), {})
    given = tables.items() if isinstance(tables, Mapping) else ()
    found: dict[str, Mapping[str, object]] = {str(name): dict(table) for name, table in given if isinstance(table, Mapping)}
    for variable, url in environment.items():
        if variable.startswith(CONNECTION) and variable != CONNECTION and url.strip():
            own = variable.removeprefix(CONNECTION)
            same = next((name for name in found if name.lower() == own.lower()), own.lower())
            found[same] = {"url": url.strip()}
    return found


def connection_secrets(folders: Sequence[Path] | None = None) -> dict[str, object]:
    """The connections that Streamlit would find in its secrets.toml, for a program without Streamlit; {} where there is none.

    Raises InvalidInput for a file that cannot be read as TOML.
    """
    import tomllib

    merged: dict[str, object] = {}
    for folder in (Path.home(), Path.cwd()) if folders is None else folders:  # as Streamlit does: the folder's own over the user's
        path = folder / ".streamlit" / "secrets.toml"
        try:
            found = tomllib.loads(read_regular(path).decode("utf-8")).get("connections")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:  # the text itself holds secrets and is not repeated
            raise InvalidInput(f"{path} cannot be read ({type(error).__name__}): it must be TOML in UTF-8") from None
        merged |= found if isinstance(found, dict) else {}
    return {"connections": merged} if merged else {}


class _Values:
    def __init__(self, environment: Mapping[str, str], secrets: Mapping[str, object]) -> None:
        self.environment = environment
        self._secrets = {name.upper(): value for name, value in secrets.items() if isinstance(value, (str, int, float))}

    def first(self, *names: str) -> str | None:
        """The first of these variables that is set and not blank."""
        values = [self.environment.get(name) for name in names] + [self._secrets.get(name) for name in names]
        return next((text for value in values if value is not None and (text := str(value).strip())), None)


def _database_url(url: str | None) -> str | None:
    if url is not None and not re.match(r"[a-z][a-z0-9+]*://", url):
        raise InvalidInput(
            f"the database ({DATABASE_URL} or --db) must be a URL, such as sqlite:///ctxasm.db or postgresql://user@host/name"
        )
    return url


def _seconds(name: str, text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 3600:
        raise InvalidInput(f"{name} must be a number of seconds above 0 and at most 3600, got {shown(text)}")
    return seconds


def _whole(name: str, text: str | None, default: int) -> int:
    bare = "" if text is None else text.replace("_", "").replace(",", "")
    if text is None:
        return default
    if not (bare.isascii() and bare.isdecimal() and 0 < len(bare) <= 9 and int(bare) > 0):
        raise InvalidInput(f"{name} must be a whole number between 1 and 999999999, got {shown(text)}")
    return int(bare)


def default_database_url(environment: Mapping[str, str]) -> str:
    """A SQLite file in the user's own data folder, by the rules of the platform."""
    return f"sqlite:///{(_data_folder(environment) / 'ctxasm.db').as_posix()}"


def _data_folder(environment: Mapping[str, str]) -> Path:
    if sys.platform == "win32" and (local := environment.get("LOCALAPPDATA")):
        return Path(local) / "ctxasm"
    if (data := environment.get("XDG_DATA_HOME")) and Path(data).is_absolute():
        return Path(data) / "ctxasm"
    try:
        home = Path(environment["HOME"]) if environment.get("HOME") else Path.home()
    except RuntimeError:
        raise InvalidInput(f"this user has no home folder for the default database: set {DATABASE_URL}") from None
    return home / ("Library/Application Support" if sys.platform == "darwin" else ".local/share") / "ctxasm"


def database_file(url: str) -> Path | None:
    """The path of a SQLite file; None for other URLs, and where its driver looks for it."""
    match = re.match(r"sqlite(?:\+\w+)?:///([^?]+)", url)
    return Path(match[1]) if match and match[1] != ":memory:" and not match[1].startswith("file:") else None


def make_database_folder(url: str) -> None:
    """Make the folder of a SQLite file, readable by its owner alone, where it does not exist. Other URLs need nothing."""
    if (file := database_file(url)) is not None:
        folder = file.parent
        try:
            refuse_irregular(file, "give the path of a database, or of a new file")
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"the folder of the database, {folder}, cannot be made ({error.strerror}): set {DATABASE_URL}") from None


def shipped(name: str) -> Path:
    """The file or folder `name` that ships with ctxasm: inside an installed wheel, else in the source tree.

    Raises NotFound where this installation does not have it.
    """
    package = Path(__file__).resolve().parent
    for root in (package / "_shipped", package.parent):
        if (root / name).exists():
            return root / name
    raise NotFound(f"{name} is not part of this installation of ctxasm: install the wheel, or run from a source tree")
