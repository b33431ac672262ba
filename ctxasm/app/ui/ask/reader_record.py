"""What the script of the answer reader reads: one record, turned to JSON with these names. A test holds both to the same names.

Offsets are characters of the context as Python counts them; the page only compares them, and cuts no text itself. All texts are as
they came: the script sets them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from ctxasm.app.ui.ask.verdict_words import Shown

SpanKind = Literal["support", "part", "better", "summary", "clash"]


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
    """A block of the context. `number` None: text that no marker names. `about`: its date, and what else says the same."""

    number: int | None
    title: str
    about: str
    parts: Sequence[PartData]


class StretchData(TypedDict):
    """Text of the answer. `clash`: words that a source contradicts."""

    text: str
    clash: bool


class ChipData(TypedDict):
    """A number of a marker. Only a chip has a `label`; `part` and `mark` are empty where nothing was checked."""

    label: str
    number: int | None
    known: bool
    part: Shown | str
    mark: str
    spoken: str
    stale: str


class LineData(TypedDict):
    """A line of the answer. `claim` is the position of its claim; None: it states nothing."""

    claim: int | None
    pieces: Sequence[StretchData | ChipData]


class SpanData(TypedDict):
    """Characters of the context that speak for a claim (clash: against it), in block `number`, and the passage `low` to `high` to read.

    `where`: section and page; `added`: of an added neighbour.
    """

    number: int
    start: int
    end: int
    kind: SpanKind
    added: bool
    low: int
    high: int
    where: str


class SourceData(TypedDict):
    """A block that the spans of a claim stand in, else one that it cites."""

    number: int
    title: str


class PassageData(TypedDict):
    """A chunk that a claim stands on by what it cites: its name, what a click on its button says, and whether the question expects it.

    `fixed`: the labels of the data expect it, and a click does not change that.
    """

    title: str
    click: str
    expected: bool
    fixed: bool


class ClaimData(TypedDict):
    """A claim: what it is counted under, worst first, and what it is called; `says` why it is not simply carried."""

    parts: Sequence[Shown]
    sign: str
    name: str
    says: str
    spans: Sequence[SpanData]
    sources: Sequence[SourceData]
    passages: Sequence[PassageData]


class PanelData(TypedDict):
    """Why an answer is not whole, or why there is none."""

    id: str
    heading: str
    text: str
    still: str


class FigureData(TypedDict):
    """A figure of a check: what it says, its value as it is shown, and what engineers call it."""

    says: str
    value: str
    name: str


class ChoiceData(TypedDict):
    """Claims to show: those counted under one part, or all of them (empty)."""

    label: str
    part: Shown | str
    sign: str


class BeforeData(TypedDict):
    """What would be wrong had citations been built before assembly: a sentence, and what each number would have meant."""

    says: str
    which: Sequence[str]


class PaneData(TypedDict):
    """An answer of one model. `summary` says in one sentence what `choices`, `doubt` and `uses` show; `how` it was asked and checked."""

    model: str
    summary: str
    choices: Sequence[ChoiceData]
    doubt: str
    uses: str
    marked: bool
    done: bool
    lines: Sequence[LineData]
    panel: PanelData | None
    unchecked: str
    figures: Sequence[FigureData]
    how: Sequence[str]
    claims: Sequence[ClaimData]
    before: BeforeData


class Contents(TypedDict):
    """The context in cards, and every attempt with a pane for each model."""

    cards: Sequence[CardData]
    attempts: Sequence[Sequence[PaneData]]


class ReaderData(Contents):
    """The whole record. `version` is a digest of its contents: the same is not drawn again."""

    version: str


class DrawnReader(ReaderData):
    """`run` counts the runs of the page: a test sees by it that a click caused none."""

    run: int
