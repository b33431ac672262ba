"""Inference by a cross-encoder of the user's own: a real ONNX model of a few words, read from its folder."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from onnx import TensorProto
from tiny_nli import build_nli

from ctxasm.citations.scorers.nli import NliScorer
from ctxasm.citations.scorers.nli_model import BATCH, NliModel
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.support import Conflict, Match, Source
from ctxasm.text.sentences import sentence_spans

WORDS = ("bezoek", "is", "welkom", "van", "drie", "tot", "acht", "parkeren", "kost", "twee", "euro")
WORDS += ("kom", "ziek", "betalen", "kan", "met", "een", "pinpas", "en")
VISIT = "Parkeren kost twee euro. Bezoek is welkom van drie tot acht. Kom met een pinpas."
CLAIM = "Bezoek is welkom van drie tot acht."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_nli(tmp_path_factory.mktemp("nli"), WORDS)


@pytest.fixture(scope="module")
def scorer(folder: Path) -> NliScorer:
    return NliScorer(folder, sentence_spans)


def source(text: str, number: int = 1) -> Source:
    return Source(number, text, ((0, len(text)),))


def places(match: Match, text: str) -> list[str]:
    return [text[found.start : found.end] for found in match.found]


def test_what_is_entailed_is_shown_where_it_stands(scorer: NliScorer) -> None:
    carried, other = scorer.compare([CLAIM], [source(VISIT, 1), source("Parkeren kost twee euro.", 2)]).each(0)
    assert carried.score >= scorer.threshold
    assert places(carried, VISIT) == [CLAIM]
    assert other.score < scorer.partly
    assert other.found == ()


def test_a_claim_over_two_sentences_gets_both(scorer: NliScorer) -> None:
    (match,) = scorer.compare(["Bezoek is welkom met een pinpas."], [source(VISIT)]).each(0)
    assert places(match, VISIT) == [f"{CLAIM} Kom met een pinpas."]


def test_two_sources_are_read_as_one_premise_where_neither_carries_it(scorer: NliScorer) -> None:
    sources = [source("Betalen kan met een pinpas.", 2), source("Kom niet ziek.", 3), source("Bezoek is welkom.", 1)]
    comparison = scorer.compare(["Bezoek is welkom en betalen kan."], sources)
    assert all(match.score < scorer.threshold for match in comparison.each(0))
    assert comparison.together(0, [0, 2]).score >= scorer.threshold
    assert {found.number for found in comparison.together(0, [0, 2]).found} == {1, 2}
    assert comparison.together(0, [0, 2]) == comparison.together(0, [2, 0])


def test_a_contradiction_lowers_the_score_and_only_the_gate_names_it(folder: Path, scorer: NliScorer) -> None:
    denied = source("Bezoek is niet welkom van drie tot acht.")
    (match,) = scorer.compare([CLAIM], [denied]).each(0)
    assert (match.score < 0.1, match.found, match.conflict) == (True, (), None)
    conflict = Conflict("negation", "welkom", "niet welkom", 1, 10, 21)

    def gate(claim: str, sources: Sequence[Source], match: Match) -> Match:
        return match._replace(conflict=conflict)

    gated = NliScorer(folder, sentence_spans, gate=gate)
    assert gated.compare([CLAIM], [denied]).each(0)[0].conflict == conflict
    assert gated.compare([CLAIM], [source("Parkeren kost twee euro.")]).each(0)[0].conflict is None, "nothing to look at"


def test_a_no_beside_the_claim_is_no_contradiction(scorer: NliScorer) -> None:
    for text in (f"{CLAIM} Kom niet ziek.", f"Kom niet ziek. {CLAIM}", f"{VISIT} Kom niet ziek."):
        (match,) = scorer.compare([CLAIM], [source(text)]).each(0)
        assert (match.score >= scorer.threshold, places(match, text)) == (True, [CLAIM]), text


@pytest.mark.parametrize("labels", [("neutral", "contradiction", "entailment"), ("ENTAILMENT", "Neutral", "Contradiction")])
def test_labels_are_known_by_name_in_any_order(tmp_path: Path, scorer: NliScorer, labels: tuple[str, ...]) -> None:
    other = NliScorer(build_nli(tmp_path, WORDS, labels), sentence_spans)
    for text in (VISIT, "Bezoek is niet welkom van drie tot acht.", "Parkeren kost twee euro."):
        assert other.compare([CLAIM], [source(text)]).each(0) == scorer.compare([CLAIM], [source(text)]).each(0)


def test_a_model_of_two_labels_has_no_contradiction(tmp_path: Path) -> None:
    two = NliScorer(build_nli(tmp_path, WORDS, ("entailment", "not_entailment")), sentence_spans)
    carried, other = two.compare([CLAIM], [source(VISIT, 1), source("Parkeren kost twee euro.", 2)]).each(0)
    assert (carried.score >= two.threshold, other.score < two.partly) == (True, True)


def test_a_model_without_token_types_and_with_small_numbers_is_fed_what_it_takes(tmp_path: Path) -> None:
    one = NliModel(build_nli(tmp_path / "a", WORDS, inputs=("input_ids", "attention_mask")))
    small = NliModel(build_nli(tmp_path / "b", WORDS, kind=TensorProto.INT32))
    assert len(one.infer([("Bezoek.", "Bezoek.")])) == 1
    assert small.infer([(VISIT, CLAIM)])[0].entails > 0.9


def test_an_inference_does_not_depend_on_its_batch(folder: Path) -> None:
    model = NliModel(folder)
    pairs = [(VISIT * (at % 7), CLAIM if at % 2 else "Kom niet ziek.") for at in range(3 * BATCH)]
    assert model.infer(pairs) == [model.infer([pair])[0] for pair in pairs]
    assert model.infer([]) == []


def test_a_premise_longer_than_the_model_reads_is_cut(tmp_path: Path) -> None:
    folder = build_nli(tmp_path, WORDS)
    config = json.loads((folder / "config.json").read_text()) | {"max_position_embeddings": 16}
    (folder / "config.json").write_text(json.dumps(config))
    model = NliModel(folder)
    assert model.infer([(f"{CLAIM} {VISIT * 50}", CLAIM)])[0].entails > 0.9
    assert model.infer([(f"{'parkeren ' * 50} {CLAIM}", CLAIM)])[0].entails < 0.1


def test_nothing_is_inferred_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    infer = NliModel.infer
    monkeypatch.setattr(NliModel, "infer", lambda self, pairs, cancel=None: asked.append(len(pairs)) or infer(self, pairs, cancel))
    scorer = NliScorer(folder, sentence_spans)
    asked.clear()
    first = scorer.compare([CLAIM, CLAIM], [source(VISIT), source(VISIT)]).each(0)
    assert asked[0] == 1
    asked.clear()
    assert scorer.compare([CLAIM], [source(VISIT)]).each(0)[0] == first[0]
    assert sum(asked) == 0


def test_a_stop_between_batches(scorer: NliScorer) -> None:
    many = source(" ".join(f"Parkeren kost {at} euro." for at in range(300)))
    looks: list[int] = []
    with pytest.raises(ModelUnavailable, match="stopped"):
        scorer.compare([CLAIM], [many], "", lambda: looks.append(1) is None and len(looks) > 3)
    assert len(looks) == 4


# Folders that cannot be used


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    return change


def with_config(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text()) | changes
        (folder / "config.json").write_text(json.dumps(config))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shutil.rmtree, r"must be a folder with model.onnx, tokenizer.json and config.json, got '.*': no such folder"),
        (remove("model.onnx"), "it lacks model.onnx; export the model to ONNX with its tokenizer and config beside it"),
        (remove("tokenizer.json"), "it lacks tokenizer.json;"),
        (remove("config.json"), "it lacks config.json;"),
        (write("config.json", "[]"), "config.json is not a JSON object"),
        (write("config.json", "{" * 100_000), "config.json is not a JSON object"),
        (write("tokenizer.json", "{}"), "tokenizer.json cannot be read"),
        (write("model.onnx", "no model"), "model.onnx cannot be loaded"),
        (with_config(id2label={}), r"must name one label entailment \(and contradiction, neutral\), got 'none'"),
        (with_config(id2label=None), "got 'none'"),
        (with_config(id2label={"0": "LABEL_0", "1": "LABEL_1"}), "got 'LABEL_0, LABEL_1'"),
        (with_config(id2label={"0": "positive", "1": "negative"}), "got 'positive, negative'"),
        (with_config(id2label={"0": "entailment", "5": "neutral"}), "must name one label"),
        (with_config(id2label={"zero": "entailment", "1": "neutral"}), "must name one label"),
        (
            with_config(id2label={"0": "entailment", "1": "not_entailment"}),
            "must give 2 finite numbers for each pair, .* got an array of 1 × 3",
        ),
    ],
)
def test_a_folder_that_cannot_be_used_says_why_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, change: Callable[[Path], None], message: str
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would be cut in the message
    broken = Path(shutil.copytree(folder, "model"))
    change(broken)
    with pytest.raises(InvalidInput, match=message) as caught:
        NliScorer(broken, sentence_spans)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("the NLI model")


def test_inputs_of_another_kind_are_named(tmp_path: Path) -> None:
    images = build_nli(tmp_path, WORDS, rename={"input_ids": "pixel_values"})
    with pytest.raises(InvalidInput, match="must take whole numbers as input_ids, attention_mask, token_type_ids, got pixel_values"):
        NliModel(images)


def test_the_layout_of_a_hub_is_found(tmp_path: Path, folder: Path) -> None:
    hub = Path(shutil.copytree(folder, tmp_path / "model"))
    (hub / "onnx").mkdir()
    (hub / "model.onnx").rename(hub / "onnx" / "model.onnx")
    assert NliModel(hub).infer([(CLAIM, CLAIM)])[0].entails > 0.9


def test_without_the_packages_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InvalidInput, match=r"^the scorer nli needs onnxruntime and tokenizers: pip install 'ctxasm\[nli\]'$"):
        NliModel(folder)


@pytest.mark.parametrize(("threshold", "partly"), [(0.4, 0.6), (2, 0.5), (0.5, 0)])
def test_thresholds_that_cannot_be(folder: Path, threshold: float, partly: float) -> None:
    with pytest.raises(InvalidInput, match="partly and threshold"):
        NliScorer(folder, sentence_spans, threshold=threshold, partly=partly)
