"""The data of the review desk: an answer as its reviewer may see it, drawn by the reader of Ask with a bar of verdicts. Pure.

Everything here is made of a `ReviewItem`, which holds neither the checker's verdict nor those of others before the reviewer's own. What
is outlined in a source is its sentence that shares most words with the claim, whatever the checker found. Texts are as they came: the
script sets them as text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from ctxasm.app.ui.ask.answer import Before, Card, CardPart, Chip, ClaimRow, SourceName, Span, Stretch, answer_lines, around
from ctxasm.app.ui.ask.reader import ASSETS, HTML, Pane, fields
from ctxasm.citations.answer_markers import read_answer
from ctxasm.citations.markers import SILENT, MarkerEvent
from ctxasm.model.runs import ANSWER_ITEM, CITATION_VERDICTS, Judgement, RunSource
from ctxasm.model.support import Source
from ctxasm.review.judging import ReviewedCitation, ReviewedClaim, ReviewItem
from ctxasm.review.reviewers import WORDS
from ctxasm.text.sentences import sentence_spans

ANSWER_WORDS = {"yes": "Answers it", "partly": "Partly", "no": "Does not", "complete": "Complete", "incomplete": "Not complete"}
"""What is said of an answer as a whole, by the value that its button carries."""
NOT_JUDGED = "not judged"
MOST_UNKNOWN = 2
"""Numbers of one marker that are shown though no source has them."""
BAR = """
<section id="judge" aria-label="Your verdict">
  <div id="conflicts" role="alert" hidden></div>
  <div id="judge-head"></div>
  <div id="verdicts" role="group" aria-label="Verdict"></div>
  <div id="judge-more">
    <button type="button" id="review-note-key" aria-keyshortcuts="c">Note <kbd>c</kbd></button>
    <button type="button" id="review-skip" aria-keyshortcuts="s">Skip <kbd>s</kbd></button>
    <button type="button" id="review-undo" aria-keyshortcuts="u">Undo <kbd>u</kbd></button>
    <button type="button" id="review-source" aria-keyshortcuts="Enter">Source <kbd>Enter</kbd></button>
    <button type="button" id="review-reference" aria-keyshortcuts="g" aria-pressed="false">Reference <kbd>g</kbd></button>
  </div>
  <textarea id="review-note" aria-label="Note" rows="2" maxlength="4000" hidden></textarea>
  <ul id="differences" aria-label="What others say"></ul>
