"""What a recognised shape, or a mapped table, becomes: lines in the bundle's own JSON form, each with the row it came from.

These lines then pass the same validation as the lines of a bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from ctxasm.data.files.recognised.messages import prompt_text
from ctxasm.data.files.recognised.passages import NOTES, Passage, content_id, falling, is_finite, opening, place, rising, score
from ctxasm.data.files.rows import Rows
from ctxasm.model.characters import normalised
from ctxasm.model.records import Turn
from ctxasm.text.sent_prompts import asked_in, own_passages, sent_in

BY_NAME = "by_name"
"""In a hit: it names its chunk alone, so its chunk_index is none that was said."""
ONLY_RETRIEVED = "only what was retrieved is in the export"
"""The note on chunks that nothing but hits gave begins so."""
Line = tuple[int, dict[str, Any]]
"""The row of the source file, and the fields of the line."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The lines of each file of a bundle. `notes` say what was derived or left out, for the user."""

    documents: tuple[Line, ...] = ()
    chunks: tuple[Line, ...] = ()
    queries: tuple[Line, ...] = ()
    retrievals: tuple[Line, ...] = ()
    answers: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape by name. `recognise` looks at structure only: a file may have any name.

    `convert_all` takes the tables that belong together (a corpus, its queries and their judgements; or one file a question)
    and gives one Converted for each, so that every line keeps the row of its own file. Nothing is raised for a row that is not
    as it should be: its line is passed on as it is, and the validation of the bundle reports it.
    """

    name: str
    recognise: Callable[[Rows], bool]
    convert_all: Callable[[Sequence[Rows]], tuple[Converted, ...]]

    def convert(self, rows: Rows) -> Converted:
        """The lines of one table that stands alone."""
        return self.convert_all([rows])[0]


UNKNOWN_QUESTION = "(the question is not in this export)"
KINDS = ("documents", "chunks", "queries", "retrievals", "answers")


class Place(NamedTuple):
    """A row of one of the tables."""

    table: int
    row: int


class Spoken(NamedTuple):
    """How an answer came about: what the model was `sent`, and the names of its span, by which a verdict finds back."""

    sent: Sequence[Turn] = ()
    model: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


class InPrompt(NamedTuple):
    """What a prompt tells where nothing else does: its passages, and its question."""

    found: Sequence[Passage]
    question: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what was found for it. `gold` are numbers of passages, as `Draft.keep` gives them."""

    at: Place
    question: str | None
    found: Sequence[Passage]
    numbers: Sequence[int]
    fields: Mapping[str, Any]
    gold: Sequence[int]
    answer: str | None
    answer_fields: Mapping[str, Any]
    query_id: str | None = None
    spoken: Spoken = Spoken()


