"""One question under many settings, where nothing is done twice that they share.

A `QuestionCase` has all that any settings may ask for: the hits with their widest windows, fetched once, and the evidence.
Settings that differ only in what is chosen (policy, limit) share their candidates; those that also write and count a chosen set alike
share every count, whatever the window. Tokens and evidence are read off the chosen set: no text is written and nothing is explained,
but where a chunk is shortened, a supplement stands before the blocks, or assembly is off: there the pipeline runs as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Protocol

from ctxasm.assembly.context_head import known_language, worded
from ctxasm.assembly.deduplicate import deduplicate, likeness_of
from ctxasm.assembly.expand import NOTHING_FETCHED, expand, plan_expansion, rank_hits
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.policies import choose
from ctxasm.assembly.stages import Compressor, DocumentPlan, Grouped, group
from ctxasm.assembly.values import Weights
from ctxasm.model.kept import key_of
from ctxasm.model.ports import ChunkSource, ChunkVectors, Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import CorpusLanguage, Document, Hit, Query, check_query
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.text.chunk_facts import complete
from ctxasm.tuning.evidence import (
    Evidence,
    EvidenceState,
    ShownChunks,
    evidence_documents,
    evidence_of,
    judge_evidence,
    shown_of_blocks,
    states_in,
)

WIDEST = int(spec_of("expand_window").high or 0)
"""Neighbours on each side that every policy can be given."""
FETCHED = int(spec_of("pool_window").high or 0)
"""Always fetched, so that what a question's results are kept under does not depend on the grid."""


def widened(window: int) -> dict[str, Any]:
    """Changes that bring in so many neighbours on each side: as every policy has them, else under one that has a pool."""
    if window <= WIDEST:
        return {"expand_window": window, "pool_window": None}
    return {"budget_policy": "pack", "pack_unit": "document", "pool_window": window}


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """All that counting a question takes: it can be sent to another process. `encoding` is that of the chunks' token facts.

    `digest` is equal where everything is equal that a result can depend on, whatever the dataset is called.
    """

    query: Query
    chunks: tuple[FetchedChunk, ...]
    documents: Mapping[str, Document]
    language: CorpusLanguage | None
    evidence: Evidence
    encoding: str
    digest: str


DocumentChunks = Callable[[str], Sequence[FetchedChunk]]


def case_of(query: Query, source: ChunkSource, document_chunks: DocumentChunks, encoding: str) -> QuestionCase:
    """Read all of a question, in one statement for its chunks. Raises InvalidInput for a query that cannot be assembled."""
    check_query(query)
    windows = plan_expansion(rank_hits(query, None).hits, FETCHED)
    fetched = source.fetch(windows, encoding) if windows else NOTHING_FETCHED
    evidence = evidence_of(query, {name: document_chunks(name) for name in evidence_documents(query)})
    language = known_language(source)
    chunks = tuple(sorted(fetched.chunks, key=lambda chunk: (chunk.document_id, chunk.chunk_index)))
    documents = {name: replace(document, metadata={}) for name, document in sorted(fetched.documents.items())}
    asked = _plain(query)
    return QuestionCase(asked, chunks, documents, language, evidence, encoding, _digest(asked, chunks, documents, language, evidence))


def _plain(query: Query) -> Query:
    """The query without what no assembly looks at (its labels are the evidence of the case), and what cannot be sent."""
    hits = tuple(Hit(hit.document_id, hit.chunk_index, hit.score, hit.rank, {}) for hit in query.retrieved)
    return replace(query, retrieved=hits, gold=(), spans=(), answer=None, metadata={}, lost_hits=())


def _digest(
    query: Query, chunks: Sequence[FetchedChunk], documents: Mapping[str, Document], language: str | None, evidence: Evidence
) -> str:
    # Token facts are left out: they follow from the texts.
    texts = [[c.document_id, c.chunk_index, c.text, c.start, c.end, c.page_number, c.section, c.row_number] for c in chunks]
    records = [asdict(query), texts, [asdict(document) for document in documents.values()], language, asdict(evidence)]
    return key_of(json.dumps(records, ensure_ascii=True, sort_keys=True))[:32]


