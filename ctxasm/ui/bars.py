"""The budget bar, the header and the minimaps as HTML: plain divs, so that a moved setting is redrawn at once. Pure.

Everything from outside goes through `html.escape`. Lengths are percentages of a token axis.
"""

from __future__ import annotations

from html import escape

from ctxasm.model.events import Supplemented
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import spec_of
from ctxasm.ui.event_words import SUPPLEMENT_RULES, supplement_sentence
from ctxasm.ui.rows import SUPPLEMENT, Bar, BarDocument, Figure, Part, Stretch, budget_bar, header_figures, token_axis
from ctxasm.ui.words import number, plural
from ctxasm.ui.zones_picture import zones_picture

KIND_NAMES = {
    "retrieved": "retrieved",
    "added": "added neighbour",
    "prefix": "page summary",
    "supplement": "supplement",
    "scaffold": "headers and separators",
    "dropped": "dropped",
}
CLIP = 2.0
"""The bar ends at this many times the limit; what is dropped beyond is said in words."""
FAR = 4
"""From this many times what there is, the limit of a large window is not drawn to scale."""
LARGEST_FIXED = spec_of("max_tokens").high or 16000
SHOWN_KEYS = 8
"""Documents named under the bar before the rest folds away."""


def header_html(assembly: Assembly) -> str:
    """The six figures of the header."""
    over = assembly.overshoot_tokens > 0
    return (
        f'<dl class="cx-figures" id="ctx-header" data-tokens="{assembly.token_count}">'
        f"{''.join(_figure(f, over) for f in header_figures(assembly))}</dl>"
    )


def _figure(figure: Figure, over: bool) -> str:
    value = f"{figure.value:.1f}" if isinstance(figure.value, float) else number(figure.value)
    warn = " warn" if over and figure.name == "tokens" else ""
    note = " ".join(number(int(word)) if word.isdigit() else word for word in figure.note.split())
    return (
        f'<div class="cx-figure{warn}" data-figure="{figure.name}" data-value="{figure.value}"><dt>{figure.label}</dt><dd><b>'
        f"{value}</b><span>{note}</span></dd></div>"
    )


def budget_html(assembly: Assembly, stamp: str, fresh: frozenset[Key] = frozenset()) -> str:
    """Header and budget bar in one piece, addressable as `#ctx-budget`. `fresh` chunks came in with the last change."""
    bar = budget_bar(assembly)
    kept = plural(bar.sources, "document")
    spoken = f"Budget bar: {bar.used} of {bar.limit} tokens used by {kept}; {plural(len(bar.dropped), 'document')} dropped."
    return (
        f'<section class="cx cx-budget" id="ctx-budget" data-tokens="{bar.used}" data-limit="{bar.limit}" data-stamp="{escape(stamp)}">'
        f"{header_html(assembly)}{zones_picture(assembly, _limit_at(bar))}"
        f'<div class="cx-plot" role="img" aria-label="{escape(spoken)}">{_track(bar, fresh)}</div>'
        f"{_axis(_shown_axis(bar))}{_keys(bar, fresh)}</section>"
    )


def _limit_at(bar: Bar) -> float:
    """Where the limit stands on the bar, in percent of its width."""
    return min(100.0, 100 * bar.limit / max(_shown_axis(bar), 1))


def _shown_axis(bar: Bar) -> int:
    if _is_far(bar):
        return int(max(1000, 1.25 * _held(bar)))
    return int(min(bar.axis, max(CLIP * bar.limit, 1.05 * bar.used)))


def _held(bar: Bar) -> int:
    return max(bar.used, sum(document.tokens for document in bar.documents))


def _is_far(bar: Bar) -> bool:
    """Whether the limit of a large window lies so far right that the documents could not be told apart beside it."""
    return bar.limit > LARGEST_FIXED and bar.limit > FAR * _held(bar)


def _percent(tokens: float, axis: int) -> str:
    return f"{100 * tokens / max(axis, 1):.3f}%"


