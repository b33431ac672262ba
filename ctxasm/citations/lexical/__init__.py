"""The scorer that needs no model."""

from ctxasm.citations.lexical.scorer import LexicalScorer

__all__ = ["LexicalScorer"]
