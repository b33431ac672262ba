"""Citation markers: their grammar, read from answers and looked for in source text."""
