"""The reading desk as one component: claims on the left, the passage of a source on the right. Only what is expected asks the server.

The script and the style are files beside the style of the pages. All text reaches the browser as JSON and is set as text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ctxasm.answering.sent_tokens import sent_line
from ctxasm.app.ui.ask.answer import (
    Card,
    Chip,
    Choice,
    ClaimRow,
    Line,
    Piece,
    Stretch,
    answer_lines,
    answer_pieces,
    before_assembly,
    checked_pieces,
    choices,
    claim_rows,
    context_cards,
    stale_numbers,
)
from ctxasm.app.ui.ask.reader_record import (
    CardData,
    ChipData,
    ChoiceData,
    ClaimData,
    Contents,
    DrawnReader,
    LineData,
    PaneData,
    PanelData,
    PartData,
    PassageData,
    ReaderData,
    StretchData,
)
from ctxasm.app.ui.ask.verdict_words import check_line, figures, sign, summary
from ctxasm.app.ui.frame.session_records import Attempt, KeptAnswer
from ctxasm.app.ui.widgets.expected import MARK, NONE_EXPECTED, Expected
from ctxasm.app.ui.words.words import title_of
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.summary import MAY_NOT_ANSWER, facts_sentence, may_not_answer, uses_sentence
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly, Key

ASSETS = Path(__file__).parents[1] / "assets"
HTML = """
<div id="ctx-reader">
  <p id="live" role="status" aria-live="polite"></p>
  <div class="columns">
    <div id="left">
      <div id="attempts" role="group" aria-label="Answers to this question"></div>
      <div id="answers" tabindex="-1"></div>
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


def reader_data(assembly: Assembly, attempts: Sequence[Attempt], marks: Expected = NONE_EXPECTED) -> ReaderData:
    """The data of the reader: the context that the attempts were given, what they say, and which chunks the question expects."""
    rows = [[claim_rows(told.check, assembly) if told.check else () for told in attempt] for attempt in attempts]
    spans = [span for attempt in rows for pane in attempt for row in pane for span in row.spans]
    cuts = {edge for span in spans for edge in (span.start, span.end, span.low, span.high)}
    stale = stale_numbers(assembly)
    contents: Contents = {
        "cards": [_card(card) for card in context_cards(assembly, cuts)],
        "attempts": [
            [_pane(told, pane, stale, assembly, marks) for told, pane in zip(attempt, panes, strict=True)]
            for attempt, panes in zip(attempts, rows, strict=True)
        ],
    }
    return {**contents, "version": hashlib.sha256(json.dumps(contents).encode()).hexdigest()[:16]}


def _card(card: Card) -> CardData:
    return {"number": card.number, "title": card.title, "about": card.about, "parts": [_part(piece) for piece in card.pieces]}


def _part(piece: Piece) -> PartData:
    return {
        "text": piece.text,
        "start": piece.start,
        "end": piece.end,
        "kind": piece.kind,
        "chunk": piece.chunk,
        "added": piece.added,
        "opens": piece.opens,
    }


def _pane(told: KeptAnswer, rows: Sequence[ClaimRow], stale: dict[int, str], assembly: Assembly, marks: Expected) -> PaneData:
    check = told.check
    pieces = checked_pieces(check, stale) if check else answer_pieces(told.text, told.markers, stale=stale)
    return {
        "model": told.model,
        "summary": summary(check) if check else "",
        "choices": [_choice(choice) for choice in choices(rows)],
        "doubt": MAY_NOT_ANSWER if check and may_not_answer(check) else "",
        "uses": uses_sentence(check.passages) if check else "",
        "marked": told.marked,
        "done": told.done,
        "lines": [_line(line) for line in answer_lines(pieces)],
        "panel": _panel(told),
        "unchecked": told.unchecked[:1].upper() + told.unchecked[1:],
        "figures": [{"says": figure.says, "value": figure.value, "name": figure.name} for figure in (figures(check) if check else ())],
        "how": _how(told, check),
        "claims": [_claim(row, assembly, marks) for row in rows],
        "before": before_assembly([piece for piece in pieces if isinstance(piece, Chip)]),
    }


