"""The reading desk as one component: claims on the left, the passage of a source on the right. Only what is expected asks the server.

The script and the style are files beside the style of the pages. All text reaches the browser as JSON and is set as text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ctxasm.answering.sent_tokens import sent_line
from ctxasm.app.ui.ask.answer import (
    Before,
    Chip,
    Choice,
    ClaimRow,
    Line,
    Span,
    answer_lines,
    answer_pieces,
    before_assembly,
    checked_pieces,
    choices,
    claim_rows,
    context_cards,
    stale_numbers,
    unused_spans,
)
from ctxasm.app.ui.ask.verdict_words import Figure, check_line, figures, summary
from ctxasm.app.ui.frame.session import Attempt, KeptAnswer
from ctxasm.app.ui.widgets.expected import NONE_EXPECTED, Expected
from ctxasm.citations.report import MAY_NOT_ANSWER, CheckedAnswer, facts_sentence, may_not_answer, uses_sentence
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly

ASSETS = Path(__file__).parents[1] / "assets"
HTML = """
<div id="ctx-reader">
  <p id="live" role="status" aria-live="polite"></p>
  <div class="columns">
    <div id="left">
      <div id="attempts" role="group" aria-label="Answers to this question"></div>
      <div id="answers" tabindex="-1"></div>
      <section id="reference" aria-label="Reference answer" hidden><b>Reference</b><p dir="auto"></p></section>
      <div id="foot">
        <label class="toggle"><input id="before" type="checkbox" role="switch">If citations had been built before assembly</label>
        <button type="button" id="keys" aria-haspopup="dialog">Keys <kbd>?</kbd></button>
      </div>
      <div id="would" role="status" hidden></div>
    </div>
    <div id="beside">
      <section id="desk" role="region" aria-label="Source" tabindex="0">
        <header id="head">
          <div id="title"></div>
          <div id="ways">
            <button type="button" id="previous-claim" aria-label="Previous claim" aria-keyshortcuts="k">‹</button>
            <button type="button" id="next-claim" aria-label="Next claim" aria-keyshortcuts="j">›</button>
            <button type="button" id="whole-source" aria-keyshortcuts="o">Whole source</button>
          </div>
        </header>
        <div id="note" role="status" hidden></div>
        <div id="expected" role="status" hidden></div>
        <div id="passage" dir="auto"></div>
      </section>
      <details id="ctx-sources"><summary></summary><ol></ol></details>
    </div>
  </div>
</div>
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """Why an answer is not whole, or why there is none."""

    id: str
    heading: str
    text: str
    still: str = ""


@dataclass(frozen=True, slots=True)
class Pane:
    """An answer of one model. `summary` says in one sentence what `choices`, `doubt` and `uses` show; `how` it was asked and checked.

    `unused` are the passages that `uses` leads to; `missed`: not all that are expected are used.
    """

    model: str
    summary: str
    choices: tuple[Choice, ...]
    doubt: str
    uses: str
    unused: tuple[Span, ...]
    missed: bool
    marked: bool
    done: bool
    lines: tuple[Line, ...]
    panel: Panel | None
    unchecked: str
    figures: tuple[Figure, ...]
    how: tuple[str, ...]
    claims: tuple[ClaimRow, ...]
    before: Before


def reader_data(assembly: Assembly, attempts: Sequence[Attempt], expected: Expected = NONE_EXPECTED) -> dict[str, Any]:
    """The data of the reader: the context that the attempts were given, what they say, and which chunks the question expects.

    `version` is a digest of the rest: the same is not drawn again.
    """
    stale = stale_numbers(assembly)
    panes = [[_pane(answer, stale, assembly, expected) for answer in attempt] for attempt in attempts]
    claimed = [span for attempt in panes for pane in attempt for claim in pane.claims for span in claim.spans]
    spans = [*claimed, *(span for attempt in panes for pane in attempt for span in pane.unused)]
    cuts = {edge for span in spans for edge in (span.start, span.end, span.low, span.high)}
    text = json.dumps({"cards": context_cards(assembly, cuts), "attempts": panes, "reference": assembly.query.answer or ""}, default=fields)
    return {**json.loads(text), "version": hashlib.sha256(text.encode()).hexdigest()[:16]}


def fields(record: Any) -> dict[str, Any]:
    """What `asdict` makes of a record, in half the time: the JSON goes into its fields by itself."""
    return {name: getattr(record, name) for name in record.__slots__}


def _pane(answer: KeptAnswer, stale: dict[int, str], assembly: Assembly, expected: Expected) -> Pane:
    check = answer.check
    rows, unused = (claim_rows(check, assembly, expected), unused_spans(check, assembly)) if check else ((), ())
    pieces = checked_pieces(check, stale) if check else answer_pieces(answer.text, answer.markers, stale=stale)
    return Pane(
        answer.model,
        summary(check) if check else "",
        choices(rows),
        MAY_NOT_ANSWER if check and may_not_answer(check) else "",
        _uses(check, unused) if check else "",
        unused,
        bool(check and check.passages.used < check.passages.expected),
        answer.marked,
        answer.done,
        answer_lines(pieces),
        _panel(answer),
        answer.unchecked[:1].upper() + answer.unchecked[1:],
        figures(check) if check else (),
        _how(answer, check),
        rows,
        before_assembly([piece for piece in pieces if isinstance(piece, Chip)]),
    )


def _uses(check: CheckedAnswer, unused: Sequence[Span]) -> str:
    """How many expected passages the answer uses, and how many it could not; where none is expected, the way to what it declined to use."""
    if not check.passages.expected:
        return "nearest passage" if unused else ""
    absent = check.passages.expected - check.passages.used - len(unused)
    return uses_sentence(check.passages) + (f", {absent} not in the context" if absent else "")


def _how(answer: KeptAnswer, check: CheckedAnswer | None) -> tuple[str, ...]:
    """How the answer was asked for, how long and how many tokens it took, and how it was checked."""
    first = f", first text after {answer.first_piece_ms:.0f} ms" if answer.first_piece_ms is not None else ""
    took = f"{answer.elapsed_ms:.0f} ms{first}" if answer.called and answer.elapsed_ms else ""
    unknown = sum(len(marker.unknown) or (not marker.is_sound) for marker in answer.markers)
    missed = f"{counted(unknown, 'marker')} unknown" if unknown else ""
    said = (
        answer.model,
        f"{answer.asked} prompt" if answer.asked else "",
        took,
        sent_line(answer.sent) if answer.sent else "",
        missed,
        facts_sentence(check.facts) if check else "",
        check_line(check) if check else "",
    )
    return tuple(filter(None, said))


def _panel(answer: KeptAnswer) -> Panel | None:
    """Why an answer is not whole, why there is none, or why it may not stand on all that was sent."""
    if answer.error or answer.note:
        still = "What arrived is kept." if answer.text.strip() else "Nothing arrived."
        return Panel("ctx-incomplete", "Incomplete answer", answer.error or answer.note or "", still)
    if not answer.called:
        return Panel("ctx-not-called", "The model was not called", "The context is empty, so there is nothing to answer from.")
    return Panel("ctx-caution", "The model may not have read the whole prompt", answer.caution) if answer.caution else None


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    css, js = ((ASSETS / f"answer_reader.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return st.components.v2.component("ctxasm_answer_reader", html=HTML, css=css, js=js)


def show_reader(data: dict[str, Any], run: int) -> None:
    """Draw the data of `reader_data`. `run` counts the runs of the page: a test sees by it that a click caused none."""
    _component()(data={**data, "run": run}, key="answer_reader", height="content")
