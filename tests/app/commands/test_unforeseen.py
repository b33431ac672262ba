"""What no command foresees: a missing package and a fault of our own are one sentence, and the trace is in a file without keys."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ctxasm.__main__ import FAULT, main
from ctxasm.app.commands import data
from ctxasm.app.faults import report_crash
from ctxasm.model.errors import missing_package

KEY, SHORT, PASSWORD = "sk-proj-0123456789abcdefABCDEF/+=", "sk-abc", "p@ss wörd"
LACKING = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
from ctxasm.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("CTXASM_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(args: object) -> int:
        raise error

    monkeypatch.setattr(data, "DATASETS", data.DATASETS._replace(run=fail))


def trace_of(sentence: str) -> Path:
    found = re.search(r"which is in (\S+)$", sentence.strip())
    assert found is not None, sentence
    return Path(found[1])


@pytest.mark.system
@pytest.mark.parametrize(
    ("module", "argv", "package"),
    [
        ("sentencex", ["check", "answers.jsonl"], "sentencex"),
        ("Stemmer", ["check", "answers.jsonl"], "PyStemmer"),
        ("bm25s", ["search", "parkeren"], "bm25s"),
        ("sqlalchemy", ["load", "--sample"], "sqlalchemy"),
        ("tiktoken", ["load", "--sample"], "tiktoken"),
        ("pydantic", ["check", "answers.jsonl"], "pydantic"),
        ("streamlit", ["serve", "--port", "1"], "streamlit"),
    ],
)
def test_a_missing_package_is_named_with_its_remedy(tmp_path: Path, module: str, argv: list[str], package: str) -> None:
    (tmp_path / "answers.jsonl").write_text('{"query_id": "q", "answer": "Om 7.00 [1].", "sources": [{"n": 1, "text": "Om 7.00."}]}\n')
    if argv[0] == "search":
        assert main(["load", "--sample"]) == 0
    done = subprocess.run([sys.executable, "-c", LACKING, module, *argv], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert f"ctxasm: the package {package} is not installed" in done.stderr
    assert f"run `pip install {package}`" in done.stderr
    assert "Traceback" not in done.stderr


def test_only_a_package_from_outside_is_missing() -> None:
    missing = ModuleNotFoundError("No module named 'markdown_it.token'", name="markdown_it.token")
    assert missing_package(missing).endswith("run `pip install markdown-it-py`")
    assert missing_package(ModuleNotFoundError("x", name="psycopg")).endswith("run `pip install 'psycopg[binary]'`")
    for own in (ModuleNotFoundError("x", name="ctxasm.nothing"), ModuleNotFoundError("x", name="_sqlite3"), ModuleNotFoundError("x")):
        assert missing_package(own) == ""
    assert missing_package(ImportError("cannot import name 'a'", name="numpy")) == ""
    assert missing_package(KeyError("numpy")) == ""


@pytest.mark.parametrize(
    "error", [IndexError("string index out of range"), MemoryError(), FileNotFoundError(2, "none", "/x"), RecursionError()]
)
def test_a_fault_is_one_sentence_and_its_trace_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    failing(monkeypatch, error)
    assert main(["datasets"]) == FAULT == 70
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"ctxasm: this is a fault of ctxasm itself ({type(error).__name__}): ")
    path = trace_of(err)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text(encoding="utf-8")
    assert "Traceback (most recent call last)" in text
    assert type(error).__name__ in text


def test_no_key_is_in_the_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(
        f'[connections.a]\npassword = "{PASSWORD}"\nurl = "postgresql://u:tomlword@h/n"\n'
    )
    monkeypatch.setenv("CTXASM_LLM_API_KEY", KEY)
    monkeypatch.setenv("CTXASM_EMBED_API_KEY", SHORT)
    monkeypatch.setenv("CTXASM_LLM_BASE_URL", "https://api.example/keys/in-the-path")
    monkeypatch.setenv("CTXASM_CONNECTION_DOCS", "postgresql://reader:w%40rd%2F1@host/name")
    hidden = (
        KEY,
        SHORT,
        PASSWORD,
        "tomlword",
        "w%40rd%2F1",
        "w@rd/1",
        "in-the-path",
        "argword",
        "elsewhere",
        "sk-proj-0123456789abcdefABCDEF%2F%2B%3D",
    )
    said = f"failed with {KEY}, {KEY!r}, Bearer {SHORT}, {PASSWORD!r}, w@rd/1, sk-proj-0123456789abcdefABCDEF%2F%2B%3D, "
    said += "postgresql://u:tomlword@h/n, postgresql://reader:w%40rd%2F1@host/name, https://api.example/keys/in-the-path/v1, "
    said += "postgresql://me:argword@host/db, redis://who:elsewhere@host; max_tokens=4000"
    try:
        try:
            raise ValueError(said)
        except ValueError as cause:
            raise KeyError(said) from cause
    except KeyError as error:
        failing(monkeypatch, error)
    assert main(["datasets", "--db", "postgresql://me:argword@host/db"]) == FAULT
    err = capsys.readouterr().err
    text = trace_of(err).read_text(encoding="utf-8")
    assert [secret for secret in hidden if secret in text or secret in err] == []
    assert text.count("[API key]") > 10
    assert "max_tokens=4000" in text
    assert text.count("raise ") >= 2


def test_where_no_trace_can_be_written_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert report_crash(ValueError("no place for this")).endswith(
        "cannot be written (No such file or directory): name a folder for it in TMPDIR"
    )


def test_a_page_that_fails_again_and_again_fills_no_folder(tmp_path: Path) -> None:
    assert len({report_crash(ValueError("again and again")) for _ in range(5)}) == 1
    assert len(list(tmp_path.glob("ctxasm-fault-*"))) == 1


@pytest.mark.parametrize(
    ("error", "code"), [("KeyboardInterrupt()", 130), ("BrokenPipeError(32, 'Broken pipe')", 0), ("OSError(28, 'No space left')", 2)]
)
def test_ends_that_are_no_fault(error: str, code: int) -> None:
    fails = f"""
import sys
from ctxasm.__main__ import main
from ctxasm.app.commands import data
def run(args):
    raise {error}
data.DATASETS = data.DATASETS._replace(run=run)
sys.exit(main(["datasets"]))
"""
    done = subprocess.run([sys.executable, "-c", fails], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr, "fault" in done.stderr) == (code, False, False), done.stderr


@pytest.mark.system
@pytest.mark.skipif(os.name == "nt", reason="closes a descriptor the POSIX way")
def test_closed_outputs_are_no_fault(tmp_path: Path) -> None:
    assert main(["load", "--sample"]) == 0
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        done = subprocess.run(f"{sys.executable} -m ctxasm datasets {closed}", shell=True, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), closed
