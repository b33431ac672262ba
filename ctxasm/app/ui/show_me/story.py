"""What the steps are about: one question of the sample, assembled in three ways, and its recorded answer, checked. Pure but for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ctxasm.app.ui.frame.show_me_link import QUERY
from ctxasm.app.workbench import SAMPLE
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.model.datasets import Dataset
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.presets import preset
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import EvidenceState

FOUND = 3
"""How many of its hits the steps take: so few that they fit on a page."""
ASKED = "what a cold changes"
"""What of its answer only assembly brings, in words."""
SHORT = 15
"""Tokens by which the third step's limit falls short of what the whole context takes."""
LIMIT = 2_000
"""Max tokens of the comparison over all questions at the end."""
LEAD = 110
"""Characters of what was found that are shown before what stands beside it."""


class Tells(Protocol):
    """What a story is read from: the workbench."""

    def dataset(self, name: str | None = None) -> Dataset: ...
    def assemble(self, query: Query, settings: AssemblySettings, dataset: str | None = None) -> Assembly: ...
    def evidence(self, assembly: Assembly, dataset: str | None = None) -> tuple[EvidenceState, ...]: ...
    def check(self, assembly: Assembly, answer: str) -> CheckedAnswer: ...


class Excerpt(NamedTuple):
    """Text of one page around the fact: the end of what was found, what stands beside it, the fact itself, and what follows."""

    found: str
    beside: str
    fact: str
    after: str


class Story(NamedTuple):
    """The question without assembly (`off`), with it (`on`), and with too small a limit (`tight`); the recorded answer, checked.

    `fact` is the evidence that only assembly brings, in piece `key` of its page. `pages` holds how many pieces each page has that
    search found, in the order of the context.
    """

    query: Query
    off: Assembly
    on: Assembly
    tight: Assembly
    checked: CheckedAnswer
    key: Key
    excerpt: Excerpt
    pages: dict[str, int]

    @property
    def wrong(self) -> CheckedClaim:
        """The claim that its source contradicts."""
        return next(claim for claim in self.checked.claims if claim.conflict is not None)


def settings_of(on: Assembly | None = None, enabled: bool = True) -> AssemblySettings:
    """The defaults with the first hits; with the assembly of the whole context, a limit that falls short of it."""
    settings = AssemblySettings(top_k=FOUND, enabled=enabled)
    return settings if on is None else settings.replace(max_tokens=on.token_count - SHORT)


def benefit_settings() -> tuple[AssemblySettings, AssemblySettings]:
    """What the end of the page compares: the five stages and the preset `recommended`, at a limit where it matters."""
    return AssemblySettings(max_tokens=LIMIT), preset("recommended").replace(max_tokens=LIMIT)


def tell(bench: Tells) -> Story:
    """Work the story out. Raises NotFound or InvalidInput where the sample is not there, or is not the one that this was chosen on."""
    sample = bench.dataset(SAMPLE)
    query = sample.query(QUERY)
    off, on = (bench.assemble(query, settings_of(enabled=enabled), SAMPLE) for enabled in (False, True))
    fact = _brought(bench.evidence(off, SAMPLE), bench.evidence(on, SAMPLE))
    recorded = next((answer.answer for answer in sample.answers() if answer.query_id == QUERY), "")
    checked = bench.check(on, recorded)
    if fact is None or not any(claim.conflict for claim in checked.claims):
        raise InvalidInput(f"dataset {SAMPLE} is not the sample of this version: load the sample again")
    chunks = sample.document_chunks(fact.document_id)
    holder = next(chunk for chunk in chunks if chunk.chunk_index in fact.chunk_indexes and _holds(chunk, fact))
    key = (fact.document_id, holder.chunk_index)
    first = (fact.place.start or 0) - (holder.start or 0)
    excerpt = _excerpt(on, key, holder.text[first : first + (fact.place.end or 0) - (fact.place.start or 0)])
    pages = {cited.document_id: len(sample.document_chunks(cited.document_id)) for cited in on.citations}
    tight = bench.assemble(query, settings_of(on), SAMPLE)
    return Story(query, off, on, tight, checked, key, excerpt, pages)


def _brought(without: Sequence[EvidenceState], with_it: Sequence[EvidenceState]) -> EvidenceState | None:
    """The first piece of evidence that is not there without assembly, and is with it."""
    pairs = zip(without, with_it, strict=True)
    return next((after for before, after in pairs if before.state != "found" and after.state == "found"), None)


def _holds(chunk: FetchedChunk, fact: EvidenceState) -> bool:
    return (chunk.start or 0) <= (fact.place.start or 0) and (fact.place.end or 0) <= (chunk.end or 0)


def _excerpt(on: Assembly, key: Key, fact: str) -> Excerpt:
    """From the end of the find before it to the end of the paragraph of the fact."""
    at = on.text.index(fact)
    join = min(segment.start for segment in on.segments if (segment.document_id, segment.chunk_index) == key)
    low = on.text.index(" ", max(0, join - LEAD)) + 1
    end = at + len(fact)
    stop = on.text.find("\n", end)
    return Excerpt(on.text[low:join], on.text[join:at], fact, on.text[end : stop if stop >= 0 else len(on.text)])
