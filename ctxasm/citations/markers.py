"""Citation markers in an answer, whole or streamed, and the sources they mean.

Law: however an answer is cut into pieces, the events are the same. At most 64 characters are undecided at any time
(2,048 inside a link destination), so a stream is shown almost as it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ctxasm.text.markers.grammar import FormName, Reading
from ctxasm.text.markers.scanner import MarkerForm, MarkerScanner

LONGEST_UNKNOWN_RUN = 10
"""A longer run of consecutive unknown numbers in one marker is reported by its first and last number."""


SILENT: frozenset[FormName] = frozenset({"unread", "tag"})
"""Forms that cite nothing: markers whose source is not known, and the ends of tags."""


class MarkerEvent(NamedTuple):
    """A marker at characters `start` to `end` of the answer. `malformed` ones (`[3-1]`) name no number."""

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
        """Whether the marker names no number that is no citation of the context."""
        return self.marker.form in SILENT or (bool(self.known) and not self.unknown)


class MarkerParser:
    """Reads an answer in any pieces. `listed` collects the entries of source lists: they cite no claim. `reading`: what is a marker."""

    def __init__(self, *, reading: Reading = "usual") -> None:
        self._scanner = MarkerScanner(reading=reading)
        self._pieces: list[str] = []
        self._since: list[str] = []  # what came after the last marker: joined once per marker, so that time stays linear
        self._since_at = 0
        self._listed: list[MarkerForm] = []

    @property
    def text(self) -> str:
        """The answer so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def decided(self) -> int:
        """How many characters of the answer are certain: what may be shown with its markers."""
        return self._scanner.decided

    @property
    def listed(self) -> list[MarkerEvent]:
        """The entries of source lists so far."""
        text = self.text
        return [MarkerEvent(form.start, form.end, text[form.start : form.end], form.form, form.numbers) for form in self._listed]

    def feed(self, piece: str | None) -> tuple[MarkerEvent, ...]:
        """The markers that became certain with this piece. None and "" are fine."""
        if not piece:
            return ()
        self._pieces.append(piece)
        self._since.append(piece)
        forms = self._scanner.feed(piece)
        return self._events(forms) if forms else ()

    def finish(self) -> tuple[MarkerEvent, ...]:
        """The markers in what was still undecided; the answer ends here."""
        return self._events(self._scanner.finish())

    def _events(self, forms: list[MarkerForm]) -> tuple[MarkerEvent, ...]:
        events: list[MarkerEvent] = []
        text, at = "".join(self._since), 0
        for form in forms:
            if form.listed:
                self._listed.append(form)
                continue
            low, high = form.start - self._since_at, form.end - self._since_at
            events.append(MarkerEvent(form.start, form.end, text[low:high], form.form, form.numbers))
            at = high
        self._since, self._since_at = [text[at:]], self._since_at + at
        return tuple(events)


def parse_markers(answer: str, *, reading: Reading = "usual") -> tuple[MarkerEvent, ...]:
    """All markers of a whole answer, in order."""
    parser = MarkerParser(reading=reading)
    return parser.feed(answer) + parser.finish()


class Numbered(Protocol):
    """What a marker can name: a citation of a context, a source of an answer."""

    @property
    def number(self) -> int: ...


def resolve(markers: Iterable[MarkerEvent], citations: Iterable[Numbered]) -> tuple[ResolvedMarker, ...]:
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


def _ends_of_runs(numbers: Sequence[int]) -> tuple[int, ...]:
    """The numbers, of each long run of consecutive ones only the first and the last."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return tuple(number for run in runs for number in (run if len(run) <= LONGEST_UNKNOWN_RUN else (run[0], run[-1])))
