"""A pipe, socket or device under a name that a user gives is refused in a sentence, never waited for."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ctxasm.answering.windows import read_windows
from ctxasm.app.integrations.tuned import settings_of
from ctxasm.model.errors import InvalidInput
from ctxasm.model.regular_files import open_regular, read_regular

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes the POSIX way")
RUN = """
import contextlib, io, json, sys
from ctxasm.__main__ import main
found = []
for argv in json.load(sys.stdin):
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        found.append((main(argv), err.getvalue()))
print(json.dumps(found))
"""


def told(folder: Path, *commands: list[str], **environment: str) -> list[tuple[int, str]]:
    """Code and messages of each command, run one after the other in a process that is given up where one of them waits."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "CTXASM_DATABASE_URL": f"sqlite:///{folder / 'd.db'}", **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(code, err) for code, err in json.loads(done.stdout)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket may not be long
        try:
            bound.bind("socket")
        finally:
            os.chdir(here)
    for name, held in (("bundle", "chunks.jsonl"), ("rows", "rows.csv"), ("documents", "text.txt")):
        (tmp_path / name).mkdir()
        os.mkfifo(tmp_path / name / held)
    (tmp_path / "documents" / "good.txt").write_text("The desk opens at seven.")
    return tmp_path


@pytest.mark.parametrize("place", ["pipe", "link", "socket", "/dev/zero"])
def test_only_regular_files_are_opened(folder: Path, place: str) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(folder / place)
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(folder / place)


@pytest.mark.system
def test_every_command_refuses_what_is_no_file(folder: Path) -> None:
    places = ("pipe", "pipe.jsonl", "link", "socket", "/dev/zero")
    commands = [
        *(["load", place] for place in places),
        ["load", "--preview", "pipe.jsonl"],
        ["load", "--map", "text=a", "pipe"],
        ["load", "bundle"],
        ["load", "rows"],
        *(["check", place] for place in places),
        ["check", "bundle"],
        *(["ingest", place] for place in places),
        ["datasets", "--db", f"sqlite:///{folder / 'pipe'}"],
        ["export", "--out", "pipe", "--force"],
    ]
    sample, *refused = told(folder, ["load", "--sample"], *commands)
    assert sample[0] == 0
    for argv, (code, err) in zip(commands, refused, strict=True):
        assert (code, err.count("must be a regular file"), err.count("\n")) == (2, 1, 1), (argv, err)


@pytest.mark.system
def test_a_folder_of_documents_names_what_it_leaves_out(folder: Path) -> None:
    ((code, err),) = told(folder, ["ingest", "documents"])
    assert code == 0
    assert "text.txt  not a regular file" in err


@pytest.mark.system
def test_the_other_files_that_a_user_names(folder: Path) -> None:
    history = ["assemble", "--query-id", "private-room-cost", "--history"]
    commands = [["load", "--sample"], [*history, "pipe"], [*history, "bundle"]]
    loaded, piped, foldered = told(folder, *commands)
    assert loaded[0] == 0
    assert piped == (
        2,
        "ctxasm: the history 'pipe' cannot be read (it is not a regular file): give --history a transcript or JSON\n",
    )
    assert foldered == (
        2,
        "ctxasm: the history 'bundle' cannot be read (Is a directory): give --history a transcript or JSON\n",
    )
    with pytest.raises(InvalidInput, match="not a regular file"):
        read_windows(str(folder / "pipe"))
    with pytest.raises(InvalidInput, match="not a regular file"):
        settings_of(folder / "pipe")
