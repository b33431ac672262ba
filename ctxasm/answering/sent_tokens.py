"""What was sent in tokens: as it is counted here and as the model's own server counts it; and which limit ended an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.model.messages import Message, Usage
from ctxasm.model.ports import TokenCounter

LONGEST_TOKEN = 8
"""Characters a token of prose: no vocabulary reaches that, so a server that counts fewer tokens did not read all of the text."""
_FEWEST = 0.6
"""Of our count; text that only looks short by its characters, such as rows of blanks, is short here as well."""
LENGTH_REACHED = "The answer reached the maximum answer length and stops there; raise it for the rest."
_SHORT = 0.5
"""Of the longest answer, by our count: an answer below it did not reach that limit, however its server counts."""


class SentTokens(NamedTuple):
    """Tokens of all messages in `encoding` (`exact` False: estimated) and their characters; `server` is None where it does not say."""

    tokens: int
    encoding: str
    exact: bool
    chars: int
    server: Usage | None = None

    @property
    def was_cut(self) -> bool:
        """Whether the server counts too few tokens to have read all that was sent."""
        prompt = self.server.prompt if self.server is not None else None
        return prompt is not None and prompt < _FEWEST * self.tokens and prompt * LONGEST_TOKEN < self.chars


def sent_tokens(messages: Sequence[Message], counter: TokenCounter) -> SentTokens:
    """Those of these messages. What a server adds around each is not in it."""
    texts = [message.content for message in messages]
    return SentTokens(sum(map(counter.count, texts)), counter.encoding, counter.exact, sum(map(len, texts)))


def sent_line(sent: SentTokens) -> str:
    """Both counts of what was sent: `2,050 tokens sent in cl100k_base, 2,310 by its server (1.13 times)`."""
    about = "" if sent.exact else "about "
    line = f"{about}{sent.tokens:,} tokens sent in {sent.encoding}"
    if sent.server is None:
        return line
    times = f" ({sent.server.prompt / sent.tokens:.2f} times)" if sent.tokens else ""
    return f"{line}, {sent.server.prompt:,} by its server{times}"


def window_sizes_line(sent: SentTokens, max_tokens: int, window: int | None) -> str:
    """What was asked for beside the window that is set here, to follow the sentence of a server that could not take it."""
    known = f"model_window is {window:,} here" if window is not None else "model_window is not set here"
    return f"{sent_line(sent)}, and up to {max_tokens:,} asked for; {known}"


def length_note(sent: SentTokens, max_tokens: int, written: int) -> str:
    """Which limit an answer stopped at; `written` are its tokens as they are counted here.

    A server that ends an answer for its length before `max_tokens` are written has run out of its window. Where it counts
    nothing, an answer of less than half of them did not reach them either.
    """
    remedy = "lower max_tokens, or choose a model with a larger window."
    if sent.server is not None and sent.server.answer + 1 < max_tokens:
        prompt, answer = sent.server
        full = f"{prompt:,} tokens of prompt and {answer:,} of answer, by its server's count, are all that it holds"
        return f"The model's window is full and the answer stops there: {full}. The maximum answer length is not reached; {remedy}"
    if sent.server is None and written < _SHORT * max_tokens:
        short = f"{sent_line(sent)} and about {written:,} of answer; the maximum of {max_tokens:,} is not reached"
        return f"Most likely the model's window is full, unless it thinks before it answers: {short}; {remedy}"
    return LENGTH_REACHED


def cut_note(sent: SentTokens) -> str | None:
    """That a server seems to have left out the beginning of what was sent, as Ollama does beyond its window without a word."""
    if not sent.was_cut:
        return None
    return (
        f"The server seems not to have read the whole prompt: {sent_line(sent)}. Most likely it cut it to its window; give the model a "
        "larger one (num_ctx in Ollama), or lower max_tokens. Some servers count only what they had not read before."
    )
