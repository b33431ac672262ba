"""What an assembly returns: the text, its provenance, its citations, the trace of every chunk, and how a model's window is shared out.

Offsets are characters; `start`/`end` of a segment are in the context, `chunk_start`/`chunk_end` in the chunk's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, cast

from ctxasm.model.events import Event, Likeness
from ctxasm.model.frames import data_frame
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document, Query, Turn
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.model.frames import DataFrame


ZoneName = Literal["system", "question", "history", "context", "answer", "overhead", "margin", "free"]
ZONE_NAMES: tuple[ZoneName, ...] = ("system", "history", "context", "question", "overhead", "margin", "answer", "free")
"""Every zone, in the order in which they stand in a window: what is sent, what is kept free, what comes back."""


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the window. `how`: counted as it is sent, reserved by a setting, or left by the others."""

    name: ZoneName
    tokens: int
    how: Literal["counted", "reserved", "left"]


@dataclass(frozen=True, slots=True)
class Zones:
    """A model's window, shared out. The zones add up to `window + over` exactly.

    `over` is 0 where the context is what the others leave (budget_mode=window); with a fixed limit it is by how much all
    zones exceed the window. `hints` are sentences on what does not fit together.
    """

    model: str
    window: int
    zones: tuple[Zone, ...]
    over: int = 0
    hints: tuple[str, ...] = ()

    @property
    def context(self) -> int:
        """Tokens of the context zone."""
        return self.tokens_of("context")

    def tokens_of(self, name: ZoneName) -> int:
        """Tokens of one zone, 0 where there is none."""
        return sum(zone.tokens for zone in self.zones if zone.name == name)


@dataclass(frozen=True, slots=True)
class SentHistory:
    """What of the earlier turns is sent, oldest first, and `tokens` of it.

    Of `given` turns the first `summarised` are told in `summary` (sent as a pair of turns before the others), the first
    `trimmed` are left out; both count from the oldest. `note` says why a summary could not be had, or what else was done.
    """

    turns: tuple[Turn, ...]
    tokens: int
    given: int
    trimmed: int = 0
    trimmed_tokens: int = 0
    summarised: int = 0
    summary: str = ""
    note: str = ""


Key = tuple[str, int]
"""(document_id, chunk_index): the name of a chunk inside a dataset."""
SegmentKind = Literal["chunk", "header", "separator", "prefix", "gap", "supplement"]
FateKind = Literal["kept", "truncated", "merged", "duplicate_of", "dropped"]


class Segment(NamedTuple):
    """A span of the context: verbatim text of one chunk, or scaffolding. `tokens` is the growth of the exact count."""

    kind: SegmentKind
    start: int
    end: int
    tokens: int
    block: int | None
    document_id: str | None = None
    chunk_index: int | None = None
    chunk_start: int | None = None
    chunk_end: int | None = None
    shared_with: tuple[Key, ...] = ()
    neutralised: bool = False
    rewritten: bool = False


class Shown(NamedTuple):
    """One chunk inside a stage, with the part of its text that is shown: characters `start` to `end`."""

    document_id: str
    chunk_index: int
    start: int
    end: int


class Candidate(NamedTuple):
    """A chunk that retrieval or expansion brought. `parents` are the hits (indexes) that reach an adjacent chunk.

    `rank` is the hit's own rank, or the best rank among the parents.
    """

    chunk: FetchedChunk
    retrieved: bool
    score: float
    rank: int
    parents: tuple[int, ...] = ()

    @property
    def key(self) -> Key:
        return self.chunk.document_id, self.chunk.chunk_index


