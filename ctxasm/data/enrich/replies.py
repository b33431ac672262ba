"""What a model replied, taken apart: every entry is matched by its number, cleaned and cut to size before it is kept.

Text in a chunk can talk a model into writing nonsense about that chunk. It cannot add an entry for a chunk that was not asked for;
where a number comes twice with different words, neither is taken, and those chunks are asked for again in smaller groups.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.data.enrich.jobs import ChunksJob
from ctxasm.data.enrich.texts import MOST_QUESTIONS, MOST_TOKENS, Enrichment, cut_at_word
from ctxasm.model.amounts import agreeing, counted
from ctxasm.model.characters import one_line
from ctxasm.model.ports import TokenCounter
from ctxasm.text.sentences import sentence_spans

LONGEST_QUESTION = 300
LONGEST_SUMMARY = 600
MOST_SENTENCES = 2
_READ = 5000
"""Characters of one field that are looked at."""
_LEAD = " \t-*•–0123456789.)\"'“”"


class ChunksRead(NamedTuple):
    """What is usable, by place; what is not, in words ("" where all is)."""

    found: Mapping[int, Enrichment]
    problem: str = ""


def read_chunks(job: ChunksJob, data: Mapping[str, Any], counter: TokenCounter) -> ChunksRead:
    """The entries of a reply that fits the job's schema."""
    asked = {part.place for part in job.parts}
    entries: dict[int, set[Enrichment]] = {place: set() for place in asked}
    foreign = 0
    for entry in data["chunks"]:
        if (place := entry["number"]) not in asked:
            foreign += 1
        else:
            entries[place].add(_enrichment(job, entry, counter))
    found = {place: next(iter(said)) for place, said in entries.items() if len(said) == 1 and _is_whole(job, *said)}
    problems = [_places(sorted(place for place, said in entries.items() if not said), "no entry for")]
    problems += [_places(sorted(place for place, said in entries.items() if len(said) > 1), "different entries for")]
    problems += [_places(sorted(place for place, said in entries.items() if len(said) == 1 and place not in found), "an empty entry for")]
    problems += [f"{counted(foreign, 'entry')} for chunks that were not asked for, refused"] if foreign else []
    return ChunksRead(found, "; ".join(filter(None, problems)))


def read_summary_reply(data: Mapping[str, Any]) -> str:
    """One or two sentences; empty where the reply holds none."""
    text = clean(data["summary"])
    ends = [end for _, end in sentence_spans(text) if end <= LONGEST_SUMMARY][:MOST_SENTENCES]
    return text[: ends[-1]] if ends else cut_at_word(text, LONGEST_SUMMARY)


def clean(text: str) -> str:
    """`text` on one line, without characters that steer, hide or cannot be stored."""
    plain = "".join(char for char in text[:_READ] if unicodedata.category(char) not in ("Cf", "Cs", "Co", "Cn") and char != "\ufffd")
    line = one_line(plain)
    return line if any(map(str.isalnum, line)) else ""


def _enrichment(job: ChunksJob, entry: Mapping[str, Any], counter: TokenCounter) -> Enrichment:
    context = _fitted(clean(entry["context"]), counter) if job.contexts else ""
    return Enrichment(context, _questions(entry["questions"]) if job.questions else ())


def _questions(told: Sequence[str]) -> tuple[str, ...]:
    lines = (cut_at_word(clean(question).lstrip(_LEAD), LONGEST_QUESTION) for question in told[:10])
    return tuple(dict.fromkeys(line for line in lines if len(line) > 3))[:MOST_QUESTIONS]


def _fitted(context: str, counter: TokenCounter) -> str:
    """`context` cut to the most tokens that it may have: at a sentence's end that keeps a half, else at a word's end."""
    if counter.count(context) <= MOST_TOKENS:
        return context
    ends = [at for at in counter.boundaries(context) if at <= len(context)]
    limit = max((at for at in ends[:MOST_TOKENS] if counter.count(context[:at]) <= MOST_TOKENS), default=0)
    whole = [end for _, end in sentence_spans(context) if limit // 2 <= end <= limit]
    return context[: whole[-1]] if whole else cut_at_word(context, limit)


def _is_whole(job: ChunksJob, said: Enrichment) -> bool:
    return bool(said.context or not job.contexts) and bool(said.questions or not job.questions)


def _places(places: Sequence[int], what: str) -> str:
    if not places:
        return ""
    named = ", ".join(map(str, places[:5])) + (" …" if len(places) > 5 else "")
    return f"{what} {agreeing(len(places), 'chunk', 'chunks')} {named}"
