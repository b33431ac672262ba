"""A claim and the windows that are chosen for it, for the tests of what is read in both."""

from __future__ import annotations

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.parts import parts_of
from ctxasm.citations.lexical.windows import Windows
from ctxasm.citations.lexical.words import Tongue, stems_of
from ctxasm.model.support import Source
from ctxasm.text.sentences import sentence_spans


def matter(claim: str, source: str, tongue: Tongue) -> Matter:
    """A claim and the windows that are chosen for it."""
    evidence = Evidence([Source(1, source, ((0, len(source)),))], stems_of(tongue), sentence_spans)
    windows = Windows(parts_of(claim, evidence), evidence)
    return Matter(windows.parts, windows.choose([0]), evidence)