class CaseSource:
    """A case as a source of chunks. Its token facts are completed once an encoding."""

    def __init__(self, case: QuestionCase, counter_of: Callable[[str], TokenCounter]) -> None:
        self._case, self._counter_of = case, counter_of
        self._known: dict[str, dict[str, dict[int, FetchedChunk]]] = {}

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """As `ChunkSource.fetch`."""
        own = self._chunks(encoding)
        found = [own[name][at] for name, low, high in windows if name in own for at in range(low, high + 1) if at in own[name]]
        documents = {name: self._case.documents[name] for name, _, _ in windows if name in self._case.documents}
        return Fetched(found, documents, 0, 0, 0.0)

    def corpus_language(self) -> CorpusLanguage | None:
        """As `KnowsLanguage.corpus_language`."""
        return self._case.language

    def _chunks(self, encoding: str) -> dict[str, dict[int, FetchedChunk]]:
        if encoding not in self._known:
            chunks: Sequence[FetchedChunk] = self._case.chunks
            if encoding != self._case.encoding:
                chunks = [chunk._replace(token_count=None, overlap_tokens=None, lead_tokens=None) for chunk in chunks]
            held: dict[str, dict[int, FetchedChunk]] = {}
            for chunk in complete(chunks, self._counter_of(encoding)):
                held.setdefault(chunk.document_id, {})[chunk.chunk_index] = chunk
            self._known[encoding] = held
        return self._known[encoding]


CHOICE = ("budget_policy", "budget_mode", "max_tokens", "oversized", "overflow", "min_chunk_tokens", "pack_k", "pack_unit")
"""Settings that only say which chunks are chosen; with those of the zones, which only say the limit."""
CANDIDATES = (
    *("relevance_floor", "top_k", "expand_window", "pool_window", "decay", "decay_mode", "dedup_exact", "dedup_near", "near_threshold"),
    *("dedup_semantic", "semantic_threshold", "dedup_keep"),
)
"""Settings that only say which chunks there are to choose from."""


class Outcome(NamedTuple):
    """What a context costs in `tokens`, and of the `needed` pieces of evidence how many are `found` whole (0 of 0: not labelled)."""

    tokens: int
    found: int
    needed: int


class Tools(Protocol):
    """What counting needs from outside."""

    def counter(self, encoding: str) -> TokenCounter:
        """The counter of an encoding, the same every time."""
        ...

    def vectors(self, settings: AssemblySettings) -> ChunkVectors | None:
        """For `dedup_semantic`."""
        ...

    def compressor(self, settings: AssemblySettings) -> Compressor | None:
        """For `compression=model`."""
        ...

    def weights(self) -> Weights | None:
        """For `budget_policy=learned`: None where those that ship are used."""
        ...


@dataclass(frozen=True, slots=True)
class _Kind:
    """What settings share with others: those that have the same `candidates`, and those that `write` alike."""

    candidates: AssemblySettings
    write: AssemblySettings
    whole: bool


