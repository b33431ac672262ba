"""The names at the door of a room: each is loaded when it is first used, so that to open a door is not to load the room."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module


def door(package: str, **homes: str) -> Callable[[str], object]:
    """The `__getattr__` of `package`: its public names, with blanks between them, by the module inside it that has them."""
    home = {name: f"{package}.{module}" for module, names in homes.items() for name in names.split()}

    def open_name(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return open_name
