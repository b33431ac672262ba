"""All questions under A and B, those that differ first and the others behind one line, each a link that opens it. Escaped HTML, pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape

from ctxasm.app.ui.frame.compare_view import EVERY
from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted, signed
from ctxasm.tuning.compare import Comparison, QuestionDelta

CHANGES = {"worse": "▼ B holds less", "better": "▲ B holds more", "unchanged": "unchanged", "unlabelled": "not labelled"}
"""What can become of a question, in the order in which questions are listed."""
CHANGED = ("worse", "better")
MOST_ROWS = 200
"""Questions that are listed at once; the others are counted."""
LONGEST = 110
WON = "B wins a question of which only B holds all the evidence"


def filters(found: Comparison) -> dict[str, str]:
    """The labels of the filter by what each lists: those that occur, with their counts."""
    counts = Counter(each.change for each in found.questions)
    return {EVERY: f"All {len(found.questions)}"} | {name: f"{said} {counts[name]}" for name, said in CHANGES.items() if counts[name]}


def listed(found: Comparison, only: str) -> list[QuestionDelta]:
    """The questions of a filter: by what became of them, then by how far their evidence and their tokens are apart."""
    order = list(CHANGES)
    rows = [each for each in found.questions if only in (EVERY, each.change)]
    return sorted(rows, key=lambda each: (order.index(each.change), -abs(each.b.found - each.a.found), -abs(each.tokens)))


def counts_html(found: Comparison) -> str:
    """How many questions B wins, holds as A does, and loses; what came of it, with how sure that is."""
    badges = (("win", f"▲ B wins {len(found.better)}"), ("tie", f"ties {found.ties}"), ("loss", f"▼ B loses {len(found.worse)}"))
    drawn = "".join(f'<span class="cx-badge" data-count="{name}">{said}</span>' for name, said in badges) if found.labelled else ""
    gold = f'<p class="cx-note" id="ctx-gold">Labels: {escape(found.swept.gold)}.</p>'
    says = f'<p class="cx-decision" role="status" id="ctx-comparison">{escape(found.sentence())}</p>'
    return boxed(f'{says}<div class="cx-badges" title="{WON}">{drawn}</div>{gold}')


def table(rows: Sequence[QuestionDelta], words: Mapping[str, str], link_of: Callable[[str], str], only: str = EVERY) -> str:
    """A row a question. `words` are the questions by id, `link_of` gives the address of one. Where no filter is chosen (`only`), those that
    hold as much under both, or are not labelled, stand behind one line with their number.
    """
    changed = [each for each in rows if each.change in CHANGED]
    others = [each for each in rows if each.change not in CHANGED]
    if only != EVERY or all(each.change == "unlabelled" for each in rows):
        return boxed(_listed(rows, "Questions", words, link_of), "ctx-questions")
    first = (
        _listed(changed, f"{counted(len(changed), 'question')} changed", words, link_of)
        if changed
        else '<p class="cx-note">No question holds more or less evidence under B.</p>'
    )
    return boxed(first + _folded(others, words, link_of), "ctx-questions")


def _folded(rows: Sequence[QuestionDelta], words: Mapping[str, str], link_of: Callable[[str], str]) -> str:
    """The questions of which no change is known, to open."""
    if not rows:
        return ""
    counts = Counter(each.change for each in rows)
    said = ", ".join(f"{number(counts[name])} {CHANGES[name]}" for name in ("unchanged", "unlabelled") if counts[name])
    return f'<details class="cx-fold"><summary>{said}</summary>{_listed(rows, "Questions", words, link_of)}</details>'


def _listed(rows: Sequence[QuestionDelta], caption: str, words: Mapping[str, str], link_of: Callable[[str], str]) -> str:
    heads = ("Question", "B against A", "Evidence A → B", "Tokens A → B", "B − A")
    cells = [_cells(each, words.get(each.query_id, ""), link_of(each.query_id)) for each in rows[:MOST_ROWS]]
    rest = f'<p class="cx-note">and {counted(len(rows) - MOST_ROWS, "more question")}</p>' if len(rows) > MOST_ROWS else ""
    return table_html(heads, cells, (2, 3, 4), caption) + rest


def _cells(each: QuestionDelta, words: str, address: str) -> tuple[str, ...]:
    line = " ".join(words.split()) or each.query_id
    said = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    evidence = f"{each.a.found} → {each.b.found} of {each.a.needed}" if each.a.needed else "–"
    look = "good" if each.change == "better" else "warn" if each.change == "worse" else "mute"
    return (
        state_link(address, said),
        f'<span class="cx-{look}" data-change="{each.change}">{CHANGES[each.change]}</span>',
        evidence,
        f"{number(each.a.tokens)} → {number(each.b.tokens)}",
        signed(each.tokens),
    )
