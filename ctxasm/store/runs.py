"""A stream of chunks to runs: chunks of one document, ascending, as many as fit into memory; what comes too late is spooled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxasm.model.records import Chunk
from ctxasm.store.chunk_rows import RawChunk, Run, raw_chunk
from ctxasm.store.intake import check_chunk, check_chunk_values, given_twice
from ctxasm.store.spool import Spool
from ctxasm.store.tables import INDEX_BITS

RUN_CHUNKS = 2000
RUN_CHARS = 4_000_000
"""A document with more than that is written in several runs, as long as its chunks come in order."""
BATCH_CHUNKS = 250
BATCH_CHARS = 350_000
"""One batch goes to a worker at a time."""


class Grouping:
    """Chunks of the documents `numbers` (position of each among all), numbered from `first`; the first `done` are stored already.

    A chunk goes to the `spool` when its document is unknown or done, or when it belongs before one that is written already.
    `in_order` stays True while documents come in their own order. `taken` counts the chunks in runs.
    """

    def __init__(self, numbers: dict[str, int], first: int, spool: Spool, done: int = 0) -> None:
        self._numbers, self._first, self._spool = numbers, first, spool
        self._done = bytearray(len(numbers))
        self._done[:done] = b"\1" * done
        self._last = -1
        self.in_order = True
        self.implied: list[str] = []
        self.taken = 0

    def is_done(self, position: int) -> bool:
        """Whether chunks of this document were in a run."""
        return position < len(self._done) and bool(self._done[position])

    def runs(self, chunks: Iterable[Chunk]) -> Iterator[Run]:
        """Runs in the order the documents come. Raises InvalidInput for a chunk that no store can keep."""
        own: list[RawChunk] = []
        current, position, size, takes, before = "", -1, 0, False, None
        for chunk in chunks:
            if chunk.document_id == current:
                check_chunk_values(chunk)
            else:
                check_chunk(chunk)
            raw = raw_chunk(chunk)
            if chunk.document_id != current:
                yield from self._run(current, position, before, own)
                current, size, before, own = chunk.document_id, 0, None, []
                position, takes = self._begin(current)
            if not takes or (before is not None and raw[0] <= before[0]):
                self._spool.add(current, position, raw)
                continue
            own.append(raw)
            size += len(raw[1])
            if len(own) == RUN_CHUNKS or size >= RUN_CHARS:
                yield from self._run(current, position, before, own)
                before, own, size = own[-1], [], 0
        yield from self._run(current, position, before, own)

    def spooled_runs(self) -> Iterator[Run]:
        """The runs of all documents in the spool, in their order."""
        for position in self._spool.positions():
            own: list[RawChunk] = []
            document_id, size, before = self._spool.names[position], 0, None
            for raw in self._spool.chunks(position):
                own.append(raw)
                size += len(raw[1])
                if len(own) == RUN_CHUNKS or size >= RUN_CHARS:
                    yield from self._run(document_id, position, before, own)
                    before, own, size = own[-1], [], 0
            yield from self._run(document_id, position, before, own)

    def renumber(self, first: int) -> None:
        """Number the documents from `first` on."""
        self._first = first

    def _begin(self, document_id: str) -> tuple[int, bool]:
        """The position of a document, and whether its chunks can be written as they come."""
        position = self._numbers.get(document_id)
        if position is None:
            position = self._numbers[document_id] = len(self._numbers)
            self.implied.append(document_id)
        takes = position < len(self._done) and not self._done[position]
        if takes:
            self._done[position] = 1
            self.in_order, self._last = self.in_order and position > self._last, position
        return position, takes

    def _run(self, document_id: str, position: int, before: RawChunk | None, own: list[RawChunk]) -> Iterator[Run]:
        if not own:
            return
        own.sort(key=_index)
        at = 1
        while at < len(own):
            if own[at][0] != own[at - 1][0]:
                at += 1
            elif own[at][1] == own[at - 1][1]:
                del own[at]
            else:
                raise given_twice(document_id, own[at][0])
        self.taken += len(own)
        follows = before is not None and before[0] + 1 == own[0][0]
        yield Run(document_id, (self._first + position) << INDEX_BITS, before if follows else None, own)


def _index(raw: RawChunk) -> int:
    return raw[0]


def batched_runs(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """Runs together until there is enough to do."""
    batch: list[Run] = []
    chunks = chars = 0
    for run in runs:
        batch.append(run)
        chunks += len(run.chunks)
        chars += sum(len(raw[1]) for raw in run.chunks)
        if chunks >= BATCH_CHUNKS or chars >= BATCH_CHARS:
            yield batch
            batch, chunks, chars = [], 0, 0
    if batch:
        yield batch
