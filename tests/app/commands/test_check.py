"""`ctxasm check`: exit codes, what it prints, and every way in which its input can be wrong."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.__main__ import main
from ctxasm.app.commands.check import _fail_on, claim_lines, failures
from ctxasm.app.workbench import Workbench
from ctxasm.citations.agreement import label_scores
from ctxasm.citations.checked import VERDICTS, CheckedClaim, Claim, Disputed, DroppedSource, Figures, Support, Verdict
from ctxasm.citations.markers import MarkerEvent, ResolvedMarker
from ctxasm.citations.report import PROBLEMS, CheckedAnswer
from ctxasm.data.files import answers as reading
from ctxasm.data.files import write_bundle
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.messages import Cancel
from ctxasm.model.records import Answer, Bundle, Chunk, Document, Hit, Query
from ctxasm.model.support import Comparison, Conflict, Found, Match, Source, Spent
from tests.examples import examples, few
from tests.real_data import real_folder

ROOT = Path(__file__).parents[3]
DESK, PARKING = "The desk opens at seven in the morning.", "Parking costs two euro an hour."
SOURCES = [{"n": 1, "text": DESK, "title": "Desk"}, {"n": 2, "text": PARKING}]
GOOD = {"query_id": "good", "answer": f"{DESK[:-1]} [1]. {PARKING[:-1]} [2].", "sources": SOURCES}
BAD = {"query_id": "bad", "answer_text_with_markers": "Dogs are welcome on weekends [1]. See also the annex [9].", "sources": SOURCES}


class Words:
    """A scorer by share of shared words: what the command does must not depend on how well a scorer judges."""

    name, threshold, partly = "words", 0.7, 0.4

    def compare(self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None) -> Comparison:
        return Compared(claims, sources)


class Compared:
    spent = Spent(1, 0, 10, 2)

    def __init__(self, claims: Sequence[str], sources: Sequence[Source]) -> None:
        self._claims, self._sources = claims, sources

    def each(self, claim: int) -> list[Match]:
        return [self.together(claim, [at]) for at in range(len(self._sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        wanted = words(self._claims[claim])
        held = {at: words(self._sources[at].text) & wanted for at in sources}
        score = len(set().union(*held.values())) / max(1, len(wanted))
        found = tuple(
            Found(self._sources[at].number, *self._sources[at].ranges[0], len(held[at]) / len(wanted)) for at in sources if held[at]
        )
        return Match(score, found, tuple(sorted(wanted - set().union(*held.values()))))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings or keys of whoever runs the tests, a database of each test's own, and the scorer above as "words"."""
    for name in list(os.environ):
        if name.startswith(("CONTEXT_ASSEMBLY_", "CTXASM_LLM_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
    given = Workbench.open_scorer
    monkeypatch.setattr(Workbench, "open_scorer", lambda self, name="lexical": Words() if name == "words" else given(self, name))


def written(path: Path, *records: object) -> str:
    path.write_text("".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return written(tmp_path / "out.jsonl", GOOD, BAD)


def checked(argv: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[str, str]:
    assert main(["check", "--scorer", "words", *argv]) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return out, err


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What standard error says of a check that exits with 2 and prints nothing."""
    out, err = checked(argv, capsys, 2)
    assert out == ""
    return err


# What it prints


def test_text_says_a_line_an_answer_then_what_needs_a_look_then_the_totals(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = checked([file], capsys)
    lines = out.splitlines()
    assert lines[:2] == ["good: 2 claims: 2 supported", "bad: 2 claims: 2 not found; citation: 1 unknown number"]
    assert lines[2:4] == ["", "To look at, the worst first:"]
    assert lines[4].startswith("  bad: not found, unknown number (0.25), cites [9]: “See also the annex")
    assert lines[6] == "      no source has the number [9]"
    assert lines[7].startswith("  bad: not found (0.00), cites [1]: “Dogs are welcome on weekends")
    assert lines[8] == "      Missing: are, dogs, on, weekends, welcome."
    assert lines[-4:-2] == ["2 answers, 1 with a problem", "4 claims: 2 supported, 2 not found; citation: 1 unknown number"]
    assert lines[-2] == "citation recall 0.00, precision 0.00, F1 0.00, coverage 0.00 over 2 claims and 2 citations"
    assert lines[-1] == "no shares over 1 answer (cut, declined or only quoting)"
    assert re.fullmatch(r"checked with words in \d+\.\d\d s, usual markers read\n", err)


def test_of_what_is_equally_bad_the_least_carried_stands_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {"a": "Dogs bark at cats near my desk.", "b": "Dogs and cats bark.", "c": "Dogs bark at cats at a desk of a cat today."}
    path = written(
        tmp_path / "x.jsonl", *({"query_id": name, "answer": f"{claim[:-1]} [1].", "sources": SOURCES} for name, claim in said.items())
    )
    found = re.findall(r"  ([abc]): not found \((0\.\d\d)\)", checked([path], capsys)[0])
    assert found == [("b", "0.00"), ("c", "0.22"), ("a", "0.29")]


@pytest.mark.parametrize(("reading", "cited"), [(None, [1]), ("strict", []), ("usual", [1]), ("all", [1, 2])])
def test_the_forms_of_markers_are_chosen_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reading: str | None, cited: list[int]
) -> None:
    sources = [{"n": 1, "text": PARKING}, {"n": 2, "text": PARKING}]
    path = written(tmp_path / "forms.jsonl", {"query_id": "a", "answer": f"{PARKING[:-1]} (source 1) (2).", "sources": sources})
    main(["check", path, "--format", "jsonl", *(["--markers", reading] if reading else [])])
    out, err = capsys.readouterr()
    found = json.loads(out.splitlines()[0])
    assert found["reading"] == (reading or "usual")
    assert [marker["number"] for marker in found["markers"] if marker["form"] != "unread"] == cited
    assert f"{reading or 'usual'} markers read" in err


@pytest.mark.parametrize(("numbering", "first", "wrong"), [(None, 0, 0), ("0", 0, 0), ("1", 1, 1)])
def test_numbers_from_0_are_said_and_can_be_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], numbering: str | None, first: int, wrong: int
) -> None:
    sources = [{"n": 1, "text": PARKING}, {"n": 2, "text": "Cats sleep."}]
    path = written(
        tmp_path / "zero.jsonl", {"query_id": "a", "answer": f"{PARKING[:-1]} [0]. Cats sleep [1] [a.docx].", "sources": sources}
    )
    chosen = ["--numbering", numbering] if numbering else []
    assert main(["check", path, "--fail-on", "wrong_number,unknown", *chosen]) == wrong
    out, _ = capsys.readouterr()
    assert ("numbers begin at 0 here" in out) == (not first)
    assert "left out of the claims, source not known: “[a.docx]”" in out
    main(["check", path, "--format", "jsonl", *chosen])
    assert json.loads(capsys.readouterr().out.splitlines()[0])["first_number"] == first


def test_a_sentence_without_a_mark_is_no_wrong_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = [{"n": 1, "text": PARKING}, {"n": 2, "text": "Cats sleep."}]
    path = written(tmp_path / "bare.jsonl", {"query_id": "a", "answer": f"{PARKING} Cats sleep [2].", "sources": sources})
    assert main(["check", path, "--fail-on", "wrong_number"]) == 0
    assert "1 no citation" in capsys.readouterr().out


def test_odd_blanks_in_an_answer_and_a_source_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"INVOICE\n{' ' * 110}Total: 12 euros\n"
    odd = [{"query_id": name, "answer": f"{text[:-1]} [1].", "sources": [{"n": 1, "text": text}]} for name in ("a", "b")]
    odd[1]["sources"] = [{"n": 1, "text": "Part A\xa0. \u3000. Total\u3000."}]
    main(["check", written(tmp_path / "odd.jsonl", *odd)])
    out, err = capsys.readouterr()
    assert "2 answers" in out
    assert "Traceback" not in err


def test_json_is_one_object_and_jsonl_a_line_an_answer(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = checked([file, "--format", "json"], capsys)
    whole = json.loads(out)
    assert list(whole) == ["answers", "summary"]
    assert [item["query_id"] for item in whole["answers"]] == ["good", "bad"]
    assert whole["answers"][0]["answer"] == GOOD["answer"]
    assert [claim["verdict"] for claim in whole["answers"][0]["claims"]] == ["supported", "supported"]
    support = whole["answers"][0]["claims"][1]["support"][0]
    assert PARKING[support["start"] : support["end"]] == PARKING
    assert (whole["summary"]["answers"], whole["summary"]["with_problems"], whole["summary"]["agreement"]) == (2, 1, None)
    assert whole["summary"]["spent"]["calls"] == 2
    out, err = checked([file, "--format", "jsonl"], capsys)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [timeless(line) for line in lines] == [timeless(item) for item in whole["answers"]]
    assert "2 answers, 1 with a problem" in err


def timeless(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "elapsed_ms": 0}


def test_an_answer_that_says_nothing_and_one_that_is_declined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silent = {"query_id": "silent", "answer": "", "sources": SOURCES}
    refusal = {"query_id": "no", "answer": "The sources do not answer this question.", "sources": SOURCES}
    out, _ = checked([written(tmp_path / "a.jsonl", silent, refusal), "--fail-on", "any"], capsys)
    assert out.splitlines()[:2] == ["silent: nothing to check", "no: declined"]
    assert "2 answers, 0 with a problem, 1 declined, 1 with nothing to check" in out


def test_numbers_may_be_any_and_sources_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"query_id": "q", "answer": f"{DESK[:-1]} [7]. {PARKING[:-1]} [1].", "sources": [{"n": 7, "text": DESK}]}
    empty = {"query_id": "none", "answer": "Parking is free [1].", "sources": []}
    out, _ = checked([written(tmp_path / "a.jsonl", record, empty), "--format", "json"], capsys)
    first, second = json.loads(out)["answers"]
    assert [claim["verdict"] for claim in first["claims"]] == ["supported", "unknown_marker"]
    assert [(marker["number"], marker["known"]) for marker in first["markers"]] == [(7, True), (1, False)]
    assert [claim["verdict"] for claim in second["claims"]] == ["unknown_marker"]


def test_sources_of_their_own_are_cited_by_number_whatever_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.jsonl", {"query_id": "q", "answer": f"{DESK[:-1]} [1].", "sources": SOURCES})
    found = json.loads(checked([path, "--set", "format=minimal", "--format", "jsonl"], capsys)[0])
    assert (found["marked"], [claim["markers"] for claim in found["claims"]]) == (True, [[1]])


def test_a_spoken_answer_reads_no_marker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"query_id": "q", "answer": f"{DESK} Dogs are welcome on weekends.", "sources": SOURCES}
    path = written(tmp_path / "a.jsonl", record)
    for voice in (["--voice"], ["--set", "channel=voice"]):
        out, _ = checked([path, *voice, "--format", "jsonl"], capsys)
        found = json.loads(out)
        assert (found["voice"], found["markers"]) == (True, [])
        assert [claim["verdict"] for claim in found["claims"]] == ["supported", "no_source"]
    assert "1 not found" in checked([path, "--voice", "--fail-on", "no_source"], capsys, 1)[0]


def test_text_of_others_is_harmless_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"query_id": "\x1b[31mq", "answer": "Dogs \x1b]0;owned\x07 are \x9b welcome [1].", "sources": SOURCES}
    path = written(tmp_path / "a.jsonl", record)
    out, _ = checked([path, "--format", "jsonl"], capsys)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    assert json.loads(out)["answer"] == record["answer"]
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    out, _ = checked([path], capsys)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    assert "Dogs" in out


def claim(verdict: Verdict, **more: Any) -> CheckedClaim:
    return CheckedClaim(Claim(0, 9, "Open\n45 minutes.", "sentence", (), (1, 2)), verdict, 0.5, **more)


def test_the_lines_of_a_claim_name_what_is_wrong() -> None:
    texts = {1: "x" * 100 + " The desk is open for 30 minutes. " + "y" * 100, 2: "Another\ntext"}

    def lines(checked: CheckedClaim) -> list[str]:
        return list(claim_lines(checked, answer_with(checked), texts))

    conflict = Conflict("number", "45 minutes", "30 minutes", 1, 122, 132)
    assert lines(claim("contradicted", conflict=conflict, missing=("45",), idle=(2,))) == [
        "contradicted (0.50), cites [1][2]: “Open 45 minutes.”",
        f"    Another number: “45 minutes” here, “30 minutes” in [1]. “{texts[1][62:192].strip()}”",
    ]
    better = claim("elsewhere", better=2, better_support=Support(2, 0, 12, 0.9, False))
    assert lines(better)[1:] == ["    better: [2] “Another text” (an added neighbour, not a hit)"]
    assert lines(claim("elsewhere", better=2))[1:] == ["    better: [2]"]
    partly = claim("partly", missing=("45",), support=(Support(2, 0, 7, 0.5),), summary_support=Support(1, 100, 104, 0.9))
    whole = claim("partly", idle=(2,), carried=True, support=(Support(1, 0, 7, 0.9),))
    assert lines(whole) == ["supported, wrong number (0.50), cites [1][2]: “Open 45 minutes.”", "    [2] carries nothing of it"]
    assert lines(partly)[1:] == ["    Missing: 45.", "    has a part of it: [2] “Another”", "    page summary: [1] “The”"]
    dropped = claim("dropped", unknown=(4, 9), dropped=(DroppedSource(4, "doc", "budget", "budget"), DroppedSource(5, "e", "floor", None)))
    assert lines(dropped)[1:] == [
        "    [4] would be “doc”, dropped at budget (budget)",
        "    [5] would be “e”, dropped at floor",
        "    no source has the number [9]",
    ]
    disputed = claim("supported", disputed=Disputed(conflict, Support(1, 100, 133, 0.9), "2026", "newer"))
    assert lines(disputed) == [
        "supported, disputed (0.50), cites [1][2]: “Open 45 minutes.”",
        "    Disputed by [1], newer (2026): “45 minutes” here, “30 minutes” there. [1] “The desk is open for 30 minutes.”",
    ]


# --fail-on


def answer_with(*claims: CheckedClaim, unsound: int = 0) -> CheckedAnswer:
    markers = tuple(ResolvedMarker(MarkerEvent(0, 3, "[9]", "bracket", (9,)), (), (9,)) for _ in range(unsound))
    counts: dict[Verdict, int] = dict(Counter(item.verdict for item in claims))
    return CheckedAnswer("q", "", "words", 0.7, markers, claims, Figures(0, 0, None, None, None, None), counts, 0.0)


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("name", [*VERDICTS, "unknown", "any"])
def test_fail_on_matrix(name: str, verdict: Verdict) -> None:
    found = failures(answer_with(claim(verdict)), _fail_on([name]))
    expected = name == verdict or (name == "any" and verdict in PROBLEMS) or (name == "unknown" and verdict == "unknown_marker")
    assert bool(found) == expected


def test_fail_on_unknown_also_means_a_number_beside_a_sound_one() -> None:
    chosen = _fail_on(["unknown"])
    assert failures(answer_with(claim("supported", unknown=(9,))), chosen) == {"unknown": 1}
    assert failures(answer_with(claim("supported"), unsound=2), chosen) == {"unknown": 2}
    assert failures(answer_with(unsound=1), _fail_on(["any"])) == {"unknown": 1}
    assert failures(answer_with(claim("unknown_marker", unknown=(9,)), unsound=1), _fail_on(["unsupported"])) == {}
    assert failures(answer_with(claim("unknown_marker", unknown=(9,)), claim("uncited")), _fail_on(None)) == {}


def test_fail_on_takes_lists_and_repeats() -> None:
    assert _fail_on(["unsupported, unknown", "uncited"]).names == {"unsupported", "uncited", "unknown"}
    for wrong in ("unsuported", "", "unsupported,", "UNKNOWN"):
        with pytest.raises(
            InvalidInput, match=r"--fail-on must name any of contradicted, unknown, .*supported, .*any, separated by commas, got"
        ):
            _fail_on([wrong])


def test_exit_codes(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = checked([file, "--fail-on", "unsupported,unknown"], capsys, 1)
    assert err.splitlines()[-1] == "--fail-on: 1 unsupported, 1 unknown"
    checked([file, "--fail-on", "contradicted"], capsys, 0)
    checked([file, "--fail-on", "uncited", "--fail-on", "any", "--format", "jsonl"], capsys, 1)
    checked([written(tmp_path / "g.jsonl", GOOD), "--fail-on", "any"], capsys, 0)
    assert "got 'nonsense'" in refused([file, "--fail-on", "nonsense"], capsys)
    assert "invalid choice: 'xml'" in refused([file, "--format", "xml"], capsys)
    assert main(["check", file, "--scorer", "psychic"]) == 2
    assert "psychic" in capsys.readouterr().err


# What is wrong with a file


def test_all_problems_are_told_at_once_and_nothing_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / "a.jsonl",
        GOOD,
        "not json",
        {"query_id": "q", "sources": []},
        "",
        {"query_id": 3, "answer": 4, "sources": [{"n": "1", "text": "x"}, {"text": "y"}]},
        {"query_id": "twice", "answer": "x", "sources": [{"n": 1, "text": "x"}, {"n": 1, "text": "y"}]},
        {"query_id": "q", "answer": "x", "sources": [], "question": ["why"]},
        {"query_id": "bare", "answer": "No sources [1]."},
        '{"query_id": "q", "answer": "x", "answer": "y"}',
        '{"query_id": "q", "answer": "x", "sources": [{"n": NaN, "text": ""}]}',
    )
    err = refused([path], capsys).splitlines()
    assert err[0] == f"ctxasm: {path}: 11 problems, nothing was checked"
    places = ["line 2, column 1", "line 3, answer", "line 5, query_id", "line 5, answer", "line 5, sources[0].n", "line 5, sources[1].n"]
    places += ["line 6, sources[1].n", "line 7, question", "line 8, sources", "line 9", "line 10"]
    for place in places:
        assert any(line.startswith(f"  a.jsonl {place}:") for line in err), (place, err)
    assert "  a.jsonl line 6, sources[1].n: may stand once: a number means one source, got 1" in err
    lacking = "is missing: give the sources, or load the dataset that the answer was made from"
    assert f"  a.jsonl line 8, sources: {lacking}" in err


def test_many_problems_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.jsonl", *["x"] * 60)
    err = refused([path], capsys).splitlines()
    assert err[0].endswith("60 problems, nothing was checked")
    assert (len(err), err[-1]) == (52, "  … and 10 more")
    monkeypatch.setattr("ctxasm.data.files.problems.MAX_PROBLEMS", 20)
    assert "stopped after" in refused([path], capsys)


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file or folder at" in refused([str(tmp_path / "nowhere.jsonl")], capsys)
    assert "holds no records: it is empty" in refused([written(tmp_path / "empty.jsonl", "", "  ")], capsys)
    (tmp_path / "folder").mkdir()
    assert "is no bundle" in refused([str(tmp_path / "folder")], capsys)
    written(tmp_path / "folder" / "queries.jsonl", {"query_id": "q", "query": "Why?"})
    assert "holds no answers.jsonl" in refused([str(tmp_path / "folder")], capsys)
    (tmp_path / "a.zip").write_bytes(b"no zip")
    assert "is not a .zip that can be read" in refused([str(tmp_path / "a.zip")], capsys)
    (tmp_path / "latin.jsonl").write_bytes(b'{"query_id": "q", "answer": "caf\xe9", "sources": []}\n')
    assert "is not valid UTF-8" in refused([str(tmp_path / "latin.jsonl")], capsys)
    (tmp_path / "wide.jsonl").write_bytes("{}".encode("utf-16"))
    assert "is UTF-16" in refused([str(tmp_path / "wide.jsonl")], capsys)
    (tmp_path / "deep.jsonl").write_text('{"query_id": "q", "answer": "x", "sources": [], "m": ' + "[" * 5000 + "]" * 5000 + "}")
    assert "at most 64 levels deep" in refused([str(tmp_path / "deep.jsonl")], capsys)
    assert "there is no file or folder at" in refused(["a\0b"], capsys)
    assert "is not a path: give a file of JSON Lines" in refused(["a" * 5000], capsys)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "must be a regular file" in refused([str(tmp_path / "pipe.jsonl")], capsys)


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", GOOD, BAD)
    size = (tmp_path / "a.jsonl").stat().st_size
    assert reading.read_answers(path, max_bytes=size).problems == ()
    for fewer in (size - 1, 10):
        (problem,) = reading.read_answers(path, max_bytes=fewer).problems
        assert "larger than" in str(problem)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["n", "text", "claim", "cites", "support"]), inner, max_size=3)
    ),
    max_leaves=6,
)
lines = st.dictionaries(
    st.sampled_from(["query_id", "answer", "answer_text_with_markers", "sources", "labels", "question", "query", "metadata"]), values
).map(lambda record: json.dumps(record).encode())


@settings(max_examples=examples(200))
@given(st.lists(lines | st.binary(max_size=40), max_size=3))
def test_whatever_a_file_holds_it_is_read_or_its_problems_are_told(pieces: list[bytes]) -> None:
    try:
        found = reading.read_answer_stream(io.BytesIO(b"\n".join(pieces)), "fuzz")
    except InvalidInput:
        assert not b"".join(pieces).strip(b"\xef\xbb\xbf \t\r\n\v\f")
        return
    for problem in found.problems:
        assert str(problem).startswith("fuzz")
    for item in found.answers:
        assert len({source["n"] for source in item.answer.sources}) == len(item.answer.sources)
        label_scores([item.answer], Words())


def test_characters_that_no_tokenizer_takes_are_replaced_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"query_id": "q", "answer": "a\\u0000b\\ud800 [1]", "sources": [{"n": 1, "text": "a b"}]}\n')
    out, err = checked([str(path), "--format", "jsonl"], capsys)
    assert json.loads(out)["answer"] == "a\ufffdb\ufffd [1]"
    assert "note: 2 characters became U+FFFD" in err
    path.write_text('{"query_id": "q", "answer": "a\\ud800 [1]", "sources": [{"n": 1, "text": "a b"}]}\n')
    assert "note: 1 character became U+FFFD" in checked([str(path)], capsys)[1]


# Where answers and questions come from


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(GOOD).encode())))
    assert checked(["-"], capsys)[0].startswith("good: 2 claims: 2 supported")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"nonsense")))
    assert "standard input line 1, column 1" in refused(["-"], capsys)
    monkeypatch.setattr(sys, "stdin", None)
    assert "there is no standard input" in refused(["-"], capsys)


def test_the_question_is_the_records_own_or_that_of_the_file_beside(tmp_path: Path) -> None:
    written(tmp_path / "queries.jsonl", {"query_id": "good", "query": "When?"}, {"query_id": "bad", "query": "Dogs?"})
    path = written(tmp_path / "answers.jsonl", GOOD, {**BAD, "question": "Which dogs?"}, {**BAD, "query_id": "other", "query": "Cats?"})
    for place in (path, tmp_path):
        found = reading.read_answers(place)
        assert [(item.question, item.has_sources, item.line) for item in found.answers] == [
            ("When?", True, 1),
            ("Which dogs?", True, 2),
            ("Cats?", True, 3),
        ]
    written(tmp_path / "queries.jsonl", {"query_id": "good"})
    (problem,) = reading.read_answers(path).problems
    assert str(problem) == "queries.jsonl line 1, query: is missing"


BUNDLE = Bundle(
    "klein",
    (Document("a", "Desk"), Document("b", "Parking")),
    (Chunk("a", 0, DESK), Chunk("b", 0, PARKING)),
    (Query("When does the desk open?", (Hit("a", 0, 2.0), Hit("b", 0, 1.0)), "q1"), Query("Nothing retrieved?", (), "q2")),
    (Answer("q1", f"{DESK[:-1]} [1]. {PARKING[:-1]} [1]."), Answer("q2", "Nobody knows [1].")),
)


@pytest.fixture
def loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    write_bundle(BUNDLE, tmp_path / "klein")
    assert main(["load", str(tmp_path / "klein")]) == 0
    capsys.readouterr()
    return tmp_path / "klein"


def test_stored_answers_are_checked_against_their_assembled_context(loaded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = checked(["--data", "klein", "--format", "json"], capsys)
    first, second = json.loads(out)["answers"]
    assert [claim["verdict"] for claim in first["claims"]] == ["supported", "elsewhere"]
    assert first["claims"][1]["better"] == 2
    support = first["claims"][0]["support"][0]
    assert (support["document_id"], support["chunk_index"], support["retrieved"]) == ("a", 0, True)
    assert (support["chunk_start"], support["chunk_end"]) == (0, len(DESK))
    assert [claim["verdict"] for claim in second["claims"]] == ["unknown_marker"]
    assert "2 recorded answers of klein" in err
    out, _ = checked(["--format", "json"], capsys)
    assert [item["query_id"] for item in json.loads(out)["answers"]] == ["q1", "q2"]


def test_a_file_without_sources_is_checked_against_a_dataset_under_the_given_settings(
    loaded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = {"query_id": "q1", "answer": f"{DESK[:-1]} [1]. {PARKING[:-1]} [2]."}
    path = written(loaded.parent / "bare.jsonl", bare, GOOD)
    out, err = checked([path, "--format", "json"], capsys)
    assert [[claim["verdict"] for claim in item["claims"]] for item in json.loads(out)["answers"]] == [["supported", "supported"]] * 2
    assert "note: 1 without sources, checked against contexts assembled from klein" in err
    out, _ = checked([path, "--data", "klein", "--set", "top_k=1", "--format", "json"], capsys)
    first, second = json.loads(out)["answers"]
    assert first["claims"][0]["verdict"] == "supported"
    assert first["claims"][1]["unknown"] == [2]
    assert [claim["verdict"] for claim in second["claims"]] == ["supported", "supported"]
    assert "nothing was checked" in refused([written(loaded.parent / "c.jsonl", {**bare, "query_id": "q9"}, GOOD)], capsys)
    assert "no dataset 'none'" in refused([path, "--data", "none"], capsys)
    assert "top_k must be" in refused([path, "--set", "top_k=0"], capsys)


def test_a_dataset_without_answers_and_no_dataset_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no dataset is loaded" in refused([], capsys)
    write_bundle(Bundle("leeg", BUNDLE.documents, BUNDLE.chunks, BUNDLE.queries), tmp_path / "leeg")
    assert main(["load", str(tmp_path / "leeg")]) == 0
    capsys.readouterr()
    assert "dataset leeg has no recorded answers" in refused([], capsys)


def test_an_answer_whose_context_cannot_be_assembled_is_named_and_the_others_go_on(
    loaded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = Workbench.assemble

    def assemble(self: Workbench, query: Query, *more: Any) -> Any:
        if query.query_id == "q1":
            raise InvalidInput("score must be finite")
        return given(self, query, *more)

    monkeypatch.setattr(Workbench, "assemble", assemble)
    out, err = checked(["--format", "jsonl"], capsys, 2)
    assert [json.loads(line)["query_id"] for line in out.splitlines()] == ["q2"]
    assert "query q1: score must be finite" in err


def test_a_scorer_that_fails_is_a_sentence(file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def compare(*given: object) -> Comparison:
        raise ModelUnavailable("the model at localhost refused the connection")

    monkeypatch.setattr(Words, "compare", compare)
    assert refused([file], capsys) == "ctxasm: the model at localhost refused the connection (stopped after 0 of 2 answers)\n"


# Labels


def test_labels_are_compared_with_the_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = [
        {"claim": f"{DESK[:-1]} [1].", "cites": [1], "support": "attributable"},
        {"claim": "Dogs are welcome [2].", "cites": [2], "support": "not attributable"},
        {"claim": "No reference.", "cites": [], "support": "attributable"},
        {"another": "form"},
    ]
    path = written(tmp_path / "a.jsonl", {**GOOD, "labels": labels}, BAD)
    out, _ = checked([path, "--format", "json"], capsys)
    found = json.loads(out)["summary"]["agreement"]
    assert (found["labels"], found["compared"], found["auc"]) == (4, 2, 1.0)
    assert (found["precision"], found["recall"], found["threshold"]) == (1.0, 1.0, 0.7)
    assert sum(bin["count"] for bin in found["reliability"]) == 2
    out, _ = checked([path], capsys)
    assert "labels: 2 of 4 compared, AUC 1.000" in out
    assert "supported from 0.70 on: precision 1.000, recall 1.000" in out
    assert "labels: 2 of 4" in checked([path, "--format", "jsonl"], capsys)[1]
    only = written(tmp_path / "b.jsonl", {**GOOD, "labels": labels[3:]})
    assert "labels: 0 of 1 compared; supported from 0.70 on: precision –, recall –" in checked([only], capsys)[0]


# As a process, and the real file


def process(*argv: str, text: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    given = None if text is None else text.encode()
    return subprocess.run([sys.executable, "-m", "ctxasm", "check", *argv], input=given, capture_output=True, timeout=300, cwd=cwd)


@pytest.mark.system
def test_in_a_pipe_of_a_ci_job(tmp_path: Path) -> None:
    done = process("-", "--fail-on", "unknown", "--format", "jsonl", text=json.dumps(GOOD))
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert json.loads(done.stdout)["summary"]["sentence"] == "2 claims: 2 supported"
    done = process("-", "--fail-on", "unknown", text=f"{json.dumps(GOOD)}\n{json.dumps(BAD)}\n")
    assert done.returncode == 1
    assert b"no source has the number [9]" in done.stdout
    done = process("-", text="{")
    assert (done.returncode, done.stdout) == (2, b"")
    assert not (tmp_path / "c.db").exists()  # answers that bring their sources need no database


def test_the_example_of_the_guide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "guide" / "ask-and-check.md").read_text(encoding="utf-8")
    section = text.split("## Recorded answers\n", 1)[1].split("\n## ", 1)[0]
    (record,) = re.findall(r"```json\n(.*?)```", section, flags=re.DOTALL)
    (console,) = re.findall(r"```console\n(.*?)```", section, flags=re.DOTALL)
    written(tmp_path / "answers.jsonl", json.loads(record))
    command, *shown = console.splitlines()
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "ctxasm"
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert main(arguments) == 1
    finally:
        os.chdir(before)
    scoreless = [re.sub(r"\(0\.\d\d\)", "(0.00)", line) for line in (*capsys.readouterr().out.splitlines(), *shown)]
    assert scoreless[: len(shown)] == scoreless[len(shown) :]


def test_the_fields_that_the_reference_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "a.jsonl", {**GOOD, "question": "When does the desk open?"})
    text = (ROOT / "docs" / "reference" / "answer-json.md").read_text(encoding="utf-8")
    table = text.split("# JSON of one checked answer\n", 1)[1].split("\n| --- ", 1)[1].split("\n\n", 1)[0]
    rows = [[re.findall(r"`([^`]+)`", cell) for cell in line[1:-1].split("|")[:2]] for line in table.splitlines()[1:]]
    found = json.loads(checked([file, "--format", "jsonl"], capsys)[0].splitlines()[0])
    assert [name for names, _ in rows for name in names] == list(found)
    for names, fields in rows:
        for name in names:
            value = found[name][0] if isinstance(found[name], list) else found[name]
            assert fields == (list(value) if isinstance(value, dict) else []), name


def test_labelled_answers_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = real_folder()
    if folder is None or not (folder / "cited-hagrid").is_dir():
        pytest.skip("the labelled answers are not on this machine")
    records = few((folder / "cited-hagrid" / "answers.jsonl").read_text(encoding="utf-8").splitlines())
    labels = [label for record in records for label in json.loads(record)["labels"]]
    path = written(tmp_path / "answers.jsonl", *records)
    assert main(["check", path, "--format", "json", "--fail-on", "unknown"]) == 1
    whole = json.loads(capsys.readouterr().out)
    summary = whole["summary"]
    assert summary["answers"] == len(whole["answers"]) == len(records)
    compared = sum(bool(label["cites"]) for label in labels)
    assert (summary["agreement"]["labels"], summary["agreement"]["compared"]) == (len(labels), compared)
    assert summary["agreement"]["auc_low"] < summary["agreement"]["auc"] < summary["agreement"]["auc_high"]
    assert sum(summary["verdicts"].values()) == sum(len(item["claims"]) for item in whole["answers"])
    for item in whole["answers"]:
        for found in item["claims"]:
            assert 0 <= found["start"] <= found["end"] <= len(item["answer"])
            assert set(found["unknown"]) <= set(found["markers"])
