"""The budget bar with the zones of the window above it: the one part of a page that runs alone while the limit is dragged."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.answering.zones import conversation_line
from ctxasm.app.fates import supplement_of
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.sidebar import show_failure
from ctxasm.app.ui.inspect.change import fresh_chunks
from ctxasm.app.ui.markup import document_of
from ctxasm.app.ui.words import GLOSSARY, SUPPLEMENT_RULES, in_attribute, number, supplement_sentence, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.events import Supplemented
from ctxasm.model.results import Assembly, DocumentSize, Fate, Key, Segment, SentHistory, Zone, ZoneName, Zones
from ctxasm.model.settings import spec_of

LEAST = 0.7
"""The narrowest that a zone with tokens is drawn, in percent of the window."""
ZONE_NAMES: dict[ZoneName, str] = {
    "system": "system prompt",
    "history": "history",
    "context": "context",
    "question": "question",
    "overhead": "overhead",
    "margin": "safety margin",
    "answer": "answer",
    "free": "not used",
}
ZONE_SIZES = {"counted": "as counted", "reserved": "reserved", "left": "what is left"}


class ZoneStretch(NamedTuple):
    """A zone on the strip: `start` and `width` in percent of the strip."""

    zone: Zone
    start: float
    width: float


def zone_stretches(zones: Zones) -> tuple[ZoneStretch, ...]:
    """Every zone with tokens, side by side over the whole strip: in proportion, but never too narrow to be seen.

    Zones that exceed the window together are drawn in proportion to each other.
    """
    held = [zone for zone in zones.zones if zone.tokens]
    total = max(1, sum(zone.tokens for zone in held))
    least = min(LEAST, 100 / max(1, len(held)))
    spare = 100 - least * len(held)
    found, start = [], 0.0
    for zone in held:
        width = least + spare * zone.tokens / total
        found.append(ZoneStretch(zone, start, width))
        start += width
    return tuple(found)


def window_end(stretches: Sequence[ZoneStretch], window: int) -> float:
    """Where a window of this many tokens ends on the strip, in percent: 100 unless the zones exceed it."""
    held = 0
    for stretch in stretches:
        if held + stretch.zone.tokens > window:
            return stretch.start + stretch.width * (window - held) / stretch.zone.tokens
        held += stretch.zone.tokens
    return 100.0


def notes(zones: Zones | None, conversation: SentHistory | None) -> tuple[str, ...]:
    """What there is to say below the zones: what became of the earlier turns, then what does not fit together."""
    told = conversation_line(conversation) if conversation is not None else ""
    return (*([told] if told else []), *(zones.hints if zones is not None else ()))


def _size(zone: Zone) -> str:
    return f"{counted(zone.tokens, 'token')}, {ZONE_SIZES[zone.how]}"


def zones_picture(assembly: Assembly, limit_at: float) -> str:
    """The strip with its key and notes, "" where no window is known and nothing is to be said.

    `limit_at` is where the limit stands on the budget bar below, in percent of its width.
    """
    zones, said = assembly.zones, _notes(notes(assembly.zones, assembly.conversation))
    if zones is None:
        return f'<div class="cx-window" id="ctx-window">{said}</div>' if said else ""
    stretches = zone_stretches(zones)
    name = f" of {escape(zones.model)}" if zones.model else ""
    over = f' · <span class="cx-need">{counted(zones.over, "token")} over</span>' if zones.over else ""
    spoken = ", ".join(f"{ZONE_NAMES[zone.name]} {zone.tokens}" for zone in zones.zones if zone.tokens)
    return (
        f'<div class="cx-window" id="ctx-window" data-window="{zones.window}" data-over="{zones.over}">'
        f'<div class="cx-window-head"><b>Window{name}</b><span>{number(zones.window)} tokens{over}</span></div>{said}'
        f'<ul class="cx-keys cx-window-keys">{"".join(_key(zone) for zone in zones.zones if zone.tokens)}</ul>'
        f'<div class="cx-window-strip" role="img" aria-label="Zones of the window in tokens: {spoken}">'
        f"{''.join(_zone(stretch) for stretch in stretches)}{_end(stretches, zones)}</div>{_fan(stretches, limit_at)}</div>"
    )


def _zone(stretch: ZoneStretch) -> str:
    zone = stretch.zone
    return f'<div class="z-{zone.name}" style="width:{stretch.width:.3f}%" title="{ZONE_NAMES[zone.name]}: {_size(zone)}"></div>'


def _end(stretches: tuple[ZoneStretch, ...], zones: Zones) -> str:
    """What stands beyond the end of the window, where the zones exceed it."""
    title = f"{counted(zones.over, 'token')} beyond the window"
    return f'<i style="left:{window_end(stretches, zones.window):.3f}%" title="{title}"></i>' if zones.over else ""


def _key(zone: Zone) -> str:
    return (
        f'<li data-zone="{zone.name}" data-tokens="{zone.tokens}" data-how="{zone.how}" title="{_size(zone)}">'
        f'<i class="cx-swatch z-{zone.name}"></i>{ZONE_NAMES[zone.name]} <b>{number(zone.tokens)}</b></li>'
    )


def _fan(stretches: tuple[ZoneStretch, ...], limit_at: float) -> str:
    """The context zone opening into the bar below: from its place on the strip to the bar's stretch up to the limit."""
    context = next((stretch for stretch in stretches if stretch.zone.name == "context"), None)
    if context is None:
        return ""
    low, high = context.start, context.start + context.width
    shape = f"polygon({low:.3f}% 0, {high:.3f}% 0, {limit_at:.3f}% 100%, 0 100%)"
    return f'<div class="cx-window-fan" aria-hidden="true" style="clip-path:{shape}"></div>'


