"""Scorers that need a model: likeness by an embedder, inference by a cross-encoder, judgement by a language model.

The only room that imports onnxruntime and tokenizers. Each takes what it needs from other rooms as an argument: the splitter into
sentences, the embedder, the call of the language model, and a gate that looks at numbers, names and negation.
"""
