"""The accounting line: every chunk and every token of an assembly has a term. Pure; all from the trace."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from html import escape

from ctxasm.app.ui.widgets.fates import DROP_WORDS
from ctxasm.app.ui.words.words import number
from ctxasm.model.results import Assembly


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accounting of one assembly: chunks in against chunks sent, and where the tokens of the context are.

    A merged hit's text is in the context, inside its neighbour; `sent` counts the chunks with text of their own.
    """

    retrieved: int
    added: int
    merged: int
    duplicates: int
    dropped: tuple[tuple[str, int], ...]
    sent: int
    chunk_tokens: int
    prefix_tokens: int
    scaffold_tokens: int
    supplement_tokens: int
    total_tokens: int

    @property
    def balances(self) -> bool:
        """Whether every chunk and every token is accounted for."""
        left = self.merged + self.duplicates + sum(count for _, count in self.dropped)
        tokens = self.chunk_tokens + self.prefix_tokens + self.scaffold_tokens + self.supplement_tokens
        return self.retrieved + self.added - left == self.sent and tokens == self.total_tokens


def ledger(assembly: Assembly) -> Ledger:
    """The accounting line, a term for every fate. `sent` is counted in the segments, not derived."""
    fates = assembly.trace.fates
    dropped: dict[str, int] = {}
    for fate in fates:
        if fate.fate == "dropped":
            dropped[fate.reason or "other"] = dropped.get(fate.reason or "other", 0) + 1
    tokens: defaultdict[str, int] = defaultdict(int)
    for segment in assembly.segments:
        tokens[segment.kind] += segment.tokens
    return Ledger(
        retrieved=sum(fate.retrieved for fate in fates),
        added=sum(not fate.retrieved for fate in fates),
        merged=sum(fate.fate == "merged" for fate in fates),
        duplicates=sum(fate.fate == "duplicate_of" for fate in fates),
        dropped=tuple(dropped.items()),
        sent=len({(s.document_id, s.chunk_index) for s in assembly.segments if s.kind == "chunk"}),
        chunk_tokens=tokens["chunk"],
        prefix_tokens=tokens["prefix"],
        scaffold_tokens=tokens["header"] + tokens["separator"] + tokens["gap"],
        supplement_tokens=tokens["supplement"],
        total_tokens=assembly.token_count,
    )


def ledger_html(account: Ledger, fresh: int = 0) -> str:
    """The accounting line: every chunk and every token has a term. `fresh` of the sent chunks came with the last change."""
    terms = [f"<b>{account.retrieved}</b> found", f"+ <b>{account.added}</b> neighbours"]
    terms += [f"− <b>{account.merged}</b> merged"] if account.merged else []
    terms += [f"− <b>{account.duplicates}</b> duplicate"] if account.duplicates else []
    terms += [f"− <b>{count}</b> {DROP_WORDS.get(reason, escape(reason))}" for reason, count in account.dropped]
    tokens = [
        f"<b>{number(account.chunk_tokens)}</b> text",
        f"+ <b>{number(account.prefix_tokens)}</b> summaries",
        f"+ <b>{number(account.scaffold_tokens)}</b> headers",
    ]
    tokens += [f"+ <b>{number(account.supplement_tokens)}</b> supplement"] if account.supplement_tokens else []
    new = f' <span class="cx-new-count" data-new="{fresh}">{fresh} new</span>' if fresh else ""
    state = "balances" if account.balances else "does not balance"
    badge = (
        f'<span class="cx-badge {"ok" if account.balances else "warn"}"><span class="cx-dot{"" if account.balances else " warn"}">'
        f"</span>{state}</span>"
    )
    return (
        f'<div class="cx cx-ledger" id="ctx-ledger" data-balances="{str(account.balances).lower()}" data-sent="{account.sent}" '
        f'data-tokens="{account.total_tokens}">'
        f"<span>{' '.join(terms)} = <b>{account.sent}</b> sent{new}</span><span>{' '.join(tokens)} = <b>"
        f"{number(account.total_tokens)}</b> tokens {badge}</span></div>"
    )