@dataclass(slots=True)
class Draft:
    """Collects passages and questions of several tables. `lines` then gives one Converted a table.

    `are_distances` says what plain scores are; None: the lists themselves tell. `answers_at` are paths to answers.
    """

    tables: Sequence[Rows]
    are_distances: bool | None = None
    answers_at: Sequence[str] = ()
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)
    _passages: list[tuple[Place, Passage]] = field(default_factory=list)
    _listed: set[int] = field(default_factory=set)
    _asked: list[Asked] = field(default_factory=list)
    _notes: dict[tuple[int, str], int] = field(default_factory=dict)
    _out: list[dict[str, list[Line]]] = field(default_factory=list)
    _indexes: dict[int, int] = field(default_factory=dict)

    def keep(self, at: Place, passage: Passage, is_listed: bool = False) -> int:
        """The number of a passage, new or known. `is_listed`: the export lists it as stored, not as retrieved."""
        key = (document_of(passage, at), passage.page, passage.start, tuple(sorted(passage.numbers.items())), normalised(str(passage.text)))
        number = self._known.setdefault(key, len(self._passages))
        if number == len(self._passages):
            self._passages.append((at, passage))
        if is_listed:
            self._listed.add(number)
        return number

    def ask(
        self,
        at: Place,
        question: str | None,
        found: Sequence[Passage],
        *,
        query_id: str | None = None,
        gold: Sequence[Passage] = (),
        answer: str | None = None,
        answer_fields: Mapping[str, Any] | None = None,
        reference: str | None = None,
        spoken: Spoken | None = None,
        **fields: Any,
    ) -> None:
        """A question, what was retrieved for it in order, the evidence it needs, the answer it got and the one it should get.

        `fields` go to its line.
        """
        numbers = [self.keep(at, passage) for passage in found]
        evidence = [self.keep(at, passage) for passage in gold]
        known = _present({**fields, "answer": reference})
        self._asked.append(Asked(at, question, found, numbers, known, evidence, answer, answer_fields or {}, query_id, spoken or Spoken()))

    def passages_of(self, table: int, sent: Sequence[Turn]) -> InPrompt:
        """The passages that a prompt itself shows, for an answer of which no retrieval is known."""
        text = prompt_text([turn for turn in sent if turn.role != "assistant"])
        found = [Passage(own.text, rank=own.number, title=own.title, document_id=own.title) for own in own_passages(text)]
        if found:
            self.note(table, "no retrieval is in it: the passages of the prompt that was sent are taken for the hits (prompts: {})")
        last = next((turn.content for turn in reversed(sent) if turn.role == "user"), "")
        return InPrompt(found, asked_in(last) or (last.strip() if last.strip() and not own_passages(last) else asked_in(text)))

    def pass_on(self, at: Place, kind: str, fields: Mapping[str, Any]) -> None:
        """A line as it is, right or wrong: the validation of the bundle judges it."""
        self._line(at, kind, dict(fields))

    def unreadable(self, at: Place, text: object = None) -> None:
        """A passage without a text: its line says so."""
        self.pass_on(at, "chunks", {"document_id": f"row {at.row}", "chunk_index": 0, "text": text})

    def note(self, table: int, text: str, times: int = 1) -> None:
        """Something that the user should know. `{}` in it becomes how often it was said."""
        self._notes[table, text] = self._notes.get((table, text), 0) + times

    def index_of(self, number: int) -> int:
        """The chunk_index that a passage was given; known after `lines`."""
        return self._indexes[number]

    def lines(self) -> tuple[Converted, ...]:
        """Everything that was collected, each line with the table that it came from."""
        self._write_chunks()
        self._write_questions()
        return tuple(
            Converted(
                **{kind: tuple(self._tables(table)[kind]) for kind in KINDS},
                notes=tuple(text.format(f"{times:,}") for (of, text), times in self._notes.items() if of == table),
            )
            for table in range(len(self.tables))
        )

    def _tables(self, table: int) -> dict[str, list[Line]]:
        while len(self._out) < len(self.tables):
            self._out.append({kind: [] for kind in KINDS})
        return self._out[table]

    def _line(self, at: Place, kind: str, fields: dict[str, Any]) -> None:
        self._tables(at.table)[kind].append((at.row, fields))

    def _write_chunks(self) -> None:
        documents: dict[str, list[int]] = {}
        for number, (at, passage) in enumerate(self._passages):
            if passage.refers:
                self._indexes[number] = next(iter(passage.numbers.values()), 0)
                continue
            documents.setdefault(document_of(passage, at), []).append(number)
        for document_id, own in documents.items():
            passages = [self._passages[number][1] for number in own]
            at, first = self._passages[own[0]]
            placed = place(passages, is_whole=all(number in self._listed for number in own))
            self._indexes.update(zip(own, placed.indexes, strict=True))
            if placed.by:
                self.note(at.table, f"chunk_index from {placed.by} (documents: {{}})")
            facts = {name: next((v for p in passages if (v := getattr(p, name))), None) for name in ("title", "source", "date")}
            if not facts["title"] and not is_named(first) and isinstance(first.text, str):
                facts["title"] = opening(first.text)
            self._line(at, "documents", _present({"document_id": document_id, **facts}))
            paged = first.start_in_page and len({passage.page for passage in passages}) > 1
            for number in sorted(own, key=lambda number: self._indexes[number]):
                self._write_chunk(document_id, number, paged)
        retrieved = [at.table for number, (at, own) in enumerate(self._passages) if number not in self._listed and not own.refers]
        if retrieved:
            self.note(retrieved[0], f"{ONLY_RETRIEVED}: expansion finds no other neighbours (chunks: {{}})", len(retrieved))

    def _write_chunk(self, document_id: str, number: int, paged: bool) -> None:
        at, passage = self._passages[number]
        start, end = (None, None) if paged else (passage.start, passage.end)
        if start is not None and isinstance(passage.text, str):
            end = start + len(passage.text) if end is None else end
            if end - start != len(passage.text):
                self.note(at.table, "start and end that do not span the text were left out (chunks: {})")
                start = end = None
        else:
            start = end = None
        place_in_it = {"start": start, "end": end, "page_number": passage.page, "section": passage.section}
        own_name = {"id": passage.passage_id} if passage.passage_id not in (None, document_id, *passage.metadata.values()) else {}
        metadata = {"metadata": own_name | dict(passage.metadata)} if own_name or passage.metadata else {}
        line = {"document_id": document_id, "chunk_index": self._indexes[number], "text": passage.text}
        self._line(at, "chunks", {**line, **_present(place_in_it), **metadata})

    def _write_questions(self) -> None:
        told = self.are_distances
        are_distances = rising([asked.found for asked in self._asked]) if told is None else told
        if told is None and falling([asked.found for asked in self._asked]):
            self.note(
                self._asked[0].at.table, "distances that fall from the first hit on in every list are similarities: they are the scores"
            )
            plain = [[replace(passage, measure="score") for passage in asked.found] for asked in self._asked]
            self._asked = [replace(asked, found=found) for asked, found in zip(self._asked, plain, strict=True)]
        taken = {asked.query_id for asked in self._asked}
        numbers = count(1)
        for asked in self._asked:
            query_id = asked.query_id
            while query_id is None:
                query_id = name if (name := f"q{next(numbers)}") not in taken else None
            self._write_question(asked, query_id, are_distances)

    def _write_question(self, asked: Asked, query_id: str, are_distances: bool) -> None:
        at, question = asked.at, asked.question
        if question is None:
            self.note(at.table, "hits came without their question (lists: {})")
            question = UNKNOWN_QUESTION
        gold = [self._key(number) for number in asked.gold]
        self._line(at, "queries", {"query_id": query_id, "query": question, **({"gold": gold} if gold else {}), **asked.fields})
        if asked.found:
            scored = score(asked.found, are_distances)
            if scored.by:
                self.note(at.table, NOTES[scored.by])
            hits = [
                self._hit(number, passage, value, rank if scored.ranked else None)
                for rank, (number, passage, value) in enumerate(zip(asked.numbers, asked.found, scored.scores, strict=True), 1)
                if value is not None
            ]
            self._line(at, "retrievals", {"query_id": query_id, "retrieved": hits})
        if asked.answer is not None:
            self._line(at, "answers", {"query_id": query_id, "answer": asked.answer, **_as_sent(asked), **asked.answer_fields})

    def _hit(self, number: int, passage: Passage, value: Any, rank: int | None) -> dict[str, Any]:
        is_plain = passage.measure in ("score", "pair")
        measure = passage.measure if not is_plain else "distance" if value != passage.score else ""
        own = {measure: passage.score} if measure and is_finite(passage.score) else {}
        scores = {name: score for name, score in {**passage.scores, **own}.items() if name != "score"}
        named = {BY_NAME: True} if passage.refers and not passage.numbers else {}
        return {**self._key(number), "score": value, **_present({"rank": rank, "scores": scores or None}), **named}

    def _key(self, number: int) -> dict[str, Any]:
        return {"document_id": document_of(self._passages[number][1], self._passages[number][0]), "chunk_index": self._indexes[number]}


