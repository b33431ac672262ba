"""BEIR and TREC: a corpus, its queries, judgements (qrels) and runs, each a file; they are read together.

Each document of the corpus is one chunk, 0. A judgement above 0 makes that chunk gold evidence of its query; a run gives the hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ctxasm.data.files.recognised.draft import Converted, Line, Shape
from ctxasm.data.files.recognised.passages import named, number
from ctxasm.data.files.rows import Rows

Role = Literal["corpus", "queries", "qrels", "run"]
QRELS = ("query-id", "corpus-id", "score")
CORPUS_KEYS, QUERY_KEYS = {"_id", "title", "text", "metadata"}, {"_id", "text", "metadata"}
MIN_CORPUS_CHARS = 160
"""Mean length from which texts without titles are taken for documents rather than questions."""
_AGAIN = re.compile(r" \(\d+\)\Z")
_REAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf(inity)?)", re.IGNORECASE)


class Judged(NamedTuple):
    """A line of qrels or of a run."""

    line: int
    query_id: str
    document_id: str
    value: str
    rank: str
    run: str


def recognise(rows: Rows) -> bool:
    """Whether the table is a corpus, queries, qrels or a run."""
    return _role(rows, ()) is not None


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Documents and chunks of the corpus, queries with the gold of the qrels, retrievals of the first run."""
    roles = [_role(rows, tables) for rows in tables]
    judged = [line for rows, role in zip(tables, roles, strict=True) if role == "qrels" for line in _lines(rows, "qrels")]
    gold: dict[str, dict[str, None]] = {}
    for line in judged:
        if (value := number(line.value)) and not isinstance(value, str) and value > 0:
            gold.setdefault(line.query_id, {})[line.document_id] = None
    first_run = next((at for at, role in enumerate(roles) if role == "run"), None)
    found = []
    for at, (rows, role) in enumerate(zip(tables, roles, strict=True)):
        if role == "corpus":
            found.append(_corpus(rows))
        elif role == "queries":
            found.append(_queries(rows, gold))
        elif role == "run" and at == first_run:
            found.append(_run(rows))
        elif role == "run":
            found.append(Converted(notes=("another run was read before this one: load each run as a dataset of its own",)))
        else:
            found.append(_judgements(rows))
    return tuple(found)


def _role(rows: Rows, beside: Sequence[Rows]) -> Role | None:
    columns = set(rows.columns)
    if {"_id", "text"} <= columns <= CORPUS_KEYS:
        return "corpus" if "title" in columns or not _are_questions(rows, beside) else "queries"
    if set(QRELS) <= columns:
        return "qrels"
    fields = [_fields(rows.columns), *(_fields([str(row.get(name, "")) for name in rows.columns]) for _, row in rows.rows[:20])]
    if all(len(own) == 6 and own[1].upper() in ("Q0", "0") and _REAL.fullmatch(own[4]) for own in fields):
        return "run"
    if all(len(own) == 4 and own[1].upper() in ("Q0", "0") and _REAL.fullmatch(own[3]) for own in fields):
        return "qrels"
    return None


def _are_questions(rows: Rows, beside: Sequence[Rows]) -> bool:
    """Whether texts without titles are queries: by what the files beside name them, else by the length of the texts."""
    ids = {named(row.get("_id")) for _, row in rows.rows}
    for other in beside:
        if (role := _role(other, ())) in ("qrels", "run"):
            lines = _lines(other, role)
            asked = sum(line.query_id in ids for line in lines)
            if (told := sum(line.document_id in ids for line in lines)) != asked:
                return asked > told
    lengths = [len(row["text"]) for _, row in rows.rows if isinstance(row.get("text"), str)]
    return not lengths or sum(lengths) / len(lengths) < MIN_CORPUS_CHARS


def _fields(cells: Sequence[str]) -> list[str]:
    """The fields of a line without a header: columns, or words where no delimiter was found."""
    if len(cells) == 1:
        return cells[0].split()
    return [_AGAIN.sub("", cell).strip() for cell in cells]


