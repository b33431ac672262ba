"""How much of a prompt a server's prefix cache could reuse: the tokens that it has in common with the prompt before it.

A cache keeps what it worked out for a prompt up to the first token that differs; an ordering that moves the first block
throws all of it away. "Common" is meant token by token: where two texts part inside a word, that word's token is not shared
although its first letters are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ctxasm.model.ports import TokenCounter

LOOK = 200
"""Characters after the first difference that are tokenized too; four times more until a safe seam lies among them."""


class Prefix(NamedTuple):
    """The common beginning of two prompts: tokens, characters, and its share of the second prompt's tokens (0 to 1).

    `tokens` ends at a token boundary where the text is valid, `chars` is where that is.
    """

    tokens: int
    chars: int
    share: float


def cache_prefix(previous: str, current: str, counter: TokenCounter, tokens: int | None = None) -> Prefix:
    """What `current` has in common with `previous`. `tokens` is the count of `current` where it is known.

    Exact under an exact counter; an empty prompt shares nothing.
    """
    total = counter.count(current) if tokens is None else tokens
    if previous == current:
        return Prefix(total, len(current), 1.0 if current else 0.0)
    ends = range(1, min(len(previous), len(current)) + 1)
    alike = bisect_left(ends, True, key=lambda end: previous[:end] != current[:end])  # slices: far faster than character by character
    ours, theirs = (counter.boundaries(_head(text, alike, counter)) for text in (current, previous))
    shared = [at for at, other in takewhile(lambda pair: pair[0] == pair[1] <= alike, zip(ours, theirs, strict=False))]
    count = _tokens_up_to(current, shared, counter)
    return Prefix(count, shared[-1] if shared else 0, count / total if total else 0.0)


def _head(text: str, alike: int, counter: TokenCounter) -> str:
    """As much of `text` as settles its tokens up to `alike`: a safe seam after it, else all of it."""
    look = LOOK
    while alike + look < len(text):
        if counter.has_seam(text[alike : alike + look]):
            return text[: alike + look]
        look *= 4
    return text


def _tokens_up_to(text: str, boundaries: Sequence[int], counter: TokenCounter) -> int:
    """Tokens of the beginning of `text` that ends at the last of its first `boundaries`, as they are inside the whole text."""
    if not boundaries or not counter.exact:
        return counter.count(text[: boundaries[-1]]) if boundaries else 0
    # Between neighbouring boundaries lies one token, but for characters that take several each.
    runs = (text[low:high] for low, high in zip([0, *boundaries], boundaries, strict=False))
    return sum(1 if run.isascii() else counter.count(run) for run in runs)
