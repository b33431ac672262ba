"""A model's window shared out among system prompt, history, context, question, answer and what stays free."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ctxasm.answering.history import Summaries, Summarise, history_to_send
from ctxasm.answering.prompts import GROUNDED, PromptChoice, build_messages
from ctxasm.answering.windows import ModelWindow, TokenRatio, TokenRatios, Windows, read_windows, unknown_window, window_of
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput
from ctxasm.model.messages import AnswerModel, Cancel
from ctxasm.model.ports import Shelf, TokenCounter
from ctxasm.model.records import Query, check_query
from ctxasm.model.results import ZONE_NAMES, Assembly, FetchRecord, Regret, SentHistory, Trace, Zone, ZoneName, Zones
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.text.language import language_of

RESERVED_BY: dict[ZoneName, str] = {
    "system": "system_tokens",
    "question": "question_tokens",
    "history": "history_tokens",
    "answer": "answer_tokens",
    "overhead": "overhead_tokens",
    "margin": "safety_margin",
}
"""The setting that sizes each zone."""
_CALLED: dict[ZoneName, str] = {
    "system": "the system prompt",
    "question": "the question",
    "history": "the history",
    "answer": "the answer",
    "overhead": "the overhead",
    "margin": "the safety margin",
}


class Counted(NamedTuple):
    """Tokens of what is sent besides the context, as the message builder writes it."""

    system: int
    question: int
    history: int


def share_out(settings: AssemblySettings, window: int, counted: Counted, times: float = 1.0) -> Zones:
    """The zones of a window of `window` tokens, for a model that counts up to `times` as many tokens as are counted here.

    The margin is that of the settings, or what the difference in counting may take of what is sent, whichever is larger.
    With budget_mode=window the context is what the others leave, at least 1; raises InvalidInput naming the zone that is
    too large where nothing is left. With a fixed limit the context is `max_tokens`, and `free` or `over` is the rest.
    """
    own = [_sent("system", settings.system_tokens, counted.system), _sent("question", settings.question_tokens, counted.question)]
    own += [_sent("history", settings.history_tokens, counted.history), Zone("answer", settings.answer_tokens, "reserved")]
    own += [Zone("overhead", settings.overhead_tokens, "reserved")]
    own += [Zone("margin", max(_margin(settings, window), _difference(settings, window, own, max(times, 1.0))), "reserved")]
    left = window - sum(zone.tokens for zone in own)
    if settings.budget_mode == "window":
        if left < 1:
            raise InvalidInput(_no_room(window, own))
        return _made(settings, window, [*own, Zone("context", left, "left")])
    left -= settings.max_tokens
    rest = [Zone("free", left, "left")] if left > 0 else []
    return _made(settings, window, [*own, Zone("context", settings.max_tokens, "reserved"), *rest], over=max(0, -left))


def _sent(name: ZoneName, reserved: int | None, counted: int) -> Zone:
    return Zone(name, counted, "counted") if reserved is None or counted > reserved else Zone(name, reserved, "reserved")


def _margin(settings: AssemblySettings, window: int) -> int:
    # Up, but not for the last digit of a product: 0.07 of 100 is 7, not 8.
    return math.ceil(round(settings.safety_margin * window, 6))


def _difference(settings: AssemblySettings, window: int, own: list[Zone], times: float) -> int:
    """What a model that counts `times` as many tokens may take more for all that is sent. The answer is in its own tokens anyway."""
    kept_free = sum(zone.tokens for zone in own if zone.name in ("answer", "overhead"))
    if settings.budget_mode == "window":
        room = max(0, window - kept_free)
        return room - math.floor(round(room / times, 6))
    sent = sum(zone.tokens for zone in own) - kept_free + settings.max_tokens
    return math.ceil(round(sent * (times - 1), 6))


def _made(settings: AssemblySettings, window: int, zones: list[Zone], over: int = 0) -> Zones:
    return Zones(settings.model_name, window, tuple(sorted(zones, key=lambda zone: ZONE_NAMES.index(zone.name))), over)


def _no_room(window: int, own: list[Zone]) -> str:
    largest = max(own, key=lambda zone: zone.tokens)
    parts = ", ".join(f"{zone.name} {zone.tokens:,}" for zone in own if zone.tokens)
    others = sum(zone.tokens for zone in own) - largest.tokens
    remedy = f"lower {RESERVED_BY[largest.name]}"
    if largest.how == "counted":
        remedy = "set history_tokens or history_summarise_after" if largest.name == "history" else f"shorten {_CALLED[largest.name]}"
    least = f" below {window - others:,}" if window - others > 0 and largest.how == "reserved" and largest.name != "margin" else ""
    return (
        f"the zones must leave at least 1 token of the window of {window:,} for the context, got {parts}; the largest is "
        f"{largest.name}: {remedy}{least}, or take a model with a larger window"
    )


def outgrown(settings: AssemblySettings, zones: Zones) -> tuple[str, ...]:
    """A sentence on every zone that takes more than is reserved for it."""
    found = []
    for zone in zones.zones:
        reserved = getattr(settings, RESERVED_BY[zone.name]) if zone.name in ("system", "question", "history") else None
        if reserved is not None and zone.tokens > reserved:
            what, name = _CALLED[zone.name], RESERVED_BY[zone.name]
            found.append(f"{what[0].upper()}{what[1:]} takes {zone.tokens:,} tokens, more than {name} reserves ({reserved:,}).")
    return tuple(found)


def zones_line(zones: Zones) -> str:
    """Every zone that holds something, on one line; they add up to the window, or exceed it by what the line says."""
    parts = " + ".join(f"{zone.name} {zone.tokens:,}" for zone in zones.zones if zone.tokens)
    over = f", {zones.over:,} over" if zones.over else ""
    return f"window of {zones.window:,} tokens{over}: {parts}"


def conversation_line(conversation: SentHistory) -> str:
    """What was left out or told in a summary, "" where every turn is sent."""
    parts = []
    if conversation.summarised:
        parts.append(f"the {_turns(conversation.summarised, 'oldest ')} told in a summary")
    if conversation.trimmed:
        parts.append(f"{_turns(conversation.trimmed)} ({conversation.trimmed_tokens:,} tokens) left out, oldest first")
    if not parts:
        return conversation.note
    line = f"History: of {_turns(conversation.given, 'earlier ')} {' and '.join(parts)}; {conversation.tokens:,} tokens are sent."
    return f"{line} {conversation.note}".strip()


def _turns(count: int, kind: str = "") -> str:
    return counted(count, f"{kind}turn")


class ZoneProfile(NamedTuple):
    """Settings, what they are for, and the guide's words or figures that they stand for."""

    changes: Mapping[str, Any]
    help: str
    figures: str


