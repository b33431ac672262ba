"""What each ordering would let a server's prefix cache reuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings, Ordering, spec_of
from ctxasm.text.tokens.common_prefix import Prefix, cache_prefix


def prefix_by_ordering(
    previous: str | Callable[[AssemblySettings], str],
    settings: AssemblySettings,
    assemble_with: Callable[[AssemblySettings], Assembly],
    counter: TokenCounter,
) -> dict[Ordering, Prefix]:
    """For each ordering: what the context has in common with `previous`, everything else as `settings` say.

    `previous` may say what the earlier prompt was under the same settings; a text stands for all of them.
    """
    found: dict[Ordering, Prefix] = {}
    texts: dict[tuple[str, str], Prefix] = {}
    for name in spec_of("ordering").choices:
        ordering = cast("Ordering", name)
        chosen = settings.replace(ordering=ordering)
        before = previous if isinstance(previous, str) else previous(chosen)
        assembly = assemble_with(chosen)
        if (pair := (before, assembly.text)) not in texts:
            texts[pair] = cache_prefix(*pair, counter, assembly.token_count)
        found[ordering] = texts[pair]
    return found
