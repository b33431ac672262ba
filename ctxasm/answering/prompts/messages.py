"""The messages that carry an assembled context and a question to a model, and how many tokens each zone of them takes.

The context is data: it stands between two lines whose code is chosen when the context is known, so that no text inside it
can hold the closing line, whatever its format, nor can the question or an earlier turn. The code is the same from prompt to
prompt unless a text resembles it, so a server's prefix cache reaches as far as the contexts are the same. The context is the
same text in both channels, block headers included: citations of a spoken answer come from the blocks, and only the system
message tells the model not to read their numbers.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxasm.answering.prompts.wording import PROMPT_STYLES, PromptStyle, system_text
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.messages import Message
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Turn
from ctxasm.model.results import Assembly
from ctxasm.model.settings import Channel, Format
from ctxasm.text.fences import fence_code
from ctxasm.text.language import Language, language_of

LONGEST_EXTRA = 8_000
"""The longest instructions that a user may add, in characters."""
_QUESTION: dict[Language, str] = {"nl": "Vraag: ", "en": "Question: "}

ZoneName = Literal["system", "history", "scaffolding", "context", "question"]


@dataclass(frozen=True, slots=True)
class PromptChoice:
    """How to ask. `extra` is added to the rules of `style`, never put in their place.

    `language` None: the prompt is in the language of the question. `channel` None: that of the assembly's settings; it may
    not be another one. Raises InvalidInput for a style that does not exist or an `extra` that is too long.
    """

    style: PromptStyle = "grounded"
    answer_first: bool = False
    extra: str = ""
    language: Language | None = None
    channel: Channel | None = None

    def __post_init__(self) -> None:
        if self.style not in PROMPT_STYLES:
            raise InvalidInput(f"prompt must be one of {', '.join(PROMPT_STYLES)}, got {shown(self.style)}")
        if len(self.extra) > LONGEST_EXTRA:
            raise InvalidInput(f"instructions must be at most {LONGEST_EXTRA:,} characters, got {len(self.extra):,}: shorten them")
        if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in self.extra):
            raise InvalidInput("instructions must be text, got NUL or a lone surrogate in them: type them again")

    def settled(self, assembly: Assembly) -> SettledChoice:
        """The choice with what it leaves open taken from the assembly. Raises InvalidInput for another channel than its own."""
        channel = assembly.settings.channel
        if self.channel not in (None, channel):
            raise InvalidInput(f"the channel of a prompt must be that of its context, {channel}, got {self.channel}: set channel there")
        return SettledChoice(self, self.language or language_of(assembly.query.query), channel, assembly.settings.format)


class SettledChoice(NamedTuple):
    """A choice for one assembly, with the language of the prompt, and the channel and the format that are the context's."""

    choice: PromptChoice
    language: Language
    channel: Channel
    format: Format


GROUNDED = PromptChoice()


class Zone(NamedTuple):
    """A part of the prompt and the tokens by which it grows the exact count of its message."""

    name: ZoneName
    tokens: int


class Part(NamedTuple):
    """A stretch of the user message and the zone that it belongs to."""

    zone: ZoneName
    text: str


def build_messages(assembly: Assembly, choice: PromptChoice = GROUNDED, *, language: Language | None = None) -> tuple[Message, ...]:
    """System message, earlier turns, and a user message with context and question. `language` outweighs the choice's."""
    if language is not None:
        choice = dataclasses.replace(choice, language=language)
    settled = choice.settled(assembly)
    system = system_text(
        choice.style,
        settled.language,
        settled.channel,
        format=settled.format,
        answer_first=choice.answer_first,
        extra=choice.extra,
        named=choice.language is not None and choice.language != language_of(assembly.query.query),
    )
    turns = tuple(_turn(turn) for turn in assembly.turns)
    user = "".join(part.text for part in user_parts(assembly, settled.language))
    return Message("system", system), *turns, Message("user", user)


def user_parts(assembly: Assembly, language: Language | None = None) -> tuple[Part, ...]:
    """The user message in its parts, which join to it. `language` None: that of the question."""
    code = fence_code(assembly.text, assembly.query.query, *(turn.content for turn in assembly.turns))
    label = _QUESTION[language or language_of(assembly.query.query)]
    return (
        Part("scaffolding", f"CONTEXT {code}\n"),
        Part("context", assembly.text),
        Part("scaffolding", f"\nCONTEXT {code}\n\n{label}"),
        Part("question", assembly.query.query),
    )


def prompt_zones(
    assembly: Assembly, messages: tuple[Message, ...], counter: TokenCounter, language: Language | None = None
) -> tuple[Zone, ...]:
    """Tokens of each zone; together exactly the counts of all messages. What a server adds per message is not in it.

    `messages` are those of `build_messages`; their language is found in them where it is not named.
    """
    totals: dict[ZoneName, int] = dict.fromkeys(("system", "history", "scaffolding", "context", "question"), 0)
    for index, message in enumerate(messages[:-1]):
        totals["history" if index else "system"] += counter.count(message.content)
    tally = counter.tally()
    for part in user_parts(assembly, language or _language_sent(assembly, messages[-1])):
        totals[part.zone] += tally.add(part.text) if part.text else 0
    return tuple(Zone(name, tokens) for name, tokens in totals.items())


def _language_sent(assembly: Assembly, message: Message) -> Language | None:
    ends = ((language, f"\n\n{label}{assembly.query.query}") for language, label in _QUESTION.items())
    return next((language for language, end in ends if message.content.endswith(end)), None)


def _turn(turn: Turn) -> Message:
    return Message("assistant" if turn.role == "assistant" else "user", turn.content)
