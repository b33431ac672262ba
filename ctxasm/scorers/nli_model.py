"""A cross-encoder for natural language inference from a folder of the user's own: ONNX, its tokenizer, its labels.

The folder is what a model hub hands out for such a model: `config.json` with `id2label`, `tokenizer.json`, and `model.onnx` (or
one of FILES). Nothing is ever fetched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.messages import Cancel
from ctxasm.scorers.windows import readable, stop_if

FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
BATCH = 16
MAX_TOKENS = 512
MAX_CONFIG_BYTES = 10_000_000
_ENTAILMENT = frozenset({"entailment", "entails", "entailed", "supported", "supports"})
_CONTRADICTION = frozenset({"contradiction", "contradicts", "contradictory", "refuted", "refutes"})
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


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
        file = _model_file(self.folder)
        config = _config(self.folder)
        self._labels = _labels(self.folder, config)
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise InvalidInput("the scorer nli needs onnxruntime and tokenizers: pip install 'ctxasm[nli]'") from None
        try:
            self._tokenizer = Tokenizer.from_file(os.fspath(self.folder / "tokenizer.json"))
        except Exception as error:  # noqa: BLE001 (the library raises plain Exception)
            raise _unusable(self.folder, f"tokenizer.json cannot be read ({_first_line(error)})") from None
        self._prepare(config)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(os.fspath(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 (onnxruntime has a class for each fault and no common base but this)
            raise _unusable(self.folder, f"{file.name} cannot be loaded ({_first_line(error)})") from None
        self._inputs = {put.name: _TYPES.get(put.type) for put in self._session.get_inputs()}
        wrong = [name for name, kind in self._inputs.items() if name not in _INPUTS or kind is None]
        if wrong or "input_ids" not in self._inputs:
            raise _unusable(self.folder, f"{file.name} must take whole numbers as {', '.join(_INPUTS)}, got {', '.join(self._inputs)}")
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
            encodings = self._tokenizer.encode_batch([(readable(pairs[at][0]), readable(pairs[at][1])) for at in batch])
            for at, row in zip(batch, self._probabilities(encodings), strict=True):
                found[at] = Inference(_digits(row[labels.entails]), 0.0 if labels.contradicts is None else _digits(row[labels.contradicts]))
        return [found[at] for at in range(len(pairs))]

    def _prepare(self, config: Mapping[str, Any]) -> None:
        limit = config.get("max_position_embeddings")
        limit = min(limit, MAX_TOKENS) if isinstance(limit, int) and limit > 8 else MAX_TOKENS
        # The longer of premise and claim is cut first, and a window of three sentences is seldom as long.
        self._tokenizer.enable_truncation(limit, strategy="longest_first")
        self._tokenizer.no_padding()
        pad = config.get("pad_token_id")
        self._pad = pad if isinstance(pad, int) and pad >= 0 else 0

    def _probabilities(self, encodings: Sequence[Any]) -> Any:
        width = max(1, max(len(encoding.ids) for encoding in encodings))
        rows = {
            "input_ids": [encoding.ids + [self._pad] * (width - len(encoding.ids)) for encoding in encodings],
            "attention_mask": [[1] * len(encoding.ids) + [0] * (width - len(encoding.ids)) for encoding in encodings],
            "token_type_ids": [encoding.type_ids + [0] * (width - len(encoding.ids)) for encoding in encodings],
        }
        feed = {name: np.array(rows[name], dtype=kind) for name, kind in self._inputs.items()}
        try:
            logits = np.asarray(self._session.run(None, feed)[0], dtype=np.float64)
        except Exception as error:  # noqa: BLE001 (as above)
            raise ModelUnavailable(f"the NLI model in {shown(str(self.folder))} failed: {_first_line(error)}") from None
        count = self._labels.size
        if logits.shape != (len(encodings), count) or not np.isfinite(logits).all():
            raise ModelUnavailable(
                f"the NLI model in {shown(str(self.folder))} must give {count} finite numbers for each pair, one a label, "
                f"got an array of {' × '.join(map(str, logits.shape))}"
            )
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def _unusable(folder: Path, why: str) -> InvalidInput:
    return InvalidInput(f"the NLI model in {shown(str(folder))} cannot be used: {why}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]


def _model_file(folder: Path) -> Path:
    if not folder.is_dir():
        wanted = "a folder with model.onnx, tokenizer.json and config.json"
        raise InvalidInput(f"the NLI model must be {wanted}, got {shown(str(folder))}: no such folder")
    missing = [name for name in ("tokenizer.json", "config.json") if not (folder / name).is_file()]
    file = next((folder / name for name in FILES if (folder / name).is_file()), None)
    if file is None or missing:
        names = ", ".join([*(["model.onnx"] if file is None else []), *missing])
        raise _unusable(folder, f"it lacks {names}; export the model to ONNX with its tokenizer and config beside it")
    return file


def _config(folder: Path) -> Mapping[str, Any]:
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size <= MAX_CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise _unusable(folder, "config.json is not a JSON object")
    return config


def _labels(folder: Path, config: Mapping[str, Any]) -> Labels:
    """The labels by their names, in whatever order. A model of two labels may have no contradiction."""
    named = config.get("id2label")
    named = named if isinstance(named, dict) else {}
    by_name = {str(name).strip().lower(): place for place, name in named.items()}
    places = {name: int(place) for name, place in by_name.items() if str(place).isdecimal()}
    entails = [place for name, place in places.items() if name in _ENTAILMENT]
    contradicts = [place for name, place in places.items() if name in _CONTRADICTION]
    if len(entails) != 1 or len(contradicts) > 1 or sorted(places.values()) != list(range(len(named))):
        got = ", ".join(map(str, named.values())) or "none"
        raise _unusable(folder, f"id2label in config.json must name one label entailment (and contradiction, neutral), got {shown(got)}")
    return Labels(entails[0], contradicts[0] if contradicts else None, len(named))


def _digits(value: float) -> float:
    """To four digits: the others depend on how pairs were batched."""
    return round(min(1.0, max(0.0, float(value))), 4)
