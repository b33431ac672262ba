"""The account of an assembly, what a change of settings did to it, and the assembled text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.fates import SENT, supplement_of
from ctxasm.app.ui.context_marks import text_html
from ctxasm.app.ui.frame.layout import show_empty
from ctxasm.app.ui.frame.session import Scene, Settled, once, session
from ctxasm.app.ui.inspect.evidence import states_of
from ctxasm.app.ui.markup import pick_of
from ctxasm.app.ui.setting_words import CHOICES
from ctxasm.app.ui.words import LEFT_OUT, number, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, label_of, spec_of, specs, value_words
from ctxasm.tuning.evidence import EvidenceState


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accounting of one assembly: chunks in against chunks sent, and where the tokens of the context are.

    A merged hit's text is in the context, inside its neighbour; `sent` counts the chunks with text of their own.
    """

    retrieved: int
    added: int
    merged: int
    duplicates: int
    dropped: tuple[tuple[str, int], ...]
    sent: int
    chunk_tokens: int
    prefix_tokens: int
    scaffold_tokens: int
    supplement_tokens: int
    total_tokens: int

    @property
    def balances(self) -> bool:
        """Whether every chunk and every token is accounted for."""
        left = self.merged + self.duplicates + sum(count for _, count in self.dropped)
        tokens = self.chunk_tokens + self.prefix_tokens + self.scaffold_tokens + self.supplement_tokens
        return self.retrieved + self.added - left == self.sent and tokens == self.total_tokens


def ledger(assembly: Assembly) -> Ledger:
    """The accounting line, a term for every fate. `sent` is counted in the segments, not derived."""
    fates = assembly.trace.fates
    dropped: dict[str, int] = {}
    for fate in fates:
        if fate.fate == "dropped":
            dropped[fate.reason or "other"] = dropped.get(fate.reason or "other", 0) + 1
    tokens: defaultdict[str, int] = defaultdict(int)
    for segment in assembly.segments:
        tokens[segment.kind] += segment.tokens
    return Ledger(
        retrieved=sum(fate.retrieved for fate in fates),
        added=sum(not fate.retrieved for fate in fates),
        merged=sum(fate.fate == "merged" for fate in fates),
        duplicates=sum(fate.fate == "duplicate_of" for fate in fates),
        dropped=tuple(dropped.items()),
        sent=len({(s.document_id, s.chunk_index) for s in assembly.segments if s.kind == "chunk"}),
        chunk_tokens=tokens["chunk"],
        prefix_tokens=tokens["prefix"],
        scaffold_tokens=tokens["header"] + tokens["separator"] + tokens["gap"],
        supplement_tokens=tokens["supplement"],
        total_tokens=assembly.token_count,
    )


def ledger_html(account: Ledger, fresh: int = 0) -> str:
    """The accounting line: every chunk and every token has a term. `fresh` of the sent chunks came with the last change."""
    terms = [f"<b>{account.retrieved}</b> found", f"+ <b>{account.added}</b> neighbours"]
    repeated = account.merged + account.duplicates
    terms += [f"− <b>{repeated}</b> repeated"] if repeated else []
    terms += [f"− <b>{count}</b> left out ({LEFT_OUT.get(reason, escape(reason))})" for reason, count in account.dropped]
    tokens = [
        f"<b>{number(account.chunk_tokens)}</b> text",
        f"+ <b>{number(account.prefix_tokens)}</b> summaries",
        f"+ <b>{number(account.scaffold_tokens)}</b> headers",
    ]
    tokens += [f"+ <b>{number(account.supplement_tokens)}</b> supplement"] if account.supplement_tokens else []
    new = f' <span class="cx-new-count" data-new="{fresh}">{fresh} new</span>' if fresh else ""
    state = "balances" if account.balances else "does not balance"
    badge = (
        f'<span class="cx-badge {"ok" if account.balances else "warn"}"><span class="cx-dot{"" if account.balances else " warn"}">'
        f"</span>{state}</span>"
    )
    return (
        f'<div class="cx cx-ledger" id="ctx-ledger" data-balances="{str(account.balances).lower()}" data-sent="{account.sent}" '
        f'data-tokens="{account.total_tokens}">'
        f"<span>{' '.join(terms)} = <b>{account.sent}</b> kept{new}</span><span>{' '.join(tokens)} = <b>"
        f"{number(account.total_tokens)}</b> tokens {badge}</span></div>"
    )


