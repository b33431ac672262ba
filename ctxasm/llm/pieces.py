"""An answer as an iterator of pieces that also knows how it ended."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

Produce = Generator[str, None, str | None]
"""Yields pieces, returns the finish reason."""


class Pieces:
    """A ModelReply over a generator. `on_close` runs once, however the answer ends."""

    def __init__(self, produce: Produce, on_close: Callable[[], None] | None = None) -> None:
        self._produce, self._on_close = produce, on_close
        self.finish_reason: str | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            return next(self._produce)
        except StopIteration as end:
            self.finish_reason = self.finish_reason or end.value
            self.close()
            raise StopIteration from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the answer. Closing twice is fine."""
        self._produce.close()
        if self._on_close is not None:
            ended, self._on_close = self._on_close, None
            ended()