class Fate(NamedTuple):
    """What became of one candidate. `tokens` counts the chunk's own text alone; `reason` explains a drop.

    `stage` is the stage that decided. `missing_tokens`: the smallest limit that would keep it, minus the limit.
    `of` is the kept chunk that a duplicate repeats, or the chunk that shows a merged one; `likeness` and `similarity` say
    how it repeats it. `block` is its citation number. `compressed` is the share of its own tokens that compression left.
    """

    document_id: str
    chunk_index: int
    retrieved: bool
    score: float
    rank: int
    fate: FateKind
    stage: str
    reason: str | None = None
    tokens: int = 0
    missing_tokens: int | None = None
    stripped_chars: int = 0
    parents: tuple[int, ...] = ()
    of: Key | None = None
    block: int | None = None
    likeness: Likeness | None = None
    similarity: float | None = None
    compressed: float | None = None


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage: what went in, what came out, what it did and how long that took."""

    stage: str
    before: tuple[Shown, ...]
    after: tuple[Shown, ...]
    tokens_in: int
    tokens_out: int
    elapsed_ms: float
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """The numbered entry that a marker points to, built from its rendered block."""

    number: int
    document_id: str
    title: str | None
    source: str | None
    ref: str
    page_number: int | None
    row_number: int | None
    chunk_indexes: tuple[int, ...]
    snippet: str
    also_in: tuple[Key, ...] = ()


class PreCitation(NamedTuple):
    """Entry `number` of the list as it would be if citations were built from the retrieved chunks, before assembly."""

    number: int
    document_id: str


@dataclass(frozen=True, slots=True)
class Regret:
    """How much better the best packing of whole documents into the same limit would be.

    Value = sum over retrieved chunks of 1 / (60 + rank); the best hit is always in. `exact` is False where `best` is only
    proven as an upper bound. `documents` are those of the best packing found.
    """

    kept: float
    best: float
    exact: bool
    documents: tuple[str, ...]

    @property
    def regret(self) -> float:
        return max(0.0, self.best - self.kept)


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """What reading the store took."""

    statements: int
    document_statements: int
    rows: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class DocumentSize:
    """One document on the token axis, in context order. `missing_tokens` is None when it is kept.

    `tokens` is what its block adds to the rendered text, `end` the exact count of the context up to and including it if
    every document before it is in.
    """

    document_id: str
    tokens: int
    end: int
    kept: bool
    missing_tokens: int | None


Part = TypeVar("Part")


class Once(Generic[Part]):
    """A value that is worked out when it is first read, and then kept. Threads may share it; `lock` is that of what it works on."""

    __slots__ = ("_lock", "_value", "_work")

    def __init__(self, work: Callable[[], Part], lock: Lock | None = None) -> None:
        self._work: Callable[[], Part] | None = work
        self._lock = lock or Lock()
        self._value: Part | None = None

    def read(self) -> Part:
        """The value. What working it out raised is raised again at the next read."""
        if self._work is not None:
            with self._lock:
                if self._work is not None:
                    self._value = self._work()
                    self._work = None
        return cast(Part, self._value)

    def __reduce__(self) -> tuple[Callable[[Part], Part], tuple[Part]]:
        """A deep copy or a pickle has the value itself: what works it out may hold a store."""
        return _given, (self.read(),)


def _given(value: Part) -> Part:
    return value


class _Read(Generic[Part]):
    """A field that may be given as `Once`: whoever reads it gets the value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, record: object, owner: type) -> Part:
        value = record.__dict__[self._name]
        return cast(Part, value.read() if isinstance(value, Once) else value)

    def __set__(self, record: object, value: Part | Once[Part]) -> None:
        record.__dict__[self._name] = value


@dataclass(frozen=True)
class Trace:
    """Everything that happened to every chunk, stage by stage.

    What was read and cited is there at once; stages, fates, sizes and regret may be given as `Once`, and are then worked out when
    somebody reads them.
    """

    stages: tuple[StageRecord, ...]
    fates: tuple[Fate, ...]
    candidates: Mapping[Key, Candidate]
    documents: Mapping[str, Document]
    sizes: tuple[DocumentSize, ...]
    before_assembly: tuple[PreCitation, ...]
    regret: Regret
    fetch: FetchRecord

    def stage(self, name: str) -> StageRecord | None:
        """The record of a stage, or None where it did not run (assembly switched off)."""
        return next((record for record in self.stages if record.stage == name), None)

    def to_pandas(self) -> DataFrame:
        """A row a chunk, in the order of `fates`: `document_id`, `chunk_index`, whether it was `retrieved`, its `score` and `rank`, its
        `fate`, the `stage` that decided and the `reason` of a drop, its own `tokens`, and `missing_tokens`: how much more limit keeps it.
        """
        columns = Fate._fields[: Fate._fields.index("missing_tokens") + 1]
        return data_frame((fate[: len(columns)] for fate in self.fates), columns)