MOST_CHUNKS = 6
"""Chunks that are named on either side; the others are counted."""
Verdict = Literal["better", "worse", ""]
_BETTER: dict[str, int] = {"hits": 1, "evidence": 1, "regret": -1}
"""Figures of which more (1) or less (-1) is better whatever the setting; the others only say what changed."""
MOST_SETTINGS = 3
"""Changed settings that are named; a preset changes more."""
MARKS = {"better": "▲", "worse": "▼", "": ""}


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
    """A setting that differs, with both values."""

    name: str
    before: object
    now: object

    @property
    def words(self) -> tuple[str, str]:
        """Both values as a person reads them: `8,000` and `4,000`."""
        before, now = (value_words(spec_of(self.name), value) or "empty" for value in (self.before, self.now))
        return before, now


class Moved(NamedTuple):
    """A chunk that came into the context or went out of it."""

    key: Key
    name: str
    retrieved: bool


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """Two assemblies of one query, before and now."""

    settings: tuple[Changed, ...]
    deltas: tuple[Delta, ...]
    came: tuple[Moved, ...]
    went: tuple[Moved, ...]
    says: str


def compare(
    before: Assembly,
    now: Assembly,
    evidence: tuple[Sequence[EvidenceState], Sequence[EvidenceState]] = ((), ()),
) -> BeforeAfter:
    """What changed from `before` to `now`. `evidence` is the state of the query's evidence in either, empty where none is labelled."""
    came, went = _moved(now, before), _moved(before, now)
    return BeforeAfter(
        changed_settings(before.settings, now.settings),
        _deltas(before, now, evidence),
        came,
        went,
        _says(before, now, bool(came or went)),
    )


def _deltas(before: Assembly, now: Assembly, evidence: tuple[Sequence[EvidenceState], Sequence[EvidenceState]]) -> tuple[Delta, ...]:
    hits = sum(fate.retrieved for fate in now.trace.fates)
    found = [
        Delta("tokens", "tokens", before.token_count, now.token_count),
        Delta("unused", "unused", before.unused_tokens, now.unused_tokens),
        Delta("regret", "below the best choice", regret_share(before), regret_share(now), unit="%", bound=not now.trace.regret.exact),
        Delta("blocks", "sources", len(before.citations), len(now.citations)),
        Delta("hits", "found chunks kept", _hits_kept(before), _hits_kept(now), of=hits),
    ]
    if evidence[1]:
        was, states = (sum(state.state == "found" for state in states) for states in evidence)
        found.append(Delta("evidence", "evidence", was, states, of=len(evidence[1])))
    return tuple(found)


def changed_settings(before: AssemblySettings, now: AssemblySettings) -> tuple[Changed, ...]:
    """The settings that differ, in the order of the table."""
    return tuple(
        Changed(spec.name, old, new) for spec in specs() if (old := getattr(before, spec.name)) != (new := getattr(now, spec.name))
    )


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


def _shown(value: float) -> str:
    return number(round(value))


def strip_html(compared: BeforeAfter, stamp: str) -> str:
    """The changed settings, every figure that is another now, and the chunks that came and went: in two lines of one height."""
    figures = "".join(_figure(delta) for delta in compared.deltas)
    return (
        f'<section class="cx cx-change" id="ctx-change" aria-label="What the change did" data-stamp="{escape(stamp)}">'
        f'<div><b>{_settings(compared.settings)}</b> <dl class="cx-change-figures">{figures}</dl></div>'
        f"<div>{_moves('came in', compared.came)} {_moves('went out', compared.went)}{escape(compared.says)}</div></section>"
    )


def _settings(changed: tuple[Changed, ...]) -> str:
    named = "; ".join(_setting(each) for each in changed[:MOST_SETTINGS])
    rest = len(changed) - MOST_SETTINGS
    return named + (f'; <span class="cx-mute">and {rest} more</span>' if rest > 0 else "")


def _setting(changed: Changed) -> str:
    spec, does = spec_of(changed.name), CHOICES.get(changed.name, {}).get(str(changed.now), "")
    before, now = changed.words
    title = escape(f"{changed.name}: {does}" if does else changed.name)
    return (
        f'<span data-setting="{changed.name}" title="{title}">{escape(label_of(spec))} '
        f'<s class="cx-mute">{escape(before)}</s> → {escape(now)}</span>'
    )


