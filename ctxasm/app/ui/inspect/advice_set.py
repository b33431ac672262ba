"""Advice and the other questions: what each change does to them is counted in a thread once the page is at rest, and kept by its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import begun, known
from ctxasm.app.ui.frame.jobs import Job
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.stopping import asked_to_end
from ctxasm.model.errors import CtxasmError
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.engines import needs_this_process

if TYPE_CHECKING:
    from ctxasm.tuning.advice import Advice
    from ctxasm.tuning.advice_set import SetEffect

NAME = "advice_set"
LOOK_S = 0.05
"""Seconds between two looks at whether the count is there, or anything was clicked."""
Effects = Mapping[AssemblySettings, "SetEffect"]


class Counted(NamedTuple):
    """What is known of the set: `pending` while it is counted. `effects` is None where there are no other labelled questions, or where
    counting them would cost calls.
    """

    effects: Effects | None
    pending: bool = False


def counted(scene: Scene, given: Sequence[Advice], at_rest: bool) -> Counted:
    """What each piece of advice does to the set. Counts where the page is at rest, and waits for it until anything is clicked."""
    settings = scene.settings
    changed = tuple(settings.replace(**advice.changes) for advice in given)
    if not changed or needs_this_process((settings, *changed)):
        return Counted(None)
    info = session.info
    wanted = (info and info.dataset_id, scene.dataset, session.loads, session.saves, settings, changed)
    job = known(NAME, wanted)
    if job is None or (job.running and not at_rest):
        if not at_rest:
            return Counted(None, pending=True)
        from ctxasm.app.tuned import set_effects

        workbench, dataset = server.workbench(), scene.dataset
        job = begun(NAME, wanted, lambda _, cancelled: set_effects(workbench, settings, changed, dataset, cancelled))
    if not _ended(job):
        return Counted(None, pending=True)
    return Counted(None if isinstance(job.error, CtxasmError) else job.result())


def _ended(job: Job) -> bool:
    ended = asked_to_end()
    while not job.wait(LOOK_S):
        if ended():
            return False
    return True
