"""The way to Show me, and the question that it is about."""

from __future__ import annotations

SHOW_ME = "show-me"
"""The path of the page."""
QUERY = "child-operation-cold"
"""The question of the sample that it is about, chosen by `sample_data/gains.py`: its evidence is in the context with assembly only."""
