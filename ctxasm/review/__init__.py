"""People's verdicts, and how a scorer agrees with them.

Start at `label_scores`, and `agreement_dict` for what follows from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.review.agreement import Judged, agreement_dict, auc, label_scores, precision_recall, reliability

__all__ = ["Judged", "agreement_dict", "auc", "label_scores", "precision_recall", "reliability"]
__getattr__ = door(
    __name__,
    agreement="Judged agreement_dict auc label_scores precision_recall reliability",
)
