"""`ctxasm ingest`: the name on standard output, problems as a table beside it, exit codes, and Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxasm.__main__ import main
from ctxasm.app.commands.ingest import cancel_on_interrupt

pytestmark = pytest.mark.usefixtures("own_database", "kept_readers")

FILES = Path(__file__).parents[2] / "data" / "documents" / "files"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "gids"
    place.mkdir()
    for name in ("opname.md", "oud.txt", "geheim.pdf"):
        shutil.copy(FILES / name, place)
    (place / "cijfers.xls").write_bytes(b"x")
    return place


def test_documents_are_loaded_and_problems_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out == "gids\n"
    assert err.splitlines() == [
        "note: oud.txt: read as cp1252, because it is not UTF-8",
        "not read: 1 file",
        "  geheim.pdf  it is protected by a password: save it without one",
        "left out: 1 file",
        "  cijfers.xls  spreadsheets are not read as documents: save the sheet as CSV and load it as a table",
        "gids: 2 documents, 2 chunks (2 read)",
    ]
    assert main(["ingest", str(folder)]) == 0
    assert "(nothing changed)" in capsys.readouterr().err


def test_chunks_are_cut_as_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["ingest", str(folder), "--data", "d", "--chunk-tokens", "60", "--overlap", "0", "--whole-sections"]
    assert main([*argv, "--language", "nl"]) == 0
    out, err = capsys.readouterr()
    assert out == "d\n"
    assert "2 documents, 2 chunks" not in err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["nergens"], "there is no document, folder or .zip at 'nergens'"),
        ([".", "--chunk-tokens", "5"], "max_tokens of a chunk must be a whole number from 16 to 8,192, got 5"),
        ([".", "--overlap", "350"], "overlap_tokens of a chunk must be a whole number from 0 to 349, got 350"),
        ([".", "--language", "?"], "language must be a code"),
    ],
)
def test_a_mistake_gives_a_sentence(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "Traceback" not in err


def test_nothing_that_can_be_read_is_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(folder / "geheim.pdf")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("nothing was loaded: no document could be read\n")


@pytest.fixture
def heeded() -> Iterator[None]:
    """An interrupt is heard: whoever runs the tests in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_a_second_interrupt_is_one() -> None:
    with cancel_on_interrupt() as ended:
        assert not ended()
        signal.raise_signal(signal.SIGINT)
        assert ended()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path) -> None:
    place = tmp_path / "d"
    place.mkdir()
    (place / "a.txt").write_text("Snel gelezen.")
    (place / "b.html").write_bytes(b"<a " + b" ".join(b"a%d=1" % number for number in range(300_000)) + b">traag</a>")
    command = [sys.executable, "-m", "ctxasm", "ingest", str(place)]
    # The signal goes to the group, as from a terminal: the reader must not be hit by it.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    kept_by = time.monotonic() + 300
    while not kept(tmp_path / "c.db") and time.monotonic() < kept_by:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert "ended with 1 of 2 documents not read; the other 1 is kept for the next time" in err
    assert "run the same command again to go on, or with --part to load what is done" in err
    assert main(["ingest", str(place), "--part"]) == 0


def kept(database: Path) -> bool:
    from ctxasm.app.workbench import Workbench
    from ctxasm.config import Config

    workbench = Workbench(Config(f"sqlite:///{database}"))
    try:
        return bool(workbench.store.read_kept("ingest d"))
    finally:
        workbench.close()


def test_the_overlap_follows_the_size_of_a_chunk(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(folder), "--data", "d", "--chunk-tokens", "60"]) == 0
    assert main(["ingest", str(folder), "--data", "d", "--chunk-tokens", "60", "--overlap", "12"]) == 0
    assert "(nothing changed)" in capsys.readouterr().err
