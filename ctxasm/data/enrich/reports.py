"""What a run of an enrichment would take, and what it brought."""

from __future__ import annotations

from dataclasses import dataclass

from ctxasm.data.enrich.cost import Price
from ctxasm.data.enrich.texts import Variant
from ctxasm.model.amounts import counted


@dataclass(frozen=True, slots=True)
class FailedBatch:
    """What could not be written, and why, in a sentence. It is asked again with the next run."""

    what: str
    chunks: int
    reason: str


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """What a run brought. `chunks` of `total` are enriched now, `kept` of them by runs before; `calls` went to the model.

    Tokens are what the server told, where `counted` is True, else what was counted here; calls that failed are not in them.
    `cost` is in dollars, None where no price is known. `stopped` says why the run gave up, if it did.
    """

    dataset: str
    variant: Variant
    model: str = ""
    documents: int = 0
    chunks: int = 0
    total: int = 0
    kept: int = 0
    questions: int = 0
    summaries: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost: float | None = None
    failed: tuple[FailedBatch, ...] = ()
    cancelled: bool = False
    stopped: str = ""
    notes: tuple[str, ...] = ()
    elapsed_s: float = 0.0

    @property
    def summary(self) -> str:
        """The run as one sentence."""
        parts = [f"{self.chunks:,} of {counted(self.total, 'chunk')} enriched ({self.variant})", counted(self.questions, "question")]
        parts += [counted(self.summaries, "summary")] if self.summaries else []
        parts += [f"{counted(self.kept, 'chunk')} known before"] if self.kept else []
        lost = sum(batch.chunks for batch in self.failed)
        parts += [f"{counted(len(self.failed), 'batch')} failed ({counted(lost, 'chunk')})"] if self.failed else []
        parts += ["ended on request, what is done is kept"] if self.cancelled else []
        return f"{self.dataset}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take. Tokens in are counted, exactly where `exact` is True; tokens out are about what was asked for.

    `kept` chunks are known and cost nothing. `cost` is in dollars, None where no price is known.
    """

    dataset: str
    variant: Variant
    model: str
    chunks: int
    kept: int
    calls: int
    tokens_in: int
    tokens_out: int
    exact: bool
    price: Price | None
    cost: float | None