</section>
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A button of the bar."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class DeskItem:
    """What is judged at once: source `number` (None: the claim cites nothing) of claim `at`, or behind the last claim the whole answer.

    `chosen` are the values that this reviewer has given. `others` say what the checker and other reviewers say, once they may.
    """

    item: str
    at: int
    number: int | None
    label: str
    chosen: tuple[str, ...]
    note: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A verdict that was not saved, because another one had come meanwhile. `key` names it in a click."""

    key: str
    says: str
    theirs: str
    mine: str


@dataclass(frozen=True, slots=True)
class Desk:
    """What the script of the desk reads beside the data of the reader. `go` is the item to show, again for each new `turn`;
    `heard` is the number of the last click that was heard: after each of them all is drawn again as it is saved."""

    run: str
    reviewer: str
    items: tuple[DeskItem, ...]
    verdicts: tuple[Verdict, ...]
    whole: tuple[Verdict, ...]
    conflicts: tuple[Conflict, ...]
    go: str
    turn: int
    heard: int


def desk_data(
    item: ReviewItem, reviewer: str, conflicts: Sequence[Conflict] = (), go: str = "", turn: int = 0, heard: int = 0
) -> dict[str, Any]:
    """The data of the desk."""
    outlined = _outlines(item)
    cuts = {
        number: {edge for span in spans for edge in (span.start, span.end, span.low, span.high)} for number, spans in _by(outlined).items()
    }
    starts, at = dict[int, int](), 0
    for source in item.sources:
        starts[source.number] = at
        at += len(source.text) + 1
    cards = [_card(source, starts[source.number], cuts.get(source.number, set())) for source in item.sources]
    rows = tuple(_row(claim, item, outlined) for claim in item.claims)
    pane = Pane("", "", (), "", "", (), False, True, True, answer_lines(_pieces(item)), None, "", (), (), rows, Before("", ()))
    said = tuple(Verdict(value, WORDS[value].capitalize()) for value in CITATION_VERDICTS)
    whole = tuple(Verdict(value, label) for value, label in ANSWER_WORDS.items())
    desk = Desk(item.run_id, reviewer, tuple(_items(item)), said, whole, tuple(conflicts), go, turn, heard)
    text = json.dumps({"cards": cards, "attempts": [[pane]], "reference": item.reference or "", "review": desk}, default=fields)
    return {**json.loads(text), "version": hashlib.sha256(text.encode()).hexdigest()[:16]}


def judgement_words(own: Judgement | None) -> str:
    """What somebody says of an item, in words: `wrong fact · 15 here, 14 there`."""
    if own is None:
        return NOT_JUDGED
    parts = [WORDS[own.verdict]] if own.verdict is not None else []
    parts += [ANSWER_WORDS[value].lower() for value in _chosen(own) if value in ANSWER_WORDS]
    parts += [f"should cite {passage.document_id} #{passage.chunk_index}" for passage in own.should_cite]
    return " · ".join([*(parts or [NOT_JUDGED]), *([own.note] if own.note else [])])


def _items(item: ReviewItem) -> Iterable[DeskItem]:
    for at, claim in enumerate(item.claims):
        for citation in claim.citations:
            label = f"[{citation.number}]" if citation.number else "cites nothing"
            said = _others(citation, claim)
            yield DeskItem(citation.item, at, citation.number or None, label, _chosen(citation.own), _note(citation.own), said)
    others = tuple(f"{each.reviewer}: {judgement_words(each)}" for each in item.others)
    yield DeskItem(ANSWER_ITEM, len(item.claims), None, "answer", _chosen(item.own), _note(item.own), others)


def _others(citation: ReviewedCitation, claim: ReviewedClaim) -> tuple[str, ...]:
    """What the checker and others say; nothing before one's own verdict, because the item does not hold it then."""
    checker = WORDS[citation.says] if citation.says is not None else "leaves it open"
    said = [f"Checker: {checker}"] if claim.checker is not None else []
    said += [f"{each.reviewer}: {judgement_words(each)}" for each in citation.others]
    return (f"You: {judgement_words(citation.own)}", *said) if said else ()


def _chosen(own: Judgement | None) -> tuple[str, ...]:
    if own is None:
        return ()
    complete = () if own.complete is None else ("complete" if own.complete else "incomplete",)
    return tuple(value for value in (own.verdict, own.answers, *complete) if value is not None)


def _note(own: Judgement | None) -> str:
    return own.note if own is not None else ""


# The answer and its sources


def _row(claim: ReviewedClaim, item: ReviewItem, outlined: dict[tuple[int, int], Span]) -> ClaimRow:
    titles = {source.number: source.title or source.document_id or "" for source in item.sources}
    given = [citation.own for citation in claim.citations if citation.own is not None and citation.own.verdict is not None]
    said = dict.fromkeys(WORDS[own.verdict] for own in given if own.verdict is not None)
    whole = len(given) == len(claim.citations)
    name = ", ".join(said) if whole else f"{len(given)} of {len(claim.citations)}" if given else NOT_JUDGED
    spans = tuple(span for (number, _), span in outlined.items() if number == claim.number)
    cited = tuple(SourceName(each.number, titles.get(each.number, "")) for each in claim.citations if each.number)
    return ClaimRow((), "✓" if whole else "○", name, "" if cited else "Cites nothing.", spans, cited, ())


