"""Compare: A pinned, B as now, for one question, over all of them, and blind."""