def _choice(choice: Choice) -> ChoiceData:
    return {"label": choice.label, "part": choice.part or "", "sign": choice.sign}


def _line(line: Line) -> LineData:
    return {"claim": line.claim, "pieces": [_piece(piece) for piece in line.pieces]}


def _piece(piece: Stretch | Chip) -> StretchData | ChipData:
    if isinstance(piece, Stretch):
        return {"text": piece.text, "clash": piece.clash}
    return {
        "label": piece.label,
        "number": piece.number,
        "known": piece.known,
        "part": piece.judged.part if piece.judged else "",
        "mark": piece.mark,
        "spoken": piece.spoken,
        "stale": piece.stale,
    }


def _claim(row: ClaimRow, assembly: Assembly, marks: Expected) -> ClaimData:
    return {
        "parts": list(row.parts),
        "sign": sign(row.parts[0]),
        "name": row.name,
        "says": row.says,
        "spans": [
            {
                "number": span.number,
                "start": span.start,
                "end": span.end,
                "kind": span.kind,
                "added": span.added,
                "low": span.low,
                "high": span.high,
                "where": span.where,
            }
            for span in row.spans
        ],
        "sources": [{"number": number, "title": title} for number, title in row.sources],
        "passages": [_passage(key, assembly, marks) for key in row.passages],
    }


def _passage(key: Key, assembly: Assembly, marks: Expected) -> PassageData:
    return {
        "title": f"{title_of(assembly.trace.documents, key[0])}, chunk {key[1]}",
        "click": json.dumps((*key, MARK)),
        "expected": marks.holds(key),
        "fixed": key in marks.spanned and key not in marks.marked,
    }


def _how(told: KeptAnswer, check: CheckedAnswer | None) -> list[str]:
    """How the answer was asked for, how long and how many tokens it took, and how it was checked."""
    first = f", first text after {told.first_piece_ms:.0f} ms" if told.first_piece_ms is not None else ""
    took = f"{told.elapsed_ms:.0f} ms{first}" if told.called and told.elapsed_ms else ""
    unknown = sum(len(marker.unknown) or (not marker.known) for marker in told.markers)
    missed = f"{counted(unknown, 'marker')} unknown" if unknown else ""
    return [
        part
        for part in (
            told.model,
            f"{told.asked} prompt" if told.asked else "",
            took,
            sent_line(told.sent) if told.sent else "",
            missed,
            facts_sentence(check.facts) if check else "",
            check_line(check) if check else "",
        )
        if part
    ]


def _panel(told: KeptAnswer) -> PanelData | None:
    """Why an answer is not whole, why there is none, or why it may not stand on all that was sent."""
    if told.error or told.note:
        return {
            "id": "ctx-incomplete",
            "heading": "Incomplete answer",
            "text": told.error or told.note or "",
            "still": "What had arrived is kept." if told.text.strip() else "Nothing had arrived.",
        }
    if not told.called:
        return {
            "id": "ctx-not-called",
            "heading": "The model was not called",
            "text": "The context is empty, so there is nothing to answer from.",
            "still": "",
        }
    if told.caution:
        return {"id": "ctx-caution", "heading": "Perhaps not the whole prompt was read", "text": told.caution, "still": ""}
    return None


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    css, js = ((ASSETS / f"answer_reader.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return st.components.v2.component("ctxasm_answer_reader", html=HTML, css=css, js=js)


def show_reader(data: ReaderData, run: int) -> None:
    """Draw the data of `reader_data`. `run` counts the runs of the page: a test sees by it that a click caused none."""
    drawn: DrawnReader = {**data, "run": run}
    _component()(data=drawn, key="answer_reader", height="content")
