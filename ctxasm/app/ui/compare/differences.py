"""The contexts of one question under A and B, and what differs between them, as rows and escaped HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from difflib import SequenceMatcher
from html import escape
from typing import Literal, NamedTuple

from ctxasm.app.fates import fate_label, fate_sentence, fates_by_key
from ctxasm.app.ui.context_marks import rewritten_text, stretches
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import Scene, once, session
from ctxasm.app.ui.frame.typed_questions import zones_key
from ctxasm.app.ui.inspect.budget_bar import KIND_NAMES, Bar, axis_html, shown_axis, track_html
from ctxasm.app.ui.inspect.change import Changed, Delta, changed_settings, sent_chunks
from ctxasm.app.ui.markup import boxed, table_html
from ctxasm.app.ui.word_diff import Stretch, sentence_diff, shortened
from ctxasm.app.ui.words import in_attribute, number, title_of
from ctxasm.model.amounts import counted, signed
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, label_of, spec_of

Change = Literal["A", "B", "changed", "moved"]
CHANGES: dict[Change, str] = {"A": "only in A", "B": "only in B", "changed": "changed", "moved": "moved"}
LONGEST_TEXT = 1200
"""Characters of a chunk that are shown."""
NEVER = "Out of its reach: neither found nor a neighbour that is asked for."
OTHER_TEXT = "Another part of its text."
MOST_CHUNKS = 100
"""Chunks that are listed; the rest is counted."""


class ChunkRow(NamedTuple):
    """A chunk that only one of the contexts holds, or that both hold with other text or in another place. `why` the other one lacks it, or
    what differs; `other` is its text in B where that is another one.
    """

    key: Key
    document: str
    change: Change
    retrieved: bool
    tokens: int
    why: str
    text: str
    other: str | None = None


def sent_texts(assembly: Assembly) -> dict[Key, str]:
    """What the context shows of each chunk, in its order; text that a chunk shares with another one belongs to both."""
    fates = fates_by_key(assembly)
    in_order = _sources(assembly)
    shared = sorted(sent_chunks(assembly) - in_order.keys())
    return {
        key: rewritten_text(assembly, key) or "".join(part.text for part in stretches(assembly, fates[key]) if part.state != "left")
        for key in (*in_order, *shared)
    }


def chunk_rows(a: Assembly, b: Assembly) -> tuple[ChunkRow, ...]:
    """What is only in A, what is only in B, what both hold with other text, and what moved; each by score."""
    in_a, in_b = sent_texts(a), sent_texts(b)
    of_a, of_b = fates_by_key(a), fates_by_key(b)
    rows = [chunk_row(a, key, "A", fate_sentence(of_b[key]) if key in of_b else NEVER) for key in _by_score(a, in_a.keys() - in_b.keys())]
    rows += [chunk_row(b, key, "B", fate_sentence(of_a[key]) if key in of_a else NEVER) for key in _by_score(b, in_b.keys() - in_a.keys())]
    both = _by_score(a, in_a.keys() & in_b.keys())
    for key in both:
        if in_a[key].split() != in_b[key].split():
            labels = fate_label(of_a[key]), fate_label(of_b[key])
            why = OTHER_TEXT if labels[0] == labels[1] else "A: {}. B: {}.".format(*labels)
            rows.append(chunk_row(a, key, "changed", why)._replace(text=in_a[key], other=in_b[key]))
    moved = _moved(a, b)
    rows += [chunk_row(a, key, "moved", moved[key]) for key in both if key in moved]
    return tuple(rows)


def _moved(a: Assembly, b: Assembly) -> dict[Key, str]:
    """The chunks of both that are not in the order of the others, with the number of their source in A and in B."""
    in_a, in_b = _sources(a), _sources(b)
    one, other = [key for key in in_a if key in in_b], [key for key in in_b if key in in_a]
    stays = {key for at, _, size in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks() for key in one[at : at + size]}
    return {
        key: "In another order within its source." if in_a[key] == in_b[key] else f"Source {in_a[key]} of A, source {in_b[key]} of B."
        for key in one
        if key not in stays
    }


def _sources(assembly: Assembly) -> dict[Key, int]:
    """The number of its source for each chunk, in the order of the context."""
    found: dict[Key, int] = {}
    for segment in assembly.segments:
        if segment.kind == "chunk":
            found.setdefault((segment.document_id or "", segment.chunk_index or 0), segment.block or 0)
    return found


def _by_score(assembly: Assembly, keys: Set[Key]) -> list[Key]:
    fates = fates_by_key(assembly)
    return sorted(keys, key=lambda key: (-fates[key].score, fates[key].rank, key))


def chunk_row(here: Assembly, key: Key, change: Change, why: str) -> ChunkRow:
    """A row of what differs; `here` knows the chunk."""
    fate, candidate = fates_by_key(here)[key], here.trace.candidates.get(key)
    title = title_of(here.trace.documents, key[0], 48)
    return ChunkRow(key, title, change, fate.retrieved, fate.tokens, why, candidate.chunk.text if candidate else "")


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


def contexts_html(rows: Sequence[ChunkRow], a: str, b: str, same: str) -> str:
    """The chunks that differ; where none does, that is said (`same`), and the sentences in which the contexts still differ."""
    if rows:
        return chunks_html(rows)
    texts = diff_html(a, b, "Contexts") if a != b else ""
    return boxed(f'<p class="cx-note">{escape(same)}</p>{texts}', "ctx-chunks")


def chunks_html(rows: Sequence[ChunkRow]) -> str:
    """What came, went, changed and moved, with why: a row a document where its chunks have one reason, and the text of each to open."""
    same = len({row.why for row in rows}) == 1 < len(rows)
    counts = Counter(row.change for row in rows)
    said = ", ".join(f"{counts[change]} {words}" for change, words in CHANGES.items() if counts[change])
    rest = f'<p class="cx-note">and {len(rows) - MOST_CHUNKS} more</p>' if len(rows) > MOST_CHUNKS else ""
    heads = ("in", "chunk", "came as", "tokens", *([] if same else ["why"]))
    why = f'<small class="cx-mute">{escape(rows[0].why)}</small>' if same else ""
    cells = [_cells(group, with_why=not same) for group in _grouped(rows[:MOST_CHUNKS])]
    return boxed(table_html(heads, cells, (3,), f"Chunks that differ: {said}", why) + rest, "ctx-chunks")


def _grouped(rows: Sequence[ChunkRow]) -> list[list[ChunkRow]]:
    """The chunks of a document that have one reason together, where the first of them stands."""
    groups: dict[tuple[Change, str, str], list[ChunkRow]] = {}
    for row in rows:
        groups.setdefault((row.change, row.key[0], row.why), []).append(row)
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
    return (chip(first.change), name, f"<span class='cx-whole'>{kind}</span>", tokens, *([escape(first.why)] if with_why else []))


def _kind(retrieved: bool) -> str:
    return "found" if retrieved else "neighbour"


def _quote(row: ChunkRow) -> str:
    if row.other is not None:
        return diff_html(row.text, row.other, f"{row.document} #{row.key[1]}")
    return f"<div class='cx-quote'>{escape(_clipped(row.text))}</div>"


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def diff_html(a: str, b: str, name: str) -> str:
    """Two texts as one, by sentences: those of A are struck through, those of B underlined, long equal runs left out."""
    body = "".join(map(_stretch, shortened(sentence_diff(a, b))))
    label = in_attribute(f"{name}: sentences that differ")
    return f'<div class="cx-quote cx-diff" tabindex="0" role="region" aria-label="{label}" dir="auto">{body}</div>'


def _stretch(stretch: Stretch) -> str:
    match stretch.kind:
        case "same":
            return escape(stretch.b)
        case "skipped":
            return f'<span class="cx-seg-gap">… {escape(stretch.b)} …</span> '
        case "changed":
            gone = f"<del>{escape(stretch.a)}</del>" if stretch.a else ""
            return gone + (f"<ins>{escape(stretch.b)}</ins>" if stretch.b else "")


def marked_sides(a: str, b: str) -> tuple[str, str]:
    """Both texts as HTML, the sentences marked that only one of them has."""
    parts = sentence_diff(a, b)

    def side(texts: Iterable[str]) -> str:
        drawn = ((each.kind, escape(text)) for each, text in zip(parts, texts, strict=True) if text)
        return "".join(f"<mark>{text}</mark>" if kind == "changed" else text for kind, text in drawn)

    return side(each.a for each in parts), side(each.b for each in parts)


class Sides(NamedTuple):
    """Two contexts of one question."""

    a: Assembly
    b: Assembly


def sides_of(scene: Scene, pinned: AssemblySettings) -> Sides:
    """Both. Raises CtxasmError where one cannot be assembled."""
    workbench = server.workbench()
    b = state.assemble_scene(workbench, scene)
    key = (scene.dataset, state.unlabelled(scene.query), pinned, session.loads, zones_key(pinned))
    a = once("context of A", key, lambda: state.assemble_anew(workbench, replace(scene, settings=pinned)))
    return Sides(state.of_query(a, scene.query), b)
