"""What is too large is shortened to what the question is about.

Start at `compress_grouped`, the stage. Who shortens is a `Compressor`: by the question's words, or by a model that is checked to copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.assembly.compress.extracting import ExtractiveCompressor
    from ctxasm.assembly.compress.model_compressor import ModelCompressor
    from ctxasm.assembly.compress.shortening import compress_grouped

__all__ = ["ExtractiveCompressor", "ModelCompressor", "compress_grouped"]
__getattr__ = door(
    __name__,
    shortening="compress_grouped",
    extracting="ExtractiveCompressor",
    model_compressor="ModelCompressor",
)