class Counting:
    """Counts questions under these settings; for one thread."""

    def __init__(self, settings: Sequence[AssemblySettings], tools: Tools) -> None:
        self._settings, self._tools = tuple(settings), tools
        shared: dict[AssemblySettings, AssemblySettings] = {}
        self._kinds = [_kind_of(each, shared) for each in self._settings]
        self._with_templates: dict[tuple[int, str | None], AssemblySettings] = {}

    def count(self, case: QuestionCase, places: Sequence[int], limits: Mapping[int, int]) -> list[Outcome]:
        """The outcomes of the settings at these places. `limits` are those that zones or a ceiling put in place of max_tokens."""
        source = CaseSource(case, self._tools.counter)
        outcomes: dict[int, Outcome] = {}
        first: dict[AssemblySettings, Scales] = {}
        for kind, members in self._by_kind(places, case.query.has_supplement):
            if kind.whole:
                outcomes |= {at: self._assembled(case, source, at, limits.get(at)) for at in members}
                continue
            wanted = sorted(((limits.get(at, self._settings[at].max_tokens), at) for at in members), reverse=True)
            outcomes |= self._chosen(case, source, kind, wanted, first)
        return [outcomes[at] for at in places]

    def _by_kind(self, places: Iterable[int], supplemented: bool) -> Iterable[tuple[_Kind, list[int]]]:
        members: dict[_Kind, list[int]] = {}
        for at in places:
            kind = self._kinds[at]
            members.setdefault(_Kind(kind.candidates, kind.write, kind.whole or supplemented), []).append(at)
        return members.items()

    def _assembled(self, case: QuestionCase, source: CaseSource, at: int, limit: int | None) -> Outcome:
        settings, tools = self._settings[at], self._tools
        counter = tools.counter(settings.encoding)
        vectors, compressor = tools.vectors(settings), tools.compressor(settings)
        weights = tools.weights()
        done = assemble(case.query, source, settings, counter, limit=limit, vectors=vectors, compressor=compressor, weights=weights)
        return _outcome(done.token_count, states_in(done, case.evidence))

    def _chosen(
        self, case: QuestionCase, source: CaseSource, kind: _Kind, wanted: Sequence[tuple[int, int]], first: dict[AssemblySettings, Scales]
    ) -> dict[int, Outcome]:
        settings = kind.candidates
        counter = self._tools.counter(settings.encoding)
        found = expand(case.query, source, settings, counter)
        grouped = group(deduplicate(found, settings, self._tools.vectors(settings)))
        template = worded(settings, source, found.fetched).summary_template
        scales = Scales(
            grouped, self._with_template(template, wanted[0][1]), counter, wanted[0][0], case.query.query, self._tools.weights()
        )
        scales = scales.remembering(first.setdefault(kind.write, scales))
        judge = _Judge(case.evidence, grouped, scales)
        outcomes = {}
        for limit, at in wanted:
            under = scales.under(self._with_template(template, at), limit)
            plans = choose(under).plans
            outcomes[at] = _outcome(under.size(plans).tokens, judge.states(plans))
        return outcomes

    def _with_template(self, template: str | None, at: int) -> AssemblySettings:
        """The settings with the template that their data asks for. Kept: making settings checks all of them."""
        key = (at, template)
        if key not in self._with_templates:
            settings = self._settings[at]
            self._with_templates[key] = settings if template == settings.summary_template else settings.replace(summary_template=template)
        return self._with_templates[key]


class _Judge:
    """The evidence in chosen sets of the same candidates. What it has judged once it remembers, by the very plans."""

    def __init__(self, evidence: Evidence, grouped: Grouped, scales: Scales) -> None:
        self._evidence, self._grouped, self._scales = evidence, grouped, scales
        self._chunks = {key: candidate.chunk for key, candidate in grouped.found.candidates.items()}
        self._texts = {key: chunk.text for key, chunk in self._chunks.items()}
        self._known: dict[tuple[int, ...], tuple[Sequence[DocumentPlan], tuple[EvidenceState, ...]]] = {}

    def states(self, plans: Sequence[DocumentPlan]) -> tuple[EvidenceState, ...]:
        key = tuple(map(id, plans))
        if key not in self._known:
            groups = [block.group for block in self._scales.blocks(plans)]
            shown = [j for own in groups for j in own]
            likeness = likeness_of(self._grouped.resolution, self._grouped.relations, shown, self._scales.candidates)
            copies = {copy: (related.key, related.likeness) for copy, related in likeness.items()}
            held = ShownChunks(shown_of_blocks(groups, self._chunks), self._texts, copies)
            self._known[key] = (tuple(plans), judge_evidence(self._evidence, held))
        return self._known[key][1]


def _kind_of(settings: AssemblySettings, shared: dict[AssemblySettings, AssemblySettings]) -> _Kind:
    defaults = {spec.name: spec.default for spec in specs() if spec.name in CHOICE or spec.stage == "zones"}
    candidates = settings.replace(**defaults | widened(settings.window))
    written = candidates.replace(**{spec.name: spec.default for spec in specs() if spec.name in CANDIDATES})
    whole = not settings.enabled or settings.compression != "off"
    return _Kind(shared.setdefault(candidates, candidates), shared.setdefault(written, written), whole)


def _outcome(tokens: int, states: Sequence[EvidenceState]) -> Outcome:
    return Outcome(tokens, sum(state.state == "found" for state in states), sum(state.state != "unknown" for state in states))
