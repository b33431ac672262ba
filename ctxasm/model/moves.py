"""What became of the labels and hits of stored questions when their dataset was replaced, in counts and in words."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Moves:
    """What became of labels and hits at a load: counts, and the first of each kind in words."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, example: str) -> None:
        """Count one."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.first.setdefault(kind, example)

    def notes(self) -> tuple[str, ...]:
        """A sentence for each kind that occurred."""
        return tuple(
            f"{self.counts[kind]:,} {words[self.counts[kind] != 1]}: {self.first[kind]}"
            for kind, words in KINDS.items()
            if kind in self.counts
        )


KINDS = {
    "label moved": ("label followed its text to another chunk", "labels followed their text to other chunks, the first"),
    "label ambiguous": (
        "label has a text that stands several times, the nearest to its old place was taken",
        "labels have a text that stands several times, the nearest to their old place was taken, the first",
    ),
    "label found": ("label that was lost is found again", "labels that were lost are found again, the first"),
    "label lost": (
        "label is lost, no chunk of its document holds its text; it counts as not found (`ctxasm questions` lists it)",
        "labels are lost, no chunk of their document holds their text; they count as not found (`ctxasm questions` lists them), the first",
    ),
    "place lost": (
        "place of a label that has others is lost, which alone count now (`ctxasm questions` lists it)",
        "places of labels that have others are lost, which alone count now (`ctxasm questions` lists them), the first",
    ),
    "hit moved": ("saved hit followed its text to another chunk", "saved hits followed their text to other chunks, the first"),
    "hit found": ("saved hit that was lost is found again", "saved hits that were lost are found again, the first"),
    "hit lost": (
        "saved hit is lost, no chunk of its document holds its text; search again for a whole list",
        "saved hits are lost, no chunk of their document holds their text; search again for whole lists, the first",
    ),
}
"""What can become of a label or a hit, in words for one and for several."""
