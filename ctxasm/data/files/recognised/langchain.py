"""LangChain: Documents as `dumpd`, `dumps` or `model_dump()` write them, alone, in pairs with a score, or with their question.

Also what chains over retrieval return: {query, result, source_documents} and {input, context, answer}.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.data.files.recognised.clients import collect, mostly, take_hits
from ctxasm.data.files.recognised.draft import Converted, Draft, Shape
from ctxasm.data.files.recognised.forms import langchain_document, read_passage
from ctxasm.data.files.recognised.lists import read_list
from ctxasm.data.files.recognised.passages import Object
from ctxasm.data.files.rows import Rows

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
