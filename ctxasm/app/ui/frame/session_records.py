"""Records that a session keeps from run to run: what the pages are about, answers, what a change is compared with, loads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from ctxasm.app.ui.frame.jobs import Work
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.data.load_conflicts import NameTaken, Over
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.answering.asking import AnswerResult
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.data.documents.collecting import Source
    from ctxasm.data.documents.options import IngestOptions


@dataclass(frozen=True, slots=True)
class Scene:
    """What the pages are about: a query of a dataset under some settings."""

    dataset: str
    query: Query
    settings: AssemblySettings


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as far as it has come. `note` and `error` say why it is not whole, `caution` that not all of the prompt seems to be read.

    `asked` says how it was asked for, `marked` whether for markers: without them the blocks are its sources. `check` is
    None until it is checked; `unchecked` says why it cannot be.
    """

    model: str
    is_language_model: bool
    text: str = ""
    markers: tuple[ResolvedMarker, ...] = ()
    done: bool = False
    complete: bool = False
    note: str | None = None
    error: str | None = None
    elapsed_ms: float = 0.0
    first_piece_ms: float | None = None
    called: bool = True
    sent: SentTokens | None = None
    caution: str | None = None
    asked: str = ""
    marked: bool = True
    check: CheckedAnswer | None = None
    scorer: str = ""
    unchecked: str = ""

    def finished(self, result: AnswerResult) -> KeptAnswer:
        """The answer with all that its result says."""
        return replace(
            self,
            text=result.text,
            markers=result.markers,
            done=True,
            complete=result.complete,
            note=result.note,
            error=result.error,
            elapsed_ms=result.elapsed_ms,
            first_piece_ms=result.first_piece_ms,
            called=result.called,
            sent=result.sent,
            caution=result.caution,
            marked=result.marked,
        )


Attempt = tuple[KeptAnswer, ...]
"""The answers that one press of the button brought: one for each model."""


class Asking(NamedTuple):
    """How to ask. `problem` says why this prompt cannot be sent."""

    choice: PromptChoice
    temperature: float = 0.0
    max_tokens: int = 512
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of whom, from what: equal ones share their answers. `data` is the dataset as it was loaded, `query` has no labels."""

    data: tuple[str, int, int]
    query: Query
    settings: AssemblySettings
    window: Hashable
    models: tuple[str, ...]
    asking: Asking

    def of_dataset(self, dataset_id: int) -> Asked:
        """The same, of the dataset under another number."""
        return replace(self, data=(self.data[0], dataset_id, self.data[2]))


class KeptAnswers(NamedTuple):
    """The answers to what was asked, the newest last, and the context that they were given."""

    asked: Asked
    assembly: Assembly
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """What this session has settled on for one query: the assembly now, and the one before the last change of a setting."""

    about: tuple[object, ...]
    now: Assembly
    before: Assembly | None = None


SENT: Literal["sent"] = "sent"
"""Instead of settings: the prompt that was sent for the answer which the dataset records."""
Pinned = AssemblySettings | Literal["sent"]
"""What A can be."""


class DatasetFacts(NamedTuple):
    """What a card says beyond the counts of a load."""

    enriched: bool
    saved: int


class Ingest(NamedTuple):
    """What is to be read, and how: kept by the session, so that what was cancelled can go on."""

    sources: Sequence[Source]
    options: IngestOptions
    name: str | None


class LoadRequest(NamedTuple):
    """A load that may meet a name that is taken. `does` begins its key, `doing` its title; `work` is given name and way.

    `only_replaces`: what is loaded has one name, and adds to nothing.
    """

    does: str
    doing: str
    work: Callable[[str, Over], Work]
    wanted: Hashable = None
    only_replaces: bool = False


class TakenName(NamedTuple):
    """A load that was not done, because its name is taken."""

    request: LoadRequest
    taken: NameTaken
