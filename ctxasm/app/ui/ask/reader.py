"""The answer beside its context, as one component: a click on a citation shows its span without asking the server.

The script and the style are files beside the style of the pages. All text reaches the browser as JSON and is set as text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ctxasm.app.ui.ask.answer_pieces import Chip, Stretch, answer_pieces, before_assembly, checked_pieces, stale_numbers
from ctxasm.app.ui.ask.claim_rows import ClaimRow, Filter, claim_rows, filters
from ctxasm.app.ui.ask.context_cards import Card, Piece, context_cards
from ctxasm.app.ui.ask.reader_record import (
    CardData,
    ChipData,
    ChoiceData,
    ClaimData,
    Contents,
    DrawnReader,
    FigureData,
    PaneData,
    PanelData,
    PartData,
    ReaderData,
    StretchData,
)
from ctxasm.app.ui.frame.session_records import Attempt, KeptAnswer
from ctxasm.app.ui.words.verdict_words import Figure, check_line, figures, sign, summary, verdict_name
from ctxasm.app.ui.words.words import plural
from ctxasm.model.results import Assembly

ASSETS = Path(__file__).parents[1] / "assets"
HTML = """
<div id="ctx-reader">
  <p id="live" role="status" aria-live="polite"></p>
  <div id="bar" hidden>
    <div id="attempts" role="group" aria-label="Answers to this question"></div>
    <label class="toggle"><input id="before" type="checkbox" role="switch">If citations had been built before assembly</label>
  </div>
  <div id="would" role="status" hidden></div>
  <div class="columns">
    <div id="answers"></div>
    <div id="beside">
      <div id="note" role="status" hidden></div>
      <div id="ctx-sources" role="region" aria-label="Context" tabindex="0"></div>
    </div>
  </div>
  <div id="table" hidden></div>
  <div id="tip" role="tooltip" hidden></div>
</div>
"""


def reader_data(assembly: Assembly, attempts: Sequence[Attempt], hint: tuple[str, str]) -> ReaderData:
    """The data of the reader. `hint` is what stands in place of an answer: a heading and the next action."""
    rows = [[claim_rows(told.check, assembly) if told.check else () for told in attempt] for attempt in attempts]
    cuts = {edge for attempt in rows for pane in attempt for row in pane for span in row.spans for edge in (span.start, span.end)}
    stale = stale_numbers(assembly)
    heading, text = hint
    contents: Contents = {
        "hint": {"heading": heading, "text": text},
        "cards": [_card(card) for card in context_cards(assembly, cuts)],
        "attempts": [
            [_pane(told, pane, stale) for told, pane in zip(attempt, panes, strict=True)]
            for attempt, panes in zip(attempts, rows, strict=True)
        ],
    }
    return {**contents, "version": hashlib.sha256(json.dumps(contents).encode()).hexdigest()[:16]}


def _card(card: Card) -> CardData:
    return {
        "number": card.number,
        "title": card.title,
        "about": card.about,
        "colour": card.colour,
        "parts": [_part(piece) for piece in card.pieces],
    }


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


def _pane(told: KeptAnswer, rows: Sequence[ClaimRow], stale: dict[int, str]) -> PaneData:
    check = told.check
    pieces = checked_pieces(check, stale) if check else answer_pieces(told.text, told.markers, stale=stale)
    return {
        "model": told.model,
        "badges": _badges(told),
        "summary": summary(check) if check else "",
        "marked": told.marked,
        "done": told.done,
        "pieces": [_piece(piece) for piece in pieces],
        "panel": _panel(told),
        "unchecked": told.unchecked[:1].upper() + told.unchecked[1:],
        "figures": [_figure(figure) for figure in figures(check)] if check and check.figures.claims else [],
        "how": check_line(check) if check else "",
        "claims": [_claim(row) for row in rows],
        "filters": [_choice(choice) for choice in filters(rows)],
        "before": before_assembly([piece for piece in pieces if isinstance(piece, Chip)]),
    }


def _figure(figure: Figure) -> FigureData:
    return {"name": figure.name, "value": figure.value, "says": figure.says}


def _choice(choice: Filter) -> ChoiceData:
    verdicts = None if choice.verdicts is None else list(choice.verdicts)
    return {"label": choice.label, "total": choice.total, "sign": choice.sign, "verdicts": verdicts}


def _piece(piece: Stretch | Chip) -> StretchData | ChipData:
    if isinstance(piece, Stretch):
        return {"text": piece.text, "claim": piece.claim, "clash": piece.clash}
    return {
        "label": piece.label,
        "number": piece.number,
        "known": piece.known,
        "claim": piece.claim,
        "verdict": piece.judged.verdict if piece.judged else "",
        "sign": sign(piece.judged.verdict) if piece.judged else "",
        "name": verdict_name(piece.judged.verdict) if piece.judged else "",
        "mark": piece.mark,
        "spoken": piece.spoken,
        "stale": piece.stale,
    }


def _claim(row: ClaimRow) -> ClaimData:
    return {
        "text": row.claim,
        "cites": row.cites,
        "verdict": row.verdict,
        "sign": sign(row.verdict),
        "name": verdict_name(row.verdict),
        "says": row.says,
        "missing": list(row.missing),
        "neighbour": row.neighbour,
        "spans": [
            {"number": span.number, "start": span.start, "end": span.end, "kind": span.kind, "added": span.added} for span in row.spans
        ],
        "quotes": [{"number": number, "text": text} for number, text in row.quotes],
        "sources": [{"number": number, "title": title} for number, title in row.sources],
    }


def _badges(told: KeptAnswer) -> list[str]:
    """What kind of answer this is, how it was asked for, and how long it took."""
    badges = [] if "language model" in told.model else ["language model" if told.is_language_model else "no language model"]
    badges += [told.asked] if told.asked else []
    if told.called and told.done:
        first = f", first text after {told.first_piece_ms:.0f} ms" if told.first_piece_ms is not None else ""
        badges += [f"{told.elapsed_ms:.0f} ms{first}"] if told.elapsed_ms else []
        unknown = sum(len(marker.unknown) or (not marker.known) for marker in told.markers)
        badges += [f"{plural(unknown, 'marker')} unknown"] if unknown else []
    return badges


def _panel(told: KeptAnswer) -> PanelData | None:
    """Why an answer is not whole, or why there is none."""
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
