"""How good a context is: the evidence that a labelled query needs, and what of it the context holds."""