def _notes(said: tuple[str, ...]) -> str:
    """The first note open, the others folded away."""
    if not said:
        return ""
    first, *rest = (f"<li>{escape(note)}</li>" for note in said)
    more = f"<details><summary>{counted(len(rest), 'more note')}</summary><ul>{''.join(rest)}</ul></details>" if rest else ""
    return f'<div class="cx-window-notes" data-notes="{len(said)}"><ul>{first}</ul>{more}</div>'


PartKind = Literal["retrieved", "added", "dropped", "prefix", "supplement", "scaffold"]
SUPPLEMENT = ""
"""Stands for the id of a document where extra results belong to none."""
KIND_NAMES = {
    "retrieved": "found",
    "added": "neighbour",
    "prefix": "summary",
    "supplement": "supplement",
    "scaffold": "header",
    "dropped": "left out",
}
CLIP = 2.0
"""The bar ends at this many times the limit; what is dropped beyond is said in words."""
SLIVER = 1.05
"""A bar that would end so little later is drawn whole: what was left out beyond its end would look like all that was left out."""
FAR = 4
"""From this many times what there is, the limit of a large window is not drawn to scale."""
LARGEST_FIXED = spec_of("max_tokens").high or 16000


class Part(NamedTuple):
    """A run of tokens on the budget bar. `chunk_index` is None for prefix and scaffolding."""

    kind: PartKind
    tokens: int
    chunk_index: int | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class BarDocument:
    """A document on the token axis: its parts, kept before dropped. `missing_tokens` is what a dropped one needs."""

    document_id: str
    title: str
    kept: bool
    parts: tuple[Part, ...]
    numbers: tuple[int, ...] = ()
    missing_tokens: int | None = None

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Bar:
    """The budget bar: `axis` is the token at its right edge, `used` the tokens of the context.

    `documents` holds each document once (kept before dropped); `runs` is what lies on the axis from left to right, where the
    blocks of a document may stand apart. `supplement` says whether the query's extra results are in, None where it brings
    none; they are no document. `limit` is None where it is not known: of a prompt that another program sent.
    """

    documents: tuple[BarDocument, ...]
    used: int
    limit: int | None
    axis: int
    supplement: Supplemented | None = None
    runs: tuple[BarDocument, ...] = ()

    @property
    def sources(self) -> int:
        """Documents of which something is kept."""
        return len({document.document_id for document in self.kept} - {SUPPLEMENT})

    @property
    def kept(self) -> tuple[BarDocument, ...]:
        return tuple(document for document in self.documents if document.kept)

    @property
    def dropped(self) -> tuple[BarDocument, ...]:
        return tuple(document for document in self.documents if not document.kept)


def budget_bar(assembly: Assembly) -> Bar:
    """Kept documents in context order, then what was dropped, on one token axis that holds the limit, too."""
    runs = _kept_runs(assembly)
    kept = _joined(runs)
    dropped = _dropped_documents(assembly)
    documents = (*kept, *dropped)
    total = sum(document.tokens for document in documents)
    return Bar(documents, assembly.token_count, assembly.limit, max(total, assembly.limit, 1), supplement_of(assembly), (*runs, *dropped))


