"""LangChain: Documents as `dumpd`, `dumps` or `model_dump()` write them, alone, in pairs with a score, or with their question.

Also what chains over retrieval return: {query, result, source_documents} and {input, context, answer}.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.bundle.recognised.clients import collect, mostly, take_hits
from ctxasm.bundle.recognised.converted import Converted
from ctxasm.bundle.recognised.draft import Draft
from ctxasm.bundle.recognised.forms import langchain_document, read_passage
from ctxasm.bundle.recognised.lists import read_list
from ctxasm.bundle.recognised.shape import Shape
from ctxasm.bundle.recognised.values import Object
from ctxasm.bundle.rows import Rows

FORMS = (langchain_document,)
TAKE = take_hits(FORMS)


def recognise(rows: Rows) -> bool:
    """Whether most rows are Documents, or hold a list of them."""
    return mostly(rows, _is_one)


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """The Documents as chunks, the lists of them as retrievals."""
    draft = Draft(tables)
    for table in range(len(tables)):
        collect(draft, table, FORMS, TAKE)
    return draft.lines()


def _is_one(row: Object) -> bool:
    return read_passage(row, FORMS) is not None or read_list(row, FORMS) is not None


LANGCHAIN = Shape("LangChain documents", recognise, convert_all)
