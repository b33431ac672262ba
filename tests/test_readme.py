"""The README says what the code does: its tables, names, fields, commands and examples.

`python tests/test_readme.py` rewrites the tables that are made from the code.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import ctxasm
from ctxasm import AssemblySettings, Bundle, Chunk, Document, Hit, MemoryStore, Query, assemble
from ctxasm.__main__ import COMMANDS, main
from ctxasm.bundle import shapes
from ctxasm.checking import NLI_MODEL, SCORERS
from ctxasm.citations.checked import Verdict
from ctxasm.config import (
    API_KEY,
    BASE_URL,
    COMPRESS_MODEL,
    CONNECT_TIMEOUT,
    CONNECTION,
    DATABASE_URL,
    EMBED_API_KEY,
    EMBED_BASE_URL,
    EMBED_MODEL,
    MAX_COLUMNS,
    MAX_RATIO,
    MAX_ROWS,
    MAX_UPLOAD_MB,
    MODEL,
    MODEL_WINDOWS,
    RERANK_MODEL,
    STATEMENT_TIMEOUT,
    TIMEOUT,
)
from ctxasm.ingest.options import VARIABLES as INGEST_LIMITS
from ctxasm.llm import MODEL_NAMES
from ctxasm.model.presets import PRESET_HELP, PRESETS
from ctxasm.model.settings import specs
from ctxasm.model.settings_text import write
from ctxasm.model.zoning import Conversation, Zone
from ctxasm.tokens.fast import SWITCH as FAST_SWITCH
from ctxasm.tokens.vocabulary import DOWNLOAD_SWITCH

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
LIMITS = (MAX_UPLOAD_MB, MAX_ROWS, MAX_COLUMNS, MAX_RATIO)
USAGE = {
    "load": "load PATH… | --sample",
    "ingest": "ingest PATH…",
    "delete": "delete NAME",
    "assemble": "assemble --query-id ID | --all",
    "search": "search QUESTION",
    "ask": "ask --query-id ID",
    "check": "check FILE | --data NAME",
}
SHAPES = {
    "documents.jsonl": shapes.DocumentShape,
    "chunks.jsonl": shapes.ChunkShape,
    "queries.jsonl": shapes.QueryShape,
    "retrievals.jsonl": shapes.RetrievalShape,
    "answers.jsonl": shapes.AnswerShape,
}

EMPTY = {
    "zones": [dict.fromkeys(field.name for field in dataclasses.fields(Zone))],
    "history": dict.fromkeys(field.name for field in dataclasses.fields(Conversation)),
}
"""What stands in an assembly where a window or a history is known."""


def markdown(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def settings_table() -> str:
    rows = (
        (f"`{s.name}`", f"`{written}`" if (written := write(s, s.default)) else "empty", s.allowed, f"`{s.url}`", s.help) for s in specs()
    )
    return markdown(("name", "default", "allowed", "URL", "what it does"), rows)


def presets_table() -> str:
    return markdown(("preset", "what it is for"), ((f"`{name}`", PRESET_HELP[name]) for name in PRESETS))


def names_table() -> str:
    def first_sentence(name: str) -> str:
        words = " ".join((getattr(ctxasm, name).__doc__ or "").split())
        return re.split(r"(?<=[a-z)`\]])[.:] (?=[A-Z`])", words)[0].rstrip(".") + "."

    return markdown(("name", "what it is"), ((f"`{name}`", first_sentence(name)) for name in ctxasm.__all__))


def commands_table() -> str:
    rows = ((f"`ctxasm {USAGE.get(name, name)}`", import_module(f"ctxasm.commands.{name}").SUMMARY) for name in COMMANDS)
    return markdown(("command", "what it does"), rows)


TABLES = {"settings": settings_table, "presets": presets_table, "names": names_table, "commands": commands_table}


def framed(name: str, table: str) -> str:
    return f"<!-- begin {name} -->\n{table}\n<!-- end {name} -->"


def rewritten(text: str) -> str:
    for name, table in TABLES.items():
        pattern = rf"<!-- begin {name} -->\n.*?<!-- end {name} -->"
        text = re.sub(pattern, framed(name, table()).replace("\\", r"\\"), text, flags=re.DOTALL)
    return text


def rows_below(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = TEXT.split(f"# {heading}\n", 1)[1]
    lines = section[section.index("\n|") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_one_of_the_code(name: str) -> None:
    assert framed(name, TABLES[name]()) in TEXT, "run `python tests/test_readme.py`"


def test_the_fields_of_the_json() -> None:
    store = MemoryStore()
    store.add(Bundle("b", (Document("d", "D"),), tuple(Chunk("d", index, f"Text number {index}. ") for index in range(3))))
    found = assemble(Query("text?", (Hit("d", 1, 1.0),), "q"), store, AssemblySettings()).to_dict()
    documented: dict[str, list[str]] = {}
    for names, fields, _ in rows_below("JSON of one assembly"):
        documented |= {name: quoted(fields) for name in quoted(names)}
    assert list(documented) == list(found)
    for name, fields in documented.items():
        value = found[name] or EMPTY.get(name)
        value = value[0] if isinstance(value, list) else value
        if fields:
            assert fields == list(value), name
        else:
            assert name == "settings" or not isinstance(value, dict), name


def test_the_fields_of_a_bundle() -> None:
    documented = {
        quoted(file)[0]: (quoted(needed), quoted(optional)) for file, needed, optional in rows_below("Bundles: files you can load")
    }
    assert list(documented) == list(SHAPES)
    for file, shape in SHAPES.items():
        fields = shape.model_fields
        needed = [name for name, field in fields.items() if field.is_required()]
        assert documented[file] == (needed, [name for name in fields if name not in needed]), file


def test_the_variables_of_the_environment() -> None:
    named = [name for cells in rows_below("Models and keys") for cell in cells[:2] for name in quoted(cell)]
    searching = [EMBED_MODEL, EMBED_BASE_URL, EMBED_API_KEY, RERANK_MODEL]
    own = [CONNECT_TIMEOUT, TIMEOUT, DATABASE_URL, DOWNLOAD_SWITCH, FAST_SWITCH, NLI_MODEL, COMPRESS_MODEL, MODEL_WINDOWS, *LIMITS]
    own += [f"{CONNECTION}NAME", STATEMENT_TIMEOUT, *INGEST_LIMITS]
    # What stands in for the compressing model is the answering one, which has a row of its own.
    assert sorted(set(named)) == sorted([*BASE_URL, *MODEL, *API_KEY, *own, *searching])


def test_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    order = ("dev", "retrieval", "semantic", "fast", "nli", "langchain", "llamaindex", "bench")
    lines = [*project["dependencies"], *(line for extra in order for line in extras[extra])]
    named = [re.match(r"[\w-]+", line)[0] for line in lines if not line.startswith("ctxasm[")]  # type: ignore[index]
    declared = list(dict.fromkeys(named))
    assert [quoted(cells[0])[0] for cells in rows_below("Dependencies")] == declared
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []
    pinned = {normal(pin.partition("==")[0]) for pin in pins}
    assert {normal(name) for name in declared} <= pinned


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_verdict_and_every_scorer_is_explained() -> None:
    assert [quoted(cells[0])[0] for cells in rows_below("Checking citations")] == list(get_args(Verdict))
    assert [quoted(cells[0])[0] for cells in rows_below("Scorers")] == list(SCORERS)


def test_every_model_is_named() -> None:
    assert [name for name in MODEL_NAMES if f"`{name}`" not in TEXT] == []


def test_what_the_readme_points_at_is_there() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", TEXT) + re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    local = [target for target in targets if "://" not in target]
    assert len([target for target in local if target.endswith(".png")]) >= 4
    assert [target for target in local if not (ROOT / target).exists()] == []


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [part.strip() for block in blocks("sh")[:2] for part in block.split("&&")]
    assert commands[:3] == ["python3 -m venv .venv", ".venv/bin/pip install -c constraints.txt .", ".venv/bin/ctxasm serve"]
    assert commands[4:] == ['.venv/bin/pip install -c constraints.txt -e ".[dev]"', ".venv/bin/pytest"]
    assert ".venv/bin/pip install -q -c constraints.txt -e '.[dev]'" in script
    assert "\ncheck .venv/bin/pytest -n " in script


def test_the_example_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    example, *_ = blocks("python")  # the others are tested beside what they show
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)
    names["store"].close()  # type: ignore[attr-defined]
    shown = capsys.readouterr().out
    assert shown.startswith("[1] Source: ")
    assert " of 2000 exact" in shown
    assert "kept" in shown


def test_the_examples_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(DATABASE_URL, f"sqlite:///{tmp_path / 'ctxasm.db'}")
    (block,) = [block for block in blocks("sh") if block.startswith("ctxasm ")]
    for line in block.splitlines():
        program, *arguments = shlex.split(line.partition(" > ")[0])
        assert program == "ctxasm"
        assert main(arguments) == 0, line
        assert capsys.readouterr().out.strip(), line


if __name__ == "__main__":
    README.write_text(rewritten(TEXT), encoding="utf-8")
