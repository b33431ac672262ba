"""A sequence classifier over pairs of texts, from a folder of the user's own: ONNX, its tokenizer, its config. Nothing is ever fetched.

The folder is what a model hub hands out for such a model: `config.json`, `tokenizer.json`, and `model.onnx` or one of FILES. What the
numbers mean is for the caller to say: labels of an inference, or a relevance.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctxasm.model.characters import encodable
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown

FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
MAX_TOKENS = 512
MAX_CONFIG_BYTES = 10_000_000
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that has what it needs. `what` names the model in messages, such as "the NLI model"."""

    folder: Path
    what: str
    file: Path
    config: Mapping[str, Any]

    @property
    def named(self) -> str:
        """The model in a message."""
        return f"{self.what} in {shown(str(self.folder))}"

    def unusable(self, why: str) -> InvalidInput:
        """The error that says why it cannot be used."""
        return _unusable(self.folder, self.what, why)


def open_folder(folder: Path, what: str) -> ModelFolder:
    """The folder with its files found and its config read. Raises InvalidInput naming what it lacks."""
    if not folder.is_dir():
        wanted = "a folder with model.onnx, tokenizer.json and config.json"
        raise InvalidInput(f"{what} must be {wanted}, got {shown(str(folder))}: no such folder")
    missing = [name for name in ("tokenizer.json", "config.json") if not (folder / name).is_file()]
    file = next((folder / name for name in FILES if (folder / name).is_file()), None)
    if file is None or missing:
        names = ", ".join([*(["model.onnx"] if file is None else []), *missing])
        raise _unusable(folder, what, f"it lacks {names}; export the model to ONNX with its tokenizer and config beside it")
    return ModelFolder(folder, what, file, _config(folder, what))


class PairModel:
    """The model of a folder, loaded. `purpose` is what needs it, in the message where a package is missing. Threads may share it."""

    def __init__(self, opened: ModelFolder, purpose: str) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise InvalidInput(f"{purpose} needs onnxruntime and tokenizers: pip install 'ctxasm[nli]'") from None
        self._opened = opened
        try:
            self._tokenizer = Tokenizer.from_file(os.fspath(opened.folder / "tokenizer.json"))
        except Exception as error:  # noqa: BLE001 (the library raises plain Exception)
            raise opened.unusable(f"tokenizer.json cannot be read ({_first_line(error)})") from None
        limit, pad = opened.config.get("max_position_embeddings"), opened.config.get("pad_token_id")
        most = min(limit, MAX_TOKENS) if isinstance(limit, int) and limit > 8 else MAX_TOKENS
        # The longer of the two is cut first: a claim or a question is whole as a rule.
        self._tokenizer.enable_truncation(most, strategy="longest_first")
        self._tokenizer.no_padding()
        self._pad = pad if isinstance(pad, int) and pad >= 0 else 0
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        name = opened.file.name
        try:
            self._session = onnxruntime.InferenceSession(os.fspath(opened.file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 (onnxruntime has a class for each fault and no common base but this)
            raise opened.unusable(f"{name} cannot be loaded ({_first_line(error)})") from None
        self._inputs = {put.name: _TYPES.get(put.type) for put in self._session.get_inputs()}
        wrong = [put for put, kind in self._inputs.items() if put not in _INPUTS or kind is None]
        if wrong or "input_ids" not in self._inputs:
            raise opened.unusable(f"{name} must take whole numbers as {', '.join(_INPUTS)}, got {', '.join(self._inputs)}")

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """What the model gives for one batch, as float64 of whatever shape. Raises ModelUnavailable."""
        encodings = self._tokenizer.encode_batch([(encodable(first), encodable(second)) for first, second in pairs])
        width = max(1, max(len(encoding.ids) for encoding in encodings))
        rows = {
            "input_ids": [encoding.ids + [self._pad] * (width - len(encoding.ids)) for encoding in encodings],
            "attention_mask": [[1] * len(encoding.ids) + [0] * (width - len(encoding.ids)) for encoding in encodings],
            "token_type_ids": [encoding.type_ids + [0] * (width - len(encoding.ids)) for encoding in encodings],
        }
        feed = {name: np.array(rows[name], dtype=kind) for name, kind in self._inputs.items()}
        try:
            return np.asarray(self._session.run(None, feed)[0], dtype=np.float64)
        except Exception as error:  # noqa: BLE001 (as above)
            raise ModelUnavailable(f"{self._opened.named} failed: {_first_line(error)}") from None

    def unfit(self, must: str, logits: Any) -> ModelUnavailable:
        """The error for numbers that are not what they must be."""
        return ModelUnavailable(f"{self._opened.named} must give {must}, got an array of {' × '.join(map(str, logits.shape))}")


def _unusable(folder: Path, what: str, why: str) -> InvalidInput:
    return InvalidInput(f"{what} in {shown(str(folder))} cannot be used: {why}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]


def _config(folder: Path, what: str) -> Mapping[str, Any]:
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size <= MAX_CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise _unusable(folder, what, "config.json is not a JSON object")
    return config