def _kept_runs(assembly: Assembly) -> list[BarDocument]:
    """What is kept as it stands in the context: a run per stretch of blocks of one document."""
    retrieved = {(f.document_id, f.chunk_index): f.retrieved for f in assembly.trace.fates}
    cited = {citation.number: citation.document_id for citation in assembly.citations}
    runs: list[tuple[str, list[Part], dict[int, None]]] = []
    for segment in assembly.segments:
        owner = segment.document_id or cited.get(segment.block or 0) or (runs[-1][0] if runs else SUPPLEMENT)
        if not runs or runs[-1][0] != owner:
            runs.append((owner, [], {}))
        _, parts, numbers = runs[-1]
        parts.append(_part(segment, retrieved))
        if segment.block is not None:
            numbers[segment.block] = None
    documents = assembly.trace.documents
    return [
        BarDocument(key, title_of(documents, key) if key else "Supplement", True, _merged(parts), tuple(numbers))
        for key, parts, numbers in runs
    ]


def _part(segment: Segment, retrieved: Mapping[Key, bool]) -> Part:
    if segment.kind == "chunk" and segment.document_id is not None and segment.chunk_index is not None:
        hit = retrieved.get((segment.document_id, segment.chunk_index), True)
        return Part("retrieved" if hit else "added", segment.tokens, segment.chunk_index, f"#{segment.chunk_index}")
    return Part(segment.kind if segment.kind in ("prefix", "supplement") else "scaffold", segment.tokens)


def _joined(runs: list[BarDocument]) -> list[BarDocument]:
    """Each document once, in the order of its first run."""
    found: dict[str, BarDocument] = {}
    for run in runs:
        known = found.get(run.document_id)
        if known is None:
            found[run.document_id] = run
        else:
            found[run.document_id] = replace(known, parts=(*known.parts, *run.parts), numbers=(*known.numbers, *run.numbers))
    return list(found.values())


