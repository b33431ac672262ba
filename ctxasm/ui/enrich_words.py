"""What an enrichment would take and what it took, in words. Pure."""

from __future__ import annotations

from ctxasm.enrichment.reports import EnrichReport, Estimate
from ctxasm.ui.words import number, plural


def dollars(cost: float) -> str:
    """A price as short as it can be read: `$0.12`, `under $0.01`."""
    if cost <= 0:
        return "$0"
    return "under $0.01" if cost < 0.01 else f"${cost:,.2f}"


def estimate_words(estimate: Estimate) -> str:
    """What `enrich` would take, as sentences."""
    left = estimate.chunks - estimate.kept
    known = f", {number(estimate.kept)} of them enriched already" if estimate.kept else ""
    chunks = f"{plural(estimate.chunks, 'chunk')}{known}."
    if not left:
        return f"{chunks} There is nothing to do."
    if estimate.variant == "extractive":
        return f"{chunks} By rules: no model, no cost."
    about = "" if estimate.exact else "about "
    tokens = (
        f"{plural(estimate.calls, 'call')} to {estimate.model}: {about}{number(estimate.tokens_in)} tokens in, about "
        f"{number(estimate.tokens_out)} out."
    )
    if estimate.cost is None or estimate.price is None:
        return f"{chunks} {tokens} No price is known for this model: give one below."
    return f"{chunks} {tokens} About {dollars(estimate.cost)} ({estimate.price.source})."


def actual_words(report: EnrichReport) -> str:
    """What a run of a model took; empty for one by rules."""
    if report.variant != "model":
        return ""
    told = "told by the server" if report.counted else "counted here"
    cost = "" if report.cost is None else f", {dollars(report.cost)}"
    return f"{plural(report.calls, 'call')}, {number(report.tokens_in)} tokens in and {number(report.tokens_out)} out ({told}){cost}."
