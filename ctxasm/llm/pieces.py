"""An answer as an iterator of pieces that also knows how it ended."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping

from ctxasm.model.messages import Usage

Produce = Generator[str, None, str | None]
"""Yields pieces, returns the finish reason."""


class Pieces:
    """A ModelReply over a generator. `on_close` runs once, however the answer ends; `read_usage` gives what its server counted so far."""

    def __init__(
        self, produce: Produce, on_close: Callable[[], None] | None = None, read_usage: Callable[[], Usage | None] = lambda: None
    ) -> None:
        self._produce, self._on_close, self._read_usage = produce, on_close, read_usage
        self.finish_reason: str | None = None

    @property
    def usage(self) -> Usage | None:
        """See `ReportsUsage`."""
        return self._read_usage()

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


def usage_in(body: object) -> Usage | None:
    """The counts of a reply's `usage` object; None where it holds no such counts."""
    told = [body.get(name) if isinstance(body, Mapping) else None for name in ("prompt_tokens", "completion_tokens")]
    counts = [count for count in told if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**9]
    return Usage(*counts) if len(counts) == 2 else None
