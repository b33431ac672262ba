"""Chunks to rows: what is found once at load, for a batch at a time, here or in worker processes, results in the order of the load."""

from __future__ import annotations

import json
import marshal
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from hashlib import blake2b
from typing import IO, NamedTuple

from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Chunk
from ctxasm.store.digest import HASH_BYTES
from ctxasm.store.processes import Helpers, Remote, answer_messages, cores, read_message
from ctxasm.store.records import written_metadata
from ctxasm.text.chunk_facts import chunk_facts, with_counts

RawChunk = tuple[int, str, int | None, int | None, int | None, str | None, int | None, str | None]
"""A checked chunk as plain values: index, text, start, end, page_number, section, row_number, metadata as JSON."""
ChunkRow = tuple[object, ...]
"""The values of `ctxasm_chunks` in the order of its columns."""


class Run(NamedTuple):
    """Chunks of one document, ascending by index. `base` is the place of its index 0, `before` the stored chunk just before
    the first, where there is one.
    """

    document_id: str
    base: int
    before: RawChunk | None
    chunks: list[RawChunk]


class Placed(NamedTuple):
    """Rows to insert, and what the content hash takes of them."""

    rows: list[ChunkRow]
    digested: bytes


def raw_chunk(chunk: Chunk) -> RawChunk:
    """Raises InvalidInput for metadata that JSON cannot hold."""
    metadata = written_metadata(chunk.metadata, f"chunk {chunk.chunk_index} of document {chunk.document_id!r}") if chunk.metadata else None
    return chunk.chunk_index, chunk.text, chunk.start, chunk.end, chunk.page_number, chunk.section, chunk.row_number, metadata


def place_runs(runs: Sequence[Run], counter: TokenCounter) -> Placed:
    """All facts of these chunks. Counted together: a counter has a fixed cost a call, and most documents are short."""
    facts: list[FetchedChunk] = []
    for document_id, _, before, chunks in runs:
        own = chunks if before is None else [before, *chunks]
        facts += chunk_facts([Chunk(document_id, *raw[:7]) for raw in own], None)
    if counter.exact:
        facts = with_counts(facts, counter)
    rows: list[ChunkRow] = []
    digested: list[str] = []
    known = iter(facts)
    for document_id, base, before, chunks in runs:
        name = json.dumps(document_id)
        if before is not None:
            next(known)
        for raw, fact in zip(chunks, known, strict=False):
            content_hash = blake2b(raw[1].encode(), digest_size=HASH_BYTES).digest()
            rows.append(_row(base, raw, fact, content_hash))
            digested.append(_digested(name, raw, content_hash.hex()))
    return Placed(rows, "".join(digested).encode())


def _digested(name: str, raw: RawChunk, content_hash: str) -> str:
    """What `ContentDigest.chunk` hashes of a chunk: the same bytes as from json.dumps, in a third of the time."""
    index, _, start, end, page, section, row, metadata = raw
    place = f"{'null' if start is None else start}, {'null' if end is None else end}"
    if section is None and metadata is None:
        rest = f"[{'null' if page is None else page}, null, {'null' if row is None else row}, null]"
    else:
        rest = json.dumps((page, section, row, metadata))
    return f'["chunk", {name}, {index}, "{content_hash}", {place}]{rest}'


def _row(base: int, raw: RawChunk, fact: FetchedChunk, content_hash: bytes) -> ChunkRow:
    index, text, start, end, page_number, section, row_number, metadata = raw
    counted = (fact.token_count, fact.overlap_chars, fact.overlap_kind, fact.overlap_tokens, fact.lead_tokens)
    told = (fact.duplicate_key, content_hash, metadata, fact.quiet)
    return (base + index, text, start, end, page_number, section, row_number, *counted, *told)


START_CHUNKS = 6000
"""From this many chunks on, starting processes costs less than it saves."""
MOST_WORKERS = 6
"""With more of them, this process is what all wait for; each takes about 100 MB."""
AHEAD = 3
"""Batches under way for each worker."""


def placed_in_order(batches: Iterable[Sequence[Run]], counter: TokenCounter) -> Iterator[Placed]:
    """The rows of each batch, in order. Small loads stay in this process, and so does a counter that cannot be sent to another."""
    batches, taken = iter(batches), 0
    for batch in batches:
        yield place_runs(batch, counter)
        taken += sum(len(run.chunks) for run in batch)
        if taken >= START_CHUNKS:
            break
    else:
        return
    sent, count = _sendable(counter), min(cores(), MOST_WORKERS)
    if sent is None or count < 2:
        yield from (place_runs(batch, counter) for batch in batches)
        return
    yield from _spread(batches, sent, count)


def _spread(batches: Iterator[Sequence[Run]], counter: bytes, count: int) -> Iterator[Placed]:
    helpers = Helpers(lambda: _Worker(counter), count, "ctxasm-facts")
    waiting: deque[Future[Placed]] = deque()
    try:
        for batch in batches:
            waiting.append(helpers.submit(lambda worker, batch=batch: worker.place(batch)))  # type: ignore[misc]
            if len(waiting) >= count * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BaseException:
        for worker in helpers.all:
            worker.remote.process.kill()
        raise
    finally:
        helpers.close()


def _sendable(counter: TokenCounter) -> bytes | None:
    try:
        return pickle.dumps(counter)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


class _Worker:
    """A process that places runs."""

    def __init__(self, counter: bytes) -> None:
        self.remote = Remote(__name__)
        try:
            self.remote.send(counter)
        except EOFError:
            self.end()
            raise _ended() from None

    def place(self, batch: Sequence[Run]) -> Placed:
        """The rows of a batch."""
        try:
            answer = self.remote.ask(marshal.dumps([tuple(run) for run in batch]))
        except EOFError:
            raise _ended() from None
        return Placed(*marshal.loads(answer))  # noqa: S302 (written by our own process)

    def end(self) -> None:
        """End it at once."""
        self.remote.end()


def _ended() -> StoreUnavailable:
    return StoreUnavailable("a process that helps with the load ended (out of memory?): free some memory and try again")


def work(source: IO[bytes], sink: IO[bytes]) -> None:
    """A worker's whole life. The first message is the counter."""
    counter: TokenCounter = pickle.loads(read_message(source))  # noqa: S301 (written by the process that started this one)
    answer_messages(source, sink, lambda message: marshal.dumps(tuple(place_runs([Run(*run) for run in marshal.loads(message)], counter))))  # noqa: S302


if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
