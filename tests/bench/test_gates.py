"""What each gate of the default check is worth: `pytest -m bench -s tests/bench/test_gates.py`.

Each is switched off alone, on claims that no gate was written for: the labels of people in the half for reporting, the third of the
operator probes that nobody reads, and those made out of texts that no gate was written over. CTXASM_HALF=tune takes the half for choosing
and the other two thirds, for whoever still chooses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest

from ctxasm.citations.agreement import Judged, label_scores
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer, around, copies, displaced, gates, operator_gates, order, persons, turned
from ctxasm.model.records import Answer
from ctxasm.model.support import Gated
from tests.bench.support_data import agreement, hagrid
from tests.bench.tables import show
from tests.citations.operator_probes import (
    ANEW,
    BLIND,
    CLOSE,
    EVEN,
    LATER,
    LIMITS,
    LONG,
    TRUE_KINDS,
    OperatorProbe,
    Third,
    elsewhere,
    made,
    written,
)
from tests.citations.probes_data import Half

pytestmark = pytest.mark.bench
HALF: Half = "tune" if os.environ.get("CTXASM_HALF") == "tune" else "judge"
THIRD: Third = "read" if HALF == "tune" else "unread"
Switch = tuple[Any, str, Callable[..., Any]]


def nothing(*_: object) -> Iterator[object]:
    return iter(())


def none(*_: object) -> int:
    return 0


def no(*_: object) -> bool:
    return False


def absent(*_: object) -> None:
    return None


def lacking(**found: Any) -> Switch:
    """What no window holds, without some of it."""
    whole = gates.find_lacking
    return gates, "find_lacking", lambda *given: whole(*given)._replace(**found)


def without_kind(kind: str) -> Switch:
    whole = operator_gates.find_gates
    return gates, "find_gates", lambda matter: [gated for gated in whole(matter) if gated.kind != kind]


def without_around(**found: str) -> Switch:
    """What stands around figures, without some of it."""
    whole = around._around
    return around, "_around", lambda *given: whole(*given)._replace(**found)


KINDS = ("modal", "quantifier", "exception", "time", "cause", "condition", "hedge", "comparison", "unit", "qualifier")
GATES: dict[str, Switch] = {
    "words of weight missing": lacking(heavy=0),
    "figures missing": lacking(figures=0),
    "names missing": lacking(names=0),
    "figures elsewhere": (displaced, "_figures", nothing),
    "figures turned round": (displaced, "_turned_figures", nothing),
    "names elsewhere": (displaced, "_names", nothing),
    "denials alone": (gates, "lonely_denials", none),
    "denials that conflict": (gates, "denied_conflicts", nothing),
    "words that turn a claim": (gates, "find_gates", nothing),
    **{f"… {kind}": without_kind(kind) for kind in KINDS},
    "… added": (operator_gates, "_added", nothing),
    "… left out": (operator_gates, "_left_out", nothing),
    "sentences that do not say it": (gates, "find_unasserted", nothing),
    "words that are turned": (gates, "find_turned", nothing),
    "… one of several": (turned, "_ranked", nothing),
    "what stands around figures": (gates, "find_amounts", nothing),
    "… a limit": without_around(limit=""),
    "… an end of a range": without_around(end=""),
    "two places in a copy": (copies, "_two_places", absent),
    "exchanged in a copy": (copies, "_exchanged", absent),
    "turned in a copy": (copies, "_turned", absent),
    "finer dates": (gates, "find_finer", nothing),
    "swapped words": (order.Order, "swapped", nothing),
    "order turned": (order.Order, "inverted", nothing),
    "voice turned": (order.Order, "turned", nothing),
    "replaced words": (order.Order, "replaced", nothing),
    "words tied to another sentence": (gates, "find_untied", nothing),
    "clauses crossed": (gates, "find_crossed", nothing),
    "a name for a pronoun": (persons, "_misnamed", nothing),
    "he for she": (persons, "_other_sex", nothing),
    "another owner": (persons, "_owners", nothing),
    "… before another word": (operator_gates, "_borne_elsewhere", nothing),
    "… of another word": (operator_gates, "_is_moved", no),
    "… for whom, before a comma": (operator_gates, "_led", nothing),
    "… days": (operator_gates, "_on_days", nothing),
    "… some of them only": (turned, "_narrowed", nothing),
    "pairs of figures": (gates, "find_pairs", nothing),
    "figures of a later clause": (gates, "find_later", nothing),
}
COUNTED = tuple(column for name in ("written", "limits", "blind", "newer", "made", "elsewhere") for column in (f"{name}: false", "true"))
SILENT = ("find_lacking", "_is_moved", "lonely_denials", "find_gates", "_ranked", "_around")
"""Functions that do not tell by what they return whether they refused anything."""


def is_supported(probe: OperatorProbe) -> bool:
    checked = check_answer(f"{probe.claim} [1]", grounds_of_sources([{"n": 1, "text": probe.text}]), LexicalScorer())
    return bool(checked.claims) and all(claim.verdict == "supported" for claim in checked.claims)


class Measured:
    """What is called supported: labels of people by answer, and probes. A gate takes away only: without it no more than
    what was refused, by that gate if it tells, is judged again."""

    def __init__(self) -> None:
        self.answers, self.questions = hagrid()[HALF]
        self.sets = (written(THIRD), written(THIRD, LIMITS), written(THIRD, BLIND))
        newer = tuple(probe for file in (LATER, LONG, CLOSE, EVEN, ANEW) for probe in written(THIRD, file))
        self.sets += (newer, made(THIRD), elsewhere() if HALF == "judge" else ())
        self.fired: set[str] = set()
        with ExitStack() as stack:
            for name, (where, called, _) in GATES.items():
                if called not in SILENT:
                    stack.enter_context(patch.object(where, called, self._telling(name, getattr(where, called))))
            self.labels = [self._with_fired(lambda answer=answer: self._labels(answer)) for answer in self.answers]
            self.probes = [[self._with_fired(lambda probe=probe: is_supported(probe)) for probe in probes] for probes in self.sets]

    def _telling(self, name: str, gate: Callable[..., Any]) -> Callable[..., Any]:
        def told(*given: Any) -> Any:
            found = gate(*given)
            if found is None or isinstance(found, Gated):
                self.fired.update([name] if found else [])
                return found
            found = list(found)
            self.fired.update([name] if found else [])
            return iter(found)

        return told

    def _with_fired(self, judge: Callable[[], Any]) -> tuple[Any, frozenset[str]]:
        self.fired.clear()
        return judge(), frozenset(self.fired)

    def _labels(self, answer: Answer) -> list[Judged]:
        return label_scores([answer], LexicalScorer(), self.questions)

    def row(self, name: str) -> list[object]:
        """The figures with a gate switched off; with all of them for an unknown name."""
        tells = name not in GATES or any(name in fired for _, fired in (*self.labels, *(each for probes in self.probes for each in probes)))
        tells = tells and GATES[name][1] not in SILENT if name in GATES else tells
        with ExitStack() as stack:
            if name in GATES:
                stack.enter_context(patch.object(*GATES[name]))
            again = lambda fired: name in GATES and (name in fired or not tells)  # noqa: E731
            judged = [
                each
                for answer, (found, fired) in zip(self.answers, self.labels, strict=True)
                for each in (self._labels(answer) if again(fired) else found)
            ]
            cells = []
            for probes, results in zip(self.sets, self.probes, strict=True):
                now = [found or (again(fired) and is_supported(probe)) for probe, (found, fired) in zip(probes, results, strict=True)]
                for true in (False, True):
                    wanted = [found for probe, found in zip(probes, now, strict=True) if probe.true is true]
                    cells.append(f"{sum(wanted)}/{len(wanted)}")
        found = agreement(judged, LexicalScorer())
        at = found.at_threshold
        right = round((at.precision or 0) * at.called)
        return [name, *cells, found.auc, f"{at.precision:.3f} ({right}/{at.called})", f"{at.recall:.3f}"]


def test_each_gate_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    if not hagrid():
        pytest.skip("cited-hagrid is not beside the project")
    measured = Measured()
    rows = [measured.row(name) for name in ("none switched off", *GATES)]
    columns = ("switched off", *COUNTED, "AUC", "supported: precision", "recall")
    with capsys.disabled():
        show(f"Each gate switched off: labels of the {HALF} half, {THIRD} operator probes", columns, rows)


def test_operator_probes_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for name, probes in (
        ("written", written(THIRD)),
        ("limits", written(THIRD, LIMITS)),
        ("blind", written(THIRD, BLIND)),
        ("later", written(THIRD, LATER)),
        ("long", written(THIRD, LONG)),
        ("close", written(THIRD, CLOSE)),
        ("even", written(THIRD, EVEN)),
        ("anew", written(THIRD, ANEW)),
        ("made", made(THIRD)),
        ("elsewhere", elsewhere() if HALF == "judge" else ()),
    ):
        kinds = sorted({probe.kind for probe in probes}, key=lambda kind: (kind not in TRUE_KINDS, kind))
        for kind in kinds:
            cells = []
            for language in ("en", "nl", "de"):
                here = [probe for probe in probes if probe.kind == kind and probe.language == language]
                cells.append(f"{sum(map(is_supported, here))}/{len(here)}" if here else "")
            rows.append([name, kind, *cells])
    with capsys.disabled():
        show(f"Operator probes called supported, {THIRD} third: the kinds of TRUE_KINDS are true", ("", "kind", "en", "nl", "de"), rows)