def _pieces(item: ReviewItem) -> list[Stretch | Chip]:
    """The answer as stretches and chips, each with its claim; nothing in them depends on what the checker found."""
    held = {source.number for source in item.sources}
    markers = {marker.start: marker for marker in _markers(item)}
    cuts = {0, len(item.answer)} | {edge for one in markers.values() for edge in (one.start, one.end)}
    cuts |= {min(edge, len(item.answer)) for claim in item.claims for edge in (claim.start, claim.end) if edge >= 0}
    pieces: list[Stretch | Chip] = []
    last: int | None = None
    inside = 0
    for low, high in pairwise(sorted(cuts)):
        owner = next((at for at, claim in enumerate(item.claims) if claim.start <= low and high <= claim.end), None)
        last = owner if owner is not None else last
        if (marker := markers.get(low)) is not None:
            inside = marker.end
            numbers = dict.fromkeys(marker.numbers)
            unknown = [number for number in numbers if number not in held][:MOST_UNKNOWN]
            pieces += [Chip(str(number), number, True, spoken=f"Source {number}", claim=last) for number in numbers if number in held]
            pieces += [Chip(str(number), number, False, spoken=f"Source {number}, unknown number", claim=last) for number in unknown]
        if low >= inside:
            pieces.append(Stretch(item.answer[low:high], owner))
    return pieces


def _card(source: RunSource, at: int, cuts: set[int]) -> Card:
    edges = sorted({at, at + len(source.text), *cuts})
    parts = tuple(CardPart(source.text[low - at : high - at], low, high, "chunk") for low, high in pairwise(edges))
    page = f"page {source.page_number}" if source.page_number is not None else ""
    title = " ".join((source.title or source.document_id or "Untitled source").split())
    return Card(source.number, title, " · ".join(filter(None, (page, source.date or "no date"))), parts)


def _by(outlined: dict[tuple[int, int], Span]) -> dict[int, list[Span]]:
    by: dict[int, list[Span]] = {}
    for span in outlined.values():
        by.setdefault(span.number, []).append(span)
    return by


def _outlines(item: ReviewItem) -> dict[tuple[int, int], Span]:
    """What is outlined in each source for each claim that cites it, by claim and source."""
    found: dict[tuple[int, int], Span] = {}
    at = 0
    for source in item.sources:
        sentences, words = tuple(sentence_spans(source.text)), _words_of(source.text)
        for claim in item.claims:
            if any(citation.number == source.number for citation in claim.citations) and sentences:
                start, end = nearest_sentence(claim.text, sentences, words)
                low, high = around(sentences, source.text, start, end)
                found[claim.number, source.number] = Span(source.number, at + start, at + end, "cited", None, at + low, at + high, "")
        at += len(source.text) + 1
    return found


def nearest_sentence(claim: str, sentences: Sequence[tuple[int, int]], words: Callable[[int, int], frozenset[str]]) -> tuple[int, int]:
    """The sentence that shares most words with a claim, the shortest of those that share as many; the first where none shares any."""
    sought = frozenset(re.findall(r"\w+", claim.casefold()))
    return max(sentences, key=lambda span: (len(sought & words(*span)), -len(words(*span))) if sought & words(*span) else (0, 0))


def _words_of(text: str) -> Callable[[int, int], frozenset[str]]:
    return cache(lambda start, end: frozenset(re.findall(r"\w+", text[start:end].casefold())))


def _markers(item: ReviewItem) -> list[MarkerEvent]:
    """The markers of an answer as a check reads them; one whose source is not known stays text."""
    sources = [Source(source.number, source.text, (), source.title or source.document_id or "") for source in item.sources]
    return [marker for marker in read_answer(item.answer, sources).events if marker.form not in SILENT]


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    css = "".join((ASSETS / f"{name}.css").read_text(encoding="utf-8") for name in ("answer_reader", "review_desk"))
    reader, desk = ((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in ("answer_reader", "review_desk"))
    html = HTML.replace('<section id="desk"', f'{BAR}<section id="desk"')
    return st.components.v2.component("ctxasm_review_desk", html=html, css=css, js=reader.partition("export default")[0] + desk)


def show_desk(data: dict[str, Any]) -> None:
    """Draw the data of `desk_data`."""
    _component()(data={**data, "run": 0}, key="review_desk", height="content")
