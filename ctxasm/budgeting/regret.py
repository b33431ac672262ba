"""How far what was kept stays behind the best packing of whole documents."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.budgeting.desk import Documents
from ctxasm.model.passages import Joined
from ctxasm.model.plans import Written
from ctxasm.model.results import DocumentSize, Regret
from ctxasm.stages import pack


def regret_of(own: Documents, final: Sequence[Joined], written: Written, sizes: Sequence[DocumentSize], limit: int, pack_k: int) -> Regret:
    """Against the best packing of whole documents; what a document that is kept in part takes is taken as given."""
    shown = {(j.chunk.document_id, j.chunk.chunk_index) for j in final}
    hits = [candidate for each in own.values() for candidate in each.values() if candidate.retrieved]
    kept = pack.value_of([c.rank for c in hits if c.key in shown], pack_k)
    if all(size.kept for size in sizes) and len({block.document_id for block in written.blocks}) == len(sizes):
        return Regret(kept, kept, True, tuple(size.document_id for size in sizes))
    best = min(hits, key=lambda c: c.rank, default=None)
    alone = {final[0].chunk.document_id: written.size.tokens} if final and len({b.document_id for b in written.blocks}) == 1 else {}
    ranks = {document_id: [c.rank for c in each.values() if c.retrieved] for document_id, each in own.items()}
    items = [
        pack.Unit(s.document_id, alone.get(s.document_id, s.tokens), pack.value_of(ranks.get(s.document_id, []), pack_k)) for s in sizes
    ]
    return pack.packing_regret(items, best.chunk.document_id if best else None, limit, kept)
