"""Records as a pandas frame, for notebooks and files. Only this module imports pandas outside the pages, and only when it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ctxasm.model.characters import harmless_cell

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame


def data_frame(rows: Iterable[Mapping[str, Any] | Sequence[Any]], columns: Sequence[str]) -> DataFrame:
    """A frame with these columns, in this order; a row is a mapping, or has their values.

    Whole numbers stay whole where some are missing: such a column is an `Int64`.
    """
    import pandas

    made = pandas.DataFrame(list(rows), columns=list(columns), dtype=object)
    whole = [name for name in columns if made[name].isna().any() and pandas.api.types.infer_dtype(made[name]) == "integer"]
    return made.astype(dict.fromkeys(whole, "Int64")).infer_objects()


def as_csv(frame: DataFrame) -> str:
    """A frame as CSV in which no text is a formula; numbers stay numbers."""
    cells = frame.map(lambda value: harmless_cell(value) if isinstance(value, str) else value)
    text: str = cells.to_csv(index=False, lineterminator="\r\n")  # a lone one of the two is quoted only so
    return text
