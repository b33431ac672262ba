"""Makes the dumps beside this file: databases as an older ctxasm wrote them, as SQL that SQLite and PostgreSQL read back.

`python tests/store/versions/make.py NAME COMMIT` really runs the ctxasm of that commit. It needs git, and PostgreSQL's
programs (see tests/postgres.py).
"""

from __future__ import annotations

import io
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SCHEMA = "ctxasm_version_schema"
"""The name of the PostgreSQL schema in a dump; no text holds it."""
FILL = """
import sys
from dataclasses import replace
from bundles import full_bundle
from ctxasm.data.files import load_bundle
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter

sample = load_bundle("sample_data/hospital-nl", "sample")
documents = sample.documents[:6]
names = {document.document_id for document in documents}
queries = [replace(q, retrieved=tuple(h for h in q.retrieved if h.document_id in names)) for q in sample.queries[:12]]
queries = [replace(q, gold=tuple(g for g in q.gold if g.document_id in names), spans=()) for q in queries]
chunks = tuple(chunk for chunk in sample.chunks if chunk.document_id in names)
with Store(sys.argv[1], open_counter()) as store:
    store.add(full_bundle("replaced"), origin="a folder")
    store.add(full_bundle(), origin="another folder")
    store.add(replace(sample, documents=documents, chunks=chunks, queries=tuple(queries)))
    store.add(full_bundle("replaced"))
    if hasattr(store, "keep_vectors"):
        keys = [c.duplicate_key for c in store.dataset("sample").document_chunks(documents[0].document_id)]
        store.keep_vectors("an embedder", {key: bytes([at, 255, 0]) for at, key in enumerate(keys)})
"""


def make(name: str, commit: str) -> None:
    """Write NAME.sqlite.sql and NAME.postgresql.sql."""
    sys.path.insert(0, str(HERE.parents[1]))
    from postgres import find_binaries, run_server

    with tempfile.TemporaryDirectory() as folder:
        root = subprocess.run(["git", "rev-parse", "--show-toplevel"], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
        archive = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(folder, filter="data")
        fill(folder, f"sqlite:///{folder}/old.db")
        with sqlite3.connect(f"{folder}/old.db") as old:
            write(f"{name}.sqlite.sql", "\n".join(old.iterdump()) + "\n")
        binaries = next(find_binaries())
        with run_server(binaries) as url:
            host = url.partition("host=")[2]
            postgres = [f"--host={host}", "--username=postgres"]
            subprocess.run([binaries / "psql", *postgres, "--quiet", f"--command=CREATE SCHEMA {SCHEMA}"], check=True)
            fill(folder, f"{url}&options=-csearch_path%3D{SCHEMA}")
            options = [f"--schema={SCHEMA}", "--no-owner", "--inserts", "--rows-per-insert=100"]
            dump = subprocess.run([binaries / "pg_dump", *postgres, *options, "postgres"], capture_output=True, check=True).stdout.decode()
        # What only psql understands.
        write(f"{name}.postgresql.sql", "".join(line for line in dump.splitlines(keepends=True) if not line.startswith("\\")))


def fill(folder: str, url: str) -> None:
    """Load with the old ctxasm in `folder`."""
    paths = os.pathsep.join((folder, f"{folder}/tests/store"))
    subprocess.run([sys.executable, "-c", FILL, url], cwd=folder, env={**os.environ, "PYTHONPATH": paths}, check=True)


def write(name: str, text: str) -> None:
    (HERE / name).write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    make(*sys.argv[1:3])
