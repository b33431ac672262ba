"""An NLI model of a few words, made by hand: it entails by the share of the claim's words in the premise, and a "not" that stands in
one of both contradicts. Real ONNX, real tokenizer files, in the layout of a model hub."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

LABELS = ("contradiction", "entailment", "neutral")
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_NEGATIONS = ("not", "niet")


def build_nli(
    folder: Path,
    words: Sequence[str],
    labels: Sequence[str] = LABELS,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    kind: int = TensorProto.INT64,
    rename: Mapping[str, str] | None = None,
) -> Path:
    """Write the three files. `labels` in the order of the logits; `rename` gives inputs of the model another name."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys((*_SPECIAL, *_NEGATIONS, *words)))}
    _tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    id2label = {str(at): label for at, label in enumerate(labels)}
    config = {"id2label": id2label, "max_position_embeddings": 512, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    model = _model(vocabulary, [name.lower() for name in labels], inputs, kind)
    for node in model.graph.node:
        node.input[:] = [(rename or {}).get(name, name) for name in node.input]
    for put in model.graph.input:
        put.name = (rename or {}).get(put.name, put.name)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", special)
    return tokenizer


def _model(vocabulary: dict[str, int], labels: Sequence[str], inputs: Sequence[str], kind: int) -> onnx.ModelProto:
    weights = np.array([0.0 if word in (*_SPECIAL[:1], *_SPECIAL[2:], *_NEGATIONS, ".") else 1.0 for word in vocabulary], np.float32)
    negations = np.array([1.0 if word in _NEGATIONS else 0.0 for word in vocabulary], np.float32)
    constants: dict[str, object] = {
        "depth": np.array(len(vocabulary), np.int64),
        "off_on": np.array([0, 1], np.float32),
        "weights": weights,
        "negations": negations,
        "one": np.array(1, np.float32),
        "few": np.array(1e-6, np.float32),
        "axis1": np.array([1], np.int64),
        "last": np.array([2], np.int64),
        "steep": np.array(12, np.float32),
        "middle": np.array(0.7, np.float32),
        "sharp": np.array(24, np.float32),
        "low": np.array(6, np.float32),
    }
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.INT64),
        helper.make_node("OneHot", ["ids", "depth", "off_on"], ["letters"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "types"], ["firsts"]),
        *_presence("premise", "firsts"),
        *_presence("claim", "types"),
        helper.make_node("Mul", ["claim", "weights"], ["wanted"]),
        helper.make_node("Mul", ["wanted", "premise"], ["had"]),
        *_sum("wanted"),
        *_sum("had"),
        helper.make_node("Add", ["wanted_sum", "few"], ["size"]),
        helper.make_node("Div", ["had_sum", "size"], ["cover"]),
        helper.make_node("Sub", ["cover", "middle"], ["above"]),
        helper.make_node("Mul", ["above", "steep"], ["entailment"]),
        helper.make_node("Sub", ["premise", "claim"], ["differ"]),
        helper.make_node("Mul", ["differ", "negations"], ["negated"]),
        *_sum("negated"),
        helper.make_node("Abs", ["negated_sum"], ["opposed"]),
        helper.make_node("Mul", ["opposed", "cover"], ["opposed_here"]),
        helper.make_node("Mul", ["opposed_here", "sharp"], ["opposed_much"]),
        helper.make_node("Sub", ["opposed_much", "low"], ["contradiction"]),
        helper.make_node("Sub", ["cover", "cover"], ["neutral"]),
    ]
    known = ("contradiction", "entailment", "neutral")
    nodes.append(helper.make_node("Concat", [label if label in known else "neutral" for label in labels], ["logits"], axis=1))
    absent = [name for name in ("attention_mask", "token_type_ids") if name not in inputs]
    nodes[:0] = [node for name in absent for node in _made_up(name)]
    puts = [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name in inputs]
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(labels)])
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", puts, [out], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _presence(name: str, part: str) -> list[onnx.NodeProto]:
    """Which words of the vocabulary stand in one part of the input."""
    return [
        helper.make_node("Mul", [part, "mask"], [f"{name}_mask"]),
        helper.make_node("Unsqueeze", [f"{name}_mask", "last"], [f"{name}_column"]),
        helper.make_node("Mul", ["letters", f"{name}_column"], [f"{name}_letters"]),
        helper.make_node("ReduceMax", [f"{name}_letters"], [name], axes=[1], keepdims=0),
    ]


def _sum(name: str) -> list[onnx.NodeProto]:
    return [helper.make_node("ReduceSum", [name, "axis1"], [f"{name}_sum"], keepdims=1)]


def _made_up(name: str) -> list[onnx.NodeProto]:
    """An input that the model does not take: all words belong to both parts."""
    return [helper.make_node("Sub", ["input_ids", "input_ids"], [f"{name}_zero"]), helper.make_node("Identity", [f"{name}_zero"], [name])]
