"""A cross-encoder that reranks, from a folder of the user's own: a `PairModel` with one label. Nothing is ever fetched.

A score is the model's own logit: it orders the texts of one question, and compares with nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctxasm.llm.pair_model import PairModel, open_folder
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.progress import Cancelled, never

BATCH = 8


class CrossEncoder:
    """The model of a folder, loaded and tried once. Raises InvalidInput where it cannot be used. Threads may share it."""

    name = "cross-encoder"

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._model = PairModel(open_folder(self.folder, "the cross-encoder"), "reranking by a cross-encoder")
        try:
            self.scores("A.", ["A."])
        except ModelUnavailable as error:
            raise InvalidInput(str(error)) from None

    def scores(self, question: str, texts: Sequence[str], cancelled: Cancelled = never) -> list[float]:
        """One logit a text, in their order. Raises ModelUnavailable, also once it is `cancelled`, which is asked between batches."""
        found: dict[int, float] = {}
        # Texts of like length together: a batch is filled up to its longest.
        order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), texts[at]))
        for start in range(0, len(order), BATCH):
            if cancelled():
                raise ModelUnavailable("reranking was stopped on request")
            batch = order[start : start + BATCH]
            logits = self._logits([(question, texts[at]) for at in batch])
            # To five digits: the others depend on how texts were batched.
            found |= {at: round(float(logit), 5) for at, logit in zip(batch, logits, strict=True)}
        return [found[at] for at in range(len(texts))]

    def _logits(self, pairs: Sequence[tuple[str, str]]) -> Any:
        logits = self._model.logits(pairs)
        if logits.size != len(pairs) or not np.isfinite(logits).all():
            raise self._model.unfit("one finite number for each pair", logits)
        return logits.reshape(-1)
