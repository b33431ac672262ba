"""The funnel: what every stage left, from what was found to what is sent. Its steps choose the picture below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.inspect.evidence import Level, flow
from ctxasm.app.ui.widgets.fates import SENT, unexpanded
from ctxasm.app.ui.words.event_words import unexpanded_sentence
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import agreeing, counted
from ctxasm.model.events import Compressed, Duplicate, Merged, NearMiss, Prefixed, Stripped
from ctxasm.model.results import Assembly
from ctxasm.tuning.evidence import EvidenceState

KEY = "funnel"


class Step(NamedTuple):
    """What a stage left. `value` stands in the funnel, `does` says in a sentence what the stage did; `stage` is its technical name.

    Of `labelled` pieces of evidence `kept` are whole so far, and `lost` were lost by this stage.
    """

    name: str
    stage: str
    label: str
    value: str
    chunks: int
    tokens: int
    does: str
    kept: int = 0
    lost: int = 0
    labelled: int = 0

    @property
    def evidence(self) -> str:
        """`2 of 3`: pieces of labelled evidence of which nothing is lost so far; empty where none is labelled."""
        return f"{self.kept} of {self.labelled}" if self.labelled else ""


def steps(assembly: Assembly, evidence: Sequence[EvidenceState] = ()) -> tuple[Step, ...]:
    """The steps of an assembly in order: those of stages that ran, and of optional ones only where they are on."""
    levels = {level.stage: level for level in flow(assembly, evidence)}
    ran = {record.stage for record in assembly.trace.stages}
    settings = assembly.settings
    found = [_found(assembly, levels), _widened(assembly, levels)]
    if "deduplicate" in ran:
        found.append(_repeats(assembly, levels))
    if "group" in ran:
        found.append(_grouped(assembly, levels))
    if "compress" in ran and settings.compression != "off":
        found.append(_shortened(assembly, levels))
    if "budget" in ran:
        found.append(_fits(assembly, levels))
    if "order" in ran and settings.ordering != "document_first":
        blocks = number(len(assembly.citations))
        found.append(_step("ordered", "order", "ordered", blocks, levels, "The blocks stand in the order that was asked for."))
    if "summarise" in ran:
        found.append(_prefixed(assembly, levels))
    found.append(_sources(assembly, levels))
    return tuple(found)


def _step(name: str, stage: str, label: str, value: str, levels: dict[str, Level], does: str) -> Step:
    level = levels[stage]
    labelled = sum(levels["retrieved"][-2:])
    return Step(name, stage, label, value, level.hits + level.neighbours, level.tokens, does, level.evidence, level.lost, labelled)


def _found(assembly: Assembly, levels: dict[str, Level]) -> Step:
    hits = levels["retrieved"].hits
    return _step("found", "retrieved", "found", number(hits), levels, f"Search returned {counted(hits, 'chunk')}.")


def _widened(assembly: Assembly, levels: dict[str, Level]) -> Step:
    level, window = levels["expand"], assembly.settings.expand_window
    if not assembly.settings.enabled:
        does = "Assembly is off: no neighbours are fetched."
    elif not window:
        does = "No neighbours are fetched: raise Neighbours to see them appear."
    elif (why := unexpanded(assembly)) is not None:
        does = unexpanded_sentence(why)
    else:
        does = f"{counted(level.neighbours, 'neighbour')} came along."
    return _step("widened", "expand", "widened", number(level.hits + level.neighbours), levels, does)


def _repeats(assembly: Assembly, levels: dict[str, Level]) -> Step:
    record = assembly.trace.stage("deduplicate")
    events = record.events if record else ()
    chars = sum(event.chars for event in events if isinstance(event, (Stripped, Merged)))
    copies = sum(isinstance(event, Duplicate) for event in events)
    near = sum(isinstance(event, NearMiss) for event in events)
    said = [f"{counted(chars, 'character')} that neighbours share {agreeing(chars, 'is', 'are')} sent once"] if chars else []
    said += [f"{counted(copies, 'copy')} left out"] if copies else []
    said += [f"{counted(near, 'short overlap')} kept"] if near else []
    does = f"{', '.join(said)}." if said else "Nothing is said twice."
    return _step("repeats", "deduplicate", "repeated", f"−{number(chars)} chars" if chars else "0", levels, does)


def _grouped(assembly: Assembly, levels: dict[str, Level]) -> Step:
    documents = len({fate.document_id for fate in assembly.trace.fates})
    does = "Chunks stand in their documents, the document with the best chunk first."
    return _step("grouped", "group", "grouped", number(documents), levels, does)


def _shortened(assembly: Assembly, levels: dict[str, Level]) -> Step:
    record = assembly.trace.stage("compress")
    count = sum(isinstance(event, Compressed) for event in record.events) if record else 0
    does = (
        f"{counted(count, 'chunk')} {agreeing(count, 'keeps', 'keep')} only what bears on the question."
        if count
        else "No chunk had to be shortened."
    )
    return _step("shortened", "compress", "shortened", number(count), levels, does)


def _fits(assembly: Assembly, levels: dict[str, Level]) -> Step:
    gone = sum(fate.fate == "dropped" and fate.stage == "budget" for fate in assembly.trace.fates)
    does = f"{counted(gone, 'chunk')} did not fit into {number(assembly.limit)} tokens." if gone else "Everything fits."
    level = levels["budget"]
    return _step("fits", "budget", "fits", number(level.hits + level.neighbours), levels, does)


def _prefixed(assembly: Assembly, levels: dict[str, Level]) -> Step:
    count = sum(isinstance(event, Prefixed) for record in assembly.trace.stages for event in record.events)
    does = (
        f"{counted(count, 'page summary')} {agreeing(count, 'stands before its document', 'stand before their documents')}."
        if count
        else "No page summaries are written."
    )
    return _step("prefixed", "summarise", "summaries", number(count), levels, does)


def _sources(assembly: Assembly, levels: dict[str, Level]) -> Step:
    sent = sum(fate.fate in SENT for fate in assembly.trace.fates)
    does = f"{counted(sent, 'chunk')} under {counted(len(assembly.citations), 'number')} that an answer can cite."
    return _step("sources", "cite", "sources", number(len(assembly.citations)), levels, does)


def show_funnel(found: Sequence[Step]) -> Step:
    """Draw the steps; return the chosen one."""
    named = {step.name: step for step in found}
    chosen = session.step if session.step in named else "widened"
    if session.value_of(KEY) != chosen:
        session.put(KEY, chosen)
    st.segmented_control(
        "Steps of the assembly",
        list(named),
        key=KEY,
        required=True,
        format_func=lambda name: _label(named[name]) if name in named else str(name),
        on_change=_choose,
        label_visibility="collapsed",
        width="stretch",
    )
    return named[chosen]


def _label(step: Step) -> str:
    unit = " tokens" if step.name == "found" else ""
    return f"{step.label} **{step.value}** :gray[{number(step.tokens)}{unit}{evidence_mark(step)}]"


def evidence_mark(step: Step) -> str:
    """A filled sign where all labelled evidence is whole so far, an empty one where not; how much is left, where a step loses some."""
    if not step.labelled:
        return ""
    if step.kept == step.labelled:
        return " ●"
    return f" ○\u202f{step.kept}/{step.labelled}" if step.lost else " ○"


def _choose() -> None:
    session.step = session.value_of(KEY)
