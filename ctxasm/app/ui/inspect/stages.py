"""The pictures of the steps; only that of the chosen one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import streamlit as st

from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.inspect.budget import show_budget
from ctxasm.app.ui.inspect.compress import show_compress
from ctxasm.app.ui.inspect.deduplicate import show_deduplicate
from ctxasm.app.ui.inspect.evidence import expected
from ctxasm.app.ui.inspect.expand import show_expand
from ctxasm.app.ui.inspect.funnel import Step
from ctxasm.app.ui.inspect.group import show_group
from ctxasm.app.ui.inspect.hits import show_found
from ctxasm.app.ui.inspect.order import show_order
from ctxasm.app.ui.inspect.prefixes import show_prefixes, show_sources
from ctxasm.app.ui.widgets.expected import offer_html
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.model.results import Assembly

PICTURES: Mapping[str, Callable[[Scene, Assembly], None]] = {
    "found": show_found,
    "widened": lambda scene, assembly: show_expand(assembly, expected(scene, assembly)),
    "repeats": lambda _, assembly: show_deduplicate(assembly),
    "grouped": lambda _, assembly: show_group(assembly),
    "shortened": lambda _, assembly: show_compress(assembly),
    "fits": lambda _, assembly: show_budget(assembly),
    "ordered": lambda _, assembly: show_order(assembly),
    "prefixed": lambda _, assembly: show_prefixes(assembly),
    "sources": lambda _, assembly: show_sources(assembly),
}


def show_picture(step: Step, scene: Scene, assembly: Assembly) -> None:
    """What the step did, in a sentence and a picture."""
    if not assembly.trace.fates:
        show_empty(
            "Retrieval returned nothing for this query",
            "Zero hits are a valid assembly: empty text, no citations, no model call. Choose another query.",
        )
        return
    look = "" if step.kept == step.labelled else " gone"
    evidence = f'<span class="cx-fate{look}" title="labelled evidence that is whole after this step">evidence {step.evidence}</span>'
    note = f'{escape(step.does)} <code title="its name in settings, traces and code">{step.stage}</code>'
    st.html(boxed(f'<p class="cx-note">{note} {evidence if step.evidence else offer_html()}</p>', "ctx-step"))
    PICTURES[step.name](scene, assembly)
