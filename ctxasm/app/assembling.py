"""One assembly with all that it takes: the zones planned, the parts opened, the stages run; for commands, pages and Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ctxasm.app.parts import equipment

if TYPE_CHECKING:
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.zones import ZonePlanner
    from ctxasm.config import Config
    from ctxasm.model.datasets import VectorShelf
    from ctxasm.model.messages import AnswerModel
    from ctxasm.model.ports import ChunkSource, TokenCounter
    from ctxasm.model.records import Query
    from ctxasm.model.results import Assembly
    from ctxasm.model.settings import AssemblySettings


def assembled(
    query: Query,
    source: ChunkSource,
    settings: AssemblySettings,
    counter: TokenCounter,
    config: Config,
    zones: ZonePlanner,
    shelf: VectorShelf,
    *,
    choice: PromptChoice | None = None,
    model: AnswerModel | None = None,
    told_by: str | None = None,
    limit: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Assembly:
    """The context of a query that will be asked as `choice` says, within the zones; `limit` replaces them.

    Vectors are kept on `shelf`. `model` and `told_by` are those of `ZonePlanner.plan`; `cancelled`
    stops a model that compresses. Raises InvalidInput for what cannot be assembled, and for a part that cannot be had.
    """
    from ctxasm.assembly.pipeline import assemble

    tools = equipment(settings, config, shelf)
    if limit is not None:
        return assemble(query, source, settings, counter, limit=limit, cancelled=cancelled, **tools)
    plan = zones.plan(query, settings, counter, choice, model=model, told_by=told_by)
    return plan.on(assemble(query, source, settings, counter, limit=plan.limit, cancelled=cancelled, **tools))
