"""Citation markers in an answer, whole or streamed, and the sources they mean.

Law: however an answer is cut into pieces, the events are the same. At most 64 characters are undecided at any time
(2,048 inside a link destination), so a stream is shown almost as it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxasm.model.marker_forms import MarkerForm, MarkerScanner
from ctxasm.model.marker_grammar import FormName
from ctxasm.model.results import Citation

LONGEST_UNKNOWN_RUN = 10
"""A longer run of consecutive unknown numbers in one marker is reported by its first and last number."""


class MarkerEvent(NamedTuple):
    """A marker at characters `start` to `end` of the raw answer. `malformed` ones (`[3-1]`) name no number."""

    start: int
    end: int
    text: str
    form: FormName
    numbers: tuple[int, ...]


class ResolvedMarker(NamedTuple):
    """A marker with the citations it means. `unknown` numbers have no citation: they are reported, never dropped."""

    marker: MarkerEvent
    known: tuple[int, ...]
    unknown: tuple[int, ...]

    @property
    def is_sound(self) -> bool:
        """Whether every number of the marker is a citation of the context."""
        return bool(self.known) and not self.unknown


class MarkerParser:
    """Reads an answer in any pieces. `listed` collects the entries of source lists: they cite no claim.

    `second_number`: `【4:0†source】` means block 1, the second number plus one, instead of block 4.
    """

    def __init__(self, *, second_number: bool = False) -> None:
        self._scanner = MarkerScanner(second_number=second_number)
        self.text = ""
        self.listed: list[MarkerEvent] = []

    @property
    def decided(self) -> int:
        """How many characters of the answer are certain: what may be shown with its markers."""
        return self._scanner.decided

    def feed(self, piece: str | None) -> tuple[MarkerEvent, ...]:
        """The markers that became certain with this piece. None and "" are fine."""
        self.text += piece or ""
        return self._events(self._scanner.feed(piece))

    def finish(self) -> tuple[MarkerEvent, ...]:
        """The markers in what was still undecided; the answer ends here."""
        return self._events(self._scanner.finish())

    def _events(self, forms: Iterable[MarkerForm]) -> tuple[MarkerEvent, ...]:
        events: list[MarkerEvent] = []
        for form in forms:
            event = MarkerEvent(form.start, form.end, self.text[form.start : form.end], form.form, form.numbers)
            (self.listed if form.listed else events).append(event)
        return tuple(events)


def parse_markers(answer: str, *, second_number: bool = False) -> tuple[MarkerEvent, ...]:
    """All markers of a whole answer, in order."""
    parser = MarkerParser(second_number=second_number)
    return parser.feed(answer) + parser.finish()


def resolve(markers: Iterable[MarkerEvent], citations: Sequence[Citation]) -> tuple[ResolvedMarker, ...]:
    """Each marker with the numbers that are citations and those that are not."""
    existing = {citation.number for citation in citations}
    return tuple(
        ResolvedMarker(
            marker,
            tuple(number for number in marker.numbers if number in existing),
            _ends_of_runs([number for number in marker.numbers if number not in existing]),
        )
        for marker in markers
    )


def _ends_of_runs(numbers: list[int]) -> tuple[int, ...]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return tuple(number for run in runs for number in (run if len(run) <= LONGEST_UNKNOWN_RUN else (run[0], run[-1])))
