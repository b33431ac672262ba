"""Records that a session keeps from run to run: what the pages are about, answers, what a change is compared with, loads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Self, TypeVar, overload

import streamlit as st

from ctxasm.answering.prompts import GROUNDED
from ctxasm.app.ui.frame.jobs import Work
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.citations.report import CheckedAnswer
from ctxasm.data.load_conflicts import NameTaken, Over
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.search import SearchOptions
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from threading import Event

    from ctxasm.answering.asking import AnswerResult
    from ctxasm.answering.prompts import PromptChoice, PromptStyle
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.app.tuned import Decided
    from ctxasm.app.ui.frame.jobs import Job
    from ctxasm.app.ui.widgets.components import RangeState
    from ctxasm.app.ui.widgets.html import ClickState
    from ctxasm.data.documents.collecting import Source
    from ctxasm.data.documents.options import IngestOptions
    from ctxasm.data.enrich.enriching import EnrichOptions
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.load_conflicts import Standing
    from ctxasm.data.tables.mapping import TableMapping
    from ctxasm.llm import Endpoint
    from ctxasm.model.datasets import DatasetInfo, QueryEntry
    from ctxasm.model.ports import Fetched
    from ctxasm.model.records import Answer, GoldChunk, Query, Turn
    from ctxasm.model.results import Assembly, Key
    from ctxasm.model.runs import Judgement
    from ctxasm.model.settings import Channel, Ordering
    from ctxasm.model.support import Scorer
    from ctxasm.review.judging import QueueEntry
    from ctxasm.text.tokens.common_prefix import Prefix
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


T = TypeVar("T")
NONE: Mapping[Any, Any] = MappingProxyType({})
SEARCH = SearchOptions()
FILE_MAPPING, OVER, FACT = "_map/", "_over/", "_fact/"
"""How the keys of widgets begin that start anew together: one for each field of a file, for each name that is taken, and for each
question, of what its answer should have said."""


class Kept(Generic[T]):
    """Something of our own that a session keeps; its key is an underscore and its name, so that it meets no widget of the URL."""

    def __init__(self, before: T) -> None:
        self.before = before

    def __set_name__(self, owner: type[Session], name: str) -> None:
        self.key = f"_{name}"

    @overload
    def __get__(self, session: None, owner: type[Session]) -> Self: ...
    @overload
    def __get__(self, session: Session, owner: type[Session]) -> T: ...
    def __get__(self, session: Session | None, owner: type[Session]) -> Self | T:
        if session is None:
            return self
        return session.read(self)

    def __set__(self, session: Session, value: T) -> None:
        session.keep(self, value)

    def __delete__(self, session: Session) -> None:
        session.take(self)


class Widget(Kept[T]):
    """The value of a widget that is read or put elsewhere than where it is drawn: `key=Session.query_id.key` draws it."""

    def __init__(self, key: str, before: T) -> None:
        super().__init__(before)
        self.key = key

    def __set_name__(self, owner: type[Session], name: str) -> None:
        """Its key is its own."""


class Session:
    """What a session keeps from run to run."""

    # What every page is about
    dataset_name: Widget[str | None] = Widget("data", None)
    query_id: Widget[str | None] = Widget("q", None)
    info: Kept[DatasetInfo | None] = Kept(None)
    scene: Kept[Scene | None] = Kept(None)
    trouble: Kept[str | None] = Kept(None)
    assembly: Kept[tuple[Hashable, Assembly] | None] = Kept(None)
    chunks: Kept[tuple[object, Fetched] | None] = Kept(None)
    query: Kept[tuple[tuple[int, str], Query] | None] = Kept(None)
    query_list: Kept[tuple[int, list[QueryEntry], frozenset[str]] | None] = Kept(None)
    loads: Kept[int] = Kept(0)
    """How often data was loaded or deleted: part of the key of all that was read of it."""
    saves: Kept[int] = Kept(0)
    """How often a question was saved or deleted."""

    # The first URL, and what of it could not be used
    rejected: Kept[Sequence[str] | None] = Kept(None)
    """None until the URL was read."""
    asked_for: Kept[Mapping[str, str]] = Kept(NONE)
    drawn_labels: Kept[Mapping[str, tuple[str, ...]]] = Kept(NONE)

    going: Kept[str | None] = Kept(None)
    """The page that the next run goes to."""
    page_before: Kept[str] = Kept("")
    """The page of the run before."""
    moving: Kept[bool] = Kept(False)
    """Whether this run goes to another page, whose address is not that of this one."""
    moves: Kept[int] = Kept(0)
    """How often a run went to another page."""
    clicks_heard: Kept[int] = Kept(0)
    """The number of the last click on the HTML of a page that was heard."""

    # Settings
    now: Kept[AssemblySettings] = Kept(AssemblySettings())
    """The settings: widgets and address are written from here."""
    past: Kept[Sequence[AssemblySettings]] = Kept(())
    future: Kept[Sequence[AssemblySettings]] = Kept(())
    pinned: Kept[Pinned | None] = Kept(None)
    """A, which Compare holds the settings against."""
    preset: Widget[str] = Widget("_preset", "")
    semantic_threshold: Widget[float] = Widget("_semantic_threshold", 0.0)
    limit_range: Widget[RangeState | None] = Widget("max_tokens_range", None)
    live: Kept[int | None] = Kept(None)
    """The limit under the dragging hand."""
    released_at: Kept[int | None] = Kept(None)
    problems: Kept[Mapping[str, tuple[Any, str]]] = Kept(NONE)
    """What was typed into a setting and cannot be used, and why."""
    find_setting: Widget[str] = Widget("find_setting", "")
    drawer: Kept[str | None] = Kept(None)
    """What stands open beside the page."""
    budget_shown: Kept[bool] = Kept(False)

    # A question of one's own
    unsaved: Kept[Mapping[tuple[int, str], Query]] = Kept(NONE)
    question_problem: Kept[str | None] = Kept(None)
    searched: Kept[bool] = Kept(False)
    search_method: Widget[str] = Widget("qm", SEARCH.method)
    search_text: Widget[str] = Widget("qx", SEARCH.text)
    search_limit: Widget[int] = Widget("qn", SEARCH.limit)
    search_language: Widget[str] = Widget("ql", SEARCH.language)
    search_embedder: Widget[str | None] = Widget("qe", SEARCH.embedder)
    search_reranker: Widget[str | None] = Widget("qr", SEARCH.reranker)

    # The conversation before it, and the window of the model
    typed_turns: Kept[Mapping[tuple[str, str], tuple[Turn, ...]]] = Kept(NONE)
    turns_problem: Kept[str | None] = Kept(None)
    turns_file: Widget[Any] = Widget("_turns_file", None)
    summary_model: Kept[str | None] = Kept(None)
    summaries: Kept[int] = Kept(0)
    token_ratio: Kept[float | None] = Kept(None)
    """What a token here is reckoned as by the server of the model that was asked last: zones made before that are made anew."""

    # Long work
    awaited: Kept[Mapping[str, tuple[Any, Job]]] = Kept(NONE)
    own_jobs: Kept[Sequence[Job]] = Kept(())
    requests: Kept[Mapping[str, LoadRequest]] = Kept(NONE)

    # Load
    files: Kept[tuple[tuple[str, bytes], ...]] = Kept(())
    files_turn: Kept[int] = Kept(0)
    files_stamp: Kept[tuple[object, str] | None] = Kept(None)
    files_name: Widget[str | None] = Widget("files_name", None)
    files_onto: Widget[str | None] = Widget("files_onto", None)
    pasted: Widget[str | None] = Widget("_pasted", None)
    mappings: Kept[Mapping[str, ColumnMapping]] = Kept(NONE)
    mappings_turn: Kept[int] = Kept(0)
    ingest: Kept[Ingest | None] = Kept(None)
    connection: Widget[str | None] = Widget("connection", None)
    tables_turn: Kept[int] = Kept(0)
    table_mappings: Kept[Mapping[tuple[Any, ...], TableMapping]] = Kept(NONE)
    table_mappings_turn: Kept[int] = Kept(0)
    mapping_problem: Kept[str | None] = Kept(None)
    explained: Kept[Hashable] = Kept(None)
    enriching: Kept[str | None] = Kept(None)
    estimated: Kept[tuple[int, EnrichOptions, int] | None] = Kept(None)
    about: Kept[Mapping[object, DatasetFacts]] = Kept(NONE)
    standing: Kept[tuple[Hashable, Standing] | None] = Kept(None)
    report: Kept[Any] = Kept(None)
    """What the last load came to: whatever its job returned, why it was refused, or the question that it asks."""
    reported: Kept[Any] = Kept(None)
    reports: Kept[int] = Kept(0)

    # Ask
    llm_base_url: Widget[str | None] = Widget("_llm_base_url", None)
    model: Widget[str | None] = Widget("model", None)
    llm_key: Widget[str | None] = Widget("_llm_key", None)
    """A secret: typed, in this memory only."""
    prompt_style: Widget[PromptStyle] = Widget("prompt_style", GROUNDED.style)
    prompt_language: Widget[str | None] = Widget("prompt_language", None)
    prompt_extra: Widget[str | None] = Widget("prompt_extra", None)
    answer_first: Widget[bool] = Widget("answer_first", False)
    channel: Widget[Channel] = Widget("_channel", "text")
    runs: Kept[int] = Kept(0)
    asking: Kept[bool] = Kept(False)
    answers: Kept[tuple[KeptAnswers, ...]] = Kept(())
    """The oldest first."""
    scorer_name: Widget[str] = Widget("scorer", "lexical")
    stop_check: Kept[Event | None] = Kept(None)
    """Set once the check of an answer is to stop."""
    scorer: Kept[tuple[tuple[str, Endpoint | None], Scorer] | None] = Kept(None)

    # Inspect
    compared: Kept[Settled | None] = Kept(None)
    comparison: Kept[tuple[Assembly, Assembly, Any] | None] = Kept(None)
    evidence: Kept[tuple[tuple[Assembly, Query, tuple[EvidenceState, ...]], ...]] = Kept(())
    """The state of the evidence that a query needs in the last assemblies, the newest last."""
    gold_problem: Kept[str | None] = Kept(None)
    """Why a passage could not be marked as expected."""
    step: Kept[str] = Kept("widened")
    """The step of the funnel whose picture is shown."""
    clicks: Widget[ClickState | None] = Widget("chunk_clicks", None)
    at_rest: Kept[bool] = Kept(False)
    """Whether the page came to rest after a change: then advice is worked out."""
    rests: Kept[int] = Kept(0)
    """How often it did."""
    closer: Widget[str | None] = Widget("closer", None)
    picked: Kept[Key | None] = Kept(None)
    """The chunk whose life is shown."""
    followed: Kept[Key | None] = Kept(None)
    life: Widget[str | None] = Widget("_life", None)
    prefixes: Kept[tuple[Hashable, Mapping[Ordering, Prefix]] | None] = Kept(None)
    advice: Kept[tuple[Assembly, Advice, str] | None] = Kept(None)
    """The last advice, of which assembly it is, and what it does to that."""

    # Compare
    versus: Kept[tuple[Hashable, Assembly] | None] = Kept(None)
    """The context of A, and of what it is."""
    compare_view: Widget[str] = Widget("_compare_view", "question")
    recorded: Kept[tuple[Hashable, Mapping[str, Answer]] | None] = Kept(None)
    """The answers that the dataset records, by question, and of what data they are."""
    compare_started: Kept[Hashable] = Kept(None)
    """The comparison of all questions that was asked for: one that takes long waits for that."""
    compare_filter: Widget[str] = Widget("_compare_filter", "all")
    question_clicks: Widget[ClickState | None] = Widget("question_clicks", None)
    blind_alike: Kept[Mapping[str, frozenset[str]]] = Kept(NONE)
    """The questions of each blind review that are the same under A and B."""
    blind_problem: Kept[str | None] = Kept(None)
    """Why a judgement could not be kept."""
    answered: Kept[tuple[tuple[Hashable, ...], AnswerComparison] | None] = Kept(None)
    """The last answers under A and B to all questions, and of what they are."""
    answers_problem: Kept[str | None] = Kept(None)
    asked_both: Kept[Hashable] = Kept(None)
    """The one question that was asked under both."""

    # Review
    reviewer: Widget[str] = Widget("_reviewer", "")
    review_view: Widget[str] = Widget("_review_view", "review")
    review_run: Widget[str | None] = Widget("_review_run", None)
    """The answer that is judged."""
    review_queue: Kept[tuple[tuple[str, str, tuple[str, ...]], tuple[QueueEntry, ...]] | None] = Kept(None)
    """In the order that it had when it was made, so that no answer moves while it is judged; and of what it is."""
    review_seen: Kept[Mapping[tuple[str, str, str], Judgement]] = Kept(NONE)
    """What this page has shown or saved of each item, by run, item and reviewer."""
    review_conflicts: Kept[Mapping[str, tuple[Judgement, Judgement | None]]] = Kept(NONE)
    """What was not saved, with what stands there."""
    review_past: Kept[Sequence[tuple[str, str]]] = Kept(())
    """The items that were judged here, the last one last."""
    review_go: Kept[tuple[str, int]] = Kept(("", 0))
    """The item to show, and how often one was asked for."""
    review_problem: Kept[str | None] = Kept(None)
    review_clicks: Widget[ClickState | None] = Widget("review_clicks", None)
    gold_before: Kept[tuple[str, Mapping[str, tuple[GoldChunk, ...]], str] | None] = Kept(None)
    """The labels of a dataset before reviews made gold of it, and what that came to."""
    runs_deleted: Kept[Sequence[str]] = Kept(())
    """The run that was deleted last."""
    kept_run: Kept[tuple[object, str] | None] = Kept(None)
    """The answer that was kept last, and its run."""

    # Sweep
    swept: Kept[tuple[Hashable, Decided] | None] = Kept(None)
    """The last sweep, and of what data it is."""
    sweep_problem: Kept[str | None] = Kept(None)
    sweep_cells: Kept[tuple[int, ...]] = Kept(())
    """The cells of the heatmap that were clicked, two at most, the last one last: places of its settings."""
    cell_clicks: Widget[ClickState | None] = Widget("cell_clicks", None)

    def read(self, kept: Kept[T]) -> T:
        """What is kept there: for code that is given its place."""
        value: T = st.session_state.get(kept.key, kept.before)
        return value

    def keep(self, kept: Kept[T], value: T) -> None:
        """Keep something there."""
        st.session_state[kept.key] = value

    def take(self, kept: Kept[T]) -> T:
        """What is kept there, which is forgotten with it."""
        value: T = st.session_state.pop(kept.key, kept.before)
        return value

    def value_of(self, widget: str, before: Any = None) -> Any:
        """What the widget of this key says: one of those whose keys are made, as for the settings or for each file."""
        return st.session_state.get(widget, before)

    def put(self, widget: str, value: Any) -> None:
        """Let the widget of this key say `value`: before it is drawn, or in a callback."""
        st.session_state[widget] = value

    def forget(self, widget: str) -> None:
        """Let the widget of this key start anew."""
        st.session_state.pop(widget, None)

    def forget_all(self, start: str) -> None:
        """Let all widgets start anew whose keys begin so."""
        for key in [key for key in st.session_state if str(key).startswith(start)]:
            del st.session_state[key]


session = Session()
"""The session of the browser that this run is for."""
