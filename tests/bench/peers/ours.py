"""Every budget policy of this project, as a system among the others, and what must hold of each of its contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxasm import MemoryStore
from ctxasm.assembly.context_head import summarise, worded
from ctxasm.assembly.deduplicate import deduplicate
from ctxasm.assembly.expand import expand
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.order import order
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.policies import choose
from ctxasm.assembly.stages import Found, Grouped, Written, group
from ctxasm.assembly.values import Weights
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.evidence import evidence_documents, evidence_states
from ctxasm.tuning.fit import WINDOW, Labelled, Pool, is_for_fitting, pools_of, weights_of
from tests.bench.found_text import Corpus
from tests.bench.peers.peer import WINDOWS, Way
from tests.real_data import load_real

COUNTER = open_counter()
POLICIES: Mapping[str, Mapping[str, object]] = {
    "drop_documents": {},
    "greedy": {"budget_policy": "greedy"},
    "greedy_skip": {"budget_policy": "greedy_skip"},
    "pack document": {"budget_policy": "pack", "pack_unit": "document"},
    "pack passage": {"budget_policy": "pack", "pack_unit": "passage"},
    "segments": {"budget_policy": "segments"},
    "learned": {"budget_policy": "learned", "min_chunk_tokens": 0},
}
WIDER = {"segments": (6,), "learned": (6, 12)}
"""Windows of the policies that choose by value, beside those of all."""
UNSEEN: dict[str, Weights] = {}
"""For each corpus weights that it had no part in: fitted on the first half of the questions of the others."""


def prepare(names: Sequence[str]) -> None:
    """Fit the weights of every corpus on the others, before the work is shared out."""
    pools: dict[str, list[Pool]] = {}
    for name in names:
        store = MemoryStore(COUNTER)
        store.add(load_real(name))
        dataset = store.dataset()
        labelled = [Labelled(q, dataset, dataset.document_chunks) for q in dataset.queries() if is_for_fitting(q.query_id) and q.retrieved]
        pools[name] = [pool for each in labelled for pool in pools_of(each, COUNTER, WINDOW)]
    for name in names if len(names) > 1 else ():
        UNSEEN[name] = weights_of([pool for other in names if other != name for pool in pools[other]], WINDOW)


class Ours:
    """All ways of this project."""

    ways = tuple(sorted((Way(policy, w) for policy in POLICIES for w in (*WINDOWS, *WIDER.get(policy, ()))), key=lambda way: way.window))

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.store = corpus, MemoryStore(COUNTER)
        self.store.add(corpus.bundle)
        self.weights = UNSEEN.get(corpus.bundle.name)
        self.brought: tuple[object, tuple[Found, Grouped]] | None = None

    def gather(self, way: Way, query: Query) -> Query:
        return query

    def fit(self, way: Way, gathered: Query, limit: int) -> str:
        settings = settings_of(way, limit)
        scales = self.scales(gathered, settings)
        led = summarise(order(choose(scales), settings, scales.candidates))
        written = scales.write(led.blocks, led.lead)
        tokens = COUNTER.count(written.text)
        assert written.size.tokens == tokens <= limit, (way, limit, gathered.query_id)
        assert written.text.strip() or not gathered.retrieved, (way, limit, gathered.query_id)
        return source_text(written, scales)

    def scales(self, query: Query, settings: AssemblySettings) -> Scales:
        """The candidates of a question weighed: read, compared and grouped once for all policies and limits of a window."""
        key = (query.query_id, len(query.retrieved), settings.window)
        if self.brought is None or self.brought[0] != key:
            source = self.store.dataset()
            found = expand(query, source, settings, COUNTER)
            self.brought = key, (found, group(deduplicate(found, settings, None)))
        found, grouped = self.brought[1]
        wording = worded(settings, self.store.dataset(), found.fetched)
        return Scales(grouped, wording, COUNTER, settings.max_tokens, query.query, self.weights)

    def traced(self, way: Way, query: Query, limit: int) -> Assembly:
        """The same as a whole assembly, with its trace."""
        return assemble(query, self.store.dataset(), settings_of(way, limit), COUNTER, weights=self.weights)

    def has_evidence(self, done: Assembly) -> bool:
        """Whether the context holds all evidence, by the rule that reads the trace."""
        stored = {name: self.store.dataset().document_chunks(name) for name in evidence_documents(done.query)}
        return all(state.state == "found" for state in evidence_states(done, stored))


def source_text(written: Written, scales: Scales) -> str:
    """The context with the characters of the sources where a look-alike stands for a bracket."""
    return "".join(
        scales.candidates[s.document_id, s.chunk_index].chunk.text[s.chunk_start : s.chunk_end]
        if s.kind == "chunk" and s.document_id is not None and s.chunk_index is not None
        else written.text[s.start : s.end]
        for s in written.segments
    )


def settings_of(way: Way, limit: int) -> AssemblySettings:
    """All other settings are the defaults."""
    window = {"expand_window": way.window} if way.window in WINDOWS else {"pool_window": way.window}
    return AssemblySettings(max_tokens=limit, **window, **POLICIES[way.name])  # type: ignore[arg-type]
