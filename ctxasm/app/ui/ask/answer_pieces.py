"""An answer as pieces: stretches of its claims, a chip for each number of each marker; and these as lines, one for each claim. Pure.

Texts are as they came: whoever draws them escapes them, or sets them as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxasm.app.ui.ask.reader_record import BeforeData
from ctxasm.app.ui.words.verdict_words import sign
from ctxasm.app.ui.words.words import title_of
from ctxasm.citations.axes import WORST, Part, support_of, words
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.model.results import Assembly


class Judged(NamedTuple):
    """What one citation of a claim is worth, and the source that holds the claim instead. A marker that several claims share shows the
    worst of theirs."""

    part: Part
    better: int | None = None


class Chip(NamedTuple):
    """A number of a marker as it is drawn. `claim` is the position of its claim; `judged` None: not checked (yet).

    `stale` names what the number would have meant, had the list been built before assembly and were that wrong.
    """

    label: str
    number: int | None
    known: bool
    claim: int | None
    judged: Judged | None
    stale: str = ""

    @property
    def mark(self) -> str:
        """The sign of what it is worth: `✓`, or `→3` where another source holds the claim."""
        if self.judged is None:
            return ""
        return f"→{self.judged.better}" if self.judged.better else sign(self.judged.part)

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        name = f"Source {self.number}" if self.number is not None else f"Marker {self.label}"
        worth = f", {words(self.judged.part)}" if self.judged else "" if self.known else ", unknown number"
        instead = f", found in {self.judged.better}" if self.judged and self.judged.better else ""
        return f"{name}{worth}{instead}"


class Stretch(NamedTuple):
    """Text of the answer. `claim` is the position of the claim that it belongs to; `clash`: the words that a source contradicts."""

    text: str
    claim: int | None = None
    clash: bool = False


class Line(NamedTuple):
    """A line of the answer: all that belongs to its claim, or what states nothing (`claim` None), such as a heading."""

    claim: int | None
    pieces: tuple[Stretch | Chip, ...]


def answer_pieces(
    answer: str,
    markers: Sequence[ResolvedMarker],
    claims: Sequence[CheckedClaim] = (),
    stale: Mapping[int, str] | None = None,
    end: int | None = None,
    threshold: float = 1.0,
) -> list[Stretch | Chip]:
    """The answer up to `end` (default: all) as stretches and chips; the stretches join to the answer without its markers.

    `threshold` is that of the check that judged the claims.
    """
    end = len(answer) if end is None else end
    shown = [(at, marker) for at, marker in enumerate(markers) if marker.marker.end <= end]
    starts = {marker.marker.start: (at, marker) for at, marker in shown}
    clashes = [span for claim in claims if (span := _clash(answer, claim))]
    cuts = {0, end} | {x for _, m in shown for x in (m.marker.start, m.marker.end)} | {x for span in clashes for x in span}
    cuts |= {x for c in claims for x in (c.claim.start, c.claim.end)}
    pieces: list[Stretch | Chip] = []
    inside = 0
    for low, high in pairwise(sorted(cut for cut in cuts if 0 <= cut <= end)):
        if low in starts:
            at, marker = starts[low]
            inside = marker.marker.end
            pieces += _chips(at, marker, claims, stale or {}, threshold)
        if low >= inside:
            owner = next((n for n, c in enumerate(claims) if c.claim.start <= low and high <= c.claim.end), None)
            clash = any(first <= low and high <= last for first, last in clashes)
            pieces.append(Stretch(answer[low:high], owner, clash))
    return pieces


def _clash(answer: str, checked: CheckedClaim) -> tuple[int, int] | None:
    """Where the words of the claim stand that a source contradicts."""
    conflict = checked.disputed.conflict if checked.disputed else checked.conflict
    if conflict is None or not conflict.claim.strip():
        return None
    pattern = r"\s+".join(re.escape(word) for word in conflict.claim.split())
    found = re.compile(pattern, re.IGNORECASE).search(answer, checked.claim.start, checked.claim.end)
    return found.span() if found else None


def _chips(
    at: int, resolved: ResolvedMarker, claims: Sequence[CheckedClaim], stale: Mapping[int, str], threshold: float
) -> list[Stretch | Chip]:
    owners = [(n, claim) for n, claim in enumerate(claims) if at in claim.claim.markers]
    owner = owners[0][0] if owners else None
    chips: list[Stretch | Chip] = []
    for number in (*resolved.known, *resolved.unknown):
        known = number in resolved.known
        worth = [judged_citation(number, claim, threshold) for _, claim in owners]
        judged = min(worth, key=lambda one: WORST.index(one.part), default=None)
        chips.append(Chip(str(number), number, known, owner, judged, stale.get(number, "")))
    return chips or [Chip(resolved.marker.text, None, False, owner, None)]


def judged_citation(number: int, checked: CheckedClaim, threshold: float) -> Judged:
    """What the citation of source `number` by this claim is worth."""
    if number in checked.unknown:
        return Judged("dropped" if any(source.number == number for source in checked.dropped) else "unknown")
    for clause in checked.clauses:
        if number in clause.claim.cited:
            return judged_citation(number, clause, threshold)
    if checked.disputed is not None and checked.disputed.number == number:
        return Judged("disputed")
    carries = any(found.number == number for found in checked.support)
    if checked.verdict == "contradicted" and (checked.conflict is None or checked.conflict.number == number):
        return Judged("contradicted")
    if number in checked.idle or checked.verdict == "elsewhere":
        return Judged("wrong_number", checked.better) if checked.better is not None else Judged("not_found")
    if carries:
        return Judged("right" if support_of(checked, threshold) == "full" else "partly")
    return Judged("right" if checked.verdict == "supported" else "not_found")


def stale_numbers(assembly: Assembly) -> dict[int, str]:
    """The citation numbers that would mean another document, or none, had the list been built before assembly; and what they would."""
    before = {entry.number: entry.document_id for entry in assembly.trace.before_assembly}
    stale: dict[int, str] = {}
    for citation in assembly.citations:
        would = before.get(citation.number)
        if would is None:
            stale[citation.number] = f"[{citation.number}] would have pointed to nothing"
        elif would not in {citation.document_id, *(document_id for document_id, _ in citation.also_in)}:
            stale[citation.number] = f"[{citation.number}] would have pointed to “{title_of(assembly.trace.documents, would, 60)}”"
    return stale


def before_assembly(chips: Sequence[Chip]) -> BeforeData:
    """How many chips would be wrong had citations been built before assembly: a sentence, and what each number would have meant."""
    known = [chip for chip in chips if chip.known]
    wrong = [chip for chip in known if chip.stale]
    if not known:
        says = "The answer cites no source."
    elif not wrong:
        says = f"All {len(known)} citations would point to the same documents." if len(known) > 1 else "The one citation would be right."
    else:
        says = f"{len(wrong)} of {len(known)} citations would be wrong."
    return {"says": says, "which": list(dict.fromkeys(chip.stale for chip in wrong))}


def checked_pieces(checked: CheckedAnswer, stale: Mapping[int, str]) -> list[Stretch | Chip]:
    """The pieces of a checked answer."""
    return answer_pieces(checked.answer, checked.markers, checked.claims, stale, threshold=checked.threshold)


_LIST_MARK = re.compile(r"\A\s*(?:[-*•+>|]+|#{1,6}|\d{1,3}[.)])(?=\s|\Z)[\s|]*")
_WORD = re.compile(r"\w")
_CLOSING = re.compile(r"[^\w\s|*#>•+-]+")


def answer_lines(pieces: Sequence[Stretch | Chip]) -> list[Line]:
    """A line for each claim, and for each line of what states nothing; marks of lists and tables between them are left out."""
    lines: list[tuple[int | None, list[Stretch | Chip]]] = []
    for piece in pieces:
        if isinstance(piece, Stretch) and piece.claim is None:
            _aside(lines, piece.text)
        elif not lines or (piece.claim is not None and (lines[-1][0] is None or piece.claim > lines[-1][0])):
            # A chip that an earlier claim owns as well stays on the line that it stands behind.
            lines.append((piece.claim, [piece]))
        else:
            lines[-1][1].append(piece)
    return [Line(claim, tuple(own)) for claim, own in lines]


def _aside(lines: list[tuple[int | None, list[Stretch | Chip]]], text: str) -> None:
    """Add text between claims: words on lines of their own, the mark that closes a claim behind it."""
    for at, part in enumerate(text.split("\n")):
        said = part if at == 0 and lines else _LIST_MARK.sub("", part)
        if not _WORD.search(said):
            if lines and at == 0 and (closing := _CLOSING.search(said)):
                lines[-1][1].append(Stretch(closing[0], lines[-1][0]))
        elif at == 0 and lines and lines[-1][0] is None:
            lines[-1][1].append(Stretch(said))
        else:
            lines.append((None, [Stretch(said.strip(" |"))]))