def _track(bar: Bar, fresh: frozenset[Key]) -> str:
    axis = _shown_axis(bar)
    groups = "".join(_group(document, axis, fresh) for document in bar.runs)
    at = 100 * bar.limit / max(axis, 1)
    side, far = " left" if at < 22 else "", " far" if _is_far(bar) else ""
    used = f'<span class="cx-used" style="left:0">{number(bar.used)} used</span>' if at > 30 else ""
    return (
        f'{used}<div class="cx-track">{groups}</div>'
        f'<div class="cx-limit{side}{far}" style="left:min({at:.3f}%, calc(100% - 2px))" data-limit="{bar.limit}"><span>'
        f"limit {number(bar.limit)}{' →' if far else ''}</span></div>"
    )


def _group(document: BarDocument, axis: int, fresh: frozenset[Key]) -> str:
    parts = "".join(_part(part, document.tokens, _is_fresh(document, part, fresh)) for part in document.parts)
    tag = "".join(f"[{n}]" for n in document.numbers[:3]) + ("…" if len(document.numbers) > 3 else "")
    label = f'<span class="cx-tag">{tag}</span>' if tag else ""
    state = "kept" if document.kept else "dropped"
    return (
        f'<div class="cx-group" style="width:{_percent(document.tokens, axis)}" data-document="{escape(document.document_id)}" '
        f'data-state="{state}"'
        f' title="{escape(_key_text(document))}">{label}{parts}</div>'
    )


def _is_fresh(document: BarDocument, part: Part, fresh: frozenset[Key]) -> bool:
    return document.kept and part.chunk_index is not None and (document.document_id, part.chunk_index) in fresh


def _part(part: Part, whole: int, new: bool) -> str:
    name = f"{part.label} · {KIND_NAMES[part.kind]}{' · new' if new else ''}" if part.label else KIND_NAMES[part.kind]
    return (
        f'<div class="cx-part k-{part.kind}{" new" if new else ""}" style="width:{_percent(part.tokens, whole)}" title="{escape(name)} · '
        f'{plural(part.tokens, "token")}"></div>'
    )


