"""The steps fits, summaries and sources: the budget in numbers, packing regret, page summaries and citations."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.inspect.budget_bar import Bar, budget_bar, strip_html
from ctxasm.app.ui.inspect.order import citation_shift, shift_html
from ctxasm.app.ui.widgets.chunk_clicks import at_of
from ctxasm.app.ui.widgets.context_marks import also_in, number_chip
from ctxasm.app.ui.widgets.fates import fates_by_key
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import decimal, number, title_of
from ctxasm.model.amounts import percent
from ctxasm.model.events import Prefixed
from ctxasm.model.results import Assembly, DocumentSize

NOTHING = 1e-12
"""A regret below this is none: the sums of fractions differ in their last digits."""
MOST_NAMES = 6


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
        return _note(assembly, "The baseline chooses nothing: it sends every hit, so there is no packing to compare it with.")
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
        return f"No packing of whole documents holds the best hit: {alone}. Beside what is kept of it, packing regret is {share}."
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
    spoken, formula = f"Value {decimal(regret.kept)} of {decimal(regret.best)}", f"Σ 1/({assembly.settings.pack_k} + rank) over the hits"
    return f'<div class="cx-values" role="img" aria-label="{spoken}" title="Value: {formula} that are sent">{drawn}</div>'


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
            '<span class="cx-fate">sent</span>'
            if document.kept
            else f'<span class="cx-fate gone">dropped</span> <span class="cx-need">needs {number(document.missing_tokens)} more</span>'
            if document.missing_tokens
            else '<span class="cx-fate gone">dropped</span>'
        )
        chunks = " ".join(dict.fromkeys(part.label for part in document.parts if part.label))
        numbers = " ".join(number_chip(n) for n in document.numbers)
        title = f"<span {at_of(document.document_id)}>{escape(document.title)}</span>"
        rows.append((numbers, title, escape(chunks), number(document.tokens), number(end), state))
    return table_html(("number", "document", "chunks", "tokens", "up to", "state"), rows, numeric=(3, 4), caption="Documents")


def show_budget(assembly: Assembly) -> None:
    """The bar above, document by document."""
    st.html(boxed(f'{regret_html(assembly)}<div style="height:10px"></div>{budget_table_html(budget_bar(assembly))}', "ctx-budget-table"))


class PrefixRow(NamedTuple):
    """A page summary in the context and the tokens it costs."""

    document_id: str
    title: str
    summary: str
    tokens: int


def prefixes(assembly: Assembly) -> tuple[PrefixRow, ...]:
    """The page summaries that were written, in context order."""
    documents = assembly.trace.documents
    written = [event for stage in assembly.trace.stages for event in stage.events if isinstance(event, Prefixed)]
    return tuple(
        PrefixRow(e.document_id, title_of(documents, e.document_id), documents[e.document_id].summary or "", e.tokens)
        for e in written
        if e.document_id in documents
    )


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
    heads = ("number", "source", "chunks", "snippet of the best hit", "also in")
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    return table_html(heads[:width], [row[:width] for row in rows], caption="Citations")


def prefixes_html(rows: Sequence[PrefixRow]) -> str:
    """The page summaries in the context, each once."""
    return table_html(
        ("document", "page summary", "tokens"),
        [(f"<span {at_of(r.document_id)}>{escape(r.title)}</span>", escape(r.summary), number(r.tokens)) for r in rows],
        (2,),
        "Page summaries",
    )


def show_prefixes(assembly: Assembly) -> None:
    """Where the tokens of the context are, and the page summaries among them."""
    middle = st.toggle(
        "Shade the middle of the context",
        key="shade_middle",
        persist_state="session",
        help="Position effect, Liu et al. 2024, illustrative.",
    )
    written = prefixes(assembly)
    summaries = prefixes_html(written) if written else '<p class="cx-note">No page summaries in this context.</p>'
    st.html(f"{strip_html(assembly, middle)}{boxed(summaries, 'ctx-prefixes')}")


def show_sources(assembly: Assembly) -> None:
    """What each number means, and what it would have meant before assembly."""
    shift = shift_html(citation_shift(assembly))
    st.html(boxed(f'<div style="display:grid;gap:14px">{_citations(assembly)}<div id="ctx-shift">{shift}</div></div>', "ctx-citations"))
