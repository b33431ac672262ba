"""How much of a prompt a server's prefix cache could reuse: the tokens that it has in common with the prompt before it.

A cache keeps what it worked out for a prompt up to the first token that differs; an ordering that moves the first block
throws all of it away. "Common" is meant token by token: where two texts part inside a word, that word's token is not shared
although its first letters are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple, cast

from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings, Ordering, spec_of

LOOK = 200
"""Characters after the first difference that are tokenized too; four times more until a safe seam lies among them."""


class Prefix(NamedTuple):
    """The common beginning of two prompts: tokens, characters, and its share of the second prompt's tokens (0 to 1).

    `tokens` ends at a token boundary where the text is valid, `chars` is where that is.
    """

    tokens: int
    chars: int
    share: float


class Previous:
    """A prompt that others are compared with. Its tokens are found once, and only as far as they are needed."""

    def __init__(self, text: str, counter: TokenCounter) -> None:
        self.text, self.counter = text, counter
        self._boundaries: list[int] = []
        self._known = 0

    def common(self, current: str, tokens: int | None = None) -> Prefix:
        """What `current` has in common with it; see `cache_prefix`."""
        total = self.counter.count(current) if tokens is None else tokens
        if self.text == current:
            return Prefix(total, len(current), 1.0 if current else 0.0)
        alike = _common_chars(self.text, current)
        if not alike:
            return Prefix(0, 0, 0.0)
        ours = self.counter.boundaries(_head(current, alike, self.counter))
        pairs = zip(ours, self._up_to(alike), strict=False)
        shared = [at for at, _ in takewhile(lambda pair: pair[0] == pair[1] <= alike, pairs)]
        count = _tokens_up_to(current, shared, self.counter)
        return Prefix(count, shared[-1] if shared else 0, count / total if total else 0.0)

    def _up_to(self, alike: int) -> list[int]:
        head = _head(self.text, alike, self.counter)
        if len(head) > self._known:
            self._boundaries, self._known = self.counter.boundaries(head), len(head)
        return self._boundaries


def cache_prefix(previous: str, current: str, counter: TokenCounter, tokens: int | None = None) -> Prefix:
    """What `current` has in common with `previous`. `tokens` is the count of `current` where it is known.

    Exact under an exact counter; an empty prompt shares nothing.
    """
    return Previous(previous, counter).common(current, tokens)


def prefix_by_ordering(
    previous: str | Callable[[AssemblySettings], str],
    settings: AssemblySettings,
    assemble_with: Callable[[AssemblySettings], Assembly],
    counter: TokenCounter,
) -> dict[Ordering, Prefix]:
    """For each ordering: what the context has in common with `previous`, everything else as `settings` say.

    `previous` may say what the earlier prompt was under the same settings; a text stands for all of them.
    """
    earlier: dict[str, Previous] = {}
    found: dict[Ordering, Prefix] = {}
    known: dict[tuple[str, str], Prefix] = {}
    for name in spec_of("ordering").choices:
        ordering = cast("Ordering", name)
        chosen = settings.replace(ordering=ordering)
        before = previous if isinstance(previous, str) else previous(chosen)
        assembly = assemble_with(chosen)
        if (before, assembly.text) not in known:
            compared = earlier.setdefault(before, Previous(before, counter))
            known[before, assembly.text] = compared.common(assembly.text, assembly.token_count)
        found[ordering] = known[before, assembly.text]
    return found


def _common_chars(one: str, other: str) -> int:
    """Length of the longest common beginning, by halving: comparing slices is a thousand times faster than characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


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
