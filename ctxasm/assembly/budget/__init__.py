"""What fits: a file a policy.

Start at `choose`, which calls the policy of the settings. A policy takes `Scales` (what any set of chunks comes to) and returns what it
chose; a new one is a file here and a line in `POLICIES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.assembly.budget.policies import POLICIES, choose
    from ctxasm.assembly.budget.scales import Scales

__all__ = ["POLICIES", "Scales", "choose"]
__getattr__ = door(
    __name__,
    policies="POLICIES choose",
    scales="Scales",
)
