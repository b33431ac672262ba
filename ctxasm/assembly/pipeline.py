"""The order of the stages: `assemble` is the whole way from hits to context.

Only expansion reads the store, through a plan and in one statement for any number of hits; everything after is pure, but
for what the settings ask of an embedder or a model, which the caller brings. Each stage takes what the one before returned. What
is explained follows from the same records (see `trace`), when somebody reads it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar, cast

from ctxasm.assembly.cite import cite
from ctxasm.assembly.compress import compress_grouped
from ctxasm.assembly.context_head import summarise, supplement, worded
from ctxasm.assembly.deduplicate import deduplicate, likeness_of
from ctxasm.assembly.expand import expand
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.numbering import NO_EARLIER, EarlierEvidence
from ctxasm.assembly.order import order
from ctxasm.assembly.policies import choose
from ctxasm.assembly.render import render_baseline
from ctxasm.assembly.stages import Compressor, group
from ctxasm.assembly.trace import Decided, Passed, trace_of
from ctxasm.assembly.values import Weights
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import ChunkSource, ChunkVectors, Clock, TokenCounter
from ctxasm.model.records import Query, check_query
from ctxasm.model.results import Assembly, Citation, Once, Trace
from ctxasm.model.settings import AssemblySettings


def assemble(
    query: Query,
    source: ChunkSource,
    settings: AssemblySettings,
    counter: TokenCounter,
    clock: Clock = time.perf_counter,
    limit: int | None = None,
    vectors: ChunkVectors | None = None,
    compressor: Compressor | None = None,
    weights: Weights | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    earlier: EarlierEvidence = NO_EARLIER,
) -> Assembly:
    """Assemble the context for one query, counted by `counter` in its encoding.

    `limit` replaces `settings.max_tokens` where the caller has worked out another token limit (>= 1). `vectors` are needed
    for `dedup_semantic`, `compressor` for `compression=model`, which `cancelled` stops between chunks; `weights` replace those that
    ship for `budget_policy=learned`. `earlier` is what earlier turns of a conversation bring.
    Raises InvalidInput for a query that cannot be assembled; a query without hits is a valid, empty assembly.
    """
    limit = _checked(query, settings, limit)
    record = Recorder(clock)
    found = record("expand", expand, query, source, settings, counter, earlier)
    if not settings.enabled:
        written = record("render", render_baseline, found, settings, counter, earlier.numbering)
        citations = record("cite", cite, written, found)
        passed = Passed(query, settings, counter, limit, record.elapsed_ms, found, written, {})
        return _assembly(passed, citations)
    wording = worded(settings, source, found.fetched)
    one = record("deduplicate", deduplicate, found, settings, vectors)
    grouped = fitted = record("group", group, one)
    if settings.compression != "off":
        measure = Scales(grouped, wording, counter, limit, numbering=earlier.numbering).total
        fitted = record("compress", compress_grouped, query.query, grouped, limit, settings, compressor, counter, cancelled, measure)
    scales = Scales(fitted, wording, counter, limit, query.query, weights, earlier.numbering)
    chosen = record("budget", choose, scales)
    ordered = record("order", order, chosen, settings, scales.candidates)
    led = record("summarise", summarise, ordered)
    if query.has_supplement:
        led = record("supplement", supplement, query, led, settings, limit, scales.write)
    written = record("render", scales.write, led.blocks, led.lead)
    likeness = likeness_of(fitted.resolution, fitted.relations, written.shown, scales.candidates)
    citations = record("cite", cite, written, found, likeness)
    decided = Decided(one, grouped, scales, chosen, led)
    passed = Passed(query, settings, counter, limit, record.elapsed_ms, found, written, likeness, decided)
    return _assembly(passed, citations)


def _checked(query: Query, settings: AssemblySettings, limit: int | None) -> int:
    """The limit in force. Raises InvalidInput for one, or a query, that cannot be used."""
    check_query(query)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise InvalidInput(f"limit must be a whole number of at least 1, got {shown(limit)}")
    if limit is None and settings.budget_mode == "window" and settings.enabled:
        raise InvalidInput("budget_mode=window needs the limit that the zones leave, got none: pass limit=plan_zones(…).limit")
    return limit or settings.max_tokens


def _assembly(passed: Passed, citations: tuple[Citation, ...]) -> Assembly:
    """What the caller gets: text, tokens and citations at once, the trace worked out when it is read."""
    written = passed.written
    return Assembly(
        query=passed.query,
        settings=passed.settings,
        text=written.text,
        token_count=written.size.tokens,
        exact=passed.counter.exact,
        encoding=passed.settings.encoding,
        limit=passed.limit,
        segments=written.segments,
        citations=citations,
        trace=cast(Trace, Once(partial(trace_of, passed))),
    )


Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class Recorder:
    """Calls stages, and keeps the milliseconds of each by its name, in the order in which they ran."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.elapsed_ms: dict[str, float] = {}

    def __call__(self, stage: str, run: Callable[Given, Returned], *args: Given.args, **kwargs: Given.kwargs) -> Returned:
        began = self.clock()
        returned = run(*args, **kwargs)
        self.elapsed_ms[stage] = (self.clock() - began) * 1000
        return returned
