"""Every scorer keeps the port."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conformance import CHECKS, MODEL_CHECKS, WORDS
from fake_models import Judge, WordEmbedder
from tiny_nli import build_nli

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.gate import gate
from ctxasm.citations.scorers.embedding import EmbeddingScorer
from ctxasm.citations.scorers.judge import JudgeScorer
from ctxasm.citations.scorers.nli import NliScorer
from ctxasm.model.support import Scorer
from ctxasm.text.sentences import sentence_spans


@pytest.fixture(scope="module")
def scorers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scorer]:
    folder: Path = build_nli(tmp_path_factory.mktemp("nli"), WORDS)
    made: dict[str, Scorer] = {"lexical": LexicalScorer()}
    for words, looks in (("", None), (" with gate", gate)):
        likeness = EmbeddingScorer(WordEmbedder(), sentence_spans, threshold=0.8, partly=0.5, floor=0.0, gate=looks)
        made |= {
            f"embedding{words}": likeness,
            f"nli{words}": NliScorer(folder, sentence_spans, gate=looks),
            f"llm{words}": JudgeScorer(Judge(), "fake", gate=looks),
        }
    return made


MODELS = ("embedding", "nli", "llm")
CASES = [(name, check) for name in MODELS for check in MODEL_CHECKS]
CASES += [(name, check) for name in ("lexical", *(f"{name} with gate" for name in MODELS)) for check in CHECKS]


@pytest.mark.parametrize(("name", "check"), CASES)
def test_every_scorer_keeps_the_port(scorers: dict[str, Scorer], name: str, check: Callable[[Scorer], None]) -> None:
    assert name.startswith(scorers[name].name)
    check(scorers[name])
