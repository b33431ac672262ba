"""From a query and its settings to the limit of its context: what is sent besides, counted as the message builder writes it."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from ctxasm.answering.prompts.messages import GROUNDED, PromptChoice, build_messages
from ctxasm.answering.zones.history import Summarise, converse
from ctxasm.answering.zones.ratios import TokenRatio
from ctxasm.answering.zones.windows import ModelWindow, Windows, unknown_window, window_of
from ctxasm.answering.zones.zones import Counted, outgrown, share_out
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Query, check_query
from ctxasm.model.results import Assembly, FetchRecord, Regret, Trace
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.model.zoning import Conversation, Zones
from ctxasm.text.language import language_of

MESSAGE_TOKENS = 4
"""What servers add around each message, about (OpenAI's own figure is 3 to 4)."""
_STAND_IN = "x"
"""In the place of a context that is not known yet: a text that joins to neither of the lines around it."""
_SEAM = 1
"""What the end of a context may cost more before a line break than alone: `>>>>>>>` in cl100k_base."""


class ZonePlan(NamedTuple):
    """What a query's assembly is held to. `limit` None: max_tokens. `zones` None: no window is known. `conversation` None: no history."""

    limit: int | None
    zones: Zones | None
    conversation: Conversation | None

    def on(self, assembly: Assembly) -> Assembly:
        """The assembly that was made under this plan, with the zones and the turns that go with it."""
        if self.zones is None and self.conversation is None:
            return assembly
        return dataclasses.replace(assembly, zones=self.zones, conversation=self.conversation)


def plan_zones(
    query: Query,
    settings: AssemblySettings,
    counter: TokenCounter,
    windows: Windows,
    choice: PromptChoice = GROUNDED,
    summarise: Summarise | None = None,
    ratio: TokenRatio | None = None,
) -> ZonePlan:
    """Share out the window of the settings' model for this query, asked as `choice` says. `ratio`: how its server is known to count.

    Raises InvalidInput for a query that cannot be assembled, with budget_mode=window for a model whose window is not
    known (a question to the user), and for zones that leave nothing.
    """
    check_query(query)
    language = choice.language or language_of(query.query)
    conversation = converse(query, settings, counter, language, summarise) if query.history else None
    entry = window_of(settings.model_name, windows)
    window = settings.model_window if settings.model_window is not None else entry.window if entry else None
    if window is None:
        if settings.budget_mode == "window":
            raise unknown_window(settings.model_name, windows)
        return ZonePlan(None, None, conversation)
    zones = share_out(settings, window, count_messages(query, settings, counter, choice, conversation), ratio.upper if ratio else 1.0)
    zones = dataclasses.replace(zones, hints=_hints(settings, zones, entry, conversation, ratio))
    return ZonePlan(zones.context if settings.budget_mode == "window" else None, zones, conversation)


def count_messages(
    query: Query,
    settings: AssemblySettings,
    counter: TokenCounter,
    choice: PromptChoice = GROUNDED,
    conversation: Conversation | None = None,
) -> Counted:
    """Tokens of everything in the messages but the context. The lines around the context count as part of the question.

    The code on them is known only when the context is; whichever it is, it takes as many tokens as that around a stand-in.
    """
    stand_in = dataclasses.replace(empty_assembly(dataclasses.replace(query, retrieved=(), history=()), settings, counter), text=_STAND_IN)
    system, *_, user = build_messages(stand_in, choice)
    around = counter.count(user.content) - counter.count(_STAND_IN) + _SEAM
    return Counted(counter.count(system.content), around, conversation.tokens if conversation else 0)


def empty_assembly(query: Query, settings: AssemblySettings, counter: TokenCounter) -> Assembly:
    """The assembly of no context: what the message builder is given to say what it adds."""
    trace = Trace((), (), {}, {}, (), (), Regret(0.0, 0.0, True, ()), FetchRecord(0, 0, 0, 0.0))
    return Assembly(query, settings, "", 0, counter.exact, settings.encoding, settings.max_tokens, (), (), trace)


def _hints(
    settings: AssemblySettings, zones: Zones, entry: ModelWindow | None, conversation: Conversation | None, ratio: TokenRatio | None
) -> tuple[str, ...]:
    """What does not fit together, and what would mend it."""
    found = [_exceeded(zones)] if zones.over else []
    found += [*outgrown(settings, zones), *_of_the_model(settings, zones, entry, ratio)]
    messages = 2 + (len(conversation.turns) if conversation else 0)
    around = messages * MESSAGE_TOKENS
    if around > zones.tokens_of("overhead") + zones.tokens_of("margin"):
        found.append(f"A server adds about {around:,} tokens around {messages} messages, more than overhead_tokens reserves.")
    return tuple(found)


def _exceeded(zones: Zones) -> str:
    least = spec_of("max_tokens").low or 1
    room = zones.context - zones.over
    remedy = f"lower max_tokens to {room:,}, or choose budget_mode=window" if room >= least else "choose a larger window, or reserve less"
    return f"All zones together exceed the window by {zones.over:,} tokens: {remedy}."


def _of_the_model(settings: AssemblySettings, zones: Zones, entry: ModelWindow | None, ratio: TokenRatio | None) -> list[str]:
    found: list[str] = []
    if entry is not None and zones.window > entry.window:
        found.append(f"model_window is {zones.window:,}; the table of models says {entry.window:,} for {entry.name}.")
    if entry is not None and entry.encoding and entry.encoding != settings.encoding:
        found.append(f"{entry.name} counts with {entry.encoding}: set encoding={entry.encoding}.")
    name = entry.name if entry else settings.model_name.strip() or "The model"
    if ratio is not None:
        seen = f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio.high > ratio.low else f"{ratio.high:.2f}"
        prompts = "one prompt" if ratio.prompts == 1 else f"{ratio.prompts} prompts"
        found.append(
            f"{name} counted {seen} times as many tokens as {ratio.encoding}, over {prompts}: "
            f"the margin is {zones.tokens_of('margin'):,} tokens, for up to {max(ratio.upper, 1.0):.2f} times."
        )
    elif entry is None or entry.encoding is None:
        what = "a vocabulary of its own" if entry else "a vocabulary that is not known here"
        margin = f"safety_margin={settings.safety_margin:g}"
        until = f"{margin} may not be enough" if settings.safety_margin else f"no room is kept for that ({margin})"
        found.append(f"{name} counts with {what}; how much more than {settings.encoding} is known once it has answered here: {until}.")
    return found + ([entry.note] if entry is not None and entry.note else [])
