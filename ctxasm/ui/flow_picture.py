"""The funnel of the stages as HTML: a bar of chunks per stage, with the evidence that is still whole. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.ui.flow_rows import Level
from ctxasm.ui.pictures import table_html
from ctxasm.ui.words import number, plural, stage_name


def flow_html(levels: Sequence[Level]) -> str:
    """A row per stage; one after which nothing is different has none."""
    most = max((level.hits + level.neighbours for level in levels), default=1) or 1
    shown = [level for before, level in zip([None, *levels], levels, strict=False) if before is None or _differs(before, level)]
    whole = levels[0].evidence + levels[0].lost if levels else 0
    rows = [_row(level, most, whole) for level in shown]
    return table_html(("after", "chunks", "", "tokens", "evidence whole"), rows, (2, 3), "What every stage leaves")


def _differs(before: Level, level: Level) -> bool:
    return before[1:4] != level[1:4] or level.lost > 0


def _row(level: Level, most: int, whole: int) -> tuple[str, ...]:
    lost = f' <span class="cx-need">−{level.lost} lost here</span>' if level.lost else ""
    return (
        f'<span data-stage="{level.stage}" data-lost="{level.lost}">{stage_name(level.stage)}</span>',
        _bar(level, most),
        number(level.hits + level.neighbours),
        number(level.tokens),
        f"{level.evidence} of {whole}{lost}" if whole else "",
    )


def _bar(level: Level, most: int) -> str:
    title = f"{plural(level.hits, 'hit')}, {plural(level.neighbours, 'neighbour')}"
    parts = "".join(
        f'<i class="k-{kind}" style="width:{100 * count / most:.2f}%"></i>'
        for kind, count in (("retrieved", level.hits), ("added", level.neighbours))
        if count
    )
    return f'<div class="cx-flow" title="{title}">{parts}</div>'
