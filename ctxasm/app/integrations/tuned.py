"""Settings as they were copied from the workbench: TOML, a mapping, a file, the name of a preset, or the object itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.presets import PRESETS, preset
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_toml, read_settings


def settings_of(given: object) -> AssemblySettings:
    """The settings in any of these forms; None are the defaults. A text of one line is the name of a preset, else the path of a TOML file.

    Raises InvalidInput for what is none of them, and as `from_toml` and `read_settings`.
    """
    if given is None:
        return AssemblySettings()
    if isinstance(given, AssemblySettings):
        return given
    if isinstance(given, Mapping):
        table: Any = given.get("context_assembly", given)
        return AssemblySettings.from_dict(table)
    if isinstance(given, str) and given in PRESETS:
        return preset(given)
    if isinstance(given, str) and "[" in given:
        return from_toml(given)
    if isinstance(given, (str, os.PathLike)):
        return read_settings(given)
    raise InvalidInput(
        f"settings must be AssemblySettings, a mapping, TOML, the name of a preset or the path of a TOML file, got {shown(given)}"
    )
