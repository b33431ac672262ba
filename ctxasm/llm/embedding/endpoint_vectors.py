"""Embeddings from any OpenAI-compatible server (`POST …/embeddings`): batched, tried again where that may help, and checked.

What a server sends is not trusted: as many vectors as texts, all of one length from call to call, every number finite, none of length
zero. They are made unit vectors here, because some servers send others. The key stays where it is with answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ctxasm.llm.client import Pieces, Request, attempts
from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import Failure, json_object
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.progress import Cancelled, never

BATCH = 64
MOST_CHARS = 16_000
"""Of one text: what is longer is cut, because such models read some 8,000 tokens at most and refuse a whole request for one text."""
MOST_DIMENSIONS = 8192


class EndpointEmbedder:
    """The embedding model of `endpoint`. A `QueryEmbedder`; threads may share it. `cancelled` ends a request within 0.1 s.

    Raises ModelUnavailable in one sentence for every fault, and when cancelled.
    """

    batch = BATCH

    def __init__(self, endpoint: Endpoint, cancelled: Cancelled = never) -> None:
        self._endpoint, self._cancelled = endpoint, cancelled
        self._dimensions: int | None = None
        self._turn = Lock()

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """One unit vector a text (float32, texts × dimensions)."""
        made = [self._embedded(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return np.concatenate(made) if made else np.zeros((0, self._dimensions or 0), np.float32)

    def embed_query(self, text: str) -> Any:
        """The unit vector of one question (float32, dimensions)."""
        return self._embedded([text])[0]

    def _embedded(self, texts: Sequence[str]) -> Any:
        # An empty text is refused by most servers, and a whole batch with it.
        request = {"model": self._endpoint.model, "input": [text[:MOST_CHARS] or " " for text in texts], "encoding_format": "float"}
        replies: list[_Vectors] = []

        def open_reply() -> _Vectors:
            replies.append(_Vectors(self._endpoint, len(texts)))
            return replies[-1]

        pieces = Pieces(attempts(self._endpoint, request, open_reply, self._cancelled, _unchanged))
        for _ in pieces:
            pass
        if pieces.finish_reason == "cancelled":
            raise ModelUnavailable(f"embedding by {self._endpoint.model} at {self._endpoint.host} was stopped on request")
        return self._checked(replies[-1].vectors)

    def _checked(self, vectors: Any) -> Any:
        with self._turn:
            known, self._dimensions = self._dimensions, self._dimensions or vectors.shape[1]
        if known is not None and known != vectors.shape[1]:
            name = f"{self._endpoint.model} at {self._endpoint.host}"
            raise ModelUnavailable(
                f"{name} gave vectors of {vectors.shape[1]} numbers after some of {known}: choose another embedding model"
            )
        return vectors


def _unchanged(request: Request, setting: str | None) -> Request | None:
    return None


class _Vectors:
    """A reply with embeddings."""

    def __init__(self, endpoint: Endpoint, wanted: int) -> None:
        self._endpoint, self._wanted = endpoint, wanted
        self.vectors: Any = None
        self.is_finished, self.has_thought = False, False

    def texts(self, client: Any, request: Request) -> Iterator[str]:
        raw = client.embeddings.with_raw_response.create(**request)
        self.vectors = self._read(json_object(self._endpoint, raw))
        yield "."

    def ended(self, began: bool, said_done: bool) -> str:
        return "stop"

    def _read(self, body: Mapping[str, Any]) -> Any:
        data = body.get("data")
        items = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
        if len(items) != self._wanted:
            raise self._wrong(f"{len(items)} vectors for {self._wanted} texts")
        places = [item.get("index") for item in items]
        if sorted(places, key=str) == sorted(range(self._wanted), key=str):  # in whatever order; some servers number nothing
            items = sorted(items, key=lambda item: item["index"])
        rows: list[Any] = [item.get("embedding") for item in items]
        size = len(rows[0]) if isinstance(rows[0], list) else 0
        if not 0 < size <= MOST_DIMENSIONS or any(not isinstance(row, list) or len(row) != size for row in rows):
            raise self._wrong(f"vectors that are no lists of one length (1 to {MOST_DIMENSIONS})")
        if any(type(number) not in (int, float) or not math.isfinite(number) for row in rows for number in row):
            raise self._wrong("vectors that hold something else than finite numbers")
        vectors = np.asarray(rows, np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise self._wrong("a vector of length zero or beyond all numbers")
        return (vectors / lengths).astype(np.float32)

    def _wrong(self, what: str) -> Failure:
        hint = f"check that {self._endpoint.model} is an embedding model"
        return Failure(f"{self._endpoint.host} sent {what}: {hint}")
