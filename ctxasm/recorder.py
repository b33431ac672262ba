"""What every stage was given, returned, did and took, noted while it happens."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.model.events import Event
from ctxasm.model.ports import Clock
from ctxasm.model.results import Shown, StageRecord


class Recorder:
    """The records of one assembly. A stage is given what the stage before returned; its time runs since the last note."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.stages: list[StageRecord] = []
        self.began = clock()

    @property
    def state(self) -> tuple[Shown, ...]:
        """What the last stage returned."""
        return self.stages[-1].after if self.stages else ()

    def note(
        self,
        stage: str,
        after: Sequence[Shown],
        tokens_out: int,
        events: Sequence[Event],
        before: Sequence[Shown] | None = None,
        tokens_in: int | None = None,
    ) -> None:
        """A stage is done. `before` and `tokens_in` are for the first one, which follows nothing."""
        last = self.stages[-1] if self.stages else None
        now = self.clock()
        self.stages.append(
            StageRecord(
                stage,
                tuple(before) if before is not None else self.state,
                tuple(after),
                tokens_in if tokens_in is not None else last.tokens_out if last else 0,
                tokens_out,
                (now - self.began) * 1000,
                tuple(events),
            )
        )
        self.began = self.clock()
