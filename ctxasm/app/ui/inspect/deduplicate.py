"""Deduplicate: a bar per neighbouring pair, the seam behind each bar, the duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.inspect.copies import Copy, chunk_name, copies, copies_html, difference, difference_html
from ctxasm.app.ui.inspect.expand import _lane_title, document_order
from ctxasm.app.ui.widgets.charts import DROPPED, GREY, OK, REMOVED, RETRIEVED, chart_shell, chart_text, go, show_chart
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.event_words import coincidence_words
from ctxasm.app.ui.words.words import plural, title_of
from ctxasm.model.events import Coincidence, Merged, NearMiss, Stripped
from ctxasm.model.results import Assembly, Key

MOST_PAIRS = 40
"""Pairs drawn as bars; the largest overlaps first win a place."""
_VERDICTS: dict[type, Literal["stripped", "merged", "below", "coincidence"]] = {
    Stripped: "stripped",
    Merged: "merged",
    NearMiss: "below",
    Coincidence: "coincidence",
}
CONTEXT_CHARS = 160
"""How much text around a seam the overlap view shows, in characters."""
_VERDICT_LOOK = {
    "stripped": ("stripped", REMOVED, ""),
    "merged": ("merged whole", OK, "x"),
    "below": ("kept: at or below the threshold", RETRIEVED, "/"),
    "coincidence": ("kept: coincidence", "#CC79A7", "."),
    "none": ("nothing shared", DROPPED, ""),
}


class OverlapPair(NamedTuple):
    """Two neighbouring chunks and what they share. `first_end` characters of the first and `chars` of the second meet."""

    document_id: str
    title: str
    first: int
    second: int
    chars: int
    verdict: Literal["stripped", "merged", "below", "coincidence", "none"]
    tail: str
    head: str
    rest: str
    first_chars: int


def _copy_label(assembly: Assembly, copy: Copy | None, name: str) -> str:
    return name if copy is None else f"{chunk_name(assembly, copy.copy)} · {chunk_name(assembly, copy.kept)}"


def _looked_for(assembly: Assembly) -> str:
    """The kinds of duplicates that the settings look for: `exact or near`."""
    settings = assembly.settings
    kinds = {"exact": settings.dedup_exact, "near": settings.dedup_near, "semantic": settings.dedup_semantic}
    return " or ".join(kind for kind, on in kinds.items() if on)


def _largest(pairs: tuple[OverlapPair, ...]) -> list[OverlapPair]:
    chosen = set(sorted(pairs, key=lambda pair: -pair.chars)[:MOST_PAIRS])
    return [pair for pair in pairs if pair in chosen]


def _pair_label(names: dict[str, OverlapPair], name: str) -> str:
    pair = names.get(name)
    return name if pair is None else f"{name} · {plural(pair.chars, 'character')} · {pair.verdict}"


def overlap_pairs(assembly: Assembly) -> tuple[OverlapPair, ...]:
    """Every pair of neighbours among the candidates, in document order, with the characters they share."""
    record = assembly.trace.stage("deduplicate")
    found: dict[Key, tuple[int, Literal["stripped", "merged", "below", "coincidence"]]] = {}
    for event in record.events if record else ():
        if isinstance(event, (Stripped, Merged, NearMiss, Coincidence)):
            found[event.document_id, event.chunk_index] = (event.chars, _VERDICTS[type(event)])
    keys = sorted((key for key in assembly.trace.candidates), key=lambda key: key)
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    pairs = [
        _pair(assembly, key, *found.get(key, (0, "none")))
        for key in sorted(keys, key=lambda key: (order.get(key[0], len(order)), key[1]))
        if (key[0], key[1] - 1) in assembly.trace.candidates
    ]
    return tuple(pairs)


def _pair(assembly: Assembly, key: Key, chars: int, verdict: Literal["stripped", "merged", "below", "coincidence", "none"]) -> OverlapPair:
    document_id, index = key
    first = assembly.trace.candidates[document_id, index - 1].chunk.text
    second = assembly.trace.candidates[key].chunk.text
    return OverlapPair(
        document_id,
        title_of(assembly.trace.documents, document_id, 40),
        index - 1,
        index,
        chars,
        verdict,
        first[max(0, len(first) - chars - CONTEXT_CHARS) : len(first) - chars] if chars else first[-CONTEXT_CHARS:],
        second[:chars],
        second[chars : chars + CONTEXT_CHARS],
        len(first),
    )


def overlap_figure(pairs: Sequence[OverlapPair], threshold: int) -> go.Figure:
    """A bar per neighbouring pair, its overlap in characters; a line at the threshold. A title above each document's bars."""
    places, titles, y = [], [], -1.0
    for before, pair in zip([None, *pairs], pairs, strict=False):
        if before is None or before.document_id != pair.document_id:
            y += 1.0
            titles.append(_lane_title(y, f"<b>{chart_text(pair.title)}</b>"))
        y += 1.0
        places.append(y)
    figure = chart_shell(int(110 + 23 * (y + 1)), bargap=0.3, barmode="overlay")
    for verdict, (label, colour, pattern) in _VERDICT_LOOK.items():
        own = [(place, pair) for place, pair in zip(places, pairs, strict=True) if pair.verdict == verdict]
        if own:
            figure.add_trace(_bars(own, label, colour, pattern))
    figure.add_vline(x=threshold, line={"color": GREY, "width": 2, "dash": "dash"})
    says = {
        "x": threshold,
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "yshift": -22,
        "xanchor": "left",
        "showarrow": False,
        "font": {"color": GREY},
    }
    figure.update_layout(annotations=[*titles, {**says, "text": f"strip above {threshold}"}], margin={"b": 34})
    ticks = [f"{pair.first}→{pair.second} " for pair in pairs]
    figure.update_yaxes(range=[y + 0.6, -0.7], tickvals=places, ticktext=ticks, showgrid=False, zeroline=False, automargin=True)
    figure.update_xaxes(title="shared characters", rangemode="tozero", zeroline=False, gridcolor="rgba(127,127,127,.18)", automargin=True)
    return figure


