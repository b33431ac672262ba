"""LlamaIndex: NodeWithScore and nodes as `to_dict()` or `model_dump()` write them, responses with `source_nodes`, docstore.json.

The order of nodes follows their PREVIOUS and NEXT relationships, their document is their SOURCE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctxasm.data.files.recognised.clients import collect, mostly, take_hits
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape
from ctxasm.data.files.recognised.forms import is_whole_document, llamaindex_node, read_passage
from ctxasm.data.files.recognised.lists import read_list
from ctxasm.data.files.recognised.passages import Object, first
from ctxasm.data.files.rows import Rows

FORMS = (llamaindex_node,)
TAKE = take_hits(FORMS)
DOCSTORE = "docstore/data"
CHILD = ("5", "CHILD")


def recognise(rows: Rows) -> bool:
    """Whether most rows are nodes, hold a list of them, or are a docstore."""
    return mostly(rows, _is_one)


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """The nodes as chunks, the lists of them as retrievals."""
    draft = Draft(tables)
    for table, rows in enumerate(tables):
        stores = [(row, values[DOCSTORE]) for row, values in rows.rows if isinstance(values.get(DOCSTORE), Mapping)]
        for row, entries in stores:
            _stored(draft, Place(table, row), entries)
        if not stores:
            collect(draft, table, FORMS, TAKE)
    return draft.lines()


def _is_one(row: Object) -> bool:
    return isinstance(row.get(DOCSTORE), Mapping) or read_passage(row, FORMS) is not None or read_list(row, FORMS) is not None


def _stored(draft: Draft, at: Place, entries: Object) -> None:
    """The leaves of a docstore: nodes with neither children nor, being whole documents, nodes cut from them."""
    nodes = {name: node for name, entry in entries.items() if (node := llamaindex_node(entry)) is not None}
    cut = {node.document_id for node in nodes.values()}
    for name, entry in entries.items():
        node = nodes.get(name)
        if node is None:
            draft.unreadable(at)
        elif is_whole_document(entry) and (node.passage_id or name) in cut:
            draft.note(at.table, "whole documents beside their nodes were left out: the nodes are the chunks (documents: {})")
        elif _has_children(entry):
            draft.note(at.table, "parent nodes were left out: their children are the chunks (nodes: {})")
        else:
            is_document = is_whole_document(entry)
            draft.keep(at, replace(node, document_id=node.passage_id) if is_document else node, is_listed=True)


def _has_children(entry: object) -> bool:
    node = entry.get("__data__", entry) if isinstance(entry, Mapping) else None
    related = node.get("relationships") if isinstance(node, Mapping) else None
    return isinstance(related, Mapping) and bool(first(related, CHILD))


LLAMAINDEX = Shape("LlamaIndex nodes", recognise, convert_all)
