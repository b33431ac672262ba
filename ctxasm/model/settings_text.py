"""Settings written down and read back: URL, TOML, environment, `--set name=value`, a Python snippet.

All of them go through `parse` and `write`, so a value means the same wherever it stands.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from ctxasm.model.errors import InvalidInput, InvalidSetting, UnknownSetting, shown
from ctxasm.model.regular_files import open_regular
from ctxasm.model.settings import AssemblySettings, Spec, check_value, spec_of, specs

ENVIRONMENT_PREFIX = "CONTEXT_ASSEMBLY_"
MOST_BYTES = 1_000_000
"""Of a file of settings."""
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def write(spec: Spec, value: Any) -> str:
    """One value as text; `parse` reads it back."""
    if value is None:
        return spec.none
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if spec.kind == "float" else str(value)


def parse(spec: Spec, text: str) -> Any:
    """One value from text, validated. Raises InvalidSetting."""
    value = _read(spec, text)
    check_value(spec, value)
    return value


def _read(spec: Spec, text: str) -> Any:
    bare = text.strip().lower()
    if spec.optional and bare in (spec.none, "all", "none", ""):
        return None
    if spec.kind in ("choice", "text"):
        return text
    if spec.kind == "bool" and bare in _TRUE + _FALSE:
        return bare in _TRUE
    try:
        if spec.kind == "int":
            return int(bare)
        if spec.kind == "float":
            return float(bare)
    except ValueError:
        pass
    raise InvalidSetting(spec.name, text, spec.allowed)


def from_assignments(assignments: Iterable[str], start: AssemblySettings | None = None) -> AssemblySettings:
    """Settings from `name=value` texts, as `--set` takes them, on top of `start` (default: the defaults)."""
    changes: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InvalidInput(f"a setting is written name=value, got {shown(assignment)}")
        spec = spec_of(name.strip())
        changes[spec.name] = parse(spec, text)
    return (start or AssemblySettings()).replace(**changes)


def to_url(settings: AssemblySettings) -> dict[str, str]:
    """URL parameters: short key to text, only what differs from the defaults."""
    return {(spec := spec_of(name)).url: write(spec, value) for name, value in settings.changed().items()}


def from_url(parameters: Mapping[str, str]) -> tuple[AssemblySettings, tuple[InvalidSetting, ...]]:
    """Settings from URL parameters. A rejected value falls back to the default and is returned as an error; foreign
    parameters are left alone."""
    changes: dict[str, Any] = {}
    rejected: list[InvalidSetting] = []
    for spec in specs():
        if spec.url in parameters:
            try:
                changes[spec.name] = parse(spec, parameters[spec.url])
            except InvalidSetting as error:
                rejected.append(error)
    return AssemblySettings(**changes), tuple(rejected)


def to_environment(settings: AssemblySettings) -> dict[str, str]:
    """`CONTEXT_ASSEMBLY_…` variables of every setting that differs from its default."""
    return {ENVIRONMENT_PREFIX + name.upper(): write(spec_of(name), value) for name, value in settings.changed().items()}


def from_environment(environment: Mapping[str, str]) -> AssemblySettings:
    """Settings from `CONTEXT_ASSEMBLY_…` variables; raises InvalidSetting naming the variable's setting."""
    changes = {
        spec.name: parse(spec, environment[key]) for spec in specs() if (key := ENVIRONMENT_PREFIX + spec.name.upper()) in environment
    }
    return AssemblySettings(**changes)


def to_toml(settings: AssemblySettings, comments: Iterable[str] = ()) -> str:
    """A TOML table `[context_assembly]` of what differs from the defaults, below a line of comment for each of `comments`."""
    printable = ("".join(char if char.isprintable() else " " for char in comment) for comment in comments)
    lines = [*(f"# {comment}" for comment in printable), "[context_assembly]"]
    for name, value in settings.changed().items():
        lines.append(f"{name} = {_toml_text(value) if isinstance(value, str) else write(spec_of(name), value)}")
    return "\n".join(lines) + "\n"


def _toml_text(text: str) -> str:
    # A JSON string is a TOML basic string but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def from_toml(text: str, start: AssemblySettings | None = None) -> AssemblySettings:
    """Settings from TOML with a `[context_assembly]` table, on top of `start` (default: the defaults).

    Raises InvalidInput for TOML that cannot be read, InvalidSetting.
    """
    try:
        table = tomllib.loads(text).get("context_assembly")
    except (ValueError, RecursionError) as error:  # TOML that is wrong, a number of thousands of digits, tables in tables in tables
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "too deeply nested, or a number of too many digits"
        raise InvalidInput(f"the settings are not valid TOML: {reason}") from None
    if not isinstance(table, dict):
        raise InvalidInput("the settings need a table [context_assembly]")
    return (start or AssemblySettings()).replace(**table)


def read_settings(path: str | os.PathLike[str], start: AssemblySettings | None = None) -> AssemblySettings:
    """Settings from a TOML file, as `from_toml`. Every error names the file, and that of a setting its line."""
    named = shown(os.fspath(path), 300)
    try:
        with open_regular(path) as stream:
            found = stream.read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            raise InvalidInput(
                f"settings: the file {named} has more than the {MOST_BYTES:,} bytes that are allowed: give a file of settings alone"
            )
        text = found.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text"
        raise InvalidInput(f"settings: the file {named} cannot be read: {why}") from None
    try:
        return from_toml(text, start)
    except InvalidInput as error:
        line = _line_of(error, text)
        error.args = (f"settings: {named}{f', line {line}' if line else ''}: {error}",)
        raise


def _line_of(error: InvalidInput, text: str) -> int | None:
    """The line in which a setting that is refused stands; None where the error is of another kind, or names its line itself."""
    if not isinstance(error, InvalidSetting):
        return None
    name = str(error.value) if isinstance(error, UnknownSetting) else error.name
    found = re.search(rf"""(?m)^[ \t]*["']?{re.escape(name)}["']?[ \t]*[=.]""", text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def to_python(settings: AssemblySettings) -> str:
    """The settings as a Python expression."""
    inside = ", ".join(f"{name}={value!r}" for name, value in settings.changed().items())
    return f"AssemblySettings({inside})"
