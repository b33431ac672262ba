"""What the script of the answer reader reads: one record, turned to JSON with these names. A test holds both to the same names.

Offsets are characters of the context as Python counts them; the page only compares them, and cuts no text itself. All texts are as
they came: the script sets them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ctxasm.app.ui.ask.claim_rows import SpanKind
from ctxasm.citations.checked import Verdict


class Hint(TypedDict):
    """What stands in place of an answer: a heading and the next action."""

    heading: str
    text: str


class PartData(TypedDict):
    """Characters `start` to `end` of the context, of one look. `opens`: its chunk begins here."""

    text: str
    start: int
    end: int
    kind: str
    chunk: int | None
    added: bool
    opens: bool


class CardData(TypedDict):
    """A block of the context. `number` None: text that no marker names."""

    number: int | None
    title: str
    about: str
    colour: str
    parts: Sequence[PartData]


class StretchData(TypedDict):
    """Text of the answer. `claim` is the position of the claim that it belongs to; `clash`: words that a source contradicts."""

    text: str
    claim: int | None
    clash: bool


class ChipData(TypedDict):
    """A number of a marker. Only a chip has a `label`; `verdict`, `sign` and `name` are empty where nothing was checked."""

    label: str
    number: int | None
    known: bool
    claim: int | None
    verdict: Verdict | str
    sign: str
    name: str
    mark: str
    spoken: str
    stale: str


class SpanData(TypedDict):
    """Characters of the context that speak for a claim (clash: against it), in block `number`; `added`: of an added neighbour."""

    number: int
    start: int
    end: int
    kind: SpanKind
    added: bool


class QuoteData(TypedDict):
    """The text of a span, cut to a line."""

    number: int
    text: str


class SourceData(TypedDict):
    """A block that the spans of a claim stand in, else one that it cites."""

    number: int
    title: str


class ClaimData(TypedDict):
    """A claim as a row of the table, and what is marked for it."""

    text: str
    cites: str
    verdict: Verdict
    sign: str
    name: str
    says: str
    missing: Sequence[str]
    neighbour: str
    spans: Sequence[SpanData]
    quotes: Sequence[QuoteData]
    sources: Sequence[SourceData]


class PanelData(TypedDict):
    """Why an answer is not whole, or why there is none."""

    id: str
    heading: str
    text: str
    still: str


class FigureData(TypedDict):
    """A figure of a check: its name, its value as it is shown, and what it says in one line."""

    name: str
    value: str
    says: str


class ChoiceData(TypedDict):
    """A choice of rows of the table. `verdicts` None: all of them."""

    label: str
    total: int
    sign: str
    verdicts: Sequence[Verdict] | None


class BeforeData(TypedDict):
    """What would be wrong had citations been built before assembly: a sentence, and what each number would have meant."""

    says: str
    which: Sequence[str]


class PaneData(TypedDict):
    """An answer of one model."""

    model: str
    badges: Sequence[str]
    summary: str
    marked: bool
    done: bool
    pieces: Sequence[StretchData | ChipData]
    panel: PanelData | None
    unchecked: str
    figures: Sequence[FigureData]
    how: str
    claims: Sequence[ClaimData]
    filters: Sequence[ChoiceData]
    before: BeforeData


class Contents(TypedDict):
    """The context in cards, and every attempt with a pane for each model."""

    hint: Hint
    cards: Sequence[CardData]
    attempts: Sequence[Sequence[PaneData]]


class ReaderData(Contents):
    """The whole record. `version` is a digest of its contents: the same is not drawn again."""

    version: str


class DrawnReader(ReaderData):
    """`run` counts the runs of the page: a test sees by it that a click caused none."""

    run: int
