"""The house keeps its floors: the contracts of pyproject.toml hold, and see a breach of every kind."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


LINTER = """
import importlib, os, sys
from importlinter.cli import lint_imports
for root in sys.argv[1:]:
    os.chdir(root)
    sys.path[0] = root
    importlib.invalidate_caches()
    status = lint_imports(no_cache=True)
    print("\\0" if status else "\\1", end="", flush=True)
"""


def lint(*roots: Path) -> list[str]:
    """What the linter says of the package below each root; empty where every contract is kept. One process, for it starts slowly."""
    command = [sys.executable, "-c", LINTER, *map(str, roots)]
    done = subprocess.run(command, env={"PYTHONPATH": ""}, capture_output=True, text=True, timeout=300)
    said = re.findall("([^\0\1]*)([\0\1])", done.stdout)
    assert len(said) == len(roots), done.stdout + done.stderr
    return ["" if end == "\1" else text for text, end in said]


def test_the_house_keeps_its_floors() -> None:
    assert lint(ROOT) == [""]


def test_only_the_app_uses_the_public_names() -> None:
    users = grimp.build_graph("ctxasm", cache_dir=None).find_modules_that_directly_import("ctxasm")
    assert {name for name in users if not name.startswith(("ctxasm.app", "ctxasm.__main__"))} == set()


def test_no_import_is_hidden_from_the_linter() -> None:
    """Packages of others are opened by name where they may be absent; of the house, only public names and commands are."""
    hidden = {
        file.relative_to(ROOT / "ctxasm").as_posix()
        for file in (ROOT / "ctxasm").rglob("*.py")
        if "import_module(" in (source := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and "ctxasm" in ast.unparse(node.args[0])
    }
    assert hidden == {"__main__.py"}


def test_pages_draw_by_the_user_interface_alone() -> None:
    for file in (ROOT / "pages").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").startswith("ctxasm.app.ui."), f"{file.name}:{node.lineno}"


DOORS = [file.parent for file in sorted((ROOT / "ctxasm").rglob("__init__.py")) if "= door(" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("room", DOORS, ids=lambda room: room.relative_to(ROOT / "ctxasm").as_posix())
def test_a_door_opens_on_every_name_that_it_shows(room: Path) -> None:
    source = (room / "__init__.py").read_text(encoding="utf-8")
    door = importlib.import_module(".".join(room.relative_to(ROOT).parts))
    typed = {alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {"annotations", "TYPE_CHECKING", "door"} == set(door.__all__)
    assert [name for name in door.__all__ if getattr(door, name) is None] == []
    with pytest.raises(AttributeError):
        door.nothing


def test_to_open_a_door_is_not_to_load_the_room() -> None:
    names = [".".join(room.relative_to(ROOT).parts) for room in DOORS]
    asked = f"import sys, {', '.join(names)}; print(len(sys.modules), *sorted(n for n in sys.modules if n.startswith('ctxasm')))"
    loaded = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    rooms = {".".join(room.relative_to(ROOT).parts[: depth + 1]) for room in DOORS for depth in range(len(room.relative_to(ROOT).parts))}
    assert set(loaded[1:]) == rooms | {"ctxasm.model", "ctxasm.model.lazy"}


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rooms alone, without what is in them: every contract is kept."""
    root = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", root)
    named = [module for contract in CONTRACTS for module in contract.get("source_modules", ())]
    for file in (*(ROOT / "ctxasm").rglob("__init__.py"), *(ROOT / "ctxasm" / f"{name}.py" for name in ("__main__", "config"))):
        (root / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        (root / file.relative_to(ROOT)).touch()
    for module in named:
        place = root.joinpath(*module.split("."))
        if not place.is_dir():
            place.with_suffix(".py").touch()
    return root


def test_a_house_without_imports_keeps_them(skeleton: Path) -> None:
    assert lint(skeleton) == [""]


BREACHES = [
    ("model/records.py", "from ctxasm.assembly import expand", "layers"),
    ("store/load.py", "def f():\n    from ctxasm.data import files", "layers"),
    ("retrieval/found.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ctxasm.app import workbench", "layers"),
    ("data/files/a.py", "from ctxasm.tuning import advice", "layers"),
    ("helpers.py", "", "layers"),
    ("retrieval/a.py", "import ctxasm.data.b", "circles"),
    ("text/markers/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ctxasm.text.markers import b", "circles"),
    ("app/workbench.py", "def f():\n    import sqlalchemy", "sql"),
    ("answering/a.py", "import openai", "models"),
    ("store/a.py", "from tiktoken import Encoding", "tokens"),
    ("data/files/a.py", "import plotly", "pages"),
    ("data/files/b.py", "import pandas as pd", "frames"),
    ("retrieval/a.py", "import llama_index.core", "frameworks"),
]


@pytest.fixture(scope="module")
def found(skeleton: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the linter says of each breach, planted in a house of its own."""
    roots = []
    for file, code, _ in BREACHES:
        roots.append(shutil.copytree(skeleton, tmp_path_factory.mktemp("breach"), dirs_exist_ok=True))
        for name, text in {
            "data/b.py": "def f():\n    import ctxasm.retrieval.a",
            "text/markers/b.py": "import ctxasm.text.markers.a",
            file: code,
        }.items():
            (roots[-1] / "ctxasm" / name).write_text(text, encoding="utf-8")
        for other in ("retrieval/a.py", "text/markers/a.py"):
            (roots[-1] / "ctxasm" / other).touch()
    return lint(*roots)


@pytest.mark.parametrize("number", range(len(BREACHES)), ids=lambda number: " ".join(BREACHES[number][::2]))
def test_a_planted_breach_is_seen(found: list[str], number: int) -> None:
    broken = [each["name"] for each in CONTRACTS if f"{each['name']} BROKEN" in " ".join(found[number].split())]
    assert broken == [each["name"] for each in CONTRACTS if each["id"] == BREACHES[number][2]]
