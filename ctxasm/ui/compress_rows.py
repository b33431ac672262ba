"""Rows of the compress stage: each shortened chunk, and what the model that should have done it said. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ctxasm.model.events import Compressed, Failed
from ctxasm.model.results import Assembly
from ctxasm.ui.copy_rows import fates_by_key
from ctxasm.ui.rows import SENT
from ctxasm.ui.words import title_of


class Squeezed(NamedTuple):
    """A shortened chunk: tokens before and after, whether it is sent, and in which block."""

    name: str
    tokens: int
    kept_tokens: int
    how: Literal["extractive", "model", "rewritten"]
    sent: bool
    block: int | None


def squeezed(assembly: Assembly) -> tuple[Squeezed, ...]:
    """The shortened chunks, those that are sent first, each group by what it was before."""
    record = assembly.trace.stage("compress")
    fates = fates_by_key(assembly)
    rows = []
    for event in record.events if record else ():
        if isinstance(event, Compressed):
            fate = fates.get((event.document_id, event.chunk_index))
            sent = fate is not None and fate.fate in SENT
            name = f"{title_of(assembly.trace.documents, event.document_id, 40)} #{event.chunk_index}"
            block = fate.block if fate is not None and sent else None
            rows.append(Squeezed(name, event.tokens, event.kept_tokens, event.how, sent, block))
    return tuple(sorted(rows, key=lambda row: (not row.sent, -row.tokens, row.name)))


def failures(assembly: Assembly) -> tuple[Failed, ...]:
    """What the model that compresses said where it did not answer."""
    record = assembly.trace.stage("compress")
    return tuple(event for event in record.events if isinstance(event, Failed)) if record else ()
