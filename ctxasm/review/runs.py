"""Answers become runs: those that a model was asked for, and those that a log or a dataset records. And how two runs differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ctxasm.citations.grounds import Ground, Grounds, grounds_of_assembly
from ctxasm.model.amounts import counted, signed
from ctxasm.model.characters import encodable, mended
from ctxasm.model.kept import key_of
from ctxasm.model.records import recorded_of
from ctxasm.model.results import Citation
from ctxasm.model.runs import Run, RunSource

if TYPE_CHECKING:
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.citations.report import CheckedAnswer
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.records import Answer
    from ctxasm.model.results import Assembly


MOST_WORDS = 600
"""Of an answer whose words are compared one by one: comparing grows with the square."""


class ModelAnswer(Protocol):
    """An answer as a model gave it: an `AnswerResult`, or what a page keeps of one."""

    @property
    def text(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def note(self) -> str | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def elapsed_ms(self) -> float: ...
    @property
    def sent(self) -> SentTokens | None: ...


class Parameters(NamedTuple):
    """How a model was asked."""

    choice: PromptChoice
    temperature: float = 0.0
    max_tokens: int = 512


def run_of(
    assembly: Assembly,
    answer: ModelAnswer,
    checked: CheckedAnswer,
    asked: Parameters,
    data: DatasetInfo | None = None,
    *,
    version: str,
    author: str = "",
    batch: str = "",
    cost: float | None = None,
    evidence: tuple[int, int] | None = None,
) -> Run:
    """The run of an answer that was asked for from this context, under a new id."""
    from ctxasm.answering.known_answers import messages_to_send
    from ctxasm.text.tokens import open_counter

    sent, query, choice = answer.sent, assembly.query, asked.choice
    server = sent.server if sent is not None else None
    return Run(
        run_id=token_hex(8),
        kept_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        question=mended(query.query),
        answer=encodable(answer.text),
        check=_check(checked),
        author=mended(author),
        version=version,
        batch=mended(batch),
        dataset=data.name if data is not None else "",
        digest=data.content_hash if data is not None else "",
        query_id=mended(query.query_id),
        settings=assembly.settings.changed(),
        prompt=messages_to_send(assembly, choice),
        model=mended(answer.model),
        parameters={
            "temperature": asked.temperature,
            "max_tokens": asked.max_tokens,
            "prompt": choice.style,
            "answer_first": choice.answer_first,
            "instructions": choice.extra,
        },
        sources=_sources(grounds_of_assembly(assembly), assembly.citations),
        complete=answer.complete,
        note=answer.error or answer.note,
        reference=query.answer,
        context_tokens=assembly.token_count,
        sent_tokens=server.prompt if server is not None else sent.tokens if sent is not None else None,
        written_tokens=server.answer if server is not None else open_counter(assembly.encoding).count(answer.text),
        cost=cost,
        elapsed_ms=round(answer.elapsed_ms, 3),
        evidence=evidence,
    )


def run_of_record(
    record: Answer,
    grounds: Grounds,
    checked: CheckedAnswer,
    question: str,
    data: DatasetInfo | None = None,
    *,
    version: str,
    batch: str = "",
    evidence: tuple[int, int] | None = None,
) -> Run:
    """The run of a recorded answer, checked against `grounds`. The same record has the same id, so that it is kept once."""
    from ctxasm.model.messages import Message

    recorded, assembly = recorded_of(record), grounds.assembly
    reference = record.metadata.get("reference") or (assembly.query.answer if assembly is not None else None)
    own = {name: value for name in ("temperature", "max_tokens") if isinstance(value := record.metadata.get(name), (int, float))}
    about = {str(source["n"]): source for source in record.sources}
    sources = _sources(grounds, assembly.citations if assembly is not None else (), about)
    name = data.name if data is not None else ""
    key = key_of(name, batch, record.query_id, question, record.answer, repr([(s.number, s.text) for s in sources]), recorded.span_id or "")
    return Run(
        run_id=key[:16],
        kept_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        question=mended(question or record.query_id),
        answer=encodable(record.answer),
        check=_check(checked),
        author="",
        version=version,
        batch=mended(batch or name),
        dataset=name,
        digest=data.content_hash if data is not None else "",
        query_id=record.query_id,
        settings=assembly.settings.changed() if assembly is not None else {},
        prompt=tuple(Message(_role(turn.role), turn.content) for turn in recorded.prompt),
        model=mended(recorded.model or ""),
        parameters=own,
        sources=sources,
        complete=record.metadata.get("finish_reason") != "length",
        note=None,
        reference=str(reference) if reference else None,
        context_tokens=assembly.token_count if assembly is not None else None,
        evidence=evidence,
        span_id=recorded.span_id,
    )


def _role(role: str) -> Any:
    return role if role in ("system", "assistant") else "user"


def _check(checked: CheckedAnswer) -> Mapping[str, Any]:
    return {name: value for name, value in checked.to_dict().items() if name != "elapsed_ms"}


def _sources(
    grounds: Grounds, citations: Sequence[Citation], about: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[RunSource, ...]:
    cited = {citation.number: citation for citation in citations}
    return tuple(
        _source(ground, cited.get(ground.source.number), (about or {}).get(str(ground.source.number), {})) for ground in grounds.items
    )


def _source(ground: Ground, citation: Citation | None, about: Mapping[str, Any]) -> RunSource:
    """A source; of a record that brings its own, with what it says of the chunk (document_id, chunk_index, page_number)."""
    number, text, title = ground.source.number, ground.source.text, ground.source.title or None
    if citation is not None:
        hits = {place.chunk_index for place in ground.places if place.retrieved}
        chunks = tuple(sorted(citation.chunk_indexes, key=lambda index: (index not in hits, index)))
        return RunSource(number, text, title, citation.document_id, chunks, citation.ref, citation.page_number, ground.date)
    document, index, page = about.get("document_id"), about.get("chunk_index"), about.get("page_number")
    return RunSource(
        number,
        text,
        title,
        document if isinstance(document, str) else None,
        (index,) if type(index) is int else (),
        str(about["source"]) if about.get("source") else None,
        page if type(page) is int else None,
        ground.date,
    )


# Two runs


@dataclass(frozen=True, slots=True)
class RunDifference:
    """What differs from run `a` to run `b`: words of the answer, sources (document, chunk) of one context alone, tokens, settings.

    `settings` are (a, b) by name, None for the default. Figures are None where one of the two does not have them.
    """

    a: Run
    b: Run
    words_removed: int
    words_added: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    settings: Mapping[str, tuple[Any, Any]]
    context_tokens: int | None
    sent_tokens: int | None
    written_tokens: int | None
    cost: float | None

    @property
    def same_answer(self) -> bool:
        """Whether both answers are equal to the letter."""
        return self.a.answer == self.b.answer

    def sentences(self) -> tuple[str, ...]:
        """Words, evidence, tokens, settings, one sentence each."""
        words = f"{counted(self.words_added, 'word')} added, {counted(self.words_removed, 'word')} removed"
        said = ["The answers are the same." if self.same_answer else f"Words: {words}."]
        lost, new = ", ".join(self.only_a), ", ".join(self.only_b)
        named = "; ".join(filter(None, (f"only before: {lost}" if lost else "", f"only after: {new}" if new else "")))
        said.append(f"Evidence: {named}." if named else "Evidence: the same chunks.")
        if self.a.evidence is not None and self.b.evidence is not None:
            (one, of), (other, of_other) = self.a.evidence, self.b.evidence
            said.append(f"Labelled evidence found: {one} of {of} before, {other} of {of_other} after.")
        tokens = {"context": self.context_tokens, "sent": self.sent_tokens, "written": self.written_tokens}
        if found := [f"{signed(value)} {name}" for name, value in tokens.items() if value]:
            said.append(f"Tokens: {', '.join(found)}.")
        if self.settings:
            said.append(f"Settings: {', '.join(f'{name} {_value(old)} → {_value(new)}' for name, (old, new) in self.settings.items())}.")
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        figures = ("words_removed", "words_added", "only_a", "only_b", "context_tokens", "sent_tokens", "written_tokens", "cost")
        own = {name: list(value) if isinstance(value := getattr(self, name), tuple) else value for name in figures}
        settings = {name: list(pair) for name, pair in self.settings.items()}
        return {"a": self.a.run_id, "b": self.b.run_id, **own, "settings": settings, "sentences": list(self.sentences())}


def difference_of(a: Run, b: Run) -> RunDifference:
    """What differs from run `a` to run `b`."""
    one, other = (re.findall(r"\S+", run.answer) for run in (a, b))
    changed = [
        code
        for code in SequenceMatcher(None, one, other, autojunk=max(len(one), len(other)) > MOST_WORDS).get_opcodes()
        if code[0] != "equal"
    ]
    held, holds = _chunks(a), _chunks(b)
    names = sorted(a.settings.keys() | b.settings.keys())
    pairs = {name: (a.settings.get(name), b.settings.get(name)) for name in names}

    def more(name: str) -> Any:
        before, after = getattr(a, name), getattr(b, name)
        return None if before is None or after is None else after - before

    return RunDifference(
        a,
        b,
        sum(high - low for _, low, high, _, _ in changed),
        sum(high - low for _, _, _, low, high in changed),
        tuple(name for key, name in held.items() if key not in holds),
        tuple(name for key, name in holds.items() if key not in held),
        {name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
        more("context_tokens"),
        more("sent_tokens"),
        more("written_tokens"),
        more("cost"),
    )


def _chunks(run: Run) -> dict[object, str]:
    """The chunks that a context held, by name; a source without any by its text."""
    named: dict[object, str] = {}
    for source in run.sources:
        if source.document_id is None or not source.chunks:
            named[source.text] = f"[{source.number}]"
            continue
        named |= {(source.document_id, index): f"{source.document_id}:{index}" for index in source.chunks}
    return named


def _value(value: object) -> str:
    return "default" if value is None else str(value)
