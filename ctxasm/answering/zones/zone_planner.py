"""What a workbench keeps for its zones: the table of model windows, and the summaries that were made."""

from __future__ import annotations

from collections.abc import Callable

from ctxasm.answering.prompts.messages import GROUNDED, PromptChoice
from ctxasm.answering.zones.planning import ZonePlan, empty_assembly, plan_zones
from ctxasm.answering.zones.ratios import TokenRatio, TokenRatios
from ctxasm.answering.zones.summarising import Summaries
from ctxasm.answering.zones.windows import Windows, read_windows
from ctxasm.model.messages import AnswerModel, Cancel
from ctxasm.model.ports import Shelf, TokenCounter
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.language import language_of


class ZonePlanner:
    """Plans zones over one table of models. `path` is a user's own table, read when it is first needed.

    `served` is the model that answers where the settings name none; `shelf` keeps what is learned of how servers count.
    """

    def __init__(self, path: str | None = None, served: str | None = None, shelf: Callable[[], Shelf] | None = None) -> None:
        self._path, self._served = path, served
        self.ratios = TokenRatios(shelf)
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
    ) -> ZonePlan:
        """The zones of a query, as `plan_zones` says and raises.

        Older turns are summarised by `model`; without one only a summary that the model of the name `told_by` already
        made is used.
        """
        choice = choice or GROUNDED
        language = choice.language or language_of(query.query)
        summarise = self.summaries.kept_by(told_by, language) if told_by else None
        if model is not None:
            summarise = self.summaries.by(model, empty_assembly(query, settings, counter), language, cancel)
        ratio = self.ratio(settings, model.name if model is not None else None)
        return plan_zones(query, settings, counter, self.windows, choice, summarise, ratio)

    def ratio(self, settings: AssemblySettings, asked: str | None = None) -> TokenRatio | None:
        """How the server of the settings' model counts (default: that of the model `asked`, or the served one), as far as it is known."""
        name = settings.model_name.strip() or asked or self._served or ""
        return self.ratios.find(name, settings.encoding) if name else None
