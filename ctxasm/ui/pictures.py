"""HTML of the stage pictures that are words and tables: seams, duplicates, shifts, budget table, prefixes, latency, ledger. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ctxasm.model.results import Assembly, Fate
from ctxasm.ui.ledger_rows import Ledger
from ctxasm.ui.marks import colour_of
from ctxasm.ui.order_rows import Shift
from ctxasm.ui.rows import SENT, Bar
from ctxasm.ui.stage_rows import Latency, OverlapPair, PrefixRow
from ctxasm.ui.words import fate_label, number, plural, stage_name

DROP_WORDS = {
    "budget": "dropped",
    "oversized": "trimmed",
    "no_room": "without room",
    "floor": "below the floor",
    "top_k": "beyond top_k",
    "degenerate": "too small",
    "irrelevant": "not about the question",
    "empty": "empty",
    "parent_duplicate": "left with a duplicate",
    "missing": "not stored",
}


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = (), caption: str = "") -> str:
    """A table of cells that are already escaped HTML; `numeric` columns stand right."""
    head = "".join(f'<th scope="col"{_numeric(at, numeric)}>{name}</th>' for at, name in enumerate(heads))
    body = "".join("<tr>" + "".join(f"<td{_numeric(at, numeric)}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>" for row in rows)
    title = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="cx-table-wrap" tabindex="0" role="group" aria-label="{caption or "table"}"><table>{title}<thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


def _numeric(at: int, numeric: Sequence[int]) -> str:
    return ' class="num"' if at in numeric else ""


def boxed(inner: str, id: str = "") -> str:
    """HTML inside the workbench's own styles."""
    return f'<div class="cx"{f" id={chr(34)}{id}{chr(34)}" if id else ""}>{inner}</div>'


def number_chip(block: int) -> str:
    """A citation number that jumps to its block."""
    return f'<a class="cx-num" style="--n:{colour_of(block)}" href="#ctx-block-{block}">{block}</a>'


def fate_chip(fate: Fate) -> str:
    """The fate in two words, with a symbol."""
    look = "" if fate.fate == "kept" else " part" if fate.fate in SENT else " gone"
    return f'<span class="cx-fate{look}">{fate_label(fate)}</span>'


def seam_html(pair: OverlapPair, threshold: int) -> str:
    """The tail of N with the shared text marked, the head of N+1 with what is not repeated struck through."""
    gone = pair.verdict in ("stripped", "merged")
    tag = "del" if gone else "mark"
    shared = escape(pair.head)
    why = {
        "stripped": f"{plural(pair.chars, 'character')} shared: shown once, by #{pair.first}.",
        "merged": f"#{pair.second} is contained in #{pair.first}: shown once.",
        "below": f"{plural(pair.chars, 'character')} shared, the threshold is {threshold}: both are kept.",
        "coincidence": f"{plural(pair.chars, 'character')} match, more than half of #{pair.first}: taken for a coincidence, both are kept.",
        "none": "Nothing shared: both are kept as they are.",
    }[pair.verdict]
    return (
        f'<p class="cx-note">{why}</p><div class="cx-seam" style="margin-top:8px"><div class="cx-quote" tabindex="0" role="region"'
        f' aria-label="End of the first chunk"><h3>end of #{pair.first}</h3>'
        f"…{escape(pair.tail)}"
        f"<mark>{shared}</mark></div>"
        f'<div class="cx-quote" tabindex="0" role="region"'
        f' aria-label="Start of the second chunk"><h3>start of #{pair.second}</h3><{tag}>{shared}</{tag}>{escape(pair.rest)}…</div></div>'
    )


def shift_html(shifts: Sequence[Shift]) -> str:
    """`before [2] → after [1]`: what the numbers would have meant if the list had been built before assembly."""
    rows = []
    for shift in shifts:
        after = " ".join(number_chip(n) for n in shift.after) or '<span class="cx-mute">gone</span>'
        mark = '<span class="cx-need">▲ wrong</span>' if shift.wrong else '<span class="cx-mute">● same</span>'
        rows.append((f'<span class="cx-nowrap"><b class="cx-mono">[{shift.before}]</b> → {after}</span>', escape(shift.title), mark))
    return table_html(("before → after", "source", "old number"), rows, caption="Citation shift")


