"""Readers of documents that stay for the next test: to start their processes takes longer than most of what a test has them read."""

from __future__ import annotations

from typing import ClassVar

from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.sandbox import Readers, _Reader


class KeptReaders(Readers):
    """Closed it ends what is under way, as any readers; who waits for a document waits on, for the next that have the same limits."""

    waiting: ClassVar[dict[ReadLimits, list[_Reader]]] = {}

    def __init__(self, limits: ReadLimits, width: int | None = None) -> None:
        super().__init__(limits, width)
        self._limits = limits
        for reader in self.waiting.pop(limits, []):
            self._helpers.all.append(reader)
            self._helpers._idle.put(reader)

    def close(self) -> None:
        self._unwanted.set()
        self._helpers._threads.shutdown(cancel_futures=True)
        self.waiting.setdefault(self._limits, []).extend(self._helpers.all)

    @classmethod
    def end(cls) -> None:
        """End them all."""
        for readers in cls.waiting.values():
            for reader in readers:
                reader.end()
        cls.waiting.clear()
