"""What differs between the contexts of one question under A and B, as rows and escaped HTML. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

from ctxasm.app.ui.inspect.budget_bar import KIND_NAMES, Bar, axis_html, shown_axis, track_html
from ctxasm.app.ui.inspect.change import Changed, Delta, changed_settings, sent_chunks
from ctxasm.app.ui.widgets.fates import fates_by_key
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.widgets.word_diff import Stretch, shortened, word_diff
from ctxasm.app.ui.words.words import fate_label, fate_sentence, in_attribute, number, title_of
from ctxasm.model.amounts import counted, signed
from ctxasm.model.results import Assembly, Key
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import AssemblySettings, spec_of

Side = Literal["A", "B", "both"]
LONGEST_TEXT = 1200
"""Characters of a chunk that are shown."""
NEVER = "Out of its reach: neither found nor a neighbour that is asked for."
MOST_CHUNKS = 100
"""Chunks that are listed; the rest is counted."""


class ChunkRow(NamedTuple):
    """A chunk that only one of the contexts holds, or that both hold in another way; `why` the other one lacks it."""

    key: Key
    document: str
    side: Side
    retrieved: bool
    tokens: int
    why: str
    text: str


def chunk_rows(a: Assembly, b: Assembly) -> tuple[ChunkRow, ...]:
    """What is only in A, what is only in B, and what both hold but not alike; each by score."""
    in_a, in_b = sent_chunks(a), sent_chunks(b)
    return (*_only(a, b, "A", in_a - in_b), *_only(b, a, "B", in_b - in_a), *_otherwise(a, b, in_a & in_b))


def _only(here: Assembly, there: Assembly, side: Side, keys: frozenset[Key]) -> list[ChunkRow]:
    fates = fates_by_key(there)
    return [chunk_row(here, key, side, fate_sentence(fates[key]) if key in fates else NEVER) for key in _by_score(here, keys)]


def _otherwise(a: Assembly, b: Assembly, keys: frozenset[Key]) -> list[ChunkRow]:
    of_a, of_b = fates_by_key(a), fates_by_key(b)
    rows = []
    for key in _by_score(a, keys):
        one, other = fate_label(of_a[key]), fate_label(of_b[key])
        if one != other:
            rows.append(chunk_row(a, key, "both", f"A: {one}. B: {other}."))
    return rows


def _by_score(assembly: Assembly, keys: frozenset[Key]) -> list[Key]:
    fates = fates_by_key(assembly)
    return sorted(keys, key=lambda key: (-fates[key].score, fates[key].rank, key))


def chunk_row(here: Assembly, key: Key, side: Side, why: str) -> ChunkRow:
    """A row of what differs; `here` knows the chunk."""
    fate, candidate = fates_by_key(here)[key], here.trace.candidates.get(key)
    title = title_of(here.trace.documents, key[0], 48)
    return ChunkRow(key, title, side, fate.retrieved, fate.tokens, why, candidate.chunk.text if candidate else "")


def chip(side: str) -> str:
    """The sign of a side: ● A, ◆ B."""
    look = {"A": "● A", "B": "◆ B"}.get(side, "● ◆")
    return f'<span class="cx-ab" data-side="{escape(side)}">{look}</span>'


def settings_html(a: AssemblySettings, b: AssemblySettings) -> str:
    """Every setting that differs, with both values."""
    changed = changed_settings(a, b)
    if not changed:
        return boxed(f'<p class="cx-versus">{chip("A")} and {chip("B")} are the same settings.</p>', "ctx-versus")
    return boxed(f'<ul class="cx-versus">{"".join(_setting(each) for each in changed)}</ul>', "ctx-versus")


def _setting(changed: Changed) -> str:
    spec, (one, other) = spec_of(changed.name), map(escape, changed.words)
    return f'<li data-setting="{spec.name}" title="{spec.name}"><b>{escape(label_of(spec))}</b> {chip("A")} {one} {chip("B")} {other}</li>'


def bars_html(a: Bar, b: Bar, stamp: str) -> str:
    """Two budget bars on one axis."""
    bars = {"A": a, "B": b}
    axis = max(map(shown_axis, bars.values()))
    drawn = "".join(
        f'<div class="cx-versus-bar" data-side="{side}" data-tokens="{bar.used}">{chip(side)}<div class="cx-plot" role="img" '
        f'aria-label="{side}: {_used(bar)}">{track_html(bar, axis)}</div></div>'
        for side, bar in bars.items()
    )
    kinds = {part.kind for bar in bars.values() for document in bar.documents for part in document.parts}
    keys = "".join(f'<span><i class="cx-swatch k-{kind}"></i>{name}</span>' for kind, name in KIND_NAMES.items() if kind in kinds)
    return (
        f'<section class="cx cx-budget" id="ctx-bars" data-stamp="{escape(stamp)}">{drawn}'
        f'<div class="cx-versus-axis">{axis_html(axis)}</div><div class="cx-legend">{keys}</div></section>'
    )


def _used(bar: Bar) -> str:
    limit = "" if bar.limit is None else f" of {number(bar.limit)}"
    return f"{number(bar.used)}{limit} tokens used by {counted(bar.sources, 'document')}"


def figures_html(deltas: Sequence[Delta]) -> str:
    """The figures that differ, B minus A."""
    rows = "".join(_figure(delta) for delta in deltas if round(delta.before) != round(delta.now))
    return boxed(f'<dl class="cx-change-figures cx-versus-figures">{rows}</dl>', "ctx-figures") if rows else ""


def _figure(delta: Delta) -> str:
    unit = " %" if delta.unit == "%" else ""
    of = f" of {number(delta.of)}" if delta.of is not None else ""
    look = f" {delta.verdict}" if delta.verdict else ""
    return (
        f'<div class="cx-change-figure{look}" data-delta="{delta.name}" data-before="{delta.before:g}" data-now="{delta.now:g}">'
        f"<dt>{delta.label}</dt> <dd>{number(delta.before)}{unit} → {number(delta.now)}{unit}{of} "
        f"<b>({signed(round(delta.now) - round(delta.before))}{unit})</b></dd></div>"
    )


def chunks_html(rows: Sequence[ChunkRow]) -> str:
    """What came and went, with why: a row a document where its chunks have one reason, and the text of each to open."""
    if not rows:
        return ""
    same = len({row.why for row in rows}) == 1 < len(rows)
    counts = {side: sum(row.side == side for row in rows) for side in ("A", "B", "both")}
    said = ", ".join(f"{count} {'only in' if side != 'both' else 'otherwise in'} {side}" for side, count in counts.items() if count)
    rest = f'<p class="cx-note">and {len(rows) - MOST_CHUNKS} more</p>' if len(rows) > MOST_CHUNKS else ""
    heads = ("in", "chunk", "", "tokens", *([] if same else ["why the other lacks it"]))
    why = f'<small class="cx-mute">{escape(rows[0].why)}</small>' if same else ""
    cells = [_cells(group, with_why=not same) for group in _grouped(rows[:MOST_CHUNKS])]
    return boxed(table_html(heads, cells, (3,), f"Chunks that differ: {said}", why) + rest, "ctx-chunks")


def _grouped(rows: Sequence[ChunkRow]) -> list[list[ChunkRow]]:
    """The chunks of a document that have one reason together, where the first of them stands."""
    groups: dict[tuple[Side, str, str], list[ChunkRow]] = {}
    for row in rows:
        groups.setdefault((row.side, row.key[0], row.why), []).append(row)
    return list(groups.values())


def _cells(group: Sequence[ChunkRow], *, with_why: bool) -> tuple[str, ...]:
    first = group[0]
    title, tokens = escape(first.document), number(sum(row.tokens for row in group))
    found = sum(row.retrieved for row in group)
    if len(group) == 1:
        name = f"<details><summary>{title} #{first.key[1]}</summary>{_quote(first)}</details>"
        kind = _kind(first.retrieved)
    else:
        texts = "".join(
            f"<details><summary>#{row.key[1]}, {_kind(row.retrieved)}, {counted(row.tokens, 'token')}</summary>{_quote(row)}</details>"
            for row in sorted(group, key=lambda row: row.key)
        )
        count = f"<span class='cx-whole'>{counted(len(group), 'chunk')}</span>"
        name = f"<details class='cx-chunk-group'><summary>{title}, {count}</summary>{texts}</details>"
        kind = f"{found} found" if 0 < found < len(group) else "found" if found else "neighbours"
    return (chip(first.side), name, f"<span class='cx-whole'>{kind}</span>", tokens, *([escape(first.why)] if with_why else []))


def _kind(retrieved: bool) -> str:
    return "found" if retrieved else "neighbour"


def _quote(row: ChunkRow) -> str:
    return f"<div class='cx-quote'>{escape(_clipped(row.text))}</div>"


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def texts_html(a: str, b: str, heading: str, id: str) -> str:
    """Two texts as one: what only A says is struck through, what only B says is underlined, long equal runs are left out."""
    stretches = word_diff(a, b)
    key = "<del>only A</del> <ins>only B</ins>"
    if all(each.kind == "same" for each in stretches):
        return boxed(f'<h2 class="cx-h">{escape(heading)}<small>the same, word for word</small></h2>', id)
    body = "".join(map(_stretch, shortened(stretches)))
    return boxed(
        f'<h2 class="cx-h">{escape(heading)}<small>{key}</small></h2><div class="cx-quote cx-diff" tabindex="0" role="region" '
        f'aria-label="{in_attribute(heading)}, word by word" dir="auto">{body}</div>',
        id,
    )


def _stretch(stretch: Stretch) -> str:
    match stretch.kind:
        case "same":
            return escape(stretch.b)
        case "skipped":
            return f'<span class="cx-seg-gap">… {escape(stretch.b)} …</span> '
        case "changed":
            gone = f"<del>{escape(stretch.a)}</del>" if stretch.a else ""
            return gone + (f"<ins>{escape(stretch.b)}</ins>" if stretch.b else "")
