"""The one drawer beside a page: it covers no more than the side of it, so that the page can be watched while a setting moves.

A dialog would dim the page and hold it still; this is a container of the page that the style sheet puts at the side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape

import streamlit as st

from ctxasm.app.fates import failures, unexpanded, unexpanded_sentence
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.typed_questions import fusion_of, is_typed, is_unsaved, notes_of
from ctxasm.app.ui.setting_words import BOUNDARY_LABEL, BOUNDARY_REASON, NO_BOUNDARIES
from ctxasm.app.ui.words import decimal, in_attribute, plain, too_long
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly

DETAILS = "details"
"""The drawer of details on Inspect."""
EVIDENCE = "Evidence"
"""What of them says which passages a question expects."""


def open_drawer(name: str) -> None:
    """Open the drawer of this name, or close it where it is the one that stands open (a callback)."""
    session.drawer = None if session.drawer == name else name


def close_drawer() -> None:
    """Close what stands open (a callback)."""
    session.drawer = None


@contextmanager
def drawer(heading: str) -> Iterator[None]:
    """Draw into the drawer, under its heading and the button that closes it."""
    with st.container(key="drawer", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", key="drawer_head"):
            st.markdown(f"**{plain(heading)}**")
            st.button("Close", key="close_drawer", on_click=close_drawer, icon=":material/close:", shortcut="Escape", type="tertiary")
        yield


METHODS = {
    "hybrid_bm25_vector": "hybrid: BM25 + vector",
    "vector_only": "vector only",
    "bm25_only": "BM25 only",
}


def show_title(eyebrow: str, heading: str, sentence: str = "", badges: str = "", stamp: str = "") -> None:
    """The head of a page. `badges` is HTML, everything else is plain text."""
    badge_row = f'<div class="cx-badges">{badges}</div>' if badges else ""
    below = f'<p class="cx-sentence" id="ctx-sentence">{escape(sentence)}</p>' if sentence else ""
    st.html(
        f'<div class="cx cx-title" id="ctx-title" data-stamp="{escape(stamp)}"><div class="cx-eyebrow">{escape(eyebrow)}</div>'
        f'<h1 dir="auto">{escape(heading)}</h1>{below}{badge_row}</div>'
    )


def show_query_title(page: str, scene: Scene, assembly: Assembly | None, stamp: str) -> None:
    """The query as heading, and what should be known of what is shown: what is not exact, not saved, not safe, or does not fit."""
    name = "typed question" if is_typed(scene.query.query_id) else scene.query.query_id
    show_title(f"{page} · {name}", scene.query.query, badges=_warnings(scene, assembly) if assembly is not None else "", stamp=stamp)
    notes = "".join(f'<p class="cx-note">{escape(note)}</p>' for note in notes_of(scene.query))
    if notes:
        st.html(f'<div class="cx">{notes}</div>')
    for event in failures(assembly) if assembly is not None else ():
        still = f"{counted(event.chunks, 'chunk')} shortened by the question's words instead."
        show_trouble("The model that shortens chunks gave no answer", event.message, still)


def found_badges(scene: Scene) -> list[str]:
    """How the search for the query went, as HTML."""
    query = scene.query
    method = query.search_method
    badges = [f"<b>{escape(METHODS.get(method, method))}</b>"] if method else []
    badges += [fused] if (fused := fusion_of(query)) else []
    if query.bm25_matches is not None:
        badges.append(f"{counted(query.bm25_matches, 'match')} by words (BM25)")
    if query.best_similarity is not None:
        badges.append(f"closest in meaning <b>{decimal(query.best_similarity)}</b> (cosine)")
    return badges


def _warnings(scene: Scene, assembly: Assembly) -> str:
    query, fates = scene.query, assembly.trace.fates
    info = session.info
    badges = ["not saved"] if is_unsaved(query.query_id) else []
    badges += ["saved before with other found chunks: saving replaces it"] if info and server.is_saved_before(info, query.query_id) else []
    html = "".join(f'<span class="cx-badge">{badge}</span>' for badge in badges)
    if any(fate.reason == "oversized" or fate.fate == "truncated" for fate in fates):
        what = "best document trimmed" if assembly.settings.budget_policy == "drop_documents" else "a chunk cut"
        html += f'<span class="cx-badge warn" data-oversized="true"><span class="cx-dot warn"></span>{what} to fit</span>'
    if assembly.text and assembly.settings.format in NO_BOUNDARIES:
        html += boundary_badge()
    if assembly.overshoot_tokens:
        html += f'<span class="cx-badge warn" data-overshoot="{assembly.overshoot_tokens}"><span class="cx-dot warn"></span>'
        html += f"{counted(assembly.overshoot_tokens, 'token')} over the limit</span>"
    if (why := unexpanded(assembly)) is not None:
        html += (
            f'<span class="cx-badge warn" data-neighbours="{why.obstacle}" title="{in_attribute(unexpanded_sentence(why))}">'
            '<span class="cx-dot warn"></span>no neighbours</span>'
        )
    if not assembly.exact:
        html += (
            '<span class="cx-badge warn" data-exact="false"><span class="cx-dot warn"></span>'
            f"ESTIMATE: token counts of {escape(assembly.encoding)} are not exact</span>"
        )
    return html


def boundary_badge() -> str:
    """The badge of a format in which a source's own text may pass for a header."""
    return (
        f' <span class="cx-badge warn" data-boundaries="false" title="{in_attribute(BOUNDARY_REASON)}"><span class="cx-dot warn"></span>'
        f"{BOUNDARY_LABEL}</span>"
    )


def show_empty(heading: str, hint: str) -> None:
    """An empty state: what is not here, and the next action."""
    st.html(f'<div class="cx cx-empty" role="status"><h2>{escape(heading)}</h2><p>{escape(hint)}</p></div>')


def show_trouble(heading: str, what: str, still: str) -> None:
    """An error: what happened and how to fix it, and what still works."""
    st.html(
        f'<div class="cx cx-panel warn" role="alert" id="ctx-error"><h3>{escape(heading)}</h3><p>{escape(what)}</p><p class="cx-mute">'
        f"{escape(still)}</p></div>"
    )


def show_problem(sentence: str) -> None:
    """A sentence about what is wrong beside it, as text: it may quote names from a file or a table, which are no markdown."""
    st.html(f'<div class="cx cx-problem" role="alert">{escape(sentence)}</div>')


def within(what: str, text: str, most: int, remedy: str = "shorten it") -> str | None:
    """What was typed, without white space around it; None where it is too long, after saying so."""
    if problem := too_long(what, text.strip(), most, remedy):
        show_problem(problem)
        return None
    return text.strip()


def report_button(make: Callable[[], str], file: str, key: str) -> None:
    """A button that writes a report, made when it is clicked."""
    help = "One HTML file to print or send"
    st.download_button("Report", make, file, "text/html", key=key, on_click="ignore", help=help)


def runs_report(run_ids: Sequence[str]) -> Callable[[], str]:
    """Makes the report of kept answers, with what reviewers say of them."""

    def make() -> str:
        from ctxasm.app.report import report_runs

        return report_runs(server.workbench(), run_ids)

    return make
