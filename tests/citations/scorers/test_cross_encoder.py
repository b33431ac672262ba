"""A cross-encoder from a folder: real ONNX made by hand, whose logit is the share of the question's words that the text holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from tiny_nli import build_nli

from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.retrieval.reranking import BATCH, CrossEncoder

TEXTS = ["the desk opens at seven", "parking costs two euros", "", "seven \ud800 euros", "opens seven desk at"]
WORDS = " ".join(TEXTS[:2]).split()


def folder(path: Path, **more: object) -> Path:
    # The tiny model holds its second input against the first, so a text that has the words of the question entails it.
    return build_nli(path, WORDS, labels=("entailment",), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    return CrossEncoder(folder(tmp_path_factory.mktemp("encoder") / "m"))


def test_texts_that_share_more_words_score_higher(model: CrossEncoder) -> None:
    scores = model.scores("when opens the desk at seven", TEXTS)
    assert len(scores) == len(TEXTS)
    assert max(scores) == scores[0]
    assert scores[0] > scores[1]


def test_scores_keep_the_order_of_the_texts_however_they_are_batched(model: CrossEncoder) -> None:
    many = [TEXTS[place % len(TEXTS)] for place in range(3 * BATCH + 1)]
    alone = {text: model.scores("the desk opens", [text])[0] for text in TEXTS}
    assert model.scores("the desk opens", many) == pytest.approx([alone[text] for text in many], abs=1e-4)
    assert model.scores("x", []) == []


def test_it_ends_when_it_is_no_longer_wanted(model: CrossEncoder) -> None:
    with pytest.raises(ModelUnavailable, match="stopped on request"):
        model.scores("x", TEXTS, cancelled=lambda: True)


def test_a_model_of_several_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="one finite number for each pair, got an array of 1 × 3"):
        CrossEncoder(build_nli(tmp_path / "m", WORDS))


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path, missing: str) -> None:
    made = folder(tmp_path / "m")
    (made / missing).unlink()
    with pytest.raises(InvalidInput, match=f"lacks {missing}"):
        CrossEncoder(made)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("model.onnx", "no", "cannot be loaded"),
        ("tokenizer.json", "{}", "cannot be read"),
        ("config.json", json.dumps([]), "no JSON object|not a JSON"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    made = folder(tmp_path / "m")
    (made / name).write_text(text)
    with pytest.raises(InvalidInput, match=said):
        CrossEncoder(made)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such folder"):
        CrossEncoder(tmp_path / "nowhere")
