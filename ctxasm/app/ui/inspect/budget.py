"""The steps fits, summaries and sources: the budget in numbers, packing regret, page summaries and citations."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.fates import fates_by_key
from ctxasm.app.ui.context_marks import also_in, number_chip
from ctxasm.app.ui.inspect.budget_bar import Bar, axis_html, budget_bar, share_of_axis
from ctxasm.app.ui.inspect.order import citation_shift, shift_html
from ctxasm.app.ui.markup import at_of, boxed, table_html
from ctxasm.app.ui.words import decimal, number, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.events import Prefixed
from ctxasm.model.results import Assembly, DocumentSize

NOTHING = 1e-12
"""A regret below this is none: the sums of fractions differ in their last digits."""
MOST_NAMES = 6
STRETCH_KINDS = {"chunk": "body", "prefix": "prefix", "supplement": "supplement"}
"""What a segment is on the token axis; the others are scaffolding."""


def _left(assembly: Assembly) -> str:
    if assembly.overshoot_tokens:
        why = "only chunk text counts" if assembly.settings.enabled else "the baseline has no limit"
        return f"The context is {number(assembly.overshoot_tokens)} tokens over the limit: with this setting {why}."
    characters = assembly.settings.max_chars
    also = f", {number(max(0, characters - len(assembly.text)))} of {number(characters)} characters" if characters is not None else ""
    return f"{number(assembly.unused_tokens)} tokens{also} stay unused."


def _too_large(assembly: Assembly) -> DocumentSize | None:
    """The document of the best packing that does not fit as a whole, if there is one."""
    best = set(assembly.trace.regret.documents)
    return next((size for size in assembly.trace.sizes if size.document_id in best and size.tokens > assembly.limit), None)


def regret_html(assembly: Assembly) -> str:
    """What is left of the limit, and how much better the best packing of whole documents would be."""
    regret = assembly.trace.regret
    if not assembly.settings.enabled:
        return _note(assembly, "The baseline chooses nothing: it sends every found chunk, so there is no packing to compare it with.")
    if regret.best <= 0:
        return _note(assembly, "")
    return _note(assembly, _says(assembly), _bars(assembly) if regret.regret > NOTHING else "")


def _note(assembly: Assembly, says: str, picture: str = "") -> str:
    regret = assembly.trace.regret
    return (
        f'<div id="ctx-regret" data-regret="{regret.regret:.6f}" data-exact="{str(regret.exact).lower()}">'
        f'<p class="cx-note"><b>{_left(assembly)}</b> {says}</p>{picture}</div>'
    )


def _says(assembly: Assembly) -> str:
    regret = assembly.trace.regret
    within = "" if assembly.settings.max_chars is None else ", whatever its characters,"
    if regret.regret <= NOTHING:
        return f"No choice of whole documents{within} is worth more than this one (packing regret 0)."
    share = percent(regret.regret / regret.best)
    if large := _too_large(assembly):
        title = escape(title_of(assembly.trace.documents, large.document_id))
        alone = f"{title} alone has {number(large.tokens)} tokens"
        return f"No packing of whole documents holds the best chunk: {alone}. Beside what is kept of it, packing regret is {share}."
    if regret.exact:
        names = ", ".join(escape(title_of(assembly.trace.documents, key, 40)) for key in regret.documents[:MOST_NAMES])
        more = len(regret.documents) - MOST_NAMES
        best = f" Best: {names}{f' and {more} more' if more > 0 else ''}." if names else ""
        return f"Worth {share} less than the best choice of whole documents{within} (packing regret).{best}"
    bound = "what the best is worth is only known from above"
    return f"Worth at most {share} less than any choice of whole documents{within} (packing regret): {bound}."


def _bars(assembly: Assembly) -> str:
    """Two bars on one axis of value: what was chosen, and the best that whole documents could come to."""
    regret = assembly.trace.regret
    whole = max(regret.best, regret.kept)
    best = "with all of it" if _too_large(assembly) else "the best choice" if regret.exact else "no choice exceeds"
    rows = (
        ("this context", regret.kept, "kept"),
        (best, regret.best, "best" if regret.exact else "bound"),
    )
    drawn = "".join(_bar(name, value, whole, kind) for name, value, kind in rows)
    spoken = f"Value {decimal(regret.kept)} of {decimal(regret.best)}"
    formula = f"Σ 1/({assembly.settings.pack_k} + rank) over the found chunks"
    return f'<div class="cx-values" role="img" aria-label="{spoken}" title="Value: {formula} that are kept">{drawn}</div>'


def _bar(name: str, value: float, whole: float, kind: str) -> str:
    return (
        f'<div class="cx-value" data-value="{kind}"><span>{name}</span>'
        f'<div><i class="v-{kind}" style="width:{100 * value / whole:.2f}%"></i></div><b>{decimal(value)}</b></div>'
    )


def budget_table_html(bar: Bar) -> str:
    """Every document on the token axis, in numbers."""
    rows = []
    end = 0
    for document in bar.documents:
        end += document.tokens
        state = (
            '<span class="cx-fate">kept</span>'
            if document.kept
            else f'<span class="cx-fate gone">left out</span> <span class="cx-need">needs {number(document.missing_tokens)} more</span>'
            if document.missing_tokens
            else '<span class="cx-fate gone">left out</span>'
        )
        chunks = " ".join(dict.fromkeys(part.label for part in document.parts if part.label))
        numbers = " ".join(number_chip(n) for n in document.numbers)
        title = f"<span {at_of(document.document_id)}>{escape(document.title)}</span>"
        rows.append((numbers, title, escape(chunks), number(document.tokens), number(end), state))
    return table_html(("number", "document", "chunks", "tokens", "up to", "state"), rows, numeric=(3, 4), caption="Documents")


def show_budget(assembly: Assembly) -> None:
    """The bar above, document by document."""
    st.html(boxed(f'{regret_html(assembly)}<div style="height:10px"></div>{budget_table_html(budget_bar(assembly))}', "ctx-budget-table"))


def summaries_html(assembly: Assembly) -> str:
    """The page summaries in the context, in its order, each once."""
    documents = assembly.trace.documents
    rows = [
        (
            f"<span {at_of(event.document_id)}>{escape(title_of(documents, event.document_id))}</span>",
            escape(documents[event.document_id].summary or ""),
            number(event.tokens),
        )
        for stage in assembly.trace.stages
        for event in stage.events
        if isinstance(event, Prefixed) and event.document_id in documents
    ]
    if not rows:
        return '<p class="cx-note">No page summaries in this context.</p>'
    return table_html(("document", "page summary", "tokens"), rows, (2,), "Page summaries")


def _citations(assembly: Assembly) -> str:
    rows, fates = [], fates_by_key(assembly)
    for citation in assembly.citations:
        also = "<br>".join(
            f"{escape(place.title)}{f' <span class={chr(34)}cx-mute{chr(34)}>{escape(place.label)}</span>' if place.label else ''}"
            for place in also_in(assembly, citation, fates)
        )
        page = (
            f"page {citation.page_number}"
            if citation.page_number is not None
            else f"row {citation.row_number}"
            if citation.row_number is not None
            else ""
        )
        chunks = ", ".join(f"#{index}" for index in citation.chunk_indexes)
        source = (
            f"<span {at_of(citation.document_id, citation.chunk_indexes[0])}>"
            f'{escape(title_of(assembly.trace.documents, citation.document_id))}</span><br><span class="cx-mute cx-small">'
            f"{escape(citation.ref)} {page}</span>"
        )
        rows.append((number_chip(citation.number), source, chunks, escape(citation.snippet), also))
    heads = ("number", "source", "chunks", "snippet of the best chunk", "also in")
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    return table_html(heads[:width], [row[:width] for row in rows], caption="Citations")


class AxisRun(NamedTuple):
    """A run of the context on the token axis: tokens `start` to `end`."""

    kind: str
    start: int
    end: int
    block: int | None
    document_id: str | None


def token_axis(assembly: Assembly) -> tuple[AxisRun, ...]:
    """The context from first to last token as runs of prefix, body and scaffolding; equal neighbours merged."""
    runs: list[AxisRun] = []
    at = 0
    for segment in assembly.segments:
        kind = STRETCH_KINDS.get(segment.kind, "scaffold")
        end = at + segment.tokens
        if runs and (runs[-1].kind, runs[-1].block) == (kind, segment.block):
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(AxisRun(kind, at, end, segment.block, segment.document_id))
        at = end
    return tuple(runs)


def _spread(ticks: list[str], limit: int = 24) -> list[str]:
    return ticks if len(ticks) <= limit else ticks[:: len(ticks) // limit + 1]


def token_axis_html(assembly: Assembly) -> str:
    """The context on the token axis: prefix, body, scaffolding, a tick where each block starts."""
    runs = token_axis(assembly)
    total = max(runs[-1].end if runs else 0, 1)
    track = "".join(_run_html(run, total) for run in runs)
    ticks, seen = [], set()
    for run in runs:
        if run.block is not None and run.block not in seen:
            seen.add(run.block)
            ticks.append(f'<span class="cx-tick" style="left:{share_of_axis(run.start, total)}">[{run.block}]</span>')
    spoken = f"Token axis of the context: {total} tokens in {counted(len(seen), 'block')}."
    return (
        f'<div class="cx" id="ctx-strip"><div class="cx-strip" role="img" aria-label="{spoken}">'
        f'{"".join(_spread(ticks))}<div class="cx-strip-track">{track}</div></div>'
        f'{axis_html(total)}<div class="cx-legend"><span><i class="cx-swatch k-body"></i>body</span><span>'
        '<i class="cx-swatch k-prefix"></i>page summary</span>'
        '<span><i class="cx-swatch k-scaffold"></i>headers, separators, gap marks</span></div></div>'
    )


def _run_html(run: AxisRun, total: int) -> str:
    odd = " alt" if run.kind == "body" and (run.block or 0) % 2 == 0 else ""
    return (
        f'<div class="k-{run.kind}{odd}" style="width:{share_of_axis(run.end - run.start, total)}" title="{run.kind}, tokens '
        f'{number(run.start)} to {number(run.end)}"></div>'
    )


def show_prefixes(assembly: Assembly) -> None:
    """Where the tokens of the context are, and the page summaries among them."""
    st.html(f"{token_axis_html(assembly)}{boxed(summaries_html(assembly), 'ctx-prefixes')}")


def show_sources(assembly: Assembly) -> None:
    """What each number means, and what it would have meant before assembly."""
    shift = shift_html(citation_shift(assembly))
    st.html(boxed(f'<div style="display:grid;gap:14px">{_citations(assembly)}<div id="ctx-shift">{shift}</div></div>', "ctx-citations"))
