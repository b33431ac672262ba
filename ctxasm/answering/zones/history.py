"""What of the earlier turns is sent: all, the newest that fit, or the newest after a summary of the older.

Turns leave oldest first and in whole exchanges, so that no answer stands without what it answers and no question without
its answer. The question of the query itself is not part of it: its zone is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Query, Turn
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.zoning import Conversation
from ctxasm.text.language import Language

Summarise = Callable[[tuple[Turn, ...], int], str]
"""A summary of these turns in at most so many tokens. Raises ModelUnavailable."""
SUMMARY_TOKENS = 300
"""The most that a summary takes, or a third of `history_tokens` where that is less."""
_SMALLEST_SUMMARY = 24
ASKED_FOR: dict[Language, str] = {"nl": "Vat ons gesprek tot hier samen.", "en": "Summarise our conversation so far."}
"""The turn that a summary answers: roles still take turns, as many models demand."""
NO_SUMMARISER = "no language model was asked for a summary"


def exchanges(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """The turns in exchanges: what was asked and what was answered, each as often as it came. They join to the turns."""
    found: list[list[Turn]] = []
    for turn in turns:
        answered = bool(found) and found[-1][-1].role == "assistant"
        if not found or (answered and turn.role != "assistant"):
            found.append([])
        found[-1].append(turn)
    return [tuple(each) for each in found]


def newest_that_fit(turns: Sequence[Turn], most: int, counter: TokenCounter) -> tuple[Turn, ...]:
    """The longest end of the conversation, in whole exchanges, of at most `most` tokens."""
    groups = exchanges(turns)
    sizes = accumulate(turn_tokens(group, counter) for group in reversed(groups))
    kept = sum(1 for size in sizes if size <= most)
    return tuple(turn for group in groups[len(groups) - kept :] for turn in group)


def turn_tokens(turns: Sequence[Turn], counter: TokenCounter) -> int:
    """Tokens of the contents, each counted as the message that it is."""
    return sum(counter.count(turn.content) for turn in turns)


def earlier_turns(query: Query) -> tuple[Turn, ...]:
    """The history without the query's own question, where it ends in it. Raises InvalidInput for a turn that is no text."""
    turns = tuple(query.history)
    for position, turn in enumerate(turns):
        if not isinstance(turn.content, str):
            raise InvalidInput(f"history[{position}].content must be a text, got {shown(turn.content)}")
    repeats = turns and turns[-1].role != "assistant" and turns[-1].content.split() == query.query.split()
    return turns[:-1] if repeats else turns


def converse(
    query: Query, settings: AssemblySettings, counter: TokenCounter, language: Language, summarise: Summarise | None = None
) -> Conversation:
    """What of the query's history is sent under `history_tokens` and `history_summarise_after`.

    A summary that cannot be had leaves the turns that it would have told out, and says why. Raises as `earlier_turns`.
    """
    turns = earlier_turns(query)
    older, newer = _split(turns, settings.history_summarise_after)
    most, summary, note = settings.history_tokens, "", ""
    if older:
        room = SUMMARY_TOKENS if most is None else min(SUMMARY_TOKENS, most // 3)
        try:
            summary = _summary(older, room, counter, summarise)
        except ModelUnavailable as failure:
            note = f"The {len(older)} oldest turns are left out instead of summarised: {str(failure).rstrip('.')}."
    told = (Turn("user", ASKED_FOR[language]), Turn("assistant", summary)) if summary else ()
    kept = newer if most is None else newest_that_fit(newer, most - turn_tokens(told, counter), counter)
    sent = (*told, *kept)
    summarised = len(older) if summary else 0
    left_out = turns[summarised : len(turns) - len(kept)]
    return Conversation(
        turns=sent,
        tokens=turn_tokens(sent, counter),
        given=len(turns),
        trimmed=len(left_out),
        trimmed_tokens=turn_tokens(left_out, counter),
        summarised=summarised,
        summary=summary,
        note=note,
    )


def _split(turns: tuple[Turn, ...], after: int | None) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns that a summary tells, and the newest, at most `after`, that stay as they are."""
    if after is None or len(turns) <= after:
        return (), turns
    kept = 0
    for group in reversed(exchanges(turns)):
        if kept + len(group) > after:
            break
        kept += len(group)
    return turns[: len(turns) - kept], turns[len(turns) - kept :]


def _summary(turns: tuple[Turn, ...], room: int, counter: TokenCounter, summarise: Summarise | None) -> str:
    """The summary, never longer than `room` tokens with the turn that asks for it."""
    room -= max(counter.count(text) for text in ASKED_FOR.values())
    if room < _SMALLEST_SUMMARY:
        raise ModelUnavailable("history_tokens leaves no room for a summary")
    if summarise is None:
        raise ModelUnavailable(NO_SUMMARISER)
    text = summarise(turns, room).strip()
    if not text:
        raise ModelUnavailable("the model returned an empty summary")
    last = room
    while counter.count(text) > room:
        # Counted with another vocabulary than the model's own: the end goes, at a token's end that is valid text.
        ends = [0, *counter.boundaries(text)]
        text = text[: ends[min(last, len(ends) - 1)]].rstrip()
        last -= 1
    return text
