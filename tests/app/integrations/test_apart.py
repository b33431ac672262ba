"""The adapters stand apart: each framework in its own module, and nothing of ctxasm needs it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ctxasm

PACKAGE = Path(ctxasm.__file__).parent
HOMES = {
    "langchain_core": "app/integrations/langchain.py",
    "llama_index": "app/integrations/llamaindex.py",
}


def packages(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    plain = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return plain | {(node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_each_framework_is_imported_in_its_own_module_only() -> None:
    for name, home in HOMES.items():
        named = [file for file in sorted(PACKAGE.rglob("*.py")) if name in file.read_text(encoding="utf-8")]
        assert [str(file.relative_to(PACKAGE)) for file in named if name in packages(file)] == [home]
    assert not any(
        name.startswith(("langchain", "haystack", "phoenix", "langfuse", "ragas"))
        for name in packages(PACKAGE / "data/files/recognised/lists.py")
    )


@pytest.mark.parametrize(
    ("module", "package", "extra"), [("langchain", "langchain_core", "langchain"), ("llamaindex", "llama_index", "llamaindex")]
)
def test_without_its_package_an_adapter_says_what_to_install(module: str, package: str, extra: str) -> None:
    code = f"""import sys
sys.modules[{package!r}] = None
try:
    import ctxasm.app.integrations.{module}
except Exception as error:
    print(type(error).__name__, error)"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert said.startswith("InvalidInput the adapter for ")
    assert f"pip install 'ctxasm[{extra}]'" in said