@dataclass(frozen=True)
class Assembly:
    """The context that the model will read, with its exact token count, citations, provenance and trace.

    The trace may be given as `Once`, and is then begun when somebody reads it. `zones` share out the model's window, None where no
    window is known; `conversation` is what is sent of the earlier turns, None where that is the query's history as it is.
    """

    query: Query
    settings: AssemblySettings
    text: str
    token_count: int
    exact: bool
    encoding: str
    limit: int
    segments: tuple[Segment, ...]
    citations: tuple[Citation, ...]
    trace: Trace
    zones: Zones | None = None
    conversation: SentHistory | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The earlier turns as they are sent."""
        return self.query.history if self.conversation is None else self.conversation.turns

    @property
    def unused_tokens(self) -> int:
        """Tokens of the limit that are left, 0 when it is exceeded."""
        return max(0, self.limit - self.token_count)

    @property
    def overshoot_tokens(self) -> int:
        """Tokens over the limit: always 0 in the default scope."""
        return max(0, self.token_count - self.limit)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of one assembly, as documented in docs/reference/assembly-json.md."""

        return assembly_dict(self)


for _record, _name in ((Trace, "stages"), (Trace, "fates"), (Trace, "sizes"), (Trace, "regret"), (Assembly, "trace")):
    # Not in the bodies of the classes: there it would be taken for a default.
    setattr(_record, _name, _Read(_name))


def assembly_dict(assembly: Assembly) -> dict[str, Any]:
    """The documented form, ready for `json.dumps(…, allow_nan=False)`."""
    trace = assembly.trace
    return {
        "query_id": assembly.query.query_id,
        "query": assembly.query.query,
        "settings": assembly.settings.to_dict(),
        "text": assembly.text,
        "token_count": assembly.token_count,
        "exact": assembly.exact,
        "encoding": assembly.encoding,
        "max_tokens": assembly.limit,
        "unused_tokens": assembly.unused_tokens,
        "overshoot_tokens": assembly.overshoot_tokens,
        **_zones(assembly.zones),
        "history": _conversation(assembly.conversation),
        "segments": [_segment(segment) for segment in assembly.segments],
        "citations": [_citation(citation) for citation in assembly.citations],
        "citations_before_assembly": [entry._asdict() for entry in trace.before_assembly],
        "stages": [_stage(record) for record in trace.stages],
        "fates": [_fate(fate) for fate in trace.fates],
        "packing_regret": _regret(trace.regret),
        "fetch": {
            "statements": trace.fetch.statements,
            "document_statements": trace.fetch.document_statements,
            "rows": trace.fetch.rows,
            "elapsed_ms": round(trace.fetch.elapsed_ms, 4),
        },
    }


def _zones(zones: Zones | None) -> dict[str, Any]:
    """`zones` is empty where no window is known."""
    return {
        "model_window": zones.window if zones else None,
        "zones": [asdict(zone) for zone in zones.zones] if zones else [],
        "zones_over": zones.over if zones else 0,
        "zone_hints": list(zones.hints) if zones else [],
    }


def _conversation(conversation: SentHistory | None) -> dict[str, Any] | None:
    """What of the earlier turns is sent; None where they go as they are, or there are none."""
    return asdict(conversation) | {"turns": [asdict(turn) for turn in conversation.turns]} if conversation else None


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        **{field.name: getattr(citation, field.name) for field in fields(citation)},
        "chunk_indexes": list(citation.chunk_indexes),
        "also_in": [_key(key) for key in citation.also_in],
    }


def _stage(record: StageRecord) -> dict[str, Any]:
    return {
        "stage": record.stage,
        "chunks_in": len(record.before),
        "chunks_out": len(record.after),
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "elapsed_ms": round(record.elapsed_ms, 4),
        "events": [event_dict(event) for event in record.events],
    }


def _regret(regret: Regret) -> dict[str, Any]:
    return {
        "kept": regret.kept,
        "best": regret.best,
        "regret": regret.regret,
        "exact": regret.exact,
        "documents": list(regret.documents),
    }


def event_dict(event: Event) -> dict[str, Any]:
    """An event with its name in snake case."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__).lstrip("_")
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"event": name, **{key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}}


def _key(key: Key) -> dict[str, Any]:
    return {"document_id": key[0], "chunk_index": key[1]}


def _segment(segment: Segment) -> dict[str, Any]:
    return {**segment._asdict(), "shared_with": [_key(key) for key in segment.shared_with]}


def _fate(fate: Fate) -> dict[str, Any]:
    values = {**fate._asdict(), "parents": list(fate.parents)}
    of = values.pop("of")
    return {**values, "of": _key(of) if of else None}