def _lines(rows: Rows, role: Role | None) -> list[Judged]:
    if set(QRELS) <= set(rows.columns):
        return [
            Judged(line, str(row.get(QRELS[0], "")), str(row.get(QRELS[1], "")), str(row.get(QRELS[2], "")), "", "")
            for line, row in rows.rows
        ]
    named_first = (1, _fields(rows.columns))  # there is no header: what was taken for one is the first line
    cells = [named_first, *((line, _fields([str(row.get(name, "")) for name in rows.columns])) for line, row in rows.rows)]
    width = 6 if role == "run" else 4
    padded = [(line, [*own, *[""] * (width - len(own))]) for line, own in cells]
    if role == "run":
        return [Judged(line, own[0], own[2], own[4], own[3], own[5]) for line, own in padded]
    return [Judged(line, own[0], own[2], own[3], "", "") for line, own in padded]


def _corpus(rows: Rows) -> Converted:
    documents: list[Line] = []
    chunks: list[Line] = []
    for line, row in rows.rows:
        name = _name(row.get("_id"))
        documents.append((line, _with({"document_id": name}, title=row.get("title") or None, metadata=row.get("metadata") or None)))
        chunks.append((line, {"document_id": name, "chunk_index": 0, "text": row.get("text")}))
    note = "each document of the corpus is one chunk, 0: there are no neighbours to expand to"
    return Converted(tuple(documents), tuple(chunks), notes=(note,))


def _queries(rows: Rows, gold: dict[str, dict[str, None]]) -> Converted:
    lines: list[Line] = []
    known = set()
    for line, row in rows.rows:
        name = _name(row.get("_id"))
        known.add(str(name))
        evidence = [_key(document) for document in gold.get(str(name), ())] or None
        fields = _with({"query_id": name, "query": row.get("text")}, gold=evidence, metadata=row.get("metadata") or None)
        lines.append((line, fields))
    unknown = len(gold.keys() - known)
    notes = (f"judgements of queries that are not in the file were left out (queries: {unknown:,})",) if unknown else ()
    return Converted(queries=tuple(lines), notes=notes)


def _run(rows: Rows) -> Converted:
    by_query: dict[str, list[Judged]] = {}
    for line in _lines(rows, "run"):
        by_query.setdefault(line.query_id, []).append(line)
    return Converted(retrievals=tuple(_retrieval(name, lines) for name, lines in by_query.items()))


def _retrieval(query_id: str, lines: Iterable[Judged]) -> Line:
    ordered = sorted(lines, key=_standing)
    hits = [{**_key(line.document_id), "score": number(line.value), "rank": rank} for rank, line in enumerate(ordered, 1)]
    return ordered[0].line, {"query_id": query_id, "retrieved": hits, "search_method": ordered[0].run or None}


def _standing(line: Judged) -> tuple[float, int]:
    rank = number(line.rank)
    return (rank if isinstance(rank, float) and rank == rank else float("inf"), line.line)


def _judgements(rows: Rows) -> Converted:
    """Qrels bring no lines of their own; one whose judgement is no number is a problem of the queries."""
    wrong = [line for line in _lines(rows, "qrels") if isinstance(number(line.value), str)]
    queries = tuple((line.line, {"query_id": line.query_id, "query": None, "gold": [{"document_id": line.document_id}]}) for line in wrong)
    return Converted(queries=queries, notes=("a judgement above 0 makes chunk 0 of its document gold evidence",))


def _key(document_id: str) -> dict[str, Any]:
    return {"document_id": document_id, "chunk_index": 0}


def _name(value: object) -> object:
    """An identifier as a text; what is none stays as it is, for the validation to report."""
    return named(value) or value


def _with(line: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**line, **{name: value for name, value in fields.items() if value is not None}}


BEIR = Shape("BEIR or TREC collection", recognise, convert_all)
