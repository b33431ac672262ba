"""What the exports of LangChain, LlamaIndex and Haystack have in common: stored passages, hits, or questions with their hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from ctxasm.data.files.answer_places import answer_at, answer_places
from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.draft import Draft, Place, Spoken
from ctxasm.data.files.recognised.forms import Form, read_passage
from ctxasm.data.files.recognised.lists import QUESTION_NAMES, found_nothing, read_answer, read_list, read_question
from ctxasm.data.files.recognised.messages import PROMPT_NAMES, prompt_text, read_messages
from ctxasm.data.files.recognised.passages import Object, Passage, is_nothing, named
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.seen import seen_in
from ctxasm.data.names import word_set, words_of
from ctxasm.data.paths import EVERY

OTHER_LISTS = word_set("documents docs nodes contexts context sources results chunks passages retrieved reference")
"""Words of paths to what is no answer."""
LOOKED_AT = 50
"""Rows by which a shape is told."""
MOST_HITS = 500
"""A longer list of scored passages is a corpus whose metadata happens to have a score."""
ID_NAMES = ("query_id", "id", "qid", "run_id", "trace_id")
TEXT_KEYS = ("page_content", "pageContent", "content", "text")


def mostly(rows: Rows, is_one: Callable[[Object], bool]) -> bool:
    """Whether at least half of the first rows are of a kind. A damaged row among them is reported later, by its number."""
    seen = [is_one(row) for _, row in islice(rows.rows, LOOKED_AT)]
    return bool(seen) and 2 * sum(seen) >= len(seen)


def collect(draft: Draft, table: int, forms: tuple[Form, ...], take: Callable[[Draft, Place, Object], bool]) -> None:
    """Take in one table. `take` takes in a row that is no passage, and says whether it could."""
    alone: list[tuple[Place, Passage]] = []
    draft.answers_at = answer_paths(draft.tables[table])
    for row, values in draft.tables[table].rows:
        at = Place(table, row)
        if (passage := read_passage(values, forms)) is not None:
            alone.append((at, passage))
        elif not take(draft, at, values):
            draft.unreadable(at, next((values[key] for key in TEXT_KEYS if key in values and not isinstance(values[key], str)), None))
    list_alone(draft, alone)


def answer_paths(rows: Rows) -> tuple[str, ...]:
    """Where the answers of rows may stand, the surest path first."""
    seen = seen_in(rows).values
    values = {path: own for path, own in seen.items() if EVERY not in path or not OTHER_LISTS & set(words_of(path))}
    taken = [path for path in QUESTION_NAMES if path in values]
    return tuple(place.path for place in answer_places(values, taken) if place.sure > 2 or EVERY not in place.path)


def said(paths: Sequence[str], row: Object) -> str | None:
    """The first answer that stands at one of these paths of a row."""
    return next((text for path in paths if (text := answer_at(row, path)) is not None), None)


def list_alone(draft: Draft, alone: Sequence[tuple[Place, Passage]]) -> None:
    """Passages that stand by themselves: with scores they are the hits of one question, without they are what is stored."""
    are_hits = 0 < len(alone) <= MOST_HITS and any(not is_nothing(passage.score) for _, passage in alone)
    for at, passage in alone:
        draft.keep(at, passage, is_listed=not are_hits)
    if are_hits:
        draft.ask(alone[0][0], None, [passage for _, passage in alone])


def take_hits(forms: tuple[Form, ...]) -> Callable[[Draft, Place, Object], bool]:
    """Takes in a row that holds hits in these forms, perhaps with their question and its answer."""

    def take(draft: Draft, at: Place, values: Object) -> bool:
        found = [] if found_nothing(values) else read_list(values, forms)
        if found is not None:
            query_id = next((str(values[name]) for name in ID_NAMES if not is_nothing(values.get(name))), None)
            draft.ask(
                at,
                read_question(values),
                found,
                query_id=query_id,
                answer=_answer(values) or said(draft.answers_at, values),
                spoken=_spoken(values, found),
            )
        return found is not None

    return take


def _spoken(values: Object, found: Sequence[Passage]) -> Spoken | None:
    """The prompt that was sent: one of several messages, or that shows a passage; else what is called so is the question alone."""
    for name in PROMPT_NAMES:
        sent = read_messages(values.get(name))
        text = prompt_text(sent)
        if len(sent) > 1 or any(isinstance(one.text, str) and one.text.strip() and one.text.strip() in text for one in found):
            return Spoken(sent, *(named(values.get(key)) for key in ("model", "trace_id", "span_id")))
    return None


def _answer(values: Object) -> str | None:
    for name in ("answer", "result", "response", "output"):
        inner: Any = parsed(values.get(name))
        if isinstance(inner, (str, Mapping)) and (answer := read_answer(inner)) is not None:
            return answer
    return None
