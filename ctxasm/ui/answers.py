"""An answer as escaped HTML: markers as chips, unknown ones shown as such, sources with their snippets, the prompt's zones. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ctxasm.citations.markers import ResolvedMarker
from ctxasm.model.records import Document
from ctxasm.model.results import Citation
from ctxasm.prompts import Zone
from ctxasm.ui.marks import colour_of
from ctxasm.ui.words import number, plural, title_of

ZONES = {"system": "#5B5EA6", "history": "#CC79A7", "scaffolding": "#7F7F7F", "context": "#0072B2", "question": "#E69F00"}
ZONE_MARKS = {
    "system": "background-image:repeating-linear-gradient(45deg,transparent 0 5px,rgb(255 255 255/.35) 5px 7px)",
    "history": "background-image:radial-gradient(rgb(255 255 255/.5) 1px,transparent 1.2px);background-size:5px 5px",
    "scaffolding": "",
    "context": "",
    "question": "background-image:repeating-linear-gradient(-45deg,transparent 0 5px,rgb(255 255 255/.45) 5px 7px)",
}


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as far as it has come, for one scene. `note` and `error` say why it is not whole."""

    stamp: str
    model: str
    is_language_model: bool
    text: str = ""
    markers: tuple[ResolvedMarker, ...] = ()
    done: bool = False
    complete: bool = False
    note: str | None = None
    error: str | None = None
    elapsed_ms: float = 0.0
    first_piece_ms: float | None = None
    called: bool = True


def answer_html(told: Told, decided: int | None = None) -> str:
    """The answer up to `decided` characters (default: all), each marker as a chip."""
    end = len(told.text) if decided is None else decided
    pieces, at = [], 0
    for resolved in told.markers:
        marker = resolved.marker
        if marker.end > end or marker.start < at:
            continue
        pieces += [escape(told.text[at : marker.start]), _chips(resolved)]
        at = marker.end
    pieces.append(escape(told.text[at:end]))
    live = "" if told.done else ' aria-busy="true"'
    return (
        f'<div class="cx"><div class="cx-answer" id="ctx-answer" dir="auto" aria-live="polite" data-done="{str(told.done).lower()}'
        f'"{live}>{"".join(pieces)}</div></div>'
    )


def _chips(resolved: ResolvedMarker) -> str:
    known = "".join(
        f'<a class="cx-num" style="--n:{colour_of(n)}" href="#ctx-source-{n}" data-marker="{n}" aria-label="Source {n}" title="Go to '
        f'source {n}">{n}</a>'
        for n in resolved.known
    )
    unknown = "".join(
        f'<span class="cx-unknown" data-unknown="{n}" title="No source has this number">[{n}] unknown</span>' for n in resolved.unknown
    )
    if not known and not unknown:
        unknown = f'<span class="cx-unknown" title="This marker names no source">{escape(resolved.marker.text)} unreadable</span>'
    return known + unknown


def verdict_html(told: Told) -> str:
    """What kind of answer this is, how long it took, and why it is not whole where it is not."""
    kind = "language model" if told.is_language_model else "no language model"
    unknown = sum(len(m.unknown) or (not m.known) for m in told.markers)
    known = sum(len(m.known) for m in told.markers)
    badges = [f'<span class="cx-badge{"" if told.is_language_model else " warn"}"><b>{escape(told.model)}</b></span>']
    if "language model" not in told.model:
        badges.append(f'<span class="cx-badge">{kind}</span>')
    if told.called and told.done:
        badges.append(f'<span class="cx-badge{" ok" if known and not unknown else ""}">{plural(known, "marker")} resolved</span>')
        if unknown:
            badges.append(
                f'<span class="cx-badge warn" data-unknown-count="{unknown}"><span class="cx-dot warn"></span>{unknown} unknown</span>'
            )
        first = f", first text after {told.first_piece_ms:.0f} ms" if told.first_piece_ms is not None else ""
        badges.append(f'<span class="cx-badge">{told.elapsed_ms:.0f} ms{first}</span>')
    panel = ""
    if told.error or told.note:
        panel = (
            '<div class="cx-panel warn" role="alert" id="ctx-incomplete" style="margin-top:10px"><h3>Incomplete answer</h3><p>'
            f'{escape(told.error or told.note or "")}</p><p class="cx-mute">What had arrived is kept above.</p></div>'
        )
    elif not told.called:
        panel = (
            '<div class="cx-panel" id="ctx-not-called" style="margin-top:10px"><h3>The model was not called</h3><p>'
            "The context is empty, so there is nothing to answer from.</p></div>"
        )
    return f'<div class="cx"><div class="cx-badges" id="ctx-verdict">{"".join(badges)}</div>{panel}</div>'


def sources_html(citations: Sequence[Citation], documents: Mapping[str, Document], told: Told | None) -> str:
    """A card per citation, with its snippet; those that the answer cites stand out."""
    cited = Counter(n for marker in (told.markers if told else ()) for n in marker.known)
    cards = "".join(_source(citation, documents, cited[citation.number], told is not None) for citation in citations)
    return (
        f'<div class="cx"><h2 class="cx-h">Sources<small>{len(cited)} of {len(citations)} cited</small></h2>'
        f'<div class="cx-sources" id="ctx-sources">{cards}</div></div>'
    )


def _source(citation: Citation, documents: Mapping[str, Document], times: int, asked: bool) -> str:
    colour = colour_of(citation.number)
    page = f" · page {citation.page_number}" if citation.page_number is not None else ""
    state = f"cited {times} ×" if times else "not cited" if asked else ""
    also = "".join(f"<p>also in {escape(title_of(documents, key, 50))}</p>" for key in dict.fromkeys(key for key, _ in citation.also_in))
    return (
        f'<article class="cx-source{" idle" if asked and not times else ""}" id="ctx-source-{citation.number}" data-cited="{times}" '
        f'style="--c:{colour}">'
        f'<span class="cx-num" style="--n:{colour}">{citation.number}</span> <b>{escape(title_of(documents, citation.document_id))}</b>'
        f'<br><span class="cx-mute cx-small">{escape(citation.ref)}{page} {"· " + state if state else ""}</span><p dir="auto">'
        f"{escape(citation.snippet)}</p>{also}</article>"
    )


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
