"""Reranking what was found: a model that reads question and chunk together gives the hits their final order."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxasm.config import BASE_URL, MODEL, RERANK_MODEL, Config
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import Window
from ctxasm.model.progress import Cancelled
from ctxasm.model.search import Found, Reranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxasm.scorers.cross_encoder import CrossEncoder
    from ctxasm.workbench import Workbench

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


def unavailable(name: str, config: Config) -> str:
    """Why a reranker cannot be had here and what to do, "" where it can. Raises InvalidInput for an unknown name."""
    if name not in RERANKERS:
        raise InvalidInput(f"the reranker must be one of {', '.join(RERANKERS)}, got {shown(name)}")
    if name == "llm":
        return "" if config.has_endpoint else f"reranking by a language model needs one: set {BASE_URL[0]} and {MODEL[0]}"
    if not config.rerank_model:
        return f"no cross-encoder is configured: set {RERANK_MODEL} to a folder with model.onnx, tokenizer.json and config.json"
    lacks = [package for package in ("onnxruntime", "tokenizers") if find_spec(package) is None]
    return f"reranking by a cross-encoder needs {' and '.join(lacks)}: pip install 'ctxasm[nli]'" if lacks else ""


def open_reranker(name: str, config: Config, cancelled: Cancelled) -> Reranker:
    """A reranker by name: a cross-encoder of the user's own, or the configured language model. Raises InvalidInput."""
    if problem := unavailable(name, config):
        raise InvalidInput(problem)
    if name == "cross-encoder":
        return _Stoppable(_cross_encoder(config.rerank_model or ""), cancelled)
    from ctxasm.checking import configured_endpoint
    from ctxasm.llm.completion import complete_json
    from ctxasm.llm.reranking import ModelReranker

    return _Stoppable(ModelReranker(partial(complete_json, configured_endpoint(config))), cancelled)


@cache
def _cross_encoder(folder: str) -> CrossEncoder:
    """One for the process: loading takes seconds."""
    from ctxasm.scorers.cross_encoder import CrossEncoder

    return CrossEncoder(folder)


def reranked(workbench: Workbench, dataset: str, question: str, found: Found, reranker: Reranker, limit: int) -> Found:
    """The best `limit` hits by the reranker, on its scale; each keeps its other scores. Equals keep their order.

    A hit whose chunk is gone meanwhile is left out. Raises ModelUnavailable where the model fails.
    """
    windows = [Window(hit.document_id, hit.chunk_index, hit.chunk_index) for hit in found.hits]
    chunks = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in workbench.dataset(dataset).fetch(windows, "").chunks}
    hits = [hit for hit in found.hits if (hit.document_id, hit.chunk_index) in chunks]
    scores = reranker.scores(question, [chunks[hit.document_id, hit.chunk_index] for hit in hits]) if hits else ()
    order = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])[:limit]
    best = tuple(replace(hit, score=score, rank=rank, scores={**hit.scores, "rerank": score}) for rank, (score, hit) in enumerate(order, 1))
    matches = None if found.bm25_matches is None else sum("bm25" in hit.scores for hit in best)
    return found._replace(hits=best, bm25_matches=matches)
