"""The fast local embedder: static vectors of word pieces, averaged (wordllama, 19 MB, weights inside the package).

200 chunks take a quarter of a second, where multilingual-e5-small takes minutes. It finds reworked copies (words changed, moved,
left out) and no free paraphrase; what its cosines mean is in `regions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


class WordLlamaEmbedder:
    """256 dimensions, in this process, without network."""

    batch = 512

    def __init__(self) -> None:
        package = import_module("wordllama")
        folder = Path(str(package.__file__)).parent
        self._model = package.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """One unit vector a text (float32, texts × 256); zeros for a text without a word piece, which is like no other."""
        vectors = self._model.embed(list(texts), norm=False)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1.0).astype(vectors.dtype)

    def embed_query(self, text: str) -> Any:
        """The unit vector of one question (float32, 256)."""
        return self.embed_passages([text])[0]
