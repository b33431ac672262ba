"""The budget policies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ctxasm.assembly.budget.drop_documents import drop_documents
from ctxasm.assembly.budget.greedy import greedy
from ctxasm.assembly.budget.greedy_skip import greedy_skip
from ctxasm.assembly.budget.learned import learned
from ctxasm.assembly.budget.pack import pack
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.segments import segments
from ctxasm.assembly.steps import Chosen

POLICIES: Mapping[str, Callable[[Scales], Chosen]] = {
    "drop_documents": drop_documents,
    "greedy": greedy,
    "greedy_skip": greedy_skip,
    "pack": pack,
    "segments": segments,
    "learned": learned,
}
"""The policies by the names that `budget_policy` takes."""


def choose(scales: Scales) -> Chosen:
    """What fits, by the policy of the settings."""
    return POLICIES[scales.settings.budget_policy](scales)