def _merged(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbouring parts of the same chunk or kind as one."""
    runs: list[Part] = []
    for part in parts:
        if runs and runs[-1][0::2] == part[0::2]:
            runs[-1] = runs[-1]._replace(tokens=runs[-1].tokens + part.tokens)
        elif part.tokens:
            runs.append(part)
    return tuple(runs)


def _dropped_documents(assembly: Assembly) -> list[BarDocument]:
    gone: defaultdict[str, list[Fate]] = defaultdict(list)
    for fate in assembly.trace.fates:
        if fate.fate == "dropped" and fate.stage == "budget":
            gone[fate.document_id].append(fate)
    sizes = {size.document_id: size for size in assembly.trace.sizes}
    order = [size.document_id for size in assembly.trace.sizes] + [key for key in gone if key not in sizes]
    return [_dropped_document(assembly, key, gone[key], sizes.get(key)) for key in order if key in gone]


def _dropped_document(assembly: Assembly, key: str, fates: list[Fate], size: DocumentSize | None) -> BarDocument:
    fates = sorted(fates, key=lambda fate: fate.chunk_index)
    own = [fate.tokens for fate in fates]
    total = size.tokens if size is not None and not size.kept else sum(own)
    shares = _shared_out(total, own)
    parts = tuple(Part("dropped", share, fate.chunk_index, f"#{fate.chunk_index}") for share, fate in zip(shares, fates, strict=True))
    missing = (
        size.missing_tokens
        if size is not None and not size.kept
        else min((f.missing_tokens for f in fates if f.missing_tokens), default=None)
    )
    partly = any(segment.document_id == key for segment in assembly.segments)
    title = ("rest of " if partly else "") + title_of(assembly.trace.documents, key)
    return BarDocument(key, title, False, parts, (), missing)


def _shared_out(total: int, weights: list[int]) -> list[int]:
    """`total` in whole numbers proportional to `weights`, adding up exactly."""
    whole = sum(weights)
    if not whole:
        return [total if position == 0 else 0 for position in range(len(weights))]
    edges, running = [0], 0
    for weight in weights:
        running += weight
        edges.append(round(total * running / whole))
    return [high - low for low, high in pairwise(edges)]


def _limit_at(bar: Bar) -> float:
    """Where the limit stands on the bar, in percent of its width."""
    return min(100.0, 100 * (bar.limit or 0) / max(shown_axis(bar), 1))


def shown_axis(bar: Bar) -> int:
    """The token at the right edge of the bar as it is drawn."""
    if _is_far(bar):
        return int(max(1000, 1.25 * _held(bar)))
    if bar.limit is None:
        return bar.axis
    clipped = int(max(CLIP * bar.limit, 1.05 * bar.used))
    return bar.axis if bar.axis <= SLIVER * clipped else clipped


def _held(bar: Bar) -> int:
    return max(bar.used, sum(document.tokens for document in bar.documents))


def _is_far(bar: Bar) -> bool:
    """Whether the limit of a large window lies so far right that the documents could not be told apart beside it."""
    return bar.limit is not None and bar.limit > LARGEST_FIXED and bar.limit > FAR * _held(bar)


def share_of_axis(tokens: float, axis: int) -> str:
    return f"{100 * tokens / max(axis, 1):.3f}%"


def _is_fresh(document: BarDocument, part: Part, fresh: frozenset[Key]) -> bool:
    return document.kept and part.chunk_index is not None and (document.document_id, part.chunk_index) in fresh


def _need_text(document: BarDocument) -> str:
    return f"needs {number(document.missing_tokens)} more" if document.missing_tokens else "left out"


def _need_html(document: BarDocument) -> str:
    """The same, with the words that a narrow segment leaves out."""
    return f"<i>needs </i>{number(document.missing_tokens)}<i> more</i>" if document.missing_tokens else "left out"


def _key_text(document: BarDocument) -> str:
    numbers = "".join(f"[{n}]" for n in document.numbers)
    state = _need_text(document) if not document.kept else counted(document.tokens, "token")
    return f"{numbers} {document.title}: {state}".strip()


def _part_html(part: Part, whole: int, new: bool) -> str:
    name = f"{part.label}{' · new' if new else ''}" if part.label else KIND_NAMES[part.kind]
    look = f"cx-part k-{part.kind}{' new' if new else ''}"
    title = f"{in_attribute(name)} · {counted(part.tokens, 'token')}"
    return f'<i class="{look}" style="width:{100 * part.tokens / max(whole, 1):.2f}%" title="{title}"></i>'


def _drawn_parts(document: BarDocument) -> tuple[Part, ...]:
    """Its parts; of one that is left out a single part, which names its first and last chunk."""
    if document.kept or len(document.parts) < 2:
        return document.parts
    first, last = document.parts[0], document.parts[-1]
    return (Part("dropped", document.tokens, first.chunk_index, f"{first.label}–{last.label}"),)


def axis_html(axis: int) -> str:
    """The scale under a bar, up to `axis` tokens."""
    step = next(
        step for step in (50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 10**9) if axis / step <= 6
    )
    ticks = [*range(0, axis - step // 3, step)]
    marks = "".join(f'<span style="left:{share_of_axis(tick, axis)}">{number(tick)}</span>' for tick in ticks)
    return f'<div class="cx-axis" aria-hidden="true">{marks}<span style="left:100%">{number(axis)} tokens</span></div>'


def _legend(bar: Bar, fresh: frozenset[Key]) -> str:
    """What the looks mean, and the supplement that is on no axis because it stays out."""
    drawn = {part.kind for document in bar.documents for part in document.parts}
    keys = [
        f'<span{f" title={chr(34)}{GLOSSARY[name]}{chr(34)}" if name in GLOSSARY else ""}><i class="cx-swatch k-{kind}"></i>{name}</span>'
        for kind, name in KIND_NAMES.items()
        if kind in drawn
    ]
    keys += ['<span><i class="cx-swatch cx-new"></i>new</span>'] if fresh else []
    if bar.supplement is not None and not bar.supplement.injected:
        says = escape(supplement_sentence(bar.supplement))
        keys.append(f'<span data-supplement="out" title="{says}"><i class="cx-swatch k-supplement out"></i>supplement left out</span>')
    return f'<div class="cx-legend">{"".join(keys)}</div>'


def budget_html(assembly: Assembly, stamp: str, fresh: frozenset[Key] = frozenset()) -> str:
    """The budget bar, addressable as `#ctx-budget`. `fresh` chunks came in with the last change."""
    bar = budget_bar(assembly)
    used, kept = f"{number(bar.used)} of {number(assembly.limit)} tokens", counted(bar.sources, "document")
    spoken = f"Budget bar: {used} used by {kept}; {counted(len(bar.dropped), 'document')} left out."
    return (
        f'<section class="cx cx-budget" id="ctx-budget" data-tokens="{bar.used}" data-limit="{bar.limit}" data-stamp="{escape(stamp)}">'
        f"{zones_picture(assembly, _limit_at(bar))}"
        f'<div class="cx-plot" role="img" aria-label="{in_attribute(spoken)}">{track_html(bar, shown_axis(bar), fresh)}</div>'
        f"{axis_html(shown_axis(bar))}{_legend(bar, fresh)}</section>"
    )


def track_html(bar: Bar, axis: int, fresh: frozenset[Key] = frozenset()) -> str:
    """The documents on an axis of so many tokens, with the limit where it is known; `fresh` chunks are marked."""
    cut = {document.document_id for document in bar.dropped}
    ends = accumulate(document.tokens for document in bar.runs)
    beyond = 0 if _is_far(bar) else max(0, bar.axis - axis)
    groups = "".join(
        _group(
            document,
            axis,
            fresh,
            document.document_id in cut,
            bar.supplement,
            _room(document, None if bar.limit is None else bar.limit - end, axis - end if beyond else 0),
        )
        for document, end in zip(bar.runs, ends, strict=True)
    )
    at = 100 * (axis if bar.limit is None else bar.limit) / max(axis, 1)
    over = f" · {number(bar.used - bar.limit)} over" if bar.limit is not None and bar.used > bar.limit else ""
    tight = " tight" if at < (60 if over else 45) else ""  # on a phone it would run into the words of the limit
    used = f'<span class="cx-used{tight}">{number(bar.used)} used{over}</span>' if at > 30 else ""
    torn = f'<span class="cx-beyond" data-beyond="{beyond}">{number(beyond)} more left out ⇢</span>' if beyond else ""
    track = f'{used}{torn}<div class="cx-track{" torn" if beyond else ""}">{groups}</div>'
    return track if bar.limit is None else f"{track}{_limit_html(bar.limit, at, _is_far(bar))}"


def _limit_html(limit: int, at: float, far: bool) -> str:
    look = f"cx-limit{' left' if at < 22 else ''}{' far' if far else ''}"
    return (
        f'<div class="{look}" style="left:min({at:.3f}%, calc(100% - 2px))" data-limit="{limit}" title="{GLOSSARY["limit"]}"><span>'
        f"limit {number(limit)}{' →' if far else ''}</span></div>"
    )


def _room(document: BarDocument, limit: int | None, edge: int) -> str:
    """Between which shares of its segment a document's words stand, where the limit's line or the edge of the bar crosses it.

    Both are in tokens from the end of the document, before it where negative.
    """
    at = 0.0 if limit is None else _share(document, limit)
    last = min(100.0, _share(document, edge))
    first = at if 0 < at < last / 2 else 0.0
    last = at if last / 2 <= at < last else last
    return (f";--from:{first:.2f}%" if first else "") + (f";--to:{last:.2f}%" if last < 100 else "")


def _share(document: BarDocument, beyond: int) -> float:
    return 100 * (document.tokens + beyond) / max(document.tokens, 1)


def _group(document: BarDocument, axis: int, fresh: frozenset[Key], cut: bool, supplement: Supplemented | None, side: str = "") -> str:
    """A document on the bar: its title above its parts; a torn edge where only some of it is kept, what it needs where none is."""
    parts = "".join(_part_html(part, document.tokens, _is_fresh(document, part, fresh)) for part in _drawn_parts(document))
    numbers = "".join(f"<b>{n}</b>" for n in document.numbers[:3]) + ("…" if len(document.numbers) > 3 else "")
    need = "" if document.kept else f'<em class="cx-need"><span>{_need_html(document)}</span></em>'
    says = _key_text(document)
    marks = ""
    if document.document_id == SUPPLEMENT:
        marks = ' data-supplement="in"'
        says += f" ({SUPPLEMENT_RULES[supplement.rule]})" if supplement is not None else ""
    if not document.kept:
        marks = f' data-missing="{document.missing_tokens or ""}"'
    return (
        f'<div class="cx-group{" cut" if cut and document.kept else ""}" style="width:{share_of_axis(document.tokens, axis)}{side}" '
        f'{document_of(document.document_id)} data-state="{"kept" if document.kept else "dropped"}"{marks} '
        f'title="{in_attribute(says)}">'
        f'<span class="cx-tag">{numbers}<span>{escape(document.title)}</span></span><div class="cx-parts">{parts}</div>{need}</div>'
    )


@fragment(key="budget")
def show_budget_bar(scene: Scene) -> None:
    """Draw the bar for the scene, with the limit under the dragging hand while there is one."""
    session.budget_shown = True
    dragged = dataclasses.replace(scene, settings=state.with_dragged_limit(scene.settings))
    try:
        assembly = state.assemble_scene(server.workbench(), dragged)
    except CtxasmError as error:
        show_failure("The context of this question cannot be assembled", error, scene)
        return
    st.html(budget_html(assembly, state.stamp_of(dragged), fresh_chunks(assembly)))
