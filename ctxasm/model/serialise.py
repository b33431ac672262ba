"""The JSON of one assembly. Strict JSON: every number finite, every text a valid one."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from ctxasm.model.events import Event
from ctxasm.model.results import Assembly, Citation, Fate, Key, Regret, Segment, StageRecord
from ctxasm.model.zoning import Conversation, Zones


def assembly_dict(assembly: Assembly) -> dict[str, Any]:
    """The documented form, ready for `json.dumps(…, allow_nan=False)`."""
    trace = assembly.trace
    return {
        "query_id": assembly.query.query_id,
        "query": assembly.query.query,
        "settings": assembly.settings.to_dict(),
        "text": assembly.text,
        "token_count": assembly.token_count,
        "exact": assembly.exact,
        "encoding": assembly.encoding,
        "max_tokens": assembly.limit,
        "unused_tokens": assembly.unused_tokens,
        "overshoot_tokens": assembly.overshoot_tokens,
        **_zones(assembly.zones),
        "history": _conversation(assembly.conversation),
        "segments": [_segment(segment) for segment in assembly.segments],
        "citations": [_citation(citation) for citation in assembly.citations],
        "citations_before_assembly": [entry._asdict() for entry in trace.before_assembly],
        "stages": [_stage(record) for record in trace.stages],
        "fates": [_fate(fate) for fate in trace.fates],
        "packing_regret": _regret(trace.regret),
        "fetch": {
            "statements": trace.fetch.statements,
            "document_statements": trace.fetch.document_statements,
            "rows": trace.fetch.rows,
            "elapsed_ms": round(trace.fetch.elapsed_ms, 4),
        },
    }


def _zones(zones: Zones | None) -> dict[str, Any]:
    """`zones` is empty where no window is known."""
    return {
        "model_window": zones.window if zones else None,
        "zones": [asdict(zone) for zone in zones.zones] if zones else [],
        "zones_over": zones.over if zones else 0,
        "zone_hints": list(zones.hints) if zones else [],
    }


def _conversation(conversation: Conversation | None) -> dict[str, Any] | None:
    """What of the earlier turns is sent; None where they go as they are, or there are none."""
    return asdict(conversation) | {"turns": [asdict(turn) for turn in conversation.turns]} if conversation else None


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        **{field.name: getattr(citation, field.name) for field in fields(citation)},
        "chunk_indexes": list(citation.chunk_indexes),
        "also_in": [_key(key) for key in citation.also_in],
    }


def _stage(record: StageRecord) -> dict[str, Any]:
    return {
        "stage": record.stage,
        "chunks_in": len(record.before),
        "chunks_out": len(record.after),
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "elapsed_ms": round(record.elapsed_ms, 4),
        "events": [event_dict(event) for event in record.events],
    }


def _regret(regret: Regret) -> dict[str, Any]:
    return {
        "kept": regret.kept,
        "best": regret.best,
        "regret": regret.regret,
        "exact": regret.exact,
        "documents": list(regret.documents),
    }


def event_dict(event: Event) -> dict[str, Any]:
    """An event with its name in snake case."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__).lstrip("_")
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"event": name, **{key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}}


def _key(key: Key) -> dict[str, Any]:
    return {"document_id": key[0], "chunk_index": key[1]}


def _segment(segment: Segment) -> dict[str, Any]:
    return {**segment._asdict(), "shared_with": [_key(key) for key in segment.shared_with]}


def _fate(fate: Fate) -> dict[str, Any]:
    values = {**fate._asdict(), "parents": list(fate.parents)}
    of = values.pop("of")
    return {**values, "of": _key(of) if of else None}