def is_named(passage: Passage) -> bool:
    """Whether anything but its text says what it is of."""
    return bool(passage.document_id or passage.passage_id)


def document_of(passage: Passage, at: Place) -> str:
    """The document of a passage: what names it, else the passage's own name, else its content, else the row."""
    if is_named(passage):
        return passage.document_id or passage.passage_id or ""
    return content_id(passage.text) if isinstance(passage.text, str) else f"row {at.row}"


def _as_sent(asked: Asked) -> dict[str, Any]:
    """What an answer was given, as its prompt shows it: the sources by number, the prompt, and the names of its span."""
    sent, model, trace_id, span_id = asked.spoken
    prompt = [{"role": turn.role, "content": turn.content} for turn in sent] or None
    told = _present({"model": model, "trace_id": trace_id, "span_id": span_id, "prompt": prompt})
    texts = [passage.text if isinstance(passage.text, str) else "" for passage in asked.found]
    numbered: dict[int, list[int]] = {}
    found = sent_in(prompt_text(sent), texts) if sent else ()
    for index, one in enumerate(found):
        numbered.setdefault(one.number, []).append(index)
    sources = [
        _present({"n": number, "text": "\n".join(found[at].text for at in places), "title": asked.found[found[places[0]].at].title})
        for number, places in numbered.items()
    ]
    return {**({"sources": sources} if sources else {}), **({"metadata": told} if told else {})}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
