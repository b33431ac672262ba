"""Reranking what was found: a model that reads question and chunk together gives the hits their final order."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxasm.data.datasets import Datasets
from ctxasm.llm.configured import ConfiguredModels
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import Window
from ctxasm.model.progress import Cancelled
from ctxasm.model.search import Found, Reranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxasm.retrieval.cross_encoder import CrossEncoder

RERANKERS = ("cross-encoder", "llm")
RERANKED = 50
"""How many of the found hits are judged again, at least."""


class _Stoppable:
    """A reranker whose work ends when it is no longer wanted."""

    def __init__(self, model: CrossEncoder | object, cancelled: Cancelled) -> None:
        self.name = str(getattr(model, "name", ""))
        self._scores = partial(getattr(model, "scores"), cancelled=cancelled)  # noqa: B009 (either of two models)

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker`."""
        found: Sequence[float] = self._scores(question, texts)
        return found


def unavailable(name: str, models: ConfiguredModels) -> str:
    """Why a reranker cannot be had here and what to do, "" where it can. Raises InvalidInput for an unknown name."""
    if name not in RERANKERS:
        raise InvalidInput(f"the reranker must be one of {', '.join(RERANKERS)}, got {shown(name)}")
    try:
        _ = models.endpoint("rerank") if name == "llm" else models.rerank_folder()
    except InvalidInput as error:
        return str(error)
    if name == "llm":
        return ""
    lacks = [package for package in ("onnxruntime", "tokenizers") if find_spec(package) is None]
    return f"reranking by a cross-encoder needs {' and '.join(lacks)}: pip install 'ctxasm[nli]'" if lacks else ""


def open_reranker(name: str, models: ConfiguredModels, cancelled: Cancelled) -> Reranker:
    """A reranker by name: a cross-encoder of the user's own, or the configured language model. Raises InvalidInput."""
    if problem := unavailable(name, models):
        raise InvalidInput(problem)
    if name == "cross-encoder":
        return _Stoppable(_cross_encoder(models.rerank_folder()), cancelled)
    from ctxasm.llm.completion import complete_json
    from ctxasm.retrieval.model_reranker import ModelReranker

    return _Stoppable(ModelReranker(partial(complete_json, models.endpoint("rerank"))), cancelled)


@cache
def _cross_encoder(folder: str) -> CrossEncoder:
    """One for the process: loading takes seconds."""
    from ctxasm.retrieval.cross_encoder import CrossEncoder

    return CrossEncoder(folder)


def reranked(datasets: Datasets, dataset: str, question: str, found: Found, reranker: Reranker, limit: int) -> Found:
    """The best `limit` hits by the reranker, on its scale; each keeps its other scores. Equals keep their order.

    A hit whose chunk is gone meanwhile is left out. Raises ModelUnavailable where the model fails.
    """
    windows = [Window(hit.document_id, hit.chunk_index, hit.chunk_index) for hit in found.hits]
    chunks = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in datasets.dataset(dataset).fetch(windows, "").chunks}
    hits = [hit for hit in found.hits if (hit.document_id, hit.chunk_index) in chunks]
    scores = reranker.scores(question, [chunks[hit.document_id, hit.chunk_index] for hit in hits]) if hits else ()
    order = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])[:limit]
    best = tuple(replace(hit, score=score, rank=rank, scores={**hit.scores, "rerank": score}) for rank, (score, hit) in enumerate(order, 1))
    matches = None if found.bm25_matches is None else sum("bm25" in hit.scores for hit in best)
    return found._replace(hits=best, bm25_matches=matches)
