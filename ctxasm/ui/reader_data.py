"""What the reader of an answer draws, as plain JSON: the context in pieces, every attempt with its answers, claims and figures. Pure.

Offsets are characters of the context as Python counts them; the page only compares them, and cuts no text itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ctxasm.model.results import Assembly
from ctxasm.ui.answer_pieces import Chip, Stretch, answer_pieces, before_assembly, checked_pieces, stale_numbers
from ctxasm.ui.claims_rows import ClaimRow, claim_rows, filters
from ctxasm.ui.context_cards import Card, context_cards
from ctxasm.ui.told import Attempt, Told
from ctxasm.ui.verdict_words import check_line, figures, sign, summary, verdict_name
from ctxasm.ui.words import plural


def reader_data(assembly: Assembly, attempts: Sequence[Attempt], hint: tuple[str, str]) -> dict[str, Any]:
    """The data of the reader. `hint` is what stands in place of an answer: a heading and the next action."""
    rows = [[claim_rows(told.check, assembly) if told.check else () for told in attempt] for attempt in attempts]
    cuts = {edge for attempt in rows for pane in attempt for row in pane for span in row.spans for edge in (span.start, span.end)}
    stale = stale_numbers(assembly)
    data: dict[str, Any] = {
        "hint": {"heading": hint[0], "text": hint[1]},
        "cards": [_card(card) for card in context_cards(assembly, cuts)],
        "attempts": [
            [_pane(told, pane, stale) for told, pane in zip(attempt, panes, strict=True)]
            for attempt, panes in zip(attempts, rows, strict=True)
        ],
    }
    return {**data, "version": hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]}


def _card(card: Card) -> dict[str, Any]:
    pieces = [[p.text, p.start, p.end, p.kind, p.chunk, int(p.added), int(p.opens)] for p in card.pieces]
    return {"number": card.number, "title": card.title, "about": card.about, "colour": card.colour, "pieces": pieces}


def _pane(told: Told, rows: Sequence[ClaimRow], stale: dict[int, str]) -> dict[str, Any]:
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
        "figures": [figure._asdict() for figure in figures(check)] if check and check.figures.claims else [],
        "how": check_line(check) if check else "",
        "claims": [_claim(row) for row in rows],
        "filters": [
            {"label": choice.label, "total": choice.total, "sign": choice.sign, "verdicts": choice.verdicts and list(choice.verdicts)}
            for choice in filters(rows)
        ],
        "before": before_assembly([piece for piece in pieces if isinstance(piece, Chip)]),
    }


def _piece(piece: Stretch | Chip) -> dict[str, Any]:
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


def _claim(row: ClaimRow) -> dict[str, Any]:
    return {
        "text": row.claim,
        "cites": row.cites,
        "verdict": row.verdict,
        "sign": sign(row.verdict),
        "name": verdict_name(row.verdict),
        "says": row.says,
        "missing": list(row.missing),
        "neighbour": row.neighbour,
        "spans": [[span.number, span.start, span.end, span.kind, int(span.added)] for span in row.spans],
        "quotes": [list(quote) for quote in row.quotes],
        "sources": [list(source) for source in row.sources],
    }


def _badges(told: Told) -> list[str]:
    """What kind of answer this is, how it was asked for, and how long it took."""
    badges = [] if "language model" in told.model else ["language model" if told.is_language_model else "no language model"]
    badges += [told.asked] if told.asked else []
    if told.called and told.done:
        first = f", first text after {told.first_piece_ms:.0f} ms" if told.first_piece_ms is not None else ""
        badges += [f"{told.elapsed_ms:.0f} ms{first}"] if told.elapsed_ms else []
        unknown = sum(len(marker.unknown) or (not marker.known) for marker in told.markers)
        badges += [f"{plural(unknown, 'marker')} unknown"] if unknown else []
    return badges


def _panel(told: Told) -> dict[str, str] | None:
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
