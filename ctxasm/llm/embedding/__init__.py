"""Vectors of chunks: local embedders, what their cosines mean, and the vectors kept from one question to the next."""

from ctxasm.llm.embedding.e5 import E5Embedder
from ctxasm.llm.embedding.kept import Embedder, KeptVectors
from ctxasm.llm.embedding.regions import SLIDER, THRESHOLDS, meaning_of, threshold_of
from ctxasm.llm.embedding.static import WordLlamaEmbedder

__all__ = ["SLIDER", "THRESHOLDS", "E5Embedder", "Embedder", "KeptVectors", "WordLlamaEmbedder", "meaning_of", "threshold_of"]
