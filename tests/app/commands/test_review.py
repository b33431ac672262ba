"""`ctxasm review` and `ctxasm history`: from recorded answers over verdicts to gold, and to another database and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxasm import Judgement, history, judge, open_store, review_item
from ctxasm.__main__ import main

pytestmark = pytest.mark.usefixtures("own_database")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code, capsys.readouterr()
    return capsys.readouterr().out


def judge_all(reviewer: str) -> None:
    with open_store() as store:
        for entry in history(store):
            for claim in review_item(entry.run_id, reviewer, store).claims:
                for citation in claim.citations:
                    assert judge(Judgement(entry.run_id, citation.item, reviewer, "right", "=note"), 0, store).saved


def test_from_recorded_answers_to_gold_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "load", "--sample")
    queue = json.loads(told(capsys, "review", "queue", "--reviewer", "An", "--format", "json"))
    assert len(queue) == 6
    assert {entry["judged"] for entry in queue} == {0}
    judge_all("An")
    judge_all("Bo")
    assert "8 of 8" not in told(capsys, "review", "queue", "--reviewer", "An", "--batch", "sample")
    agreed = told(capsys, "review", "agreement")
    assert "Krippendorff's alpha" in agreed
    assert "The checker on this data" in agreed
    assert json.loads(told(capsys, "review", "agreement", "--format", "json"))["citations"]["percent"]["value"] == 1.0
    assert "of sample" in told(capsys, "review", "gold")
    assert "labelled as before" in told(capsys, "review", "gold", "--undo")
    whole, other = tmp_path / "reviews.jsonl", f"sqlite:///{tmp_path / 'other.db'}"
    assert told(capsys, "review", "export", str(whole), "--annotations", str(tmp_path / "a.json")).startswith("6 runs in ")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"data": []}
    told(capsys, "review", "import", str(whole), "--db", other)
    again = tmp_path / "again.jsonl"
    told(capsys, "review", "export", str(again), "--db", other)
    assert again.read_bytes() == whole.read_bytes()
    for name in ("table.csv", "table.xlsx"):
        told(capsys, "review", "export", str(tmp_path / name))
    assert b",'=note," in (tmp_path / "table.csv").read_bytes()
    assert (tmp_path / "table.xlsx").read_bytes().startswith(b"PK")


def test_a_conflict_of_two_databases_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "log.jsonl"
    answers.write_text('{"query_id":"q","question":"When?","answer":"At seven [1].","sources":[{"n":1,"text":"At seven."}]}\n')
    told(capsys, "review", "queue", str(answers), "--reviewer", "An")
    exported = tmp_path / "r.jsonl"
    told(capsys, "review", "export", str(exported), "--batch", "log")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    told(capsys, "review", "import", str(exported), "--db", other)
    (run_id,) = (line.split("\t")[0] for line in told(capsys, "history").splitlines())
    judge(Judgement(run_id, "0:1", "An", "right"), 0)
    with open_store(other) as store:
        judge(Judgement(run_id, "0:1", "An", "wrong_fact"), 0, store)
    told(capsys, "review", "export", str(exported))
    assert main(["review", "import", str(exported), "--db", other]) == 1
    out, err = capsys.readouterr()
    assert "1 conflict" in out
    assert "conflict at 0:1" in err
    assert "'right' there, 'wrong_fact' here" in err


def test_the_history_lists_shows_compares_deletes_and_restores(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "load", "--sample")
    for limit in ("600", "900"):
        told(capsys, "ask", "--query-id", "private-room-cost", "--keep", "--author", "An", "--set", f"max_tokens={limit}")
    lines = told(capsys, "history", "--author", "An", "--data", "sample").splitlines()
    run_ids = [line.split("\t")[0] for line in lines]
    assert len(run_ids) == 2
    assert told(capsys, "history", "--since", "2999") == ""
    assert "settings: max_tokens=900" in told(capsys, "history", run_ids[0])
    assert json.loads(told(capsys, "history", run_ids[0], "--format", "json"))["author"] == "An"
    assert "Settings: max_tokens 600 → 900." in told(capsys, "history", *reversed(run_ids))
    assert told(capsys, "history", "--delete", run_ids[0]) == "1 run deleted, 0 restored, 0 removed for good\n"
    assert json.loads(told(capsys, "history", "--deleted", "--format", "json"))[0]["run_id"] == run_ids[0]
    assert told(capsys, "history", "--restore", run_ids[0]) == "0 runs deleted, 1 restored, 0 removed for good\n"
    assert len(told(capsys, "history").splitlines()) == 2
    told(capsys, "history", "--delete", run_ids[0], "--purge")
    assert len(told(capsys, "history").splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["review", "queue"], "needs --reviewer NAME"),
        (["review", "queue", "--reviewer", "An"], "no dataset is loaded"),
        (["review", "export"], "review export needs a FILE"),
        (["review", "export", "x.txt"], "reviews are exported as jsonl, csv, xlsx, annotations, got 'txt'"),
        (["review", "export", "nowhere/x.csv"], "cannot be written"),
        (["review", "import", "nowhere.jsonl"], "cannot be read"),
        (["history", "nobody"], "no run 'nobody' is kept"),
        (["history", "a", "b", "c"], "takes one run to show or two to compare, got 3"),
        (["history", "--limit", "0"], "--limit must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
