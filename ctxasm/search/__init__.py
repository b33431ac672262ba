"""Search a dataset for a question: by words, by meaning, or by the fusion of both rankings. `ctxasm.search(…)` is the function."""
