"""Answers that are kept with everything that made them (runs), what people say of them (judgements), and the store of both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

from ctxasm.model.characters import storable
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.messages import Message

if TYPE_CHECKING:
    from pydantic import TypeAdapter

CitationVerdict = Literal["right", "outdated", "wrong_source", "not_there", "wrong_fact"]
"""What a person says of a claim and a source that it cites. outdated: right, but another source is newer. wrong_source: so, but another
source says it. not_there: no source says it. wrong_fact: the source says otherwise."""
CITATION_VERDICTS: tuple[CitationVerdict, ...] = get_args(CitationVerdict)
Answers = Literal["yes", "partly", "no"]
"""Whether an answer answers its question."""
ANSWER_ITEM = "answer"
"""The item that is the answer as a whole. The item of a citation is `claim:source`, both numbers: the claim's place from 0, and the
number that it cites (0 where it cites nothing)."""
LONGEST_REVIEWER = 500
"""Bytes of a reviewer's name: it is part of a key."""
_RUN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_STRICT = {"extra": "forbid", "allow_inf_nan": False}


@dataclass(frozen=True, slots=True)
class RunSource:
    """A numbered source as the answer was given it. `chunks` are the indexes of its chunks, those that were hits first."""

    __pydantic_config__ = _STRICT

    number: int
    text: str
    title: str | None = None
    document_id: str | None = None
    chunks: tuple[int, ...] = ()
    ref: str | None = None
    page_number: int | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One answer as it arrived, with everything that made it. It is kept as it is, and never made again.

    `kept_at` is UTC in ISO 8601. `batch` names what was kept together (a log, a dataset). `digest` is the content hash of the data.
    `settings` differ from the defaults. `check` is the JSON of the checked answer (docs/reference/answer-json.md). Tokens are those of
    the context, of the prompt as sent, and of the answer; None where nobody counted. `evidence` is (found, needed) of the labels.
    """

    __pydantic_config__ = _STRICT

    run_id: str
    kept_at: str
    question: str
    answer: str
    check: Mapping[str, Any] = field(hash=False)
    author: str = ""
    version: str = ""
    batch: str = ""
    dataset: str = ""
    digest: str = ""
    query_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    prompt: tuple[Message, ...] = ()
    model: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sources: tuple[RunSource, ...] = ()
    complete: bool = True
    note: str | None = None
    reference: str | None = None
    context_tokens: int | None = None
    sent_tokens: int | None = None
    written_tokens: int | None = None
    cost: float | None = None
    elapsed_ms: float | None = None
    evidence: tuple[int, int] | None = None
    span_id: str | None = None


class RunEntry(NamedTuple):
    """A line of the history."""

    run_id: str
    kept_at: str
    dataset: str
    batch: str
    query_id: str
    question: str
    model: str
    author: str
    deleted: bool = False


class RunFilter(NamedTuple):
    """Which runs are wanted; what is None is not asked for. `since` and `until` are ISO 8601 in UTC, or the beginning of it."""

    dataset: str | None = None
    batch: str | None = None
    query_id: str | None = None
    model: str | None = None
    author: str | None = None
    since: str | None = None
    until: str | None = None
    deleted: bool = False
    limit: int | None = None


ALL_RUNS = RunFilter()


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that should have been cited, and the words of it."""

    __pydantic_config__ = _STRICT

    document_id: str
    chunk_index: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one reviewer says of one item of a run; `version` counts the changes from 1 on.

    Of a citation: `verdict` (None: not said, or taken back) and `note`. Of the answer: whether it `answers` the question, whether it is
    `complete`, `note`, and `should_cite`.
    """

    __pydantic_config__ = _STRICT

    run_id: str
    item: str
    reviewer: str
    verdict: CitationVerdict | None = None
    note: str = ""
    answers: Answers | None = None
    complete: bool | None = None
    should_cite: tuple[Passage, ...] = ()
    version: int = 1
    changed_at: str = ""

    @property
    def is_given(self) -> bool:
        """Whether it says anything but a note."""
        return self.verdict is not None or self.answers is not None or self.complete is not None or bool(self.should_cite)

    @property
    def order(self) -> tuple[str, str, str, int]:
        """By run, item, reviewer and version."""
        return self.run_id, self.item, self.reviewer, self.version

    @property
    def content(self) -> tuple[object, ...]:
        """What is said."""
        return self.verdict, self.note, self.answers, self.complete, self.should_cite


class Written(NamedTuple):
    """What became of a judgement: `saved`, or not because `current` stands there, which the writer had not seen (None: nothing)."""

    saved: bool
    current: Judgement | None


class RunStore(Protocol):
    """Where runs and judgements are kept. Raises StoreUnavailable where it cannot be reached."""

    def keep_runs(self, given: Sequence[Run], *, skip_known: bool = False) -> int:
        """Keep these, all or none; how many were not there. Raises InvalidInput for an id that has other content, unless `skip_known`."""
        ...

    def runs(self, wanted: RunFilter = ALL_RUNS) -> list[RunEntry]:
        """The newest first."""
        ...

    def run(self, run_id: str) -> Run:
        """One run, also a deleted one. Raises NotFound."""
        ...

    def delete_runs(self, run_ids: Sequence[str], *, undo: bool = False) -> int:
        """Hide runs with their judgements, or with `undo` show them again; how many changed."""
        ...

    def purge_runs(self) -> int:
        """Remove the deleted runs and their judgements for good; how many there were."""
        ...

    def judge(self, judgement: Judgement, expected: int) -> Written:
        """Add version `expected` + 1 of a judgement, if the version that stands is `expected` (0: none). Raises NotFound, InvalidInput."""
        ...

    def judgements(self, run_ids: Sequence[str], *, history: bool = False) -> list[Judgement]:
        """What stands of these runs, by run, item and reviewer; with `history` every version, in order."""
        ...

    def add_judgements(self, judgements: Sequence[Judgement]) -> list[tuple[Judgement, Judgement]]:
        """Add versions that were written elsewhere, in one step. The pairs (given, standing) that differ: these stay as they are."""
        ...


def item_of(claim: int, source: int) -> str:
    """The item of a citation."""
    return f"{claim}:{source}"


def parts_of_item(item: str) -> tuple[int, int] | None:
    """The claim and the source of an item; None for the answer. Raises InvalidInput."""
    claim, colon, source = item.partition(":")
    if item == ANSWER_ITEM:
        return None
    numbers = [part for part in (claim, source) if part.isascii() and part.isdecimal() and len(part) < 10]
    if not colon or len(numbers) != 2 or item != item_of(int(claim), int(source)):
        raise InvalidInput(f"an item must be {ANSWER_ITEM!r} or CLAIM:SOURCE, such as 0:2, got {shown(item)}")
    return int(claim), int(source)


def check_judgement(judgement: Judgement) -> None:
    """Refuse a judgement that says of an item what cannot be said of it. Raises InvalidInput."""
    is_answer = parts_of_item(judgement.item) is None
    if judgement.verdict not in (None, *CITATION_VERDICTS):
        raise InvalidInput(f"verdict must be one of {', '.join(CITATION_VERDICTS)}, got {shown(judgement.verdict)}")
    if judgement.answers not in (None, *get_args(Answers)):
        raise InvalidInput(f"answers must be yes, partly or no, got {shown(judgement.answers)}")
    if is_answer and judgement.verdict is not None:
        raise InvalidInput(f"the answer as a whole takes answers, complete and should_cite, got the verdict {judgement.verdict}")
    if not is_answer and (judgement.answers, judgement.complete, judgement.should_cite) != (None, None, ()):
        raise InvalidInput(f"a citation takes a verdict and a note, got answers, complete or should_cite for item {judgement.item}")
    if not judgement.reviewer.strip():
        raise InvalidInput(f"reviewer must be a name with at least one visible character, got {shown(judgement.reviewer)}")
    if not storable(judgement.reviewer) or len(judgement.reviewer.encode()) > LONGEST_REVIEWER:
        raise InvalidInput(f"reviewer must be at most {LONGEST_REVIEWER} bytes without NUL, got {shown(judgement.reviewer)}")
    if judgement.version < 1:
        raise InvalidInput(f"version must be at least 1, got {judgement.version}")


def as_json(record: Run | Judgement) -> str:
    """A record as one line of JSON, the same for the same record, in ASCII so that every text column holds it."""
    return json.dumps(asdict(record), ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=True)


def read_run(text: str | bytes) -> Run:
    """The run that `as_json` wrote. Raises InvalidInput saying which field is wrong."""
    run: Run = _read(Run, text)
    if not _RUN_ID.fullmatch(run.run_id):
        raise InvalidInput(f"run_id must be 1 to 64 letters, digits, dots, dashes or underscores, got {shown(run.run_id)}")
    for name in ("kept_at", "author", "batch", "dataset", "query_id", "question", "model"):
        if not storable(getattr(run, name)):
            raise InvalidInput(f"{name} must hold no NUL and no lone surrogate, got {shown(getattr(run, name))}")
    return run


def read_judgement(text: str | bytes) -> Judgement:
    """The judgement that `as_json` wrote. Raises InvalidInput saying which field is wrong."""
    judgement: Judgement = _read(Judgement, text)
    check_judgement(judgement)
    return judgement


def _read(kind: type[Any], text: str | bytes) -> Any:
    from pydantic import ValidationError

    try:
        read = _adapter(kind is Run).validate_json(text, strict=True)
        as_json(read)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=True)[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise InvalidInput(f"{where}: {first['msg']}, got {shown(first['input'])}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"a {kind.__name__.lower()} must be strict JSON, got {shown(str(error))}") from None
    return read


@cache
def _adapter(is_run: bool) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(Run if is_run else Judgement)