def budget_table_html(bar: Bar) -> str:
    """Every document on the token axis, in numbers."""
    rows = []
    end = 0
    for document in bar.documents:
        end += document.tokens
        state = (
            '<span class="cx-fate">sent</span>'
            if document.kept
            else f'<span class="cx-fate gone">dropped</span> <span class="cx-need">needs {number(document.missing_tokens)} more</span>'
            if document.missing_tokens
            else '<span class="cx-fate gone">dropped</span>'
        )
        chunks = " ".join(dict.fromkeys(part.label for part in document.parts if part.label))
        numbers = " ".join(number_chip(n) for n in document.numbers)
        rows.append((numbers, escape(document.title), escape(chunks), number(document.tokens), number(end), state))
    return table_html(
        ("number", "document", "chunks", "tokens", "up to", "state"), rows, numeric=(3, 4), caption="Documents on the token axis"
    )


def prefixes_html(rows: Sequence[PrefixRow]) -> str:
    """The page summaries in the context, each once."""
    return table_html(
        ("document", "page summary", "tokens"),
        [(escape(r.title), escape(r.summary), number(r.tokens)) for r in rows],
        (2,),
        "Page summaries, once per document",
    )


def latency_html(rows: Sequence[Latency], assembly: Assembly) -> str:
    """Time per stage beside the published 40 / 5 / 2 / 15 ms."""
    cells = [
        (
            stage_name(r.stage),
            f"{r.elapsed_ms:.2f}",
            f"{r.published_ms:.0f}" if r.published_ms else "",
            f"{r.published_ms / r.elapsed_ms:.0f} × faster"
            if r.published_ms and r.elapsed_ms > 0 and r.published_ms > r.elapsed_ms
            else "",
            f"{r.chunks_in} → {r.chunks_out}",
            f"{number(r.tokens_in)} → {number(r.tokens_out)}",
        )
        for r in rows
    ]
    total, published = sum(r.elapsed_ms for r in rows), sum(r.published_ms or 0 for r in rows)
    cells.append(
        (
            "<b>All stages</b>",
            f"<b>{total:.2f}</b>",
            f"<b>{published:.0f}</b>",
            f"{published / total:.0f} × faster" if 0 < total < published else "",
            "",
            "",
        )
    )
    fetch = assembly.trace.fetch
    note = (
        f'<p class="cx-note" style="margin-top:8px">Reading the store: {plural(fetch.statements, "statement")} for chunks, '
        f"{plural(fetch.document_statements, 'statement')} for titles,"
        f" {plural(fetch.rows, 'row')}, {fetch.elapsed_ms:.2f} ms. Published: the five-stage pipeline's own figures (one query per "
        "document, its machine, not this one).</p>"
    )
    return table_html(("stage", "ms here", "ms published", "here", "chunks", "tokens"), cells, (1, 2, 3, 4, 5), "Latency per stage") + note


def ledger_html(account: Ledger, fresh: int = 0) -> str:
    """The accounting line: every chunk and every token has a term. `fresh` of the sent chunks came with the last change."""
    terms = [f"<b>{account.retrieved}</b> retrieved", f"+ <b>{account.added}</b> added"]
    terms += [f"− <b>{account.merged}</b> merged"] if account.merged else []
    terms += [f"− <b>{account.duplicates}</b> duplicate"] if account.duplicates else []
    terms += [f"− <b>{count}</b> {DROP_WORDS.get(reason, escape(reason))}" for reason, count in account.dropped]
    tokens = [
        f"<b>{number(account.chunk_tokens)}</b> chunk",
        f"+ <b>{number(account.prefix_tokens)}</b> prefix",
        f"+ <b>{number(account.scaffold_tokens)}</b> header/separator",
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
        f"<span>{' '.join(terms)} = <b>{account.sent}</b> sent{new}</span><span class='cx-mute'>·</span><span>{' '.join(tokens)} = <b>"
        f"{number(account.total_tokens)}</b> tokens</span>{badge}</div>"
    )
