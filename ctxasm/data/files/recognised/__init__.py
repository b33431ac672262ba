"""Shapes of files that other tools write, recognised by their keys and converted into the lines of a bundle."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.data.files.recognised.beir import BEIR
from ctxasm.data.files.recognised.clients import HAYSTACK, LANGCHAIN, LLAMAINDEX, PROMPTED, RAGAS
from ctxasm.data.files.recognised.draft import Converted, Shape
from ctxasm.data.files.recognised.traces import LANGFUSE, LANGSMITH, OPENINFERENCE
from ctxasm.data.files.recognised.unfolding import unfolded
from ctxasm.data.files.rows import Rows

__all__ = ["SHAPES", "Converted", "Shape", "recognised", "unfolded"]

SHAPES: tuple[Shape, ...] = (OPENINFERENCE, LANGFUSE, LANGSMITH, LLAMAINDEX, LANGCHAIN, HAYSTACK, RAGAS, BEIR, PROMPTED)
"""Every shape, the most telling first."""


def recognised(tables: Sequence[Rows]) -> Shape | None:
    """The first shape that every one of these tables has, or None. Ask for one file alone with a list of one."""
    return next((shape for shape in SHAPES if tables and all(shape.recognise(rows) for rows in tables)), None)
