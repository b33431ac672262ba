"""What a workbench keeps for its zones: the table of model windows, and the summaries that were made."""

from __future__ import annotations

from ctxasm.answering.prompts import GROUNDED, PromptChoice
from ctxasm.answering.zones.planning import ZonePlan, empty_assembly, plan_zones
from ctxasm.answering.zones.summarising import Summaries
from ctxasm.answering.zones.windows import Windows, read_windows
from ctxasm.model.messages import AnswerModel, Cancel
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.language import language_of


class ZonePlanner:
    """Plans zones over one table of models. `path` is a user's own table, read when it is first needed."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path
        self._windows: Windows | None = None
        self.summaries = Summaries()

    @property
    def windows(self) -> Windows:
        """The table. Raises InvalidInput naming all that is wrong with the user's file."""
        if self._windows is None:
            self._windows = read_windows(self._path)
        return self._windows

    def plan(
        self,
        query: Query,
        settings: AssemblySettings,
        counter: TokenCounter,
        choice: PromptChoice | None = None,
        *,
        model: AnswerModel | None = None,
        told_by: str | None = None,
        cancel: Cancel | None = None,
        windows: Windows | None = None,
    ) -> ZonePlan:
        """The zones of a query, as `plan_zones` says and raises.

        Older turns are summarised by `model`; without one only a summary that the model of the name `told_by` already
        made is used. `windows` replaces the table.
        """
        choice = choice or GROUNDED
        language = choice.language or language_of(query.query)
        summarise = self.summaries.kept_by(told_by, language) if told_by else None
        if model is not None:
            summarise = self.summaries.by(model, empty_assembly(query, settings, counter), language, cancel)
        return plan_zones(query, settings, counter, self.windows if windows is None else windows, choice, summarise)
