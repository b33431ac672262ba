"""Indexes that were made are kept, up to a size; one is made once, however many ask for it meanwhile."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Condition
from typing import Generic, TypeVar

from ctxasm.model.progress import Cancelled, never
from ctxasm.retrieval.stopping import stop_if

Value = TypeVar("Value")
_LOOK = 0.1
"""Seconds between two looks at `cancelled` while another thread makes the value."""


class MadeOnce(Generic[Value]):
    """Values by key, `most_bytes` of them by `size`; the one used longest ago goes first. The newest always stays."""

    def __init__(self, most_bytes: int, size: Callable[[Value], int]) -> None:
        self._most_bytes, self._size = most_bytes, size
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._being_made: set[Hashable] = set()
        self._changed = Condition()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], Value], cancelled: Cancelled = never) -> Value:
        """The value of `key`, made by `make` where there is none. What `make` raises reaches its own caller only: whoever waits
        for it makes the value then. Raises SearchStopped when `cancelled` while waiting.
        """
        with self._changed:
            while key in self._being_made and key not in self._values:
                self._changed.wait(_LOOK)
                stop_if(cancelled)
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            self._being_made.add(key)
        try:
            value = make()
            with self._changed:
                self._keep(key, value)
            return value
        finally:
            with self._changed:
                self._being_made.discard(key)
                self._changed.notify_all()

    def forget(self, key: Hashable) -> None:
        """Keep the value of `key` no longer."""
        with self._changed:
            self._values.pop(key, None)

    def peek(self, key: Hashable) -> Value | None:
        """The value of `key` where it is made already."""
        with self._changed:
            return self._values.get(key)

    def _keep(self, key: Hashable, value: Value) -> None:
        self._values[key] = value
        while len(self._values) > 1 and sum(map(self._size, self._values.values())) > self._most_bytes:
            self._values.popitem(last=False)
