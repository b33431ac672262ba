"""What a mapping of columns is: for each field of a kind of record the column, or the path in a JSON column.

Of a list of hits in each row, `hits` is the path to the list (`response.matches[*]`) and `hits.text` the path from a hit to its text.
A path of a hit that has `[*]` itself is one from the row, to a list beside: `hits=documents[*]`, `hits.score=scores[*]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctxasm.data.field_names import FIELD_NAMES
from ctxasm.data.files.rows import Rows
from ctxasm.data.paths import EVERY, lists_of
from ctxasm.model.errors import InvalidInput, shown

HITS, MAX_LISTS = "hits", 8
EXPECTED = "expected_answer"
"""Beside a list of hits `answer` is what was answered, and this is what should have been."""
PROMPT = "prompt"
"""Beside a list of hits: what the model was sent."""
HIT_FIELDS = (
    *("hits.id", "hits.text", "hits.document_id", "hits.chunk_index", "hits.score", "hits.distance", "hits.rank"),
    *("hits.title", "hits.source", "hits.page_number", "hits.section", "hits.start", "hits.end", "hits.metadata"),
)
DOCUMENT_FIELDS = ("title", "source", "summary", "date")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "chunks": ("document_id", "chunk_index", "text", "start", "end", "page_number", "section", "row_number", *DOCUMENT_FIELDS),
    "documents": ("document_id", *DOCUMENT_FIELDS),
    "queries": ("query_id", "query", "answer", "gold", "spans", "history"),
    "retrievals": (
        *("query_id", "query", "document_id", "chunk_index", "text", "score", "distance", "rank", HITS, *HIT_FIELDS, "retrieved"),
        *("page_number", "section", *DOCUMENT_FIELDS, "answer", EXPECTED, PROMPT),
        *("search_method", "bm25_matches", "best_similarity", "intent", "supplement"),
    ),
    "answers": ("query_id", "query", "answer", "answer_text_with_markers", "sources", "labels"),
}
"""The fields that a table of each kind can give. One row of `retrievals` is one hit, unless `hits` (or `retrieved`, in the form of a
bundle) holds a list of them."""
NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "chunks": (("text",),),
    "documents": (("document_id",),),
    "queries": (("query",),),
    "retrievals": (("query", "query_id", HITS), ("document_id", "text", HITS, "retrieved")),
    "answers": (("answer", "answer_text_with_markers"), ("query_id", "query")),
}
"""Of each group one must be mapped; everything else can be derived or left out."""
REFERENCES = ("reference_answer", "ground_truth", "expected_answer", "gold_answer", "reference")
NAMES: Mapping[str, tuple[str, ...]] = {
    **FIELD_NAMES,
    "query_id": ("query_id", "qid", "question_id", "q_id", "queryid", "topic_id"),
    "query": ("query", "question", "query_text", "question_text", "user_query", "user_input", "search_query", "prompt", "vraag"),
    "answer": ("answer", *REFERENCES, "response", "antwoord"),
    "score": (
        *("score", "similarity", "similarity_score", "relevance_score", "relevance", "cosine_similarity", "rerank_score"),
        *("bm25_score", "bm25", "vector_score", "search_score"),
    ),
    "distance": ("distance", "cosine_distance", "vector_distance", "l2_distance", "dist"),
    "rank": ("rank", "hit_rank", "position", "order", "rang"),
    "retrieved": ("retrieved",),
}
"""By what names tables call each field; a field that is not here is found under its own name only."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """`columns` by field. `reasons` say why each was guessed, for the user; a mapping typed by a user has none.

    With `guess_rest` the other fields are guessed, and the kind where it is ""; a field whose column is "" is left out.
    `unfit` are columns whose names say a field that their values cannot be.
    """

    kind: str
    columns: Mapping[str, str]
    reasons: Mapping[str, str] = field(default_factory=dict)
    guess_rest: bool = False
    unfit: Mapping[str, str] = field(default_factory=dict)

    def check(self, rows: Rows) -> None:
        """Raise InvalidInput where the mapping is none, or names a column that the table does not have."""
        if self.kind == "" and (unknown := [name for name in self.columns if not any(name in fields for fields in FIELDS.values())]):
            every = dict.fromkeys(name for fields in FIELDS.values() for name in fields)
            raise InvalidInput(f"{shown(unknown[0])} is no field: map one of {', '.join(every)}")
        if self.kind == "":
            given = ", ".join(self.columns)
            raise InvalidInput(f"{rows.file} has no kind that the mapping of {given} fits: say it, one of {', '.join(FIELDS)}")
        if self.kind not in FIELDS:
            raise InvalidInput(f"the kind of {rows.file} must be one of {', '.join(FIELDS)}, got {shown(self.kind)}")
        for name, column in self.columns.items():
            if name not in FIELDS[self.kind] or not column:
                raise InvalidInput(f"{self.kind} have no field {shown(name)}: map one of {', '.join(FIELDS[self.kind])}")
            if name in HIT_FIELDS and EVERY not in column:
                continue
            top, *below = lists_of(column)
            if len(below) > MAX_LISTS or (EVERY in column and HITS not in self.columns):
                told = "the path to a list of hits must be mapped" if HITS not in self.columns else f"a path goes through {MAX_LISTS} lists"
                raise InvalidInput(f"{name} of {rows.file} is at {shown(column)}, but {told}, as in hits=results{EVERY}")
            if column not in rows.columns and not any(
                part in rows.columns for part in (top, *(top[:at] for at, letter in enumerate(top) if letter == "."))
            ):
                listed = ", ".join(map(shown, rows.columns[:20])) + (" …" if len(rows.columns) > 20 else "")
                raise InvalidInput(f"{rows.file} has no column {shown(column)} for {name}: it has {listed or 'none'}")
        for group in NEEDED[self.kind]:
            if not any(name in self.columns for name in group):
                raise InvalidInput(f"{rows.file} as {self.kind} needs a column for {' or '.join(group)}: map one, as in {group[0]}=COLUMN")