def _bars(own: Sequence[tuple[float, OverlapPair]], label: str, colour: str, pattern: str) -> go.Bar:
    return go.Bar(
        y=[place for place, _ in own],
        x=[pair.chars for _, pair in own],
        name=label,
        orientation="h",
        width=0.72,
        marker={"color": colour, "pattern": {"shape": pattern, "fgcolor": "rgba(255,255,255,.8)", "size": 6}},
        customdata=[[pair.document_id, pair.second] for _, pair in own],
        hovertext=[f"{chart_text(pair.title)} {pair.first}→{pair.second}: {pair.chars} characters" for _, pair in own],
        hoverinfo="text",
        text=[str(pair.chars) for _, pair in own],
        textposition="outside",
        cliponaxis=False,
    )


def seam_html(pair: OverlapPair, threshold: int) -> str:
    """The tail of N with the shared text marked, the head of N+1 with what is not repeated struck through."""
    gone = pair.verdict in ("stripped", "merged")
    tag = "del" if gone else "mark"
    shared = escape(pair.head)
    why = {
        "stripped": f"{plural(pair.chars, 'character')} shared: shown once, by #{pair.first}.",
        "merged": f"#{pair.second} is contained in #{pair.first}: shown once.",
        "below": f"{plural(pair.chars, 'character')} shared, the threshold is {threshold}: both are kept.",
        "coincidence": f"Both are kept whole: {coincidence_words(pair.chars, pair.first_chars, f'#{pair.first}')}",
        "none": "Nothing shared: both are kept as they are.",
    }[pair.verdict]
    return (
        f'<p class="cx-note">{why}</p><div class="cx-seam" style="margin-top:8px"><div class="cx-quote" tabindex="0" role="region"'
        f' aria-label="End of the first chunk"><h3>end of #{pair.first}</h3>'
        f"…{escape(pair.tail)}"
        f"<mark>{shared}</mark></div>"
        f'<div class="cx-quote" tabindex="0" role="region"'
        f' aria-label="Start of the second chunk"><h3>start of #{pair.second}</h3><{tag}>{shared}</{tag}>{escape(pair.rest)}…</div></div>'
    )


def show_deduplicate(assembly: Assembly) -> None:
    """What neighbours share and what was done about it."""
    pairs = overlap_pairs(assembly)
    if not assembly.settings.enabled:
        show_empty("Assembly is off", "The baseline keeps every retrieved chunk as it is. Turn Assembly on in the sidebar.")
        return
    _show_copies(assembly)
    if pairs:
        _show_pairs(assembly, _largest(pairs))
    else:
        show_empty("No neighbouring chunks", "No two candidates stand next to each other in a document: raise the expand window.")


def _show_copies(assembly: Assembly) -> None:
    found = copies(assembly)
    if found:
        st.html(boxed(copies_html(assembly, found), "ctx-duplicates"))
        _show_difference(assembly, [copy for copy in found if copy.likeness != "exact"])
    elif looked_for := _looked_for(assembly):
        st.html(boxed(f'<p class="cx-note">No {looked_for} duplicates among the candidates.</p>', "ctx-duplicates"))


def _show_difference(assembly: Assembly, near: list[Copy]) -> None:
    """Two texts that are only alike, side by side: whether one may stand for the other is for the reader to see."""
    names = {f"{copy.copy[0]} #{copy.copy[1]}": copy for copy in near}
    if not names:
        return
    if session.copy not in names:
        session.copy = next(iter(names))
    name = st.selectbox(
        "Side by side", list(names), key=Session.copy.key, format_func=lambda name: _copy_label(assembly, names.get(name), name)
    )
    copy = names[name]
    texts = [assembly.trace.candidates[key].chunk.text if key in assembly.trace.candidates else "" for key in (copy.copy, copy.kept)]
    st.html(boxed(difference_html(assembly, copy, difference(*texts)), "ctx-difference"))


def _show_pairs(assembly: Assembly, pairs: list[OverlapPair]) -> None:

    gone = [pair for pair in pairs if pair.verdict in ("stripped", "merged")]
    near = [pair for pair in pairs if pair.verdict == "below"]
    chars = sum(pair.chars for pair in gone)
    note = (
        f"{plural(len(gone), 'pair')} of {len(pairs)} share text that is shown once ({plural(chars, 'character')}); "
        f"{plural(len(near), 'near miss').replace('misss', 'misses')} below the threshold kept."
    )
    st.html(boxed(f'<p class="cx-note">{note} Click a bar, or choose a pair, to see the seam.</p>'))
    threshold = assembly.settings.min_overlap_chars
    picked = show_chart(
        overlap_figure(pairs, threshold), "overlaps", f"Shared characters of {len(pairs)} neighbouring pairs; threshold {threshold}."
    )
    names = {f"{pair.document_id} {pair.first}→{pair.second}": pair for pair in pairs}
    if picked and picked != session.picked_bar:
        session.picked_bar = picked
        session.pair = f"{picked[0]} {int(picked[1]) - 1}→{int(picked[1])}"
    if session.pair not in names:
        session.pair = next((name for name, pair in names.items() if pair in gone), next(iter(names)))
    name = st.selectbox("Seam", list(names), key=Session.pair.key, format_func=lambda name: _pair_label(names, name))
    st.html(boxed(seam_html(names[name], threshold), "ctx-seam"))
