"""What a model said before, kept in memory up to a number of entries: the one used longest ago goes first."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """At most `limit` values by key. May be shared by threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: str) -> Value | None:
        """The value of `key`, which counts as used now; None where there is none."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: str, value: Value) -> None:
        """Keep `value`."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)


def key_of(*parts: str) -> str:
    """One key of several texts: no two lists of texts share one."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
