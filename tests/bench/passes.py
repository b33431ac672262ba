"""What one assembly passes through: the files of ctxasm that it enters, and how often it goes from one to another."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import ctxasm

HOME = str(Path(ctxasm.__file__).parent)


class Passes(NamedTuple):
    """`moves` counts each call or return from one file of ctxasm into another; `files` are those entered, with their calls."""

    files: Counter[str]
    moves: Counter[tuple[str, str]]


def passes_of(work: Callable[[], object]) -> Passes:
    """Follow `work`, in this thread."""
    files: Counter[str] = Counter()
    moves: Counter[tuple[str, str]] = Counter()
    place = ""

    def follow(frame: FrameType, event: str, _: object) -> None:
        nonlocal place
        if event == "call":
            there = frame.f_code.co_filename
        elif event == "return" and frame.f_back is not None:
            there = frame.f_back.f_code.co_filename
        else:
            return
        if not there.startswith(HOME):
            return
        if event == "call":
            files[there[len(HOME) + 1 :]] += 1
        if place and place != there and event == "call":
            moves[place[len(HOME) + 1 :], there[len(HOME) + 1 :]] += 1
        place = there

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        work()
    finally:
        sys.setprofile(before)
    return Passes(files, moves)
