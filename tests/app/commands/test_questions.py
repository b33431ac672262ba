"""`ctxasm questions`, `ctxasm label --phrase` and `ctxasm search --file`: what is asked of a dataset, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.config import DATABASE_URL
from ctxasm.data.files import write_bundle
from ctxasm.model.records import Bundle, Chunk, Document

TEXTS = (
    "Bezoekuren zijn van 14 tot 20 uur op alle dagen.",
    "20 uur op alle dagen. Parkeren kost twee euro.",
    "Het cafe\u0301 opent\n  om 9 uur. Bel 112.",
    "Neem uw pas mee. Bel 112.",
)


def corpus(folder: Path, texts: tuple[str, ...]) -> Path:
    write_bundle(Bundle("h", (Document("a"),), tuple(Chunk("a", at, text) for at, text in enumerate(texts))), folder)
    return folder


@pytest.fixture(autouse=True)
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(DATABASE_URL, f"sqlite:///{tmp_path / 'c.db'}")
    assert main(["load", str(corpus(tmp_path / "h", TEXTS))]) == 0
    (tmp_path / "q.csv").write_text("id,Question\nq1,Wat zijn de bezoekuren?\nq2,Hoe duur is parkeren?\n,Wanneer opent het cafe?\n")
    capsys.readouterr()


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[list[str], str]:
    assert main(list(arguments)) == code
    said = capsys.readouterr()
    return said.out.splitlines(), said.err


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.jsonl").write_text(
        '{"query_id": "q1", "query": "Wat zijn de bezoekuren?"}\n{"query_id": "q2", "query": "Hoe duur is parkeren?"}\n'
    )
    ran(capsys, "search", "--file", str(tmp_path / "q.jsonl"), "--method", "bm25", "--save")


def test_a_file_of_questions_is_searched_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.txt").write_text("\ufeffWat zijn de bezoekuren?\n\nHoe duur is parkeren?\nWat zijn de bezoekuren?\n", encoding="utf-8")
    out, err = ran(capsys, "search", "--file", str(tmp_path / "q.txt"), "--method", "bm25")
    assert [line.split("\t")[1:] for line in out] == [
        ["1 hit", "best a:0", "Wat zijn de bezoekuren?"],
        ["1 hit", "best a:1", "Hoe duur is parkeren?"],
    ]
    assert "1 of 3 questions stand there twice and are asked once" in err
    assert "searched h for 2 questions; --save keeps them" in err
    assert ran(capsys, "questions")[0] == []
    _, err = ran(capsys, "search", "--file", str(tmp_path / "q.txt"), "--method", "bm25", "--save")
    assert "2 questions, all saved" in err
    assert [line.split("\t")[1:3] for line in ran(capsys, "questions")[0]] == [["1 hit", "0 labels"]] * 2


def test_a_table_keeps_its_ids_and_says_which_rows_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.csv").write_text("query_id,Question\nq1,Wat zijn de bezoekuren?\nq2,\nq1,Hoe duur is parkeren?\n")
    out, err = ran(capsys, "search", "--file", str(tmp_path / "q.csv"), "--method", "bm25", "--save", "--format", "json")
    first, second = (json.loads(line) for line in out)
    assert (first["query_id"], first["query"]) == ("q1", "Wat zijn de bezoekuren?")
    assert second["query_id"].startswith("typed-")
    assert "1 line without a question that can be read left out: the first is line 3" in err
    assert "1 question with the id of another question got an id of its own (the first 'q1' in line 4)" in err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.txt", "\n \n", "holds no question"),
        ("q.csv", "a,b\n1,2\n", "must have a column of questions (query, question,"),
        ("none.txt", None, "cannot be read"),
        ("q.txt", "a\n\xff\n", "is not UTF-8"),
    ],
)
def test_a_file_without_questions_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None, said: str
) -> None:
    (tmp_path / "none").mkdir()
    if text is not None:
        (tmp_path / "none" / name).write_bytes(b"caf\xc3\xa9 " * 20 + text.encode("latin-1") if "\xff" in text else text.encode())
    _, err = ran(capsys, "search", "--file", str(tmp_path / "none" / name), code=2)
    assert said in err
    assert err.count("\n") == 1


def test_searching_takes_a_question_or_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "either a QUESTION or --file" in ran(capsys, "search", code=2)[1]
    assert "either a QUESTION or --file" in ran(capsys, "search", "uren", "--file", "x", code=2)[1]
    assert "ctxasm assemble --all" in ran(capsys, "search", "--file", "x", "--assemble", code=2)[1]


@pytest.mark.usefixtures("asked")
def test_a_phrase_is_found_and_only_its_words_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = ran(capsys, "label", "q1", "--phrase", "van 14 tot 20")
    assert out == ["a:0 'van 14 tot 20'"]
    assert ran(capsys, "label", "q1", "--phrase", "NEEM  UW PAS")[0] == ["a:0 'van 14 tot 20'", "a:3 'Neem uw pas'"]
    assert ran(capsys, "label", "q2", "--phrase", "caf\u00e9 o\u00adpent om 9")[0] == ["a:2 'cafe\u0301 opent\\n  om 9'"]


@pytest.mark.usefixtures("asked")
def test_words_that_two_neighbours_share_are_one_passage(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "label", "q1", "--phrase", "20 uur op alle dagen")[0] == ["a:0 '20 uur op alle dagen' | a:1 '20 uur op alle dagen'"]
    assert ran(capsys, "questions")[0][0].split("\t")[2] == "1 label"


@pytest.mark.usefixtures("asked")
def test_a_phrase_in_several_passages_or_none_is_refused_unless_any_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = ran(capsys, "label", "q1", "--phrase", "Bel 112.", code=2)
    assert "which stands in 2 passages ('a' 2, 'a' 3): take a longer one, or say that any one of them is enough" in err
    assert "must stand in a chunk of dataset 'h'" in ran(capsys, "label", "q1", "--phrase", "zwembad", code=2)[1]
    assert "visible character" in ran(capsys, "label", "q1", "--phrase", " ", code=2)[1]
    out, _ = ran(capsys, "label", "q1", "a:1", "--phrase", "Bel 112.", "--any")
    assert out == ["a:1 | a:2 'Bel 112.' | a:3 'Bel 112.'"]
    assert ran(capsys, "label", "q1", "a:1", "--remove")[0] == ["a:2 'Bel 112.' | a:3 'Bel 112.'"]
    assert ran(capsys, "label", "q1", "--phrase", "bel 112", "--remove")[0] == []
    assert "must stand in a label of query 'q1'" in ran(capsys, "label", "q1", "--phrase", "bel 112", "--remove", code=2)[1]
    assert "exclude each other" in ran(capsys, "label", "q1", "a:1", "--any", "--remove", code=2)[1]


@pytest.mark.usefixtures("asked")
def test_any_one_of_the_alternatives_counts_once(capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, "label", "q1", "a:3", "a:0", "--any")
    _, err = ran(capsys, "assemble", "--all", "--set", "expand_window=0")
    assert "evidence: 1.000; whole for 1 of 1 question" in err


@pytest.mark.usefixtures("asked")
def test_a_label_with_a_place_left_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, "label", "q1", "a:0", "a:1", "--any")
    _, err = ran(capsys, "load", str(corpus(tmp_path / "new", ("Een nieuwe alinea.", *TEXTS[1:]))), "--data", "h", "--replace")
    assert "note: 1 place of a label that has others is lost, which alone count now" in err
    assert "counts as not found" not in err
    out, err = ran(capsys, "questions", "--lost")
    assert "\t1 label\t" in out[0]
    assert "a:0 lost" in out[1]
    assert "with a lost label" not in err
    (row,) = json.loads("\n".join(ran(capsys, "questions", "--lost", "--format", "json")[0]))
    assert row["lost_labels"] == 0


@pytest.mark.usefixtures("asked")
def test_what_is_lost_is_said_listed_counted_exported_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, "label", "q1", "a:0")
    ran(capsys, "label", "q2", "a:1")
    assert "evidence: 1.000; whole for 2 of 2 questions" in ran(capsys, "assemble", "--all")[1]
    _, err = ran(capsys, "load", str(corpus(tmp_path / "new", ("Een nieuwe alinea.", *TEXTS[1:]))), "--data", "h", "--replace")
    assert "note: 1 label is lost, no chunk of its document holds its text; it counts as not found" in err
    assert "'q1', a 0 ('Bezoekuren zijn" in err
    assert "note: 1 saved hit is lost" in err
    assert "evidence: 0.500; whole for 1 of 2 questions" in ran(capsys, "assemble", "--all", "--set", "expand_window=3")[1]
    out, err = ran(capsys, "questions")
    assert out[0] == "q1\t0 hits (1 more lost)\t1 label (1 lost)\tWat zijn de bezoekuren?"
    assert out[1:3] == [f"  a:0 lost {TEXTS[0]!r}", f"  hit a:0 lost {TEXTS[0]!r}"]
    assert out[3].startswith("q2\t1 hit\t1 label\t")
    assert err == "h: 2 questions, 2 labelled, 1 with a lost label\n"
    (row,) = json.loads("\n".join(ran(capsys, "questions", "--lost", "--format", "json")[0]))
    assert (row["query_id"], row["hits"], row["labels"], row["lost_labels"]) == ("q1", 0, 1, 1)
    assert row["gold"] == [{"document_id": "a", "chunk_index": 0, "text": TEXTS[0], "lost": True, "by": "hand"}]
    assert row["lost_hits"][0]["text"] == TEXTS[0]
    ran(capsys, "export", "h", "--out", str(tmp_path / "out"))
    ran(capsys, "load", str(tmp_path / "out"), "--data", "copy")
    assert ran(capsys, "questions", "--data", "copy")[0] == out
    assert ran(capsys, "label", "q1", "a:0", "--remove", "--data", "h")[0] == []
    assert ran(capsys, "questions", "--lost", "--data", "h")[0][0].startswith("q1\t0 hits (1 more lost)\t0 labels")


@pytest.mark.usefixtures("asked")
def test_searching_again_keeps_the_labels_of_a_saved_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, "label", "q1", "a:0")
    ran(capsys, "search", "--file", str(tmp_path / "q.jsonl"), "--method", "bm25", "--save", "--limit", "1")
    assert ran(capsys, "questions")[0][0].split("\t")[2] == "1 label"
