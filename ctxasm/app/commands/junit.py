"""What `ctxasm check` found as JUnit XML: one suite, a test case an answer, for whatever shows the results of a CI job.

Text of others is escaped, and characters that no XML may hold are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from ctxasm.app.commands.check_report import claim_lines, marker_lines, texts_of, worst_first
from ctxasm.citations.summary import summary_sentence
from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from ctxasm.citations.checked_answer import CheckedAnswer
    from ctxasm.citations.grounds import Grounds

SUITE = "ctxasm check"
_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TestSuite:
    """Test cases, written to a file at the end. Raises InvalidInput where that file cannot be written."""

    __test__ = False

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._cases: list[Element] = []
        self._names = Counter[str]()
        self._open()

    def _open(self) -> None:
        try:
            self._path.open("ab").close()
        except (OSError, ValueError) as error:
            raise InvalidInput(f"--junit cannot write to {shown(str(self._path), 300)}: {error}") from None

    def answer(self, checked: CheckedAnswer, grounds: Grounds, failed: Counter[str]) -> None:
        """A case for an answer; it fails where anything `failed`."""
        case = self._case(checked.query_id, checked.elapsed_ms)
        if failed:
            message = f"{summary_sentence(checked)} ({', '.join(f'{count} {name}' for name, count in sorted(failed.items()))})"
            failure = SubElement(case, "failure", {"message": _clean(message), "type": _clean(", ".join(sorted(failed)))})
            lines = [line for claim in worst_first(checked) for line in claim_lines(claim, checked, texts_of(grounds))]
            failure.text = _clean("\n".join([*lines, *marker_lines(checked)]))

    def error(self, query_id: str, why: str) -> None:
        """A case for what could not be checked."""
        SubElement(self._case(query_id, 0.0), "error", {"message": _clean(why), "type": "not checked"})

    def _case(self, query_id: str, elapsed_ms: float) -> Element:
        name = _clean(query_id) or "answer"
        self._names[name] += 1
        unique = name if self._names[name] == 1 else f"{name} #{self._names[name]}"
        case = Element("testcase", {"classname": "citations", "name": unique, "time": f"{elapsed_ms / 1000:.4f}"})
        self._cases.append(case)
        return case

    def write(self) -> None:
        """Write the file."""
        counts = {kind: sum(case.find(kind) is not None for case in self._cases) for kind in ("failure", "error")}
        took = sum(float(case.get("time", "0")) for case in self._cases)
        about = {
            "name": SUITE,
            "tests": str(len(self._cases)),
            "failures": str(counts["failure"]),
            "errors": str(counts["error"]),
            "skipped": "0",
            "time": f"{took:.4f}",
        }
        suites = Element("testsuites", {name: about[name] for name in ("name", "tests", "failures", "errors", "time")})
        SubElement(suites, "testsuite", about).extend(self._cases)
        indent(suites)
        ElementTree(suites).write(self._path, encoding="utf-8", xml_declaration=True)


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)