def _figure(delta: Delta) -> str:
    same = _shown(delta.before) == _shown(delta.now)
    of = f" of {number(delta.of)}" if delta.of is not None else ""
    unit = " %" if delta.unit == "%" else ""
    most = "≤\u202f" if delta.bound and delta.now else ""
    was = "" if same else f'<span class="cx-mute">{_shown(delta.before)}{unit} → </span>'
    mark = "" if same else MARKS[delta.verdict]
    says = f'<i class="cx-change-mark" aria-label="{delta.verdict}">{mark}</i>' if mark else ""
    look = " same" if same else f" {delta.verdict}"
    return (
        f'<div class="cx-change-figure{look}" data-delta="{delta.name}" data-before="{delta.before:g}" data-now="{delta.now:g}">'
        f"<dt>{delta.label}</dt> <dd>{was}<b>{most}{_shown(delta.now)}{unit}</b>{of}{says}</dd></div>"
    )


def _moves(words: str, moved: Sequence[Moved]) -> str:
    """The chunks that came or went: a click follows one through the stages."""
    if not moved:
        return ""
    chips = "".join(f'<button class="cx-move" {pick_of(each.key)}>{escape(each.name)}</button>' for each in moved[:MOST_CHUNKS])
    rest = f" and {number(len(moved) - MOST_CHUNKS)} more" if len(moved) > MOST_CHUNKS else ""
    return (
        f'<span class="cx-moves" data-moved="{words}" data-count="{len(moved)}">{counted(len(moved), "chunk")} {words} {chips}{rest}</span>'
    )


def settle(scene: Scene, assembly: Assembly) -> None:
    """Keep the assembly of a whole run; what was shown under other settings becomes what it is compared with.

    A limit that is only dragged never gets here: it runs the budget bar alone.
    """
    about = (scene.dataset, scene.query.query_id, session.loads)
    kept = _kept()
    if kept is None or kept.about != about:
        session.compared = Settled(about, assembly)
    elif kept.now.settings != assembly.settings:
        session.compared = Settled(about, assembly, kept.now)
    elif kept.now is not assembly:
        session.compared = Settled(about, assembly, kept.before)


def _kept() -> Settled | None:
    return session.compared


def fresh_chunks(assembly: Assembly) -> frozenset[Key]:
    """The chunks of this context that were not in the one it is compared with; none where nothing was changed.

    While a limit is dragged that is the context before the hand took it.
    """
    kept = _kept()
    if kept is None or kept.now.query.query_id != assembly.query.query_id:
        return frozenset()
    base = kept.before if kept.now.settings == assembly.settings else kept.now
    return sent_chunks(assembly) - sent_chunks(base) if base is not None else frozenset()


def show_before_after(scene: Scene, assembly: Assembly, stamp: str) -> bool:
    """The strip under the budget bar; the account has its place where no setting was changed since the query was opened.

    Returns whether one was.
    """
    kept = _kept()
    if kept is None or kept.before is None:
        st.html(f'<section class="cx cx-change" id="ctx-unchanged">{ledger_html(ledger(assembly))}</section>')
        return False
    st.html(strip_html(_comparison(scene, kept.before, assembly), stamp))
    return True


def _comparison(scene: Scene, before: Assembly, now: Assembly) -> BeforeAfter:
    """The comparison of these two; the last one of the session is kept."""
    return once("comparison", (before, now), lambda: compare(before, now, (states_of(scene, before), states_of(scene, now))))


def show_context_text(assembly: Assembly, stamp: str) -> None:
    """Cards per block with provenance."""
    if not assembly.text:
        why = (
            "The search found nothing for this question."
            if not assembly.trace.fates
            else "No chunk fits into this limit: raise max tokens."
        )
        show_empty("The context is empty", f"{why} The model is not called with an empty context.")
    else:
        st.html(text_html(assembly, stamp))


def show_ledger(assembly: Assembly) -> None:
    """Every chunk and every token accounted for."""
    st.html(ledger_html(ledger(assembly), len(fresh_chunks(assembly))), width="stretch")
