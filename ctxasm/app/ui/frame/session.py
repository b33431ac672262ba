"""Records that a session keeps from run to run: what the pages are about, answers, what a change is compared with, loads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar, cast

import streamlit as st

from ctxasm.answering.prompts import GROUNDED
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.citations.report import CheckedAnswer
from ctxasm.data.load_conflicts import NameTaken, Over
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.search import IndexedText, Method, SearchOptions
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from threading import Event

    from ctxasm.answering.asking import AnswerResult
    from ctxasm.answering.prompts import PromptChoice, PromptStyle
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.app.tuning_runs import Decided
    from ctxasm.app.ui.frame.jobs import Job
    from ctxasm.data.documents.collecting import Source
    from ctxasm.data.documents.options import IngestOptions
    from ctxasm.data.enrich.enriching import EnrichOptions
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.tables.mapping import TableMapping
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.ports import Fetched
    from ctxasm.model.progress import Cancelled, Report
    from ctxasm.model.records import Query, Turn
    from ctxasm.model.results import Assembly, Key
    from ctxasm.model.runs import Judgement
    from ctxasm.model.settings import Channel
    from ctxasm.review.judging import QueueEntry
    from ctxasm.tuning.advice import Advice
    from ctxasm.tuning.compare_answers import AnswerComparison
    from ctxasm.tuning.evidence import EvidenceState


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
    """A load that may meet a name that is taken. `does` begins its key, `doing` its title.

    `work` is given name and way, and how to report and end.
    `only_replaces`: what is loaded has one name, and adds to nothing.
    """

    does: str
    doing: str
    work: Callable[[str, Over, Report, Cancelled], object]
    wanted: Hashable = None
    only_replaces: bool = False


class TakenName(NamedTuple):
    """A load that was not done, because its name is taken."""

    request: LoadRequest
    taken: NameTaken


class RangeState(Protocol):
    """What the callbacks find under the key of the range."""

    live: int
    settled: int | None


class ClickState(Protocol):
    """What the listener says: each click with its number, the oldest first."""

    picked: list[tuple[int, str]] | None


T = TypeVar("T")
NONE: Mapping[Any, Any] = MappingProxyType({})
DATASET, QUERY_ID, ASK = "data", "q", "ask"
"""URL parameters: the name of the dataset, the id of its question, and the words of a question that is not saved."""
SEARCH = SearchOptions()
FILE_MAPPING, OVER, FACT = "_map/", "_over/", "_fact/"
"""How the keys of widgets begin that start anew together: one for each field of a file, for each name that is taken, and for each
question, of what its answer should have said."""


class Session:
    """What a session keeps from run to run, and what it is before: every name is a key of `st.session_state`.

    Some are the keys of widgets, which are drawn elsewhere with `key="..."`: their values can be read and set here.
    """

    # What every page is about
    dataset_name: str | None = None
    query_id: str | None = None
    info: DatasetInfo | None = None
    scene: Scene | None = None
    trouble: str | None = None
    assembly: tuple[Hashable, Assembly] | None = None
    chunks: tuple[object, Fetched] | None = None
    results: Mapping[str, tuple[Hashable, Any]] = NONE
    """The last result of each name of `once`, and the key that it was made for."""
    loads: int = 0
    """How often data was loaded or deleted: part of the key of all that was read of it."""
    saves: int = 0
    """How often a question was saved or deleted."""

    # The first URL, and what of it could not be used
    rejected: Sequence[str] | None = None
    """None until the URL was read."""
    asked_for: Mapping[str, str] = NONE
    drawn_labels: Mapping[str, tuple[str, ...]] = NONE

    going: str | None = None
    """The page that the next run goes to."""
    page_before: str = ""
    """The page of the run before."""
    moving: bool = False
    """Whether this run goes to another page, whose address is not that of this one."""
    moves: int = 0
    """How often a run went to another page."""
    clicks_heard: int = 0
    """The number of the last click on the HTML of a page that was heard."""

    # Settings
    now: AssemblySettings = AssemblySettings()
    """The settings: widgets and address are written from here."""
    past: Sequence[AssemblySettings] = ()
    future: Sequence[AssemblySettings] = ()
    pinned: Pinned | None = None
    """A, which Compare holds the settings against."""
    preset: str = ""
    semantic_threshold: float = 0.0
    max_tokens_range: RangeState | None = None
    live: int | None = None
    """The limit under the dragging hand."""
    released_at: int | None = None
    problems: Mapping[str, tuple[Any, str]] = NONE
    """What was typed into a setting and cannot be used, and why."""
    find_setting: str = ""
    drawer: str | None = None
    """What stands open beside the page."""
    budget_shown: bool = False

    # A question of one's own
    unsaved: Mapping[tuple[int, str], Query] = NONE
    question_problem: str | None = None
    searched: bool = False
    search_method: Method = SEARCH.method
    search_text: IndexedText = SEARCH.text
    search_limit: int = SEARCH.limit
    search_language: str = SEARCH.language
    search_embedder: str = "default"
    search_reranker: str = "none"

    # The conversation before it, and the window of the model
    typed_turns: Mapping[tuple[str, str], tuple[Turn, ...]] = NONE
    turns_problem: str | None = None
    turns_file: Any = None
    summary_model: str | None = None
    summaries: int = 0
    token_ratio: float | None = None
    """What a token here is reckoned as by the server of the model that was asked last: zones made before that are made anew."""

    # Long work
    background: Mapping[str, tuple[Any, Job]] = NONE
    own_jobs: Sequence[Job] = ()
    requests: Mapping[str, LoadRequest] = NONE

    # Load
    way: str = "Files & paste"
    """The open tab."""
    files: tuple[tuple[str, bytes], ...] = ()
    files_generation: int = 0
    files_name: str | None = None
    files_onto: str | None = None
    pasted: str | None = None
    mappings: Mapping[str, ColumnMapping] = NONE
    mappings_generation: int = 0
    ingest: Ingest | None = None
    connection: str | None = None
    tables_generation: int = 0
    table_mappings: Mapping[tuple[Any, ...], TableMapping] = NONE
    table_mappings_generation: int = 0
    mapping_problem: str | None = None
    explained: Hashable = None
    enriching: str | None = None
    estimated: tuple[int, EnrichOptions, int] | None = None
    about: Mapping[object, DatasetFacts] = NONE
    report: Any = None
    """What the last load came to: whatever its job returned, why it was refused, or the question that it asks."""
    reported: Any = None
    reports: int = 0

    # Ask
    llm_base_url: str | None = None
    model: str | None = None
    llm_key: str | None = None
    """A secret: typed, in this memory only."""
    prompt_style: PromptStyle = GROUNDED.style
    prompt_language: str | None = None
    prompt_extra: str | None = None
    answer_first: bool = False
    channel: Channel = "text"
    runs: int = 0
    ask_now: bool = False
    answers: tuple[KeptAnswers, ...] = ()
    """The oldest first."""
    scorer_name: str = "lexical"
    check_stopper: Event | None = None
    """Set once the check of an answer is to stop."""

    # Inspect
    compared: Settled | None = None
    evidence: tuple[tuple[Assembly, Query, tuple[EvidenceState, ...]], ...] = ()
    """The state of the evidence that a query needs in the last assemblies, the newest last."""
    gold_problem: str | None = None
    """Why a passage could not be marked as expected."""
    step: str = "widened"
    """The step of the funnel whose picture is shown."""
    chunk_clicks: ClickState | None = None
    at_rest: bool = False
    """Whether the page came to rest after a change: then advice is worked out."""
    rests: int = 0
    """How often it did."""
    details_tab: str | None = None
    picked: Key | None = None
    """The chunk whose life is shown."""
    followed: Key | None = None
    life: str | None = None
    advice: tuple[Assembly, Advice, str] | None = None
    """The last advice, of which assembly it is, and what it does to that."""

    # Compare
    compare_view: str = "question"
    compare_started: Hashable = None
    """The comparison of all questions that was asked for: one that takes long waits for that."""
    compare_filter: str = "all"
    question_clicks: ClickState | None = None
    blind_alike: Mapping[str, frozenset[str]] = NONE
    """The questions of each blind review that are the same under A and B."""
    blind_problem: str | None = None
    """Why a judgement could not be kept."""
    answered: tuple[tuple[Hashable, ...], AnswerComparison] | None = None
    """The last answers under A and B to all questions, and of what they are."""
    answers_problem: str | None = None
    asked_both: Hashable = None
    """The one question that was asked under both."""

    # Review
    reviewer: str = ""
    review_view: str = "review"
    review_run: str | None = None
    review_batch: str | None = None
    """The answer that is judged."""
    review_queue: tuple[tuple[str, str, tuple[str, ...]], tuple[QueueEntry, ...]] | None = None
    """In the order that it had when it was made, so that no answer moves while it is judged; and of what it is."""
    review_seen: Mapping[tuple[str, str, str], Judgement] = NONE
    """What this page has shown or saved of each item, by run, item and reviewer."""
    review_conflicts: Mapping[str, tuple[Judgement, Judgement | None]] = NONE
    """What was not saved, with what stands there."""
    review_past: Sequence[tuple[str, str]] = ()
    """The items that were judged here, the last one last."""
    review_go: tuple[str, int] = ("", 0)
    """The item to show, and how often one was asked for."""
    review_problem: str | None = None
    review_clicks: ClickState | None = None
    gold_made: tuple[str, str] | None = None
    """What became of the labels of a dataset, in words."""
    runs_deleted: Sequence[str] = ()
    """The run that was deleted last."""
    kept_run: tuple[object, str] | None = None
    """The answer that was kept last, and its run."""

    # Sweep
    sweep_result: tuple[Hashable, Decided] | None = None
    """The last sweep, and of what data it is."""
    sweep_problem: str | None = None
    sweep_cells: tuple[int, ...] = ()
    """The cells of the heatmap that were clicked, two at most, the last one last: places of its settings."""
    cell_clicks: ClickState | None = None


class _SessionState:
    """Reads and writes `st.session_state` by the names of `Session`."""

    def __getattr__(self, name: str) -> Any:
        return st.session_state.get(name, getattr(Session, name))

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(Session, name)  # raises AttributeError where `Session` has no such name
        st.session_state[name] = value

    def __delattr__(self, name: str) -> None:
        st.session_state.pop(name, None)


session = cast(Session, _SessionState())
"""The session of the browser that this run is for."""


def take(name: str) -> Any:
    """What the session keeps under a name, which is forgotten with it."""
    value = getattr(session, name)
    delattr(session, name)
    return value


def once(name: str, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` returned when it was last called under this name, where that was with an equal key; else what it returns now."""
    last = session.results.get(name)
    if last is None or last[0] != key:
        last = (key, make())
        session.results = {**session.results, name: last}
    result: T = last[1]
    return result


def forget_widgets(start: str) -> None:
    """Let all widgets start anew whose keys begin so."""
    for key in [key for key in st.session_state if str(key).startswith(start)]:
        del st.session_state[key]
