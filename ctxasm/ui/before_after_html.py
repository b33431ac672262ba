"""The strip that says what a changed setting did, as HTML. Pure; everything from outside is escaped."""

from __future__ import annotations

from html import escape

from ctxasm.ui.before_after_rows import Changed, Comparison, Delta
from ctxasm.ui.setting_words import CHOICES
from ctxasm.ui.words import number

MOST_SETTINGS = 3
"""Changed settings that are named; a preset changes more."""
MARKS = {"better": "▲", "worse": "▼", "": ""}


def strip_html(compared: Comparison, stamp: str) -> str:
    """The changed settings, and every figure before and now."""
    figures = "".join(_figure(delta) for delta in compared.deltas) + _cached(compared)
    return (
        f'<section class="cx cx-change" id="ctx-change" aria-label="What the change did" data-stamp="{escape(stamp)}">'
        f'<p class="cx-change-head"><b>Changed</b> {_settings(compared.settings)}</p><dl class="cx-change-figures">{figures}</dl>'
        f"{_says(compared)}</section>"
    )


def _settings(changed: tuple[Changed, ...]) -> str:
    named = "; ".join(_setting(each) for each in changed[:MOST_SETTINGS])
    rest = len(changed) - MOST_SETTINGS
    return named + (f'; <span class="cx-mute">and {rest} more</span>' if rest > 0 else "")


def _setting(changed: Changed) -> str:
    does = CHOICES.get(changed.name, {}).get(changed.now, "")
    what = f' <span class="cx-mute">({escape(does)})</span>' if does else ""
    return (
        f'<span data-setting="{changed.name}"><code>{changed.name}</code>: <s class="cx-mute">{escape(changed.before)}</s> → '
        f"<b>{escape(changed.now)}</b>{what}</span>"
    )


def _figure(delta: Delta) -> str:
    same = _shown(delta.before) == _shown(delta.now)
    of = f'<span class="cx-mute"> of {number(delta.of)}</span>' if delta.of is not None else ""
    unit = "\u202f%" if delta.unit == "%" else ""
    most = "≤\u202f" if delta.bound and delta.now else ""
    was = "" if same else f'<span class="cx-mute">{_shown(delta.before)}{unit} → </span>'
    mark = "" if same else MARKS[delta.verdict]
    says = f'<i class="cx-change-mark" aria-label="{delta.verdict}">{mark}</i>' if mark else ""
    look = " same" if same else f" {delta.verdict}"
    return (
        f'<div class="cx-change-figure{look}" data-delta="{delta.name}" data-before="{delta.before:g}" data-now="{delta.now:g}">'
        f"<dt>{delta.label}</dt><dd>{was}<b>{most}{_shown(delta.now)}{unit}</b>{of}{says}</dd></div>"
    )


def _shown(value: float) -> str:
    return number(round(value))


def _cached(compared: Comparison) -> str:
    title = "Tokens at the start of this context that are those of the one before: what a server's prefix cache takes over."
    return (
        f'<div class="cx-change-figure" data-delta="cached" data-now="{compared.cached}" title="{title}"><dt>prefix in cache</dt>'
        f'<dd><b>{number(compared.cached)}</b><span class="cx-mute"> of {number(compared.tokens)}</span></dd></div>'
    )


def _says(compared: Comparison) -> str:
    return f'<p class="cx-note cx-small">{escape(compared.says)}</p>' if compared.says else ""
