"""Ribbons from places on the left to bundles on the right: hits to their documents, blocks to their positions. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ctxasm.app.ui.widgets.chunk_clicks import pick_of
from ctxasm.app.ui.words.words import in_attribute
from ctxasm.model.results import Key

ROW, COMPACT_ROW, COMPACT_BEYOND = 21, 11, 15
"""Height of a place in pixels, and where more than so many of them are drawn closer."""
BETWEEN = 4
"""Pixels between two bundles."""
LEAST_BUNDLE = 18
"""The lowest bundle in pixels: its title must be readable."""


class Thread(NamedTuple):
    """A place on the left that belongs to a bundle. `kind` is `found` or `gone`; a thread without a `key` cannot be clicked."""

    label: str
    title: str
    kind: str
    key: Key | None = None


class ThreadBundle(NamedTuple):
    """What stands on the right, and the places (0 = top left) that belong to it."""

    number: str
    title: str
    note: str
    kind: str
    threads: tuple[int, ...]


def bundles_html(threads: Sequence[Thread], bundles: Sequence[ThreadBundle], left: str, right: str, spoken: str) -> str:
    """The picture, as high as its longer side."""
    row = ROW if len(threads) <= COMPACT_BEYOND else COMPACT_ROW
    tops, at = [], 0.0
    for bundle in bundles:
        tops.append(at)
        at += max(row * len(bundle.threads), LEAST_BUNDLE) + BETWEEN
    height = max(at, row * len(threads))
    lines = "".join(_ribbons(bundle, top, row, height, threads) for bundle, top in zip(bundles, tops, strict=True))
    places = "".join(_place(thread, index * row, row) for index, thread in enumerate(threads))
    boxes = "".join(_box(bundle, top, row) for bundle, top in zip(bundles, tops, strict=True))
    compact = " compact" if row == COMPACT_ROW else ""
    return (
        f'<div class="cx-bundles-head"><b>{left}</b><b>{right}</b></div>'
        f'<div class="cx-bundles{compact}" role="group" aria-label="{in_attribute(spoken)}" style="height:{height:.0f}px" '
        f'data-threads="{len(threads)}" data-bundles="{len(bundles)}">{lines}{places}{boxes}</div>'
    )


def _ribbons(bundle: ThreadBundle, top: float, row: float, height: float, threads: Sequence[Thread]) -> str:
    box = max(row * len(bundle.threads), LEAST_BUNDLE)
    share = box / max(len(bundle.threads), 1)
    drawn = []
    for place, index in enumerate(bundle.threads):
        y = (index * row + 2, (index + 1) * row - 2, top + (place + 1) * share - 1, top + place * share + 1)
        one, two, three, four = (f"{100 * each / height:.2f}%" for each in y)
        shape = f"polygon(0 {one}, 100% {four}, 100% {three}, 0 {two})"
        drawn.append(f'<i class="cx-ribbon {threads[index].kind}" aria-hidden="true" style="clip-path:{shape}"></i>')
    return "".join(drawn)


def _place(thread: Thread, top: float, row: float) -> str:
    at = f'class="cx-place {thread.kind}" style="top:{top:.0f}px;height:{row - 2:.0f}px" title="{in_attribute(thread.title)}"'
    if thread.key is None:
        return f"<span {at}>{escape(thread.label)}</span>"
    return f'<button type="button" {at} {pick_of(thread.key)}>{escape(thread.label)}</button>'


def _box(bundle: ThreadBundle, top: float, row: float) -> str:
    height = max(row * len(bundle.threads), LEAST_BUNDLE)
    return (
        f'<div class="cx-bundle {bundle.kind}" style="top:{top:.0f}px;height:{height:.0f}px" title="{in_attribute(bundle.title)}">'
        f'<b>{escape(bundle.number)}</b><span dir="auto">{escape(bundle.title)}</span><small>{escape(bundle.note)}</small></div>'
    )
