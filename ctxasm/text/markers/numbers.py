"""Writing numbers back into a marker: the same form, other numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ctxasm.text.markers.grammar import HELD_CHARS, RAISED, FormName, cite_list, closing, list_end

_RAISE = str.maketrans("0123456789-", f"{RAISED}⁻")
_DAGGER = re.compile(r"(\D*)\d+(?::\d+)?")


def is_opening_tag(text: str, form: FormName) -> bool:
    """Whether the marker is the opening tag of a `<cite>` whose closing tag comes later."""
    return form == "cite" and not text.endswith("/>") and not text.lower().rstrip("> \t").endswith("</cite")


def list_span(text: str, form: FormName) -> tuple[int, int]:
    """Characters of the marker `text` from the first digit of its list of numbers to its last."""
    low, high = 0, len(text)
    if form == "link":
        high = closing(text, "[")
    elif is_opening_tag(text, form) or (form == "cite" and text.endswith("/>")):
        low, high = cite_list(text)
    elif form == "sup" and "<a" in text.lower():
        low, high = text.index(">", text.index(">") + 1), text.lower().rindex("</a")
    elif text[-1] in "]】］〕":
        high = list_end(text[:-1])
    digits = [at for at in range(low, high) if text[at].isdecimal()]
    return digits[0], digits[-1] + 1


def runs_of(numbers: Sequence[int]) -> list[list[int]]:
    """The numbers in their order, those that follow on each other together."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def write_numbers(numbers: Sequence[int]) -> list[str]:
    """`4, 1-3` for 4, 1, 2, 3: the items of a list, runs of three and more as ranges."""
    items: list[str] = []
    for run in runs_of(numbers):
        items += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(number) for number in run]
    return items


def rewrite(text: str, form: FormName, numbers: Sequence[int]) -> str:
    """The marker with other numbers, in as many markers of its form as keep each within the longest that is read."""
    if form == "dagger":
        return "".join(_DAGGER.sub(rf"\g<1>{number}", text, count=1) for number in numbers)
    if form == "superscript":
        return ",".join(write_numbers(numbers)).translate(_RAISE)
    start, end = list_span(text, form)
    head, tail = text[:start], text[end:]
    head = "[[" if form == "nested" else head
    tail = "]]" if form == "nested" else tail
    bracket = len(head) + (tail.find("]") + 1 if form == "link" else len(tail))
    lists = [""]
    for item in write_numbers(numbers):
        joined = f"{lists[-1]}, {item}" if lists[-1] else item
        if lists[-1] and bracket + len(joined) > HELD_CHARS:
            lists.append(item)
        else:
            lists[-1] = joined
    return "".join(head + each + tail for each in lists)


def keep_only(text: str, form: FormName, numbers: Sequence[int], known: Collection[int] | None) -> str:
    """What stays of a marker when its known numbers go: nothing, itself when none is known, or its unknown numbers."""
    if known is None:
        return "" if numbers else text
    unknown = [number for number in numbers if number not in known]
    if len(unknown) == len(numbers):
        return text
    return rewrite(text, form, unknown) if unknown else ""
