"""Citation markers in an answer, whole or streamed, and the sources they mean.

Law: however an answer is cut into pieces, the events are the same. At most 64 characters are undecided at any time
(2,048 inside a link destination), so a stream is shown almost as it comes.

An event carries its place in the raw answer and in the cleaned one, the answer as `citations.effects.remove` gives it
for the same known numbers. A marker that goes has an empty span there, straight after the last solid character before
it: whether the blank or the opening bracket in between stays depends on what follows, and the event does not wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

from ctxasm.text.markers.cleaning import Cleaner
from ctxasm.text.markers.forms import MarkerForm, MarkerScanner
from ctxasm.text.markers.grammar import FormName, Reading
from ctxasm.text.markers.numbers import is_opening_tag, keep_only, runs_of
from ctxasm.text.markers.offsets import OffsetMap

LONGEST_UNKNOWN_RUN = 10
"""A longer run of consecutive unknown numbers in one marker is reported by its first and last number."""


class MarkerEvent(NamedTuple):
    """A marker at characters `start` to `end` of the raw answer. `malformed` ones (`[3-1]`) name no number.

    `cleaned_start` and `cleaned_end`: its place in the cleaned answer; an empty span where the marker goes.
    """

    start: int
    end: int
    text: str
    form: FormName
    numbers: tuple[int, ...]
    cleaned_start: int = 0
    cleaned_end: int = 0


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

    `second_number`: `【4:0†source】` means block 1, the second number plus one, instead of block 4. `known` are the numbers
    that go from the cleaned answer (None: all of them); a marker of other numbers stays in it, as text. `reading`: which
    forms are markers.
    """

    def __init__(self, *, second_number: bool = False, known: Collection[int] | None = None, reading: Reading = "usual") -> None:
        self._scanner = MarkerScanner(second_number=second_number, reading=reading)
        self._cleaner, self._known = Cleaner(), known
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
        """The entries of source lists so far; they stay in the cleaned answer."""
        text, places = self.text, OffsetMap(self._cleaner.edits)
        return [
            MarkerEvent(*form[:2], text[form.start : form.end], *form[2:4], places.to_cleaned(form.start), places.to_cleaned(form.end))
            for form in self._listed
        ]

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
        events = self._events(self._scanner.finish())
        self._cleaner.finish("".join(self._since))
        self._since = []
        return events

    def _events(self, forms: list[MarkerForm]) -> tuple[MarkerEvent, ...]:
        events: list[MarkerEvent] = []
        text, at = "".join(self._since), 0
        for form in forms:
            if form.listed:
                self._listed.append(form)
                continue
            low, high = form.start - self._since_at, form.end - self._since_at
            event = MarkerEvent(form.start, form.end, text[low:high], form.form, form.numbers)
            events.append(clean(self._cleaner, text[at:low], event, self._known))
            at = high
        self._since, self._since_at = [text[at:]], self._since_at + at
        return tuple(events)


def clean(cleaner: Cleaner, between: str, event: MarkerEvent, known: Collection[int] | None) -> MarkerEvent:
    """Hand a marker and the text `between` it and the one before to `cleaner`: the event with its place in the cleaned text."""
    kept = keep_only(event.text, event.form, event.numbers, known)
    opens_cite = is_opening_tag(event.text, event.form)
    length = len(event.text)
    place = cleaner.replace(between, event.text, kept, opens_cite) if kept else cleaner.cut(between, length, opens_cite)
    return event._replace(cleaned_start=place, cleaned_end=place + len(kept))


def parse_markers(
    answer: str, *, second_number: bool = False, known: Collection[int] | None = None, reading: Reading = "usual"
) -> tuple[MarkerEvent, ...]:
    """All markers of a whole answer, in order."""
    parser = MarkerParser(second_number=second_number, known=known, reading=reading)
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


def _ends_of_runs(numbers: list[int]) -> tuple[int, ...]:
    return tuple(number for run in runs_of(numbers) for number in (run if len(run) <= LONGEST_UNKNOWN_RUN else (run[0], run[-1])))
