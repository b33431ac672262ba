"""Random runs and judgements, with whatever a model, a file or a person can write."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ctxasm.model.messages import Message
from ctxasm.model.runs import CITATION_VERDICTS, Judgement, Passage, Run, RunSource

NASTY = st.sampled_from(["=1+1", "+x", "-x", "@x", "\t=x", "\r\n=x", "\0", "<script>", '"', "\x85", "\u2028", "é😀", "\ufeff", "'=1"])
TEXTS = st.text(max_size=12) | NASTY
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
NUMBERS = st.none() | st.integers(0, 2**70)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
OPTIONAL = st.none() | TEXTS
SOURCES = st.builds(
    RunSource, st.integers(), TEXTS, OPTIONAL, OPTIONAL, st.lists(st.integers(0, 9), max_size=3).map(tuple), OPTIONAL, NUMBERS, OPTIONAL
)
MESSAGES = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXTS)
TIMES = st.datetimes().map(lambda when: when.isoformat(timespec="microseconds") + "+00:00")
FLOATS = st.none() | st.floats(0, 1e9)


def runs() -> st.SearchStrategy[Run]:
    return st.builds(
        Run,
        run_id=st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True),
        kept_at=TIMES,
        question=NAMES,
        answer=TEXTS,
        check=OBJECTS,
        author=NAMES,
        version=TEXTS,
        batch=NAMES,
        dataset=NAMES,
        digest=TEXTS,
        query_id=NAMES,
        settings=OBJECTS,
        prompt=st.lists(MESSAGES, max_size=2).map(tuple),
        model=NAMES,
        parameters=OBJECTS,
        sources=st.lists(SOURCES, max_size=2).map(tuple),
        complete=st.booleans(),
        note=OPTIONAL,
        reference=OPTIONAL,
        context_tokens=NUMBERS,
        sent_tokens=NUMBERS,
        written_tokens=NUMBERS,
        cost=FLOATS,
        elapsed_ms=FLOATS,
        evidence=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
        span_id=OPTIONAL,
    )


@st.composite
def judged_runs(draw: st.DrawFn) -> tuple[list[Run], list[Judgement]]:
    """Runs with other ids, and for each some items with one or more versions."""
    found = draw(st.lists(runs(), max_size=3, unique_by=lambda run: run.run_id))
    said: list[Judgement] = []
    for run in found:
        for item in draw(st.lists(st.sampled_from(["answer", "0:1", "0:0", "12:3"]), max_size=3, unique=True)):
            for reviewer in draw(st.lists(NAMES.filter(lambda name: bool(name.strip())), max_size=2, unique=True)):
                said += [draw(_judgement(run.run_id, item, reviewer, version)) for version in range(1, draw(st.integers(1, 3)) + 1)]
    return found, said


def _judgement(run_id: str, item: str, reviewer: str, version: int) -> st.SearchStrategy[Judgement]:
    key = {"run_id": st.just(run_id), "item": st.just(item), "reviewer": st.just(reviewer), "version": st.just(version)}
    if item != "answer":
        return st.builds(Judgement, **key, verdict=st.none() | st.sampled_from(CITATION_VERDICTS), note=TEXTS, changed_at=TIMES)
    passages = st.lists(st.builds(Passage, TEXTS, st.integers(0, 9), TEXTS), max_size=2).map(tuple)
    answers = st.sampled_from([None, "yes", "partly", "no"])
    complete = st.none() | st.booleans()
    return st.builds(Judgement, **key, note=TEXTS, answers=answers, complete=complete, should_cite=passages, changed_at=TIMES)
