"""What a plain install takes, with hashes, and the bill of it agree with what is pinned and with what is asked for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / ".ci" / "install.txt").read_text(encoding="utf-8")
BILL = json.loads((ROOT / ".ci" / "sbom.json").read_text(encoding="utf-8"))
NO_LICENCE_FIELD = {"protobuf", "pydeck", "pypdfium2", "tiktoken", "wordllama"}
"""Say it in a text or a classifier alone."""


def name_of(requirement: str) -> str:
    """As an index writes it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=;!~ ]", requirement, maxsplit=1)[0]).lower()


def pinned(text: str) -> dict[str, str]:
    """Versions by name."""
    return {name_of(line): re.split(r"==|[ ;\\]", line)[1] for line in text.splitlines() if re.match(r"[\w.-]+==", line)}


def test_every_version_is_the_tested_one_and_has_hashes() -> None:
    tested = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    locked = pinned(LOCK)
    assert {name: version for name, version in locked.items() if tested.get(name, version) != version} == {}
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\w)", LOCK.strip()))
    elsewhere = {entry.partition("==")[0] for entry in re.split(r"\n(?=\w)", LOCK) if "emscripten' \\" in entry.splitlines()[0]}
    assert locked.keys() - tested.keys() <= {name_of(name) for name in elsewhere}


def test_all_that_is_asked_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name_of(requirement) for requirement in project["dependencies"]} <= pinned(LOCK).keys()


def test_the_bill_names_what_is_locked_and_its_licences() -> None:
    parts = {name_of(part["name"]): part for part in BILL["components"]}
    locked = pinned(LOCK)
    assert {name: locked[name] for name in parts} == {name: part["version"] for name, part in parts.items()}
    assert {name for name, part in parts.items() if not part.get("licenses")} <= NO_LICENCE_FIELD


def test_neither_names_an_index_or_a_place_of_a_machine() -> None:
    for text in (LOCK, json.dumps(BILL["components"])):
        assert re.findall(r"index-url|find-links|file:|https?:", text) == []
