"""The documents say what the code does: tables, names, fields, commands, examples, rooms, links.

`python -m tests.test_docs` (or `just docs`) rewrites the tables that are made from the code.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import shlex
import shutil
import tomllib
from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import pytest

import ctxasm
from ctxasm import AssemblySettings, Bundle, Chunk, Document, Hit, MemoryStore, Query, assemble
from ctxasm.__main__ import COMMANDS, command_of, main
from ctxasm.app.hosts import HOST_NAMES
from ctxasm.app.parts import NLI_MODEL, SCORERS
from ctxasm.app.ui.words import GLOSSARY, LEFT_OUT
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
    MAX_UPLOAD_MB,
    MODEL,
    MODEL_WINDOWS,
    RERANK_MODEL,
    STATEMENT_TIMEOUT,
    TIMEOUT,
    VALUE_WEIGHTS,
)
from ctxasm.data.documents.options import VARIABLES as INGEST_LIMITS
from ctxasm.data.files import bundle
from ctxasm.llm import MODEL_NAMES
from ctxasm.model.events import REASONS
from ctxasm.model.presets import PRESET_HELP, PRESETS
from ctxasm.model.results import SentHistory, Zone
from ctxasm.model.settings import specs
from ctxasm.model.settings_text import write
from ctxasm.text.tokens.fast import SWITCH as FAST_SWITCH
from ctxasm.text.tokens.vocabulary import DOWNLOAD_SWITCH
from tests.data.files.hit_shapes import SHAPES as SHAPES_OF_LOGS
from tests.data.files.recognised.make_exports import MAKERS, read_made
from tests.data.files.recognised.test_exports import NAMES
from tests.test_sources import exists

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted((*ROOT.glob("*.md"), *DOCS.rglob("*.md")))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
USAGE = {
    "load": "load PATH… | --sample",
    "ingest": "ingest PATH…",
    "delete": "delete NAME",
    "label": "label QUERY_ID DOCUMENT:INDEX…",
    "assemble": "assemble --query-id ID | --all",
    "search": "search QUESTION",
    "ask": "ask --query-id ID",
    "check": "check FILE | --data NAME",
}
SHAPES = {
    "documents.jsonl": bundle.DocumentShape,
    "chunks.jsonl": bundle.ChunkShape,
    "queries.jsonl": bundle.QueryShape,
    "retrievals.jsonl": bundle.RetrievalShape,
    "answers.jsonl": bundle.AnswerShape,
}
EMPTY = {
    "zones": [dict.fromkeys(field.name for field in dataclasses.fields(Zone))],
    "history": dict.fromkeys(field.name for field in dataclasses.fields(SentHistory)),
}
"""What stands in an assembly where a window or a history is known."""
TOOLS = {"chroma": "Chroma query results", "qdrant": "Qdrant query points", "deepeval": "DeepEval test cases"}
DOCUMENTED = ("Pinecone", "Weaviate", "Milvus", "Elasticsearch", "OpenSearch", "Azure", "Bedrock", "Vertex", "Vespa", "Solr", "Typesense")
DOCUMENTED += ("Meilisearch", "LanceDB", "OpenAI", "OTLP", "promptfoo", "rows of pgvector")
RECIPES = ("setup", "test", "lint", "serve", "bench", "docs")
THEIR_OWN = (".streamlit/secrets.toml",)
"""Files that a user makes."""


# The tables that are made from the code


def markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
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
    rows = ((f"`ctxasm {USAGE.get(name, name)}`", command_of(name).summary) for name in COMMANDS)
    return markdown(("command", "what it does"), rows)


def options_tables() -> str:
    """A table of arguments for every command."""
    parts = []
    for name in COMMANDS:
        parser = ArgumentParser(prog=f"ctxasm {name}", add_help=False)
        command_of(name).add_arguments(parser)
        shown = [action for action in parser._actions if action.help is not SUPPRESS]
        rows = [(f"`{written(action)}`", parser._get_formatter()._expand_help(action) if action.help else "") for action in shown]
        parts.append(f"### ctxasm {name}\n\n{markdown(('argument', 'what it does'), rows)}")
    return "\n\n".join(parts)


def written(action: Action) -> str:
    """An argument as a user types it."""
    names = ", ".join(action.option_strings)
    if action.nargs == 0 or type(action).__name__ == "BooleanOptionalAction":
        return names
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices is not None else None
    value = str(action.metavar or choices or action.dest.upper())
    value = f"[{value}]" if action.nargs == "?" else f"{value}…" if action.nargs in ("*", "+") else value
    return f"{names} {value}".strip()


def rooms() -> list[str]:
    """Every package below `ctxasm`, floor by floor from the top, each before what is in it."""
    floors = [room for floor in layers() for room in floor]
    found = [file.parent.relative_to(ROOT / "ctxasm").as_posix() for file in (ROOT / "ctxasm").rglob("__init__.py")]
    return sorted((room for room in found if room != "."), key=lambda room: (floors.index(room.partition("/")[0]), room))


def rooms_table() -> str:
    def about(room: str) -> str:
        text = ast.get_docstring(ast.parse((ROOT / "ctxasm" / room / "__init__.py").read_text(encoding="utf-8"))) or ""
        return " ".join(text.split("\n\n")[0].split()).rstrip(":.") + "."

    return markdown(("room", "what is in it"), ((f"`ctxasm/{room}/`", about(room)) for room in rooms()))


def layers() -> list[list[str]]:
    """The floors of the import contract, from the top."""
    contract = next(each for each in PROJECT["tool"]["importlinter"]["contracts"] if each["id"] == "layers")
    return [floor.split(" : ") for floor in contract["layers"]]


def recognised_table() -> str:
    """What is loaded whole of which tool: files made by the tools themselves, and the forms that are written down."""
    made = read_made()
    rows: list[tuple[str, ...]] = []
    for folder in sorted({name.partition("/")[0] for name in MAKERS}, key=lambda folder: (folder not in NAMES, folder)):
        names = [name for name in MAKERS if name.startswith(f"{folder}/")]
        told = {made.get(name, ("", "")) for name in names}
        date = max(date for _, date in told)
        by = ", ".join(sorted({library for library, _ in told if library})) or ("its form" if date else "an earlier release")
        files = ", ".join(f"`{name.partition('/')[2]}`" for name in names)
        rows.append((NAMES.get(folder, TOOLS.get(folder, folder)), files, by, date))
    forms = [name for name in SHAPES_OF_LOGS if name.startswith(DOCUMENTED)]
    rows.append((", ".join(forms), "a list of hits", "their documented form", ""))
    return markdown(("what", "as", "last tried with", "on"), rows)


def glossary_table() -> str:
    return markdown(("word", "what it means"), ((f"**{word}**", meaning) for word, meaning in GLOSSARY.items()))


def reasons_table() -> str:
    return markdown(("on the page", "in a sentence"), ((words, f"{REASONS[reason].capitalize()}.") for reason, words in LEFT_OUT.items()))


TABLES = {
    "recognised": ("guide/files.md", recognised_table),
    "settings": ("reference/settings.md", settings_table),
    "presets": ("reference/presets.md", presets_table),
    "names": ("reference/names.md", names_table),
    "commands": ("reference/commands.md", commands_table),
    "options": ("reference/commands.md", options_tables),
    "rooms": ("about/architecture.md", rooms_table),
    "glossary": ("guide/glossary.md", glossary_table),
    "reasons": ("guide/glossary.md", reasons_table),
}


def framed(name: str, table: str) -> str:
    return f"<!-- begin {name} -->\n{table}\n<!-- end {name} -->"


def rewritten(page: str, text: str) -> str:
    """The text of a page with its tables made anew."""
    for name, (place, table) in TABLES.items():
        if place == page:
            pattern = rf"<!-- begin {name} -->\n.*?<!-- end {name} -->"
            text = re.sub(pattern, framed(name, table()).replace("\\", r"\\"), text, flags=re.DOTALL)
    return text


# Reading the documents


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows_below(name: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of a page, without its head."""
    section = page(name).split(f"# {heading}\n", 1)[1]
    lines = section[section.index("\n|") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:] if line.startswith("|")]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """The headings as links name them."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    return [target for target in found if "://" not in target]


# What must hold


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_one_of_the_code(name: str) -> None:
    place, table = TABLES[name]
    assert framed(name, table()) in page(place), "run `python -m tests.test_docs`"


def test_the_tables_are_rewritten_in_one_go() -> None:
    for place in {place for place, _ in TABLES.values()}:
        spoilt = re.sub(r"(<!-- begin \w+ -->\n).*?(<!-- end)", r"\1| spoilt |\n\2", page(place), flags=re.DOTALL)
        assert spoilt != page(place)
        assert rewritten(place, spoilt) == page(place)


def test_the_fields_of_the_json() -> None:
    store = MemoryStore()
    store.add(Bundle("b", (Document("d", "D"),), tuple(Chunk("d", index, f"Text number {index}. ") for index in range(3))))
    found = assemble(Query("text?", (Hit("d", 1, 1.0),), "q"), store, AssemblySettings()).to_dict()
    documented: dict[str, list[str]] = {}
    for names, fields, _ in rows_below("reference/assembly-json.md", "JSON of one assembly"):
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
    rows = rows_below("guide/bundles.md", "Bundles: files you can load")
    documented = {quoted(file)[0]: (quoted(needed), quoted(optional)) for file, needed, optional in rows}
    assert list(documented) == list(SHAPES)
    for file, shape in SHAPES.items():
        fields = shape.model_fields
        needed = [name for name, field in fields.items() if field.is_required()]
        assert documented[file] == (needed, [name for name in fields if name not in needed]), file


def test_the_variables_of_the_environment() -> None:
    rows = rows_below("reference/environment.md", "Environment variables")
    named = [name for cells in rows for cell in cells[:2] for name in quoted(cell)]
    searching = [EMBED_MODEL, EMBED_BASE_URL, EMBED_API_KEY, RERANK_MODEL]
    own = [CONNECT_TIMEOUT, TIMEOUT, DATABASE_URL, DOWNLOAD_SWITCH, FAST_SWITCH, NLI_MODEL, COMPRESS_MODEL, MODEL_WINDOWS, MAX_UPLOAD_MB]
    own.append(VALUE_WEIGHTS)
    own += [f"{CONNECTION}NAME", STATEMENT_TIMEOUT, HOST_NAMES, *INGEST_LIMITS]
    # What stands in for the compressing model is the answering one, which has a row of its own.
    assert sorted(set(named)) == sorted([*BASE_URL, *MODEL, *API_KEY, *own, *searching])


def test_the_dependencies() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    order = ("dev", "retrieval", "semantic", "fast", "nli", "langchain", "llamaindex", "dask", "bench")
    lines = [*PROJECT["project"]["dependencies"], *(line for extra in order for line in extras[extra])]
    named = [re.match(r"[\w-]+", line)[0] for line in lines if not line.startswith("ctxasm[")]  # type: ignore[index]
    declared = list(dict.fromkeys(named))
    assert [quoted(cells[0])[0] for cells in rows_below("about/dependencies.md", "Dependencies")] == declared
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []
    pinned = {normal(pin.partition("==")[0]) for pin in pins}
    assert {normal(name) for name in declared} <= pinned


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_verdict_and_every_scorer_is_explained() -> None:
    assert [quoted(cells[0])[0] for cells in rows_below("guide/ask-and-check.md", "Verdicts")] == list(get_args(Verdict))
    assert [quoted(cells[0])[0] for cells in rows_below("guide/ask-and-check.md", "Scorers")] == list(SCORERS)


def test_every_model_is_named() -> None:
    assert [name for name in MODEL_NAMES if f"`{name}`" not in page("guide/models.md")] == []


def few_questions(folder: Path, named: list[str]) -> Path:
    """The sample with the questions that are named and eight more: a sweep of sixty says nothing else."""
    shutil.copytree(ROOT / "sample_data" / "hospital-en", folder)
    tables = [folder / name for name in ("queries.jsonl", "retrievals.jsonl", "answers.jsonl")]
    rows = {table: table.read_text(encoding="utf-8").splitlines(keepends=True) for table in tables}
    kept = {json.loads(line)["query_id"] for line in rows[tables[0]][:8]} | set(named)
    for table, lines in rows.items():
        table.write_text("".join(line for line in lines if json.loads(line)["query_id"] in kept), encoding="utf-8")
    return folder


def test_the_examples_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(DATABASE_URL, f"sqlite:///{tmp_path / 'ctxasm.db'}")
    (block,) = [block for block in blocks(page("guide/command-line.md"), "sh") if block.startswith("ctxasm ")]
    sample = few_questions(tmp_path / "sample", re.findall(r"--query-id (\S+)", block))
    monkeypatch.setattr("ctxasm.app.workbench.shipped", lambda name: sample)
    for line in block.splitlines():
        program, *arguments = shlex.split(line.partition(" > ")[0])
        assert program == "ctxasm"
        assert main(arguments) == 0, line
        assert capsys.readouterr().out.strip(), line


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_link_and_every_picture_is_there(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    broken = []
    for target in links(text):
        path, _, anchor = target.partition("#")
        place = file.parent / path if path else file
        if not place.exists() or (anchor and anchor not in anchors(place.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


def test_the_pictures_are_shown() -> None:
    shown = {Path(target).name for file in PAGES for target in links(file.read_text(encoding="utf-8")) if target.endswith(".png")}
    assert len(shown) >= 4


def test_every_page_is_named_in_the_index() -> None:
    named = {(DOCS / target).resolve() for target in links(page("README.md"))}
    decisions = {(DOCS / "about" / "decisions" / target).resolve() for target in links(page("about/decisions/README.md"))}
    assert set(DOCS.rglob("*.md")) - {DOCS / "README.md"} == {file for file in named | decisions if DOCS in file.parents}


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_name_and_every_path_exists(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    names = [name for name in re.findall(r"(?<![\w/.-])ctxasm(?:\.\w+)+", text) if not name.endswith(".db")]
    assert [name for name in names if not exists(name) and name.removeprefix("ctxasm.") not in ctxasm.__all__] == []
    paths = re.findall(r"(?<![\w./~:-])((?:\.ci|\.github|\.streamlit|ctxasm|docs|pages|sample_data|tests)/[\w./-]*)", text)
    assert [path for path in paths if path not in THEIR_OWN and not (ROOT / path.rstrip(".")).exists()] == []


def test_the_architecture_names_the_rooms_that_are_there() -> None:
    named = [quoted(cells[0])[0] for cells in rows_below("about/architecture.md", "The rooms")]
    folders = {file.parent for file in (ROOT / "ctxasm").rglob("*.py")} - {ROOT / "ctxasm"}
    assert sorted(named) == sorted(f"{folder.relative_to(ROOT).as_posix()}/" for folder in folders)
    assert [cells[0] for cells in rows_below("about/architecture.md", "The rooms") if len(cells[1]) < 10] == []
    at_the_root = {file.name for file in (ROOT / "ctxasm").glob("*.py")}
    assert at_the_root == {name for name in at_the_root if f"`ctxasm/{name}`" in page("about/architecture.md")}


def test_the_architecture_draws_the_floors_of_the_contract() -> None:
    (line,) = [line for line in page("about/architecture.md").splitlines() if line.startswith("app  →")]
    drawn = [sorted(re.findall(r"\w+", floor)) for floor in line.split("→")]
    assert drawn == [sorted(floor) for floor in layers() if floor not in (["__main__"], ["config"])]


def decisions() -> Iterator[Path]:
    return (file for file in sorted((DOCS / "about" / "decisions").glob("*.md")) if file.name != "README.md")


def test_every_decision_says_when_why_what_and_at_what_cost() -> None:
    index = page("about/decisions/README.md")
    for number, file in enumerate(decisions(), 1):
        title, date, *parts = file.read_text(encoding="utf-8").strip().split("\n\n")
        assert file.name.startswith(f"{number:02d}-")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", date), file.name
        assert [part.partition(" ")[0] for part in parts] == ["**Context.**", "**Choice.**", "**What"], file.name
        assert f"| {number} | [{title.removeprefix('# ')}]({file.name}) | {date} |" in index


def test_the_version_is_one() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", changes, flags=re.MULTILINE)
    assert ctxasm.__version__ == PROJECT["project"]["version"] == released[0]


def test_the_source_archive_has_the_documents() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/README.md", "/docs", "/CONTRIBUTING.md", "/SECURITY.md", "/CHANGELOG.md"} <= set(included)
    assert [entry for entry in included if not (ROOT / entry.removeprefix("/")).exists()] == []


def test_every_recipe_is_there() -> None:
    text = (ROOT / "justfile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^(\w+)[^:\n]*:\n((?:    .+\n)+)", text, flags=re.MULTILINE))
    assert set(RECIPES) <= set(recipes)
    assert recipes["docs"].strip() == ".venv/bin/python -m tests.test_docs"


if __name__ == "__main__":
    for place in {place for place, _ in TABLES.values()}:
        (DOCS / place).write_text(rewritten(place, page(place)), encoding="utf-8")
