"""Deduplicate: a bar per neighbouring pair, the seam behind each bar, the duplicates."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.copy_pictures import chunk_name, copies_html, difference_html
from ctxasm.ui.copy_rows import Copy, copies, difference
from ctxasm.ui.pictures import boxed, seam_html
from ctxasm.ui.stage_rows import OverlapPair, overlap_pairs
from ctxasm.ui.views.charts import show_chart
from ctxasm.ui.views.title import show_empty
from ctxasm.ui.words import plural

MOST_PAIRS = 40
"""Pairs drawn as bars; the largest overlaps first win a place."""


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
    if st.session_state.get("_copy") not in names:
        st.session_state["_copy"] = next(iter(names))
    name = st.selectbox("Side by side", list(names), key="_copy", format_func=lambda name: _copy_label(assembly, names.get(name), name))
    copy = names[name]
    texts = [assembly.trace.candidates[key].chunk.text if key in assembly.trace.candidates else "" for key in (copy.copy, copy.kept)]
    st.html(boxed(difference_html(assembly, copy, difference(*texts)), "ctx-difference"))


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


def _show_pairs(assembly: Assembly, pairs: list[OverlapPair]) -> None:
    from ctxasm.ui.figures import overlap_figure

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
    if picked and picked != st.session_state.get("_picked_bar"):
        st.session_state["_picked_bar"] = picked
        st.session_state["_pair"] = f"{picked[0]} {int(picked[1]) - 1}→{int(picked[1])}"
    if st.session_state.get("_pair") not in names:
        st.session_state["_pair"] = next((name for name, pair in names.items() if pair in gone), next(iter(names)))
    name = st.selectbox("Seam", list(names), key="_pair", format_func=lambda name: _pair_label(names, name))
    st.html(boxed(seam_html(names[name], threshold), "ctx-seam"))


def _pair_label(names: dict[str, OverlapPair], name: str) -> str:
    pair = names.get(name)
    return name if pair is None else f"{name} · {plural(pair.chars, 'character')} · {pair.verdict}"
