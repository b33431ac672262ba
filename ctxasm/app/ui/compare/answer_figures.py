"""What the answers under A and B are worth: a row a figure, and the questions whose answers differ in worth. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from ctxasm.app.ui.compare.differences import chip
from ctxasm.app.ui.compare.question_table import MOST_ROWS
from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted, percent, signed
from ctxasm.tuning.compare_answers import FREE, SHARES, AnswerComparison, AnswerEstimate, AnswerPair, FigureName

LABELS: Mapping[FigureName, str] = {
    "support": "Statements that the context carries",
    "citation": "Statements that their citations carry",
    "passages": "Expected passages used",
    "declined": "Answers declined",
    "sent": "Tokens sent",
    "written": "Tokens written",
    "cost": "Cost of an answer",
}


def figures_html(found: AnswerComparison) -> str:
    """The table of figures."""
    rows = [
        (
            LABELS[each.name],
            _value(each.name, each.a),
            _value(each.name, each.b),
            "<b>{}</b> [{}, {}]{}".format(
                *(_signed(each.name, at) for at in (each.result.difference, each.result.interval.low, each.result.interval.high)),
                " points" if each.name in SHARES else "",
            ),
            f'<span data-p="{each.result.p:.4f}">{each.result.certainty()}</span>',
            f'<span title="{escape(each.missing())}">{each.result.n}</span>' + (f" of {len(found.pairs)}" if each.without else ""),
        )
        for each in found.figures
    ]
    caption = f"{counted(len(found.pairs), 'question')} answered under both: {escape(found.model)}"
    return boxed(
        table_html(("", chip("A"), chip("B"), "B − A, with its interval", "", "questions"), rows, (1, 2, 3, 5), caption), "ctx-worth"
    )


def _value(name: FigureName, value: float) -> str:
    if name in SHARES:
        return percent(value)
    return f"{value:.4f}" if name == "cost" else number(value)


def _signed(name: FigureName, value: float) -> str:
    if name not in ("cost", *SHARES):
        return signed(value)
    return signed(value, 4) if name == "cost" else signed(100 * value, 1)


def worth(each: AnswerPair) -> float:
    """By how much B's answer is worth more: the shares of its statements and passages, less where it declines."""
    total = 0.0
    for name in SHARES:
        one, other = each.a.figure(name, FREE), each.b.figure(name, FREE)
        total += (other - one) * (-1 if name == "declined" else 1) if one is not None and other is not None else 0.0
    return total


def questions_html(found: AnswerComparison, words: Mapping[str, str], link_of: Callable[[str], str]) -> str:
    """The questions whose answers differ in worth, the worst for B first; each a link, `link_of` its id."""
    pairs = sorted((each for each in found.pairs if worth(each)), key=worth)
    rows = [
        (
            state_link(link_of(each.query_id), words.get(each.query_id, each.query_id)),
            _arrow("support", each),
            _arrow("citation", each),
            f"{each.a.used} → {each.b.used} of {each.b.expected}" if each.b.expected else "–",
            " → ".join("yes" if side.declined else "no" for side in (each.a, each.b)),
        )
        for each in pairs[:MOST_ROWS]
    ]
    heads = ("Question", "Carried", "Citations carry", "Passages", "Declined")
    caption = f"{counted(len(pairs), 'question')} whose answers differ in worth, the worst for B first"
    return boxed(table_html(heads, rows, (1, 2, 3, 4), caption), "ctx-questions") if rows else ""


def _arrow(name: FigureName, each: AnswerPair) -> str:
    one, other = each.a.figure(name, FREE), each.b.figure(name, FREE)
    return " → ".join("–" if value is None else _value(name, value) for value in (one, other))


def estimate_words(told: AnswerEstimate) -> str:
    """`12 of 40 answers known already, 28 calls: 41,000 tokens to send, at most 14,000 written, at most 1.20.`"""
    known = f"{number(told.known)} of {counted(told.answers, 'answer')} known already"
    if not told.asked:
        return f"{known}, no calls."
    cost = f", at most {told.cost:.2f}" if told.cost else ""
    return f"{known}, {counted(told.asked, 'call')}: {number(told.sent)} tokens to send, at most {number(told.written)} written{cost}."
