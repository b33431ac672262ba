"""JUnit XML of a check: what consumers read from it, and that no text of others can break it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_check import BAD, GOOD, written

from ctxasm.__main__ import main
from ctxasm.app.commands.check import TestSuite
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.model.errors import InvalidInput
from tests.examples import examples


def suite_of(path: Path) -> ElementTree.Element:
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    cases = suite.findall("testcase")
    assert int(suite.get("tests", "")) == int(root.get("tests", "")) == len(cases)
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
    assert all(case.get("classname") and case.get("name") and float(case.get("time", "")) >= 0 for case in cases)
    assert len({case.get("name") for case in cases}) == len(cases)
    return suite


def test_a_case_an_answer_which_fails_with_its_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = written(tmp_path / "out.jsonl", GOOD, BAD, GOOD), tmp_path / "checked.xml"
    assert main(["check", file, "--junit", str(out)]) == 0
    good, bad, again = suite_of(out).findall("testcase")
    assert [case.get("name") for case in (good, bad, again)] == ["good", "bad", "good #2"]
    assert good.find("failure") is None
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("2 claims: ")
    assert "unknown" in failure.get("type", "")
    assert "Dogs are welcome" in (failure.text or "")
    assert main(["check", file, "--junit", str(out), "--fail-on", "contradicted"]) == 0
    assert suite_of(out).get("failures") == "0"
    assert main(["check", file, "--junit", str(out), "--fail-on", "unknown,not_found"]) == 1
    capsys.readouterr()


def test_a_file_that_cannot_be_written_is_told_before_anything_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "out.jsonl", GOOD)
    assert main(["check", file, "--junit", str(tmp_path / "no" / "folder.xml")]) == 2
    out, err = capsys.readouterr()
    assert (out, "--junit cannot write to" in err) == ("", True)
    with pytest.raises(InvalidInput, match="--junit cannot write to"):
        TestSuite("a\0b")


@settings(max_examples=examples(30))
@given(query_id=st.text(max_size=20), words=st.text(max_size=40), source=st.text(max_size=40))
def test_whatever_the_texts_hold_the_file_is_xml(tmp_path_factory: pytest.TempPathFactory, query_id: str, words: str, source: str) -> None:
    out = tmp_path_factory.mktemp("junit") / "out.xml"
    grounds = grounds_of_sources([{"n": 1, "text": source}])
    checked = check_answer(f"{words} ]]> \x00\x1b[31m <b>& are not there [1] [7].", grounds, LexicalScorer(), query_id=query_id)
    suite = TestSuite(str(out))
    suite.answer(checked, grounds, Counter({"not_found": 1}))
    suite.error(query_id, f"{words}\x08<!--")
    suite.write()
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", out.read_text(encoding="utf-8"))
    assert len(suite_of(out)) == 2
