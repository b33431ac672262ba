"""Which claims inherit the markers of their block.

A marker covers more than its own claim where it stands

- at the end of a paragraph, a quote or a list item, behind its last sentence or alone on the line after it: the sentences of
  that paragraph before it, back to the one that cites before;
- at the end of a list or a table that cites nowhere else: all items or rows;
- in a heading: what follows it up to the next heading; in a lead-in ("The rules are [1]:"): the list, table or paragraph behind
  it, and in the header of a table: its rows.

Nothing is inherited by a claim that cites for itself, or that states nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.answer_parts import Part
from ctxasm.citations.checked import Claim


def inherit(claims: Sequence[Claim], ends_cited: Sequence[bool], of_part: Sequence[int], parts: Sequence[Part]) -> tuple[Claim, ...]:
    """The claims with the numbers that they inherit.

    For each claim: whether its markers are one run at its end, and the number of the part it stands in. Linear in the number of claims.
    """
    block_of = _blocks(parts)
    numbers: list[tuple[int, ...]] = [()] * len(claims)

    def give(place: int, cited: tuple[int, ...]) -> None:
        if claims[place].states and not claims[place].markers and not numbers[place]:
            numbers[place] = cited

    for low, high in _grouped(list(of_part)):
        if ends_cited[high - 1] and claims[high - 1].states:
            for place in range(high - 2, low - 1, -1):
                if claims[place].markers:
                    break
                give(place, claims[high - 1].cited)
    for low, high in _grouped([block_of[part] for part in of_part]):
        lone = not any(claims[place].markers for place in range(low, high - 1))
        if lone and ends_cited[high - 1] and claims[high - 1].kind in ("item", "row"):
            for place in range(low, high - 1):
                give(place, claims[high - 1].cited)
    for place, cited in _headed(claims, of_part, block_of, parts):
        give(place, cited)
    return tuple(claim._replace(inherited=cited) if cited else claim for claim, cited in zip(claims, numbers, strict=True))


def _blocks(parts: Sequence[Part]) -> list[int]:
    """For each part the number of its block: the items of a list are one, the rows of a table are one, any other part is its own."""
    numbers: list[int] = []
    for at, part in enumerate(parts):
        same = at > 0 and part.kind in ("item", "row") and parts[at - 1].kind == part.kind
        numbers.append(numbers[-1] + (not same) if numbers else 0)
    return numbers


def _grouped(keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Stretches of equal keys."""
    low = 0
    for at in range(1, len(keys) + 1):
        if at == len(keys) or keys[at] != keys[low]:
            yield low, at
            low = at


def _headed(
    claims: Sequence[Claim], of_part: Sequence[int], block_of: Sequence[int], parts: Sequence[Part]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Claims behind a heading, a header of a table or a lead-in, with what it cites; what stands nearest comes first."""
    heading, header, lead = _Head(), _Head(), _Head()
    for place, claim in enumerate(claims):
        part = of_part[place]
        block = block_of[part]
        if parts[part].kind == "heading" and part + 1 < len(parts) and parts[part + 1].kind == "row":
            header = _Head(claim.cited, block_of[part + 1])
        elif parts[part].kind == "heading":
            heading, lead = _Head(claim.cited), _Head()
        elif claim.kind == "lead_in" and claim.markers:
            lead = _Head(claim.cited)
        elif claim.states:
            lead = lead._replace(block=block) if lead.cited and lead.block is None else lead
            for head in (header, lead):
                if head.cited and head.block == block:
                    yield place, head.cited
            if heading.cited:
                yield place, heading.cited


class _Head(NamedTuple):
    """What a heading or a lead-in cites; `block` is the one that it covers, None where that is not known or not limited."""

    cited: tuple[int, ...] = ()
    block: int | None = None
