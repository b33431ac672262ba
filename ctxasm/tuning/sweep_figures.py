"""What the pictures of a sweep show, as data: the heatmap, the front and its ceiling, what each setting explains. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.model.amounts import percent
from ctxasm.model.settings import AssemblySettings, label_of, named, spec_of

if TYPE_CHECKING:
    from ctxasm.tuning.sweep_results import SettingRow, SweepResult

BRIGHT = 0.47
"""From this part of the colours on black is written, before it white: each has at least 4.5 to 1 there."""
CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")
"""The colours from the lowest to the highest share: a scale that is read alike by those who see no red or green."""


class Heatmap(NamedTuple):
    """What is drawn: the places of the settings in the sweep, by the values of `down` and of `across`; `best` is the place of the best."""

    down: str
    across: str
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    cells: tuple[tuple[int, ...], ...]
    best: int


def varied(found: SweepResult) -> tuple[str, ...]:
    """The settings that were tried at more than one value."""
    return tuple(name for name, values in found.axes.items() if len(values) > 1)


def values_of(settings: AssemblySettings, names: tuple[str, ...]) -> dict[str, Any]:
    """Some of the settings by name."""
    return {name: getattr(settings, name) for name in names}


def share(row: SettingRow) -> float:
    """The share of labelled questions whose evidence is whole."""
    return row.whole / row.labelled if row.labelled else 0.0


def best_of(found: SweepResult) -> int:
    """The place of the setting of the grid that holds most; of those that hold the same the one with the fewest tokens."""
    rows = found.rows()
    return min(_grid(found).values(), key=lambda at: (-rows[at].whole, rows[at].tokens))


def _grid(found: SweepResult) -> dict[tuple[Any, ...], int]:
    """The places of the settings by their values on all axes."""
    start, grid = found.settings[found.start], {}
    for at, settings in enumerate(found.settings):
        values = {name: getattr(settings, name) for name in found.axes}
        if settings == start.replace(**values) and all(value in found.axes[name] for name, value in values.items()):
            grid[tuple(values.values())] = at
    return grid


def heatmap_of(found: SweepResult, down: str, across: str, others: Mapping[str, Any]) -> Heatmap:
    """What is drawn of two settings, the `others` standing at these values."""
    grid = _grid(found)
    rows, columns = (_ordered(found.axes[name]) for name in (down, across))

    def place(low: Any, right: Any) -> int:
        values = {**others, down: low, across: right}
        return grid[tuple(values[name] if name in values else found.axes[name][0] for name in found.axes)]

    cells = tuple(tuple(place(low, right) for right in columns) for low in rows)
    table = found.rows()
    best = min((at for row in cells for at in row), key=lambda at: (-table[at].whole, table[at].tokens))
    return Heatmap(down, across, rows, columns, cells, best)


def _ordered(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers ascending, what stands for all of them last; words as they were given."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return (*sorted(numbers), *(value for value in values if value not in numbers)) if numbers else values


def colour_of(part: float) -> str:
    """The colour at a part of the scale, between its two neighbours."""
    at = part * (len(CIVIDIS) - 1)
    low = min(int(at), len(CIVIDIS) - 2)
    one, other = (tuple(int(CIVIDIS[step][1 + 2 * n : 3 + 2 * n], 16) for n in range(3)) for step in (low, low + 1))
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in zip(one, other, strict=True))


def ceiling(found: SweepResult) -> float:
    """The share of labelled questions whose evidence the hits could give at all."""
    return float(found.reachable.mean()) if found.labelled else 0.0


def rivals_of(found: SweepResult) -> Heatmap | None:
    """Windows by numbers of hits, where both were tried; the other settings stand at what the best has."""
    names = varied(found)
    if not {"expand_window", "top_k"} <= set(names):
        return None
    return heatmap_of(found, "expand_window", "top_k", values_of(found.settings[best_of(found)], names))


def rivals_words(found: SweepResult) -> str:
    """What the lines are: `Dotted: more hits, the neighbours as they are (Max tokens 4,000). …`; nothing without lines."""
    grid = rivals_of(found)
    if grid is None:
        return ""
    others = tuple(name for name in varied(found) if name not in (grid.down, grid.across))
    at = f" ({named(values_of(found.settings[grid.best], others))})" if others else ""
    return f"Dotted: more hits, the same neighbours{at}. Straight above each other: equal tokens."


def importances(found: SweepResult) -> list[tuple[str, float]]:
    """How much of what varies in evidence each setting explains by itself, the most first, then what is due to settings together; nothing
    where nothing varies.
    """
    shares = {name: part for name, part in found.importance().items() if name in varied(found)}
    if not any(shares.values()):
        return []
    ordered = [(label_of(spec_of(name)), part) for name, part in sorted(shares.items(), key=lambda each: -each[1])]
    together = 1 - sum(shares.values())
    return [*ordered, *([("settings together", together)] if together >= 0.005 else [])]


def front_alt(found: SweepResult) -> str:
    """The picture in words."""
    rows = found.rows()
    said = "; ".join(f"{rows[at].tokens:,.0f} tokens: {percent(share(rows[at]))}" for at in found.front())
    return f"Share of questions with all their evidence by tokens a question. The front: {said}. Ceiling: {percent(ceiling(found))}."
