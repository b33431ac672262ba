"""How long every stage took. The stages know nothing of it: the recorder calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ctxasm.model.ports import Clock

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class Recorder:
    """Calls stages, and keeps the milliseconds of each by its name, in the order in which they ran."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.elapsed_ms: dict[str, float] = {}

    def __call__(self, stage: str, run: Callable[Given, Returned], *args: Given.args, **kwargs: Given.kwargs) -> Returned:
        began = self.clock()
        returned = run(*args, **kwargs)
        self.elapsed_ms[stage] = (self.clock() - began) * 1000
        return returned
