"""What a changed setting did to the context: figures before and now, chunks that came in and went out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxasm.evaluation.cache_prefix import cache_prefix
from ctxasm.evaluation.evidence import EvidenceState
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, specs
from ctxasm.model.settings_text import write
from ctxasm.ui.rows import SENT, supplement_of
from ctxasm.ui.words import title_of

Verdict = Literal["better", "worse", ""]
_BETTER: dict[str, int] = {"hits": 1, "evidence": 1, "regret": -1}
"""Figures of which more (1) or less (-1) is better whatever the setting; the others only say what changed."""


class Delta(NamedTuple):
    """One figure before and now. `of`: what it is counted out of; `bound`: the value now is only known not to be higher."""

    name: str
    label: str
    before: float
    now: float
    of: int | None = None
    unit: str = ""
    bound: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether the change is for the better, where that can be said of the figure alone."""
        direction = _BETTER.get(self.name, 0) * (self.now - self.before)
        return "better" if direction > 0 else "worse" if direction < 0 else ""


class Changed(NamedTuple):
    """A setting that differs, with both values as text."""

    name: str
    before: str
    now: str


class Moved(NamedTuple):
    """A chunk that came into the context or went out of it."""

    key: Key
    name: str
    retrieved: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two assemblies of one query, before and now. `cached` tokens at the start of the text are as before, of `tokens`."""

    settings: tuple[Changed, ...]
    deltas: tuple[Delta, ...]
    came: tuple[Moved, ...]
    went: tuple[Moved, ...]
    cached: int
    tokens: int
    says: str


def compare(
    before: Assembly,
    now: Assembly,
    counter: TokenCounter,
    evidence: tuple[Sequence[EvidenceState], Sequence[EvidenceState]] = ((), ()),
) -> Comparison:
    """What changed from `before` to `now`. `evidence` is the state of the query's evidence in either, empty where none is labelled."""
    came, went = _moved(now, before), _moved(before, now)
    return Comparison(
        changed_settings(before.settings, now.settings),
        _deltas(before, now, evidence),
        came,
        went,
        cache_prefix(before.text, now.text, counter, now.token_count).tokens,
        now.token_count,
        _says(before, now, bool(came or went)),
    )


def changed_settings(before: AssemblySettings, now: AssemblySettings) -> tuple[Changed, ...]:
    """The settings that differ, in the order of the table."""
    return tuple(
        Changed(spec.name, write(spec, old), write(spec, new))
        for spec in specs()
        if (old := getattr(before, spec.name)) != (new := getattr(now, spec.name))
    )


def _deltas(before: Assembly, now: Assembly, evidence: tuple[Sequence[EvidenceState], Sequence[EvidenceState]]) -> tuple[Delta, ...]:
    hits = sum(fate.retrieved for fate in now.trace.fates)
    found = [
        Delta("tokens", "tokens", before.token_count, now.token_count),
        Delta("unused", "unused", before.unused_tokens, now.unused_tokens),
        Delta("regret", "packing regret", regret_share(before), regret_share(now), unit="%", bound=not now.trace.regret.exact),
        Delta("blocks", "blocks", len(before.citations), len(now.citations)),
        Delta("hits", "hits kept", _hits_kept(before), _hits_kept(now), of=hits),
    ]
    if evidence[1]:
        was, states = (sum(state.state == "found" for state in states) for states in evidence)
        found.append(Delta("evidence", "evidence found", was, states, of=len(evidence[1])))
    return tuple(found)


def regret_share(assembly: Assembly) -> float:
    """Packing regret in percent of the best packing's value."""
    regret = assembly.trace.regret
    return 100 * regret.regret / regret.best if regret.best > 0 else 0.0


def _hits_kept(assembly: Assembly) -> int:
    return sum(fate.retrieved and fate.fate in SENT for fate in assembly.trace.fates)


def sent_chunks(assembly: Assembly) -> frozenset[Key]:
    """The chunks whose text is in the context."""
    return frozenset((fate.document_id, fate.chunk_index) for fate in assembly.trace.fates if fate.fate in SENT)


def _moved(here: Assembly, there: Assembly) -> tuple[Moved, ...]:
    """Chunks that are sent in `here` and not in `there`, best score first."""
    missing = sent_chunks(here) - sent_chunks(there)
    fates = sorted(here.trace.fates, key=lambda f: (-f.score, f.rank, f.document_id, f.chunk_index))
    return tuple(
        Moved(key, f"{title_of(here.trace.documents, key[0], 28)} #{key[1]}", fate.retrieved)
        for fate in fates
        if (key := (fate.document_id, fate.chunk_index)) in missing
    )


def _says(before: Assembly, now: Assembly, moved: bool) -> str:
    """What happened where no chunk came or went."""
    if moved:
        return ""
    if before.text == now.text:
        return "The context is the same, to the letter."
    if _supplemented(before) != _supplemented(now):
        return f"The supplement {'came in' if _supplemented(now) else 'went out'}; the chunks are the same."
    if _in_order(before) != _in_order(now):
        return "The same chunks, in another order."
    return "The same chunks in the same order, written or cut differently."


def _supplemented(assembly: Assembly) -> bool:
    event = supplement_of(assembly)
    return event is not None and event.injected


def _in_order(assembly: Assembly) -> list[Key]:
    keys = ((s.document_id, s.chunk_index) for s in assembly.segments if s.kind == "chunk")
    return list(dict.fromkeys((document_id or "", index or 0) for document_id, index in keys))
