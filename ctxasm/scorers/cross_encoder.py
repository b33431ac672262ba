"""A cross-encoder that reranks, from a folder of the user's own: ONNX, its tokenizer, its config. Nothing is ever fetched.

The folder is what a model hub hands out for such a model (a sequence classifier with one label): `config.json`, `tokenizer.json`, and
`model.onnx` or one of FILES. A score is the model's own logit: it orders the texts of one question, and compares with nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.progress import Cancelled, never
from ctxasm.scorers.windows import readable

FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
BATCH = 8
MAX_TOKENS = 512
MAX_CONFIG_BYTES = 10_000_000
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class CrossEncoder:
    """The model of a folder, loaded and tried once. Raises InvalidInput where it cannot be used. Threads may share it."""

    name = "cross-encoder"

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        file = _model_file(self.folder)
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise InvalidInput("reranking by a cross-encoder needs onnxruntime and tokenizers: pip install 'ctxasm[nli]'") from None
        try:
            self._tokenizer = Tokenizer.from_file(os.fspath(self.folder / "tokenizer.json"))
        except Exception as error:  # noqa: BLE001 (the library raises plain Exception)
            raise _unusable(self.folder, f"tokenizer.json cannot be read ({_first_line(error)})") from None
        limit, self._pad = _limits(self.folder)
        # The question is whole as a rule; the text is what is cut.
        self._tokenizer.enable_truncation(limit, strategy="longest_first")
        self._tokenizer.no_padding()
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
            encodings = self._tokenizer.encode_batch([(readable(question), readable(texts[at])) for at in batch])
            # To five digits: the others depend on how texts were batched.
            found |= {at: round(float(logit), 5) for at, logit in zip(batch, self._logits(encodings), strict=True)}
        return [found[at] for at in range(len(texts))]

    def _logits(self, encodings: Sequence[Any]) -> Any:
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
            raise ModelUnavailable(f"the cross-encoder in {shown(str(self.folder))} failed: {_first_line(error)}") from None
        if logits.size != len(encodings) or not np.isfinite(logits).all():
            raise ModelUnavailable(
                f"the cross-encoder in {shown(str(self.folder))} must give one finite number for each pair, "
                f"got an array of {' × '.join(map(str, logits.shape))}"
            )
        return logits.reshape(-1)


def _unusable(folder: Path, why: str) -> InvalidInput:
    return InvalidInput(f"the cross-encoder in {shown(str(folder))} cannot be used: {why}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]


def _model_file(folder: Path) -> Path:
    if not folder.is_dir():
        wanted = "a folder with model.onnx, tokenizer.json and config.json"
        raise InvalidInput(f"the cross-encoder must be {wanted}, got {shown(str(folder))}: no such folder")
    missing = [name for name in ("tokenizer.json", "config.json") if not (folder / name).is_file()]
    file = next((folder / name for name in FILES if (folder / name).is_file()), None)
    if file is None or missing:
        names = ", ".join([*(["model.onnx"] if file is None else []), *missing])
        raise _unusable(folder, f"it lacks {names}; export the model to ONNX with its tokenizer and config beside it")
    return file


def _limits(folder: Path) -> tuple[int, int]:
    """The most tokens that the model reads, and the token that fills up."""
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size <= MAX_CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise _unusable(folder, "config.json is not a JSON object")
    limit, pad = config.get("max_position_embeddings"), config.get("pad_token_id")
    most = min(limit, MAX_TOKENS) if isinstance(limit, int) and limit > 8 else MAX_TOKENS
    return most, pad if isinstance(pad, int) and pad >= 0 else 0
