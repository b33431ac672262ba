"""From hits to context, one file a stage; `pipeline.assemble` reads as their order.

Start at `assemble`. What one stage hands to the next is in `stages`; why everything came as it did in `trace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.assembly.pipeline import assemble
    from ctxasm.assembly.plain_records import joined
    from ctxasm.assembly.stages import Compressor, Extract
    from ctxasm.assembly.trace import Decided, Passed

__all__ = ["Compressor", "Decided", "Extract", "Passed", "assemble", "joined"]
__getattr__ = door(
    __name__,
    pipeline="assemble",
    stages="Compressor Extract",
    plain_records="joined",
    trace="Decided Passed",
)
