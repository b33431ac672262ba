"""The whole window as a thin strip of zones above the budget bar, its context zone opening into the bar. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ctxasm.answering.zones.words import conversation_line
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly
from ctxasm.model.zoning import Conversation, Zone, ZoneName, Zones

LEAST = 0.7
"""The narrowest that a zone with tokens is drawn, in percent of the window."""
WORDS: dict[ZoneName, str] = {
    "system": "system prompt",
    "history": "history",
    "context": "context",
    "question": "question",
    "overhead": "overhead",
    "margin": "safety margin",
    "answer": "answer",
    "free": "not used",
}
HOW = {"counted": "as counted", "reserved": "reserved", "left": "what is left"}


class Stretch(NamedTuple):
    """A zone on the strip: `start` and `width` in percent of the strip."""

    zone: Zone
    start: float
    width: float


def zone_stretches(zones: Zones) -> tuple[Stretch, ...]:
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
        found.append(Stretch(zone, start, width))
        start += width
    return tuple(found)


def window_end(stretches: Sequence[Stretch], window: int) -> float:
    """Where a window of this many tokens ends on the strip, in percent: 100 unless the zones exceed it."""
    held = 0
    for stretch in stretches:
        if held + stretch.zone.tokens > window:
            return stretch.start + stretch.width * (window - held) / stretch.zone.tokens
        held += stretch.zone.tokens
    return 100.0


def notes(zones: Zones | None, conversation: Conversation | None) -> tuple[str, ...]:
    """What there is to say below the zones: what became of the earlier turns, then what does not fit together."""
    told = conversation_line(conversation) if conversation is not None else ""
    return (*([told] if told else []), *(zones.hints if zones is not None else ()))


def _size(zone: Zone) -> str:
    return f"{counted(zone.tokens, 'token')}, {HOW[zone.how]}"


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
    spoken = ", ".join(f"{WORDS[zone.name]} {zone.tokens}" for zone in zones.zones if zone.tokens)
    return (
        f'<div class="cx-window" id="ctx-window" data-window="{zones.window}" data-over="{zones.over}">'
        f'<div class="cx-window-head"><b>Window{name}</b><span>{number(zones.window)} tokens{over}</span></div>{said}'
        f'<ul class="cx-keys cx-window-keys">{"".join(_key(zone) for zone in zones.zones if zone.tokens)}</ul>'
        f'<div class="cx-window-strip" role="img" aria-label="Zones of the window in tokens: {spoken}">'
        f"{''.join(_stretch(stretch) for stretch in stretches)}{_end(stretches, zones)}</div>{_fan(stretches, limit_at)}</div>"
    )


def _stretch(stretch: Stretch) -> str:
    zone = stretch.zone
    return f'<div class="z-{zone.name}" style="width:{stretch.width:.3f}%" title="{WORDS[zone.name]}: {_size(zone)}"></div>'


def _end(stretches: tuple[Stretch, ...], zones: Zones) -> str:
    """What stands beyond the end of the window, where the zones exceed it."""
    title = f"{counted(zones.over, 'token')} beyond the window"
    return f'<i style="left:{window_end(stretches, zones.window):.3f}%" title="{title}"></i>' if zones.over else ""


def _key(zone: Zone) -> str:
    return (
        f'<li data-zone="{zone.name}" data-tokens="{zone.tokens}" data-how="{zone.how}" title="{_size(zone)}">'
        f'<i class="cx-swatch z-{zone.name}"></i>{WORDS[zone.name]} <b>{number(zone.tokens)}</b></li>'
    )


def _fan(stretches: tuple[Stretch, ...], limit_at: float) -> str:
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
