"""One thing that a check of a mapping has to say."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Finding(NamedTuple):
    """`problem`: rows that cannot be used; `warning`: slower or less than it could be; `note`: good to know. `remedy`: SQL to run."""

    kind: Literal["problem", "warning", "note"]
    field: str
    sentence: str
    remedy: str = ""