def _profile(history: int, help: str, figures: str, **more: Any) -> ZoneProfile:
    changes = {
        "budget_mode": "window",
        "model_window": 50_000,
        "system_tokens": 4_000,
        "question_tokens": 1_000,
        "history_tokens": history,
        "answer_tokens": 4_000,
        "overhead_tokens": 0,
        "safety_margin": 0.02,
        **more,
    }
    return ZoneProfile(MappingProxyType(changes), help, figures)


ZONE_PROFILES: Mapping[str, ZoneProfile] = MappingProxyType(
    {
        "starting_zones": _profile(
            8_000,
            "The bookend guide's zones: of 50,000 tokens 32,000 are left for the context.",
            "system 4,000, retrieved 32,000, conversation 8,000, query 1,000, generation 4,000, buffer 1,000",
        ),
        "analytical_zones": _profile(
            2_000,
            "High-context analysis: less history, 38,000 tokens left for the context.",
            "high-context analytical queries: increase retrieved, reduce conversation (8,000 to 2,000)",
        ),
        "support_chat_zones": _profile(
            20_000,
            "Customer support chat: 20,000 tokens of history, which is summarised after 20 turns, and 20,000 of context.",
            "customer support chat: increase conversation (8,000 to 20,000), reduce retrieved; compressed after N turns",
            history_summarise_after=20,
        ),
        "single_turn_zones": _profile(
            0,
            "A single question: no history is sent, 40,000 tokens left for the context.",
            "single-turn Q&A: conversation 0",
        ),
    }
)
"""The guide's zones by name; `changes` are settings that `AssemblySettings.replace` takes."""


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
    conversation: SentHistory | None

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
    conversation = history_to_send(query, settings, counter, language, summarise) if query.history else None
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
    conversation: SentHistory | None = None,
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
    settings: AssemblySettings, zones: Zones, entry: ModelWindow | None, conversation: SentHistory | None, ratio: TokenRatio | None
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
