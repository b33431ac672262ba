"""A cross-encoder for natural language inference from a folder of the user's own: ONNX, its tokenizer, its labels.

The folder is that of a `PairModel` whose `config.json` has `id2label`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ctxasm.citations.scorers.base import stop_if
from ctxasm.llm.pair_model import ModelFolder, PairModel, open_folder
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.messages import Cancel

BATCH = 16
_ENTAILMENT = frozenset({"entailment", "entails", "entailed", "supported", "supports"})
_CONTRADICTION = frozenset({"contradiction", "contradicts", "contradictory", "refuted", "refutes"})


class Inference(NamedTuple):
    """How likely a premise entails, and how likely it contradicts, a hypothesis (0 where the model has no such label)."""

    entails: float
    contradicts: float


class Labels(NamedTuple):
    """Positions of the labels among `size`."""

    entails: int
    contradicts: int | None
    size: int


class NliModel:
    """The model of a folder, loaded and tried once. Raises InvalidInput where it cannot be used. Threads may share it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        opened = open_folder(self.folder, "the NLI model")
        self._labels = _labels(opened)
        self._model = PairModel(opened, "the scorer nli")
        try:
            self.infer([("A.", "A.")])
        except ModelUnavailable as error:
            raise InvalidInput(str(error)) from None

    def infer(self, pairs: Sequence[tuple[str, str]], cancel: Cancel | None = None) -> list[Inference]:
        """One inference for each (premise, hypothesis), in order. Raises ModelUnavailable; `cancel` is asked between batches."""
        labels = self._labels
        order = sorted(range(len(pairs)), key=lambda at: (sum(map(len, pairs[at])), pairs[at]))
        found: dict[int, Inference] = {}
        for start in range(0, len(order), BATCH):
            stop_if(cancel)
            batch = order[start : start + BATCH]
            for at, row in zip(batch, self._probabilities([pairs[at] for at in batch]), strict=True):
                found[at] = Inference(_digits(row[labels.entails]), 0.0 if labels.contradicts is None else _digits(row[labels.contradicts]))
        return [found[at] for at in range(len(pairs))]

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> Any:
        logits = self._model.logits(pairs)
        count = self._labels.size
        if logits.shape != (len(pairs), count) or not np.isfinite(logits).all():
            raise self._model.unfit(f"{count} finite numbers for each pair, one a label", logits)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def _labels(opened: ModelFolder) -> Labels:
    """The labels by their names, in whatever order. A model of two labels may have no contradiction."""
    named = opened.config.get("id2label")
    named = named if isinstance(named, dict) else {}
    by_name = {str(name).strip().lower(): place for place, name in named.items()}
    places = {name: int(place) for name, place in by_name.items() if str(place).isdecimal()}
    entails = [place for name, place in places.items() if name in _ENTAILMENT]
    contradicts = [place for name, place in places.items() if name in _CONTRADICTION]
    if len(entails) != 1 or len(contradicts) > 1 or sorted(places.values()) != list(range(len(named))):
        got = ", ".join(map(str, named.values())) or "none"
        raise opened.unusable(f"id2label in config.json must name one label entailment (and contradiction, neutral), got {shown(got)}")
    return Labels(entails[0], contradicts[0] if contradicts else None, len(named))


def _digits(value: float) -> float:
    """To four digits: the others depend on how pairs were batched."""
    return round(min(1.0, max(0.0, float(value))), 4)
