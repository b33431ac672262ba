"""What can be done with the markers of an answer: keep them, cut them, link them, number them anew. Pure functions.

Every effect returns the text with a map of its offsets. Known numbers are those that have a citation; an unknown number is
never deleted: `remove` leaves it as text (`[1, 99]` becomes `[99]`), `link` leaves it unlinked, `renumber` leaves it as
it is and gives its number to no other. Entries of source lists are no markers of a claim and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from ctxasm.citations.markers import MarkerEvent, clean
from ctxasm.text.markers.cleaning import Cleaner, Edit
from ctxasm.text.markers.numbers import is_opening_tag, rewrite
from ctxasm.text.markers.offsets import OffsetMap, apply

_CITE_END = re.compile(r"</cite\s*>", re.IGNORECASE)
_SAFE = re.compile(r"(?:https?://|mailto:|/(?![/\\])|[#?.]|[^:/?#\\]+(?:[/?#]|\Z))", re.IGNORECASE)
_IGNORED = re.compile(r"[\x00-\x20]")
"""What browsers leave out of an address, or of its beginning: it must not hide what the rest is."""
_UNSAFE_CHARS = re.compile(r"[\x00-\x20\x7f<>()\[\]\\\"'`\u2028\u2029]")
_ESCAPED = re.compile(r"[&<>\"']")
_INLINE = re.compile(r"([\\`*_\[\]<>()!|~])")


class Link(NamedTuple):
    """Where a number points. `href`: http, https, mailto, or a place on the same site; others are not linked."""

    href: str
    label: str


class Cleaned:
    """A text after an effect. `markers` are the markers it was made from, their `cleaned_*` places being in `text`."""

    __slots__ = ("_places", "markers", "text")

    def __init__(self, text: str, markers: tuple[MarkerEvent, ...], edits: Sequence[Edit]) -> None:
        self.text, self.markers, self._places = text, markers, OffsetMap(edits)

    def to_cleaned(self, offset: int) -> int:
        """The place in `text` of a place in the answer. Never decreases."""
        return self._places.to_cleaned(offset)

    def to_raw(self, offset: int) -> int:
        """The place in the answer of a place in `text`; before what was cut there. Never decreases."""
        return self._places.to_raw(offset)


def keep(answer: str, markers: Iterable[MarkerEvent]) -> Cleaned:
    """The answer as it is."""
    return Cleaned(answer, tuple(marker._replace(cleaned_start=marker.start, cleaned_end=marker.end) for marker in markers), ())


def remove(answer: str, markers: Iterable[MarkerEvent], known: Collection[int] | None = None) -> Cleaned:
    """The answer without the known numbers (None: all), with no blank, bracket or emphasis left that only held them.

    Words that only a marker kept apart get a blank; a word joiner stands where the two sides would make a new marker.
    """
    cleaner, at, placed = Cleaner(), 0, list[MarkerEvent]()
    for marker in markers:
        placed.append(clean(cleaner, answer[at : marker.start], marker, known))
        at = marker.end
    cleaner.finish(answer[at:])
    return Cleaned(apply(answer, cleaner.edits), tuple(placed), cleaner.edits)


def renumber(answer: str, markers: Iterable[MarkerEvent], known: Collection[int] | None = None) -> tuple[Cleaned, dict[int, int]]:
    """The answer with its known numbers (None: all) numbered 1, 2, … by first appearance, and the new number of each.

    A number that an unknown marker has is given to none, so that it stays unknown.
    """
    listed = tuple(markers)
    cited = list(dict.fromkeys(number for marker in listed for number in marker.numbers))
    taken = {number for number in cited if known is not None and number not in known}
    numbers: dict[int, int] = {}
    following = 1
    for number in cited:
        if number not in taken:
            while following in taken:
                following += 1
            numbers[number] = following
            following += 1
    edits = [Edit(marker.start, marker.end, _renumbered(marker, numbers)) for marker in listed]
    return _edited(answer, listed, edits), numbers


def _renumbered(marker: MarkerEvent, numbers: Mapping[int, int]) -> str:
    changed = [numbers.get(number, number) for number in marker.numbers]
    return marker.text if changed == list(marker.numbers) else rewrite(marker.text, marker.form, changed)


def link(answer: str, markers: Iterable[MarkerEvent], target: Callable[[int], Link | None], *, html: bool = False) -> Cleaned:
    """The answer with a link for each number that `target` knows, in Markdown, or as HTML with all other text escaped."""
    listed, edits, at, open_cites = tuple(markers), list[Edit](), 0, list[bool]()
    for marker in listed:
        edits += _between(answer, at, marker.start, open_cites, html)
        links = {number: found for number in marker.numbers if (found := target(number))}
        edits.append(Edit(marker.start, marker.end, _linked(marker, links, html)))
        if is_opening_tag(marker.text, marker.form):
            open_cites.append(bool(links))
        at = marker.end
    edits += _between(answer, at, len(answer), open_cites, html)
    return _edited(answer, listed, edits)


def _linked(marker: MarkerEvent, links: Mapping[int, Link], html: bool) -> str:
    if not links:
        return escape(marker.text) if html else marker.text
    pieces: list[str] = []
    for number in marker.numbers:
        found = links.get(number)
        if found is None:
            pieces.append(f"[{number}]")
        elif not _SAFE.match(_IGNORED.sub("", found.href)):
            pieces.append(escape(found.label) if html else _INLINE.sub(r"\\\1", found.label))
        elif html:
            pieces.append(f'<a href="{escape(found.href)}">{escape(found.label)}</a>')
        else:
            label = " ".join(_INLINE.sub(r"\\\1", found.label).split())
            pieces.append(f"[{label}]({_UNSAFE_CHARS.sub(_percent, found.href).replace('&', '&amp;')})")
    return " ".join(pieces)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _between(answer: str, start: int, end: int, open_cites: list[bool], html: bool) -> list[Edit]:
    """Edits of the text between two markers: closing tags of linked `<cite>`s go, and for HTML what is not safe is escaped."""
    edits: list[Edit] = []
    at = start
    while open_cites and (found := _CITE_END.search(answer, at, end)):
        edits += _escapes(answer, at, found.start(), html)
        if open_cites.pop():
            edits.append(Edit(*found.span(), ""))
        else:
            edits += _escapes(answer, *found.span(), html)
        at = found.end()
    return edits + _escapes(answer, at, end, html)


def _escapes(answer: str, start: int, end: int, html: bool) -> list[Edit]:
    if not html:
        return []
    return [Edit(*found.span(), escape(found[0])) for found in _ESCAPED.finditer(answer, start, end)]


def _edited(answer: str, markers: tuple[MarkerEvent, ...], edits: list[Edit]) -> Cleaned:
    """The answer with `edits`, in which each marker is one edit."""
    shift, starts = 0, dict[int, tuple[int, int]]()
    for edit in edits:
        starts[edit.start] = edit.start + shift, edit.start + shift + len(edit.text)
        shift += len(edit.text) - (edit.end - edit.start)
    placed = tuple(marker._replace(cleaned_start=starts[marker.start][0], cleaned_end=starts[marker.start][1]) for marker in markers)
    return Cleaned(apply(answer, edits), placed, edits)