def _axis(axis: int) -> str:
    step = next(
        step for step in (50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 10**9) if axis / step <= 6
    )
    ticks = [*range(0, axis - step // 3, step)]
    marks = "".join(f'<span style="left:{_percent(tick, axis)}">{number(tick)}</span>' for tick in ticks)
    return f'<div class="cx-axis" aria-hidden="true">{marks}<span style="left:100%">{number(axis)} tokens</span></div>'


def _key_text(document: BarDocument) -> str:
    numbers = "".join(f"[{n}]" for n in document.numbers)
    state = _need_text(document) if not document.kept else plural(document.tokens, "token")
    return f"{numbers} {document.title}: {state}".strip()


def _need_text(document: BarDocument) -> str:
    return f"needs {number(document.missing_tokens)} more" if document.missing_tokens else "dropped"


def _keys(bar: Bar, fresh: frozenset[Key]) -> str:
    items = [*_left_out(bar), *(_key(document, fresh, bar.supplement) for document in (*bar.kept, *bar.dropped))]
    shown, rest = items[:SHOWN_KEYS], items[SHOWN_KEYS:]
    more = f'<details><summary>and {number(len(rest))} more</summary><ul class="cx-keys">{"".join(rest)}</ul></details>' if rest else ""
    beyond = max(0, bar.axis - _shown_axis(bar))
    note = (
        f'<span class="cx-note cx-small">{number(beyond)} more tokens of dropped documents lie to the right of the bar.</span>'
        if beyond and not _is_far(bar)
        else ""
    )
    drawn = {kind: name for kind, name in KIND_NAMES.items() if kind != "supplement" or (bar.supplement and bar.supplement.injected)}
    legend = "".join(f'<span><i class="cx-swatch k-{kind}"></i>{name}</span>' for kind, name in drawn.items())
    legend += '<span><i class="cx-swatch cx-new"></i>new with the last change</span>' if fresh else ""
    return (
        f'<ul class="cx-keys" aria-label="Documents on the budget bar">{"".join(shown)}</ul>{more}{note}<div class="cx-key-head">'
        f'<div class="cx-legend">{legend}</div></div>'
    )


def _left_out(bar: Bar) -> list[str]:
    """A supplement that stays out is on no axis: it is said in words."""
    if bar.supplement is None or bar.supplement.injected:
        return []
    says = escape(supplement_sentence(bar.supplement).rstrip("."))
    return [f'<li data-supplement="out"><i class="cx-swatch k-supplement out"></i><span class="cx-mute">{says}</span></li>']


def _key(document: BarDocument, fresh: frozenset[Key], supplement: Supplemented | None) -> str:
    new = sum(_is_fresh(document, part, fresh) for part in document.parts)
    mark = f' <span class="cx-new-count" data-new="{new}">{new} new</span>' if new else ""
    if document.kept and document.document_id == SUPPLEMENT:
        why = f": {SUPPLEMENT_RULES[supplement.rule]}" if supplement is not None else ""
        return (
            f'<li data-state="kept" data-supplement="in"><i class="cx-swatch k-supplement"></i><span>Supplement '
            f'<span class="cx-mute">{number(document.tokens)}{why}</span></span></li>'
        )
    if document.kept:
        numbers = "".join(f'<a class="cx-num" href="#ctx-block-{n}">{n}</a>' for n in document.numbers[:6])
        return (
            f'<li data-state="kept">{numbers}<span>{escape(document.title)} <span class="cx-mute">{number(document.tokens)}</span>{mark}'
            "</span></li>"
        )
    return (
        f'<li data-state="dropped" data-missing="{document.missing_tokens or ""}"><i class="cx-swatch k-dropped"></i><span>'
        f"{escape(document.title)}"
        f' <span class="cx-mute">{number(document.tokens)}</span> <span class="cx-need">{_need_text(document)}</span></span></li>'
    )


def strip_html(assembly: Assembly, middle: bool) -> str:
    """The context on the token axis: prefix, body, scaffolding, a tick where each block starts."""
    runs = token_axis(assembly)
    total = max(runs[-1].end if runs else 0, 1)
    track = "".join(_stretch(run, total) for run in runs)
    ticks, seen = [], set()
    for run in runs:
        if run.block is not None and run.block not in seen:
            seen.add(run.block)
            ticks.append(f'<span class="cx-tick" style="left:{_percent(run.start, total)}">[{run.block}]</span>')
    band = '<div class="cx-middle" style="left:25%;width:50%"></div>' if middle else ""
    label = (
        '<p class="cx-note cx-small">Shaded: position effect, Liu et al. 2024, illustrative. Models read the middle of a long context '
        "least.</p>"
        if middle
        else ""
    )
    spoken = f"Token axis of the context: {total} tokens in {plural(len(seen), 'block')}."
    return (
        f'<div class="cx" id="ctx-strip"><div class="cx-strip" role="img" aria-label="{spoken}">'
        f'{"".join(_spread(ticks))}<div class="cx-strip-track">{track}</div>{band}</div>'
        f'{_axis(total)}{label}<div class="cx-legend"><span><i class="cx-swatch k-body"></i>body</span><span>'
        '<i class="cx-swatch k-prefix"></i>page summary</span>'
        '<span><i class="cx-swatch k-scaffold"></i>headers, separators, gap marks</span></div></div>'
    )


def _spread(ticks: list[str], limit: int = 24) -> list[str]:
    return ticks if len(ticks) <= limit else ticks[:: len(ticks) // limit + 1]


def _stretch(run: Stretch, total: int) -> str:
    odd = " alt" if run.kind == "body" and (run.block or 0) % 2 == 0 else ""
    return (
        f'<div class="k-{run.kind}{odd}" style="width:{_percent(run.end - run.start, total)}" title="{run.kind}, tokens '
        f'{number(run.start)} to {number(run.end)}"></div>'
    )
