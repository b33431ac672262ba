"""An answer that comes in, and the zones of the prompt that asked for it, as escaped HTML. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ctxasm.prompts import Zone
from ctxasm.ui.answer_pieces import Chip, Stretch, answer_pieces
from ctxasm.ui.told import Told
from ctxasm.ui.words import number, plural

ZONES = {"system": "#5B5EA6", "history": "#CC79A7", "scaffolding": "#7F7F7F", "context": "#0072B2", "question": "#E69F00"}
ZONE_MARKS = {
    "system": "background-image:repeating-linear-gradient(45deg,transparent 0 5px,rgb(255 255 255/.35) 5px 7px)",
    "history": "background-image:radial-gradient(rgb(255 255 255/.5) 1px,transparent 1.2px);background-size:5px 5px",
    "scaffolding": "",
    "context": "",
    "question": "background-image:repeating-linear-gradient(-45deg,transparent 0 5px,rgb(255 255 255/.45) 5px 7px)",
}


def answer_html(told: Told, decided: int | None = None, place: int = 1) -> str:
    """An answer that comes in, up to `decided` characters (default: all), each marker as a chip. `place` counts side by side."""
    pieces = "".join(_piece(piece) for piece in answer_pieces(told.text, told.markers, end=decided))
    kind = "" if "language model" in told.model else "language model" if told.is_language_model else "no language model"
    badge = f'<span class="cx-badge">{kind}</span>' if kind else ""
    name = f"ctx-answer-{place}" if place > 1 else "ctx-answer"
    return (
        f'<div class="cx"><div class="cx-badges cx-told"><b>{escape(told.model)}</b>{badge}</div>'
        f'<div class="cx-answer" id="{name}" dir="auto" aria-busy="true" data-done="false">{pieces}</div></div>'
    )


def _piece(piece: Stretch | Chip) -> str:
    if isinstance(piece, Stretch):
        return escape(piece.text)
    if piece.known:
        return f'<span class="cx-chip" data-marker="{piece.number}">{piece.number}</span>'
    what = f"[{piece.number}] unknown" if piece.number is not None else f"{piece.label} unreadable"
    return f'<span class="cx-unknown" data-unknown="{"" if piece.number is None else piece.number}">{escape(what)}</span>'


def zones_html(zones: Sequence[Zone]) -> str:
    """The prompt as one stacked bar, a zone each."""
    total = max(sum(zone.tokens for zone in zones), 1)
    shown = [zone for zone in zones if zone.tokens]
    bars = "".join(
        f'<div style="width:{100 * z.tokens / total:.3f}%;min-width:2px;background-color:{ZONES[z.name]};{ZONE_MARKS[z.name]}" '
        f'title="{z.name}: {plural(z.tokens, "token")}"></div>'
        for z in shown
    )
    keys = "".join(
        f'<li data-zone="{z.name}" data-tokens="{z.tokens}"><i class="cx-swatch" style="background-color:{ZONES[z.name]};'
        f'{ZONE_MARKS[z.name]}"></i>{z.name} <b>{number(z.tokens)}</b></li>'
        for z in shown
    )
    spoken = ", ".join(f"{z.name} {z.tokens}" for z in shown)
    return (
        f'<div class="cx cx-zones" id="ctx-zones" data-tokens="{total}"><h2 class="cx-h">Prompt<small>'
        f"{number(total)} tokens in all messages</small></h2>"
        f'<div class="cx-track" role="img" aria-label="Prompt zones in tokens: {spoken}">{bars}</div><ul class="cx-keys">{keys}</ul></div>'
    )
