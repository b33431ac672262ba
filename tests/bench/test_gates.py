"""What each gate of the default check is worth: `pytest -m bench -s tests/bench/test_gates.py`.

Each is switched off alone, on claims that no gate was written for: the labels of people in the half for reporting, and the third of
the operator probes that nobody reads. CTXASM_HALF=tune takes the half for choosing and the other two thirds, for whoever still chooses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer, copies, displaced, gates, operator_gates, order
from ctxasm.review.agreement import label_scores
from tests.bench.support_data import agreement, hagrid
from tests.bench.tables import show
from tests.citations.operator_probes import TRUE_KINDS, OperatorProbe, Third, made, written
from tests.citations.probes_data import Half

pytestmark = pytest.mark.bench
HALF: Half = "tune" if os.environ.get("CTXASM_HALF") == "tune" else "judge"
THIRD: Third = "read" if HALF == "tune" else "unread"
Switch = tuple[Any, str, Callable[..., Any]]


def nothing(*_: object) -> Iterator[object]:
    return iter(())


def none(*_: object) -> int:
    return 0


def lacking(**found: Any) -> Switch:
    """What no window holds, without some of it."""
    whole = gates.find_lacking
    return gates, "find_lacking", lambda *given: whole(*given)._replace(**found)


def without_kind(kind: str) -> Switch:
    whole = operator_gates.find_gates
    return gates, "find_gates", lambda matter: [gated for gated in whole(matter) if gated.kind != kind]


GATES: dict[str, tuple[Switch, ...]] = {
    "none switched off": (),
    "words of weight missing": (lacking(heavy=0),),
    "figures missing": (lacking(figures=0),),
    "names missing": (lacking(names=0),),
    "figures elsewhere": ((displaced, "_figures", nothing),),
    "figures turned round": ((displaced, "_turned_figures", nothing),),
    "names elsewhere": ((displaced, "_names", nothing),),
    "denials alone": ((gates, "lonely_denials", none),),
    "denials that conflict": ((gates, "denied_conflicts", nothing),),
    "words that turn a claim": ((gates, "find_gates", nothing),),
    **{
        f"… {kind}": (without_kind(kind),)
        for kind in ("modal", "quantifier", "exception", "time", "cause", "condition", "hedge", "comparison", "unit")
    },
    "… what they bear on": ((operator_gates, "_arguments", nothing),),
    "sides of comparisons": ((gates, "find_compared", nothing),),
    "exchanged in a copy": ((copies, "_exchanged", none),),
    "turned in a copy": ((copies, "_turned", none),),
    "finer dates": ((gates, "find_finer", nothing),),
    "swapped words": ((order.Order, "swapped", nothing),),
    "voice turned": ((order.Order, "turned", nothing),),
    "replaced words": ((order.Order, "replaced", nothing),),
    "pairs of figures": ((gates, "find_pairs", nothing),),
    "figures of a later clause": ((gates, "find_later", nothing),),
}


def is_supported(probe: OperatorProbe) -> bool:
    checked = check_answer(f"{probe.claim} [1]", grounds_of_sources([{"n": 1, "text": probe.text}]), LexicalScorer())
    return bool(checked.claims) and all(claim.verdict == "supported" for claim in checked.claims)


def supported(probes: Sequence[OperatorProbe], *, true: bool) -> str:
    wanted = [probe for probe in probes if probe.true is true]
    return f"{sum(map(is_supported, wanted))}/{len(wanted)}"


def test_each_gate_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    if not hagrid():
        pytest.skip("cited-hagrid is not beside the project")
    answers, questions = hagrid()[HALF]
    rows = []
    for name, switches in GATES.items():
        with ExitStack() as stack:
            for switch in switches:
                stack.enter_context(patch.object(*switch))
            scorer = LexicalScorer()
            found = agreement(label_scores(answers, scorer, questions), scorer)
            at = found.at_threshold
            right = round((at.precision or 0) * at.called)
            probes = [supported(each, true=true) for each in (written(THIRD), made(THIRD)) for true in (False, True)]
        rows.append([name, *probes, found.auc, f"{at.precision:.3f} ({right}/{at.called})", f"{at.recall:.3f}"])
    columns = ("switched off", "written: false", "true", "made: false", "true", "AUC", "supported: precision", "recall")
    with capsys.disabled():
        show(f"Each gate switched off: labels of the {HALF} half, {THIRD} operator probes", columns, rows)


def test_operator_probes_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for name, probes in (("written", written(THIRD)), ("made", made(THIRD))):
        kinds = sorted({probe.kind for probe in probes}, key=lambda kind: (kind not in TRUE_KINDS, kind))
        for kind in kinds:
            cells = []
            for language in ("en", "nl", "de"):
                here = [probe for probe in probes if probe.kind == kind and probe.language == language]
                cells.append(f"{sum(map(is_supported, here))}/{len(here)}" if here else "")
            rows.append([name, kind, *cells])
    with capsys.disabled():
        show(f"Operator probes called supported, {THIRD} third: the kinds of TRUE_KINDS are true", ("", "kind", "en", "nl", "de"), rows)
