"""How far what was kept stays behind the best packing of whole documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxasm.assembly.budget.knapsack import Unit, packing_regret, value_of
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.steps import Documents, Written
from ctxasm.model.results import DocumentSize, Regret


def regret_of(own: Documents, final: Sequence[Joined], written: Written, sizes: Sequence[DocumentSize], limit: int, pack_k: int) -> Regret:
    """Against the best packing of whole documents; of a document that no limit so small can hold, what is kept is taken as given."""
    shown = {(j.chunk.document_id, j.chunk.chunk_index) for j in final}
    hits = [candidate for each in own.values() for candidate in each.values() if candidate.retrieved]
    kept = value_of([c.rank for c in hits if c.key in shown], pack_k)
    there = {block.document_id for block in written.blocks}
    if all(size.kept for size in sizes) and len(there) == len(sizes) and (len(sizes) < 2 or sizes[-1].end <= limit):
        return Regret(kept, kept, True, tuple(size.document_id for size in sizes))
    spent = _tokens_of_documents(written)
    items = []
    for size in sizes:
        in_part = size.document_id in there and (size.tokens > limit or len(there) == 1)
        ranks = [c.rank for c in own.get(size.document_id, {}).values() if c.retrieved and (c.key in shown or not in_part)]
        items.append(Unit(size.document_id, spent[size.document_id] if in_part else size.tokens, value_of(ranks, pack_k)))
    best = min(hits, key=lambda c: c.rank, default=None)
    return packing_regret(items, best.chunk.document_id if best else None, limit, kept)


def _tokens_of_documents(written: Written) -> Counter[str]:
    """What the blocks of each document take in the text."""
    document_of = {block.number: block.document_id for block in written.blocks}
    spent: Counter[str] = Counter()
    for segment in written.segments:
        if segment.block is not None:
            spent[document_of[segment.block]] += segment.tokens
    return spent
