"""The map of the five sources: every name in it exists, and every function of theirs is in it."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ctxasm.model.presets import PRESETS
from ctxasm.model.settings import specs
from tests.real_data import real_folder

ROOT = Path(__file__).parents[1]
SOURCES = ("five-stage pipeline", "SOURCE-N assembler", "token-budget guide", "bookend guide", "contextual embeddings")
NOT_HERE = "not here yet"
DEFINED: dict[str, tuple[str, ...]] = {
    "five-stage pipeline": ("_build_citations_from_chunks", "build_context"),
    "SOURCE-N assembler": ("assemble", "buildRef", "extractSources", "snippet"),
    "token-budget guide": (
        "TokenBudget",
        "build_budget",
        "context_budget",
        "count_tokens",
        "count_tokens_batch",
        "select_chunks_within_budget",
        "order_chunks_lost_in_middle",
        "order_chunks_chronological",
        "order_chunks_by_relevance",
        "deduplicate_chunks",
        "deduplicate_fuzzy",
        "jaccard",
        "format_context_minimal",
        "format_context_numbered",
        "format_context_xml",
        "format_context_grouped",
        "build_prompt",
        "compress_chunk",
        "compress_chunks",
        "AssembledContext",
        "assemble_with_citations",
        "AssemblyConfig",
        "assemble_context",
    ),
    "bookend guide": (
        "assemble_context_naive",
        "ScoredChunk",
        "bookend_ordering",
        "ordering_for_size",
        "exact_dedup",
        "semantic_dedup",
        "dedup_pipeline",
        "ContextBudget",
        "total",
        "count_tokens",
        "fit_chunks_to_budget",
        "compress_chunk",
        "selective_compress",
        "assemble_context",
        "rag_with_context_assembly",
    ),
    "contextual embeddings": ("_generate_chunk_contexts", "_build_enriched_text", "_generate_canonical_questions_batch"),
}
"""What each source defines in its code, or names as code where it shows none."""
ELSEWHERE = {"map", "str", "toInt"}
"""Names that a source calls, or gets from another library."""


class Row(NamedTuple):
    source: str
    has: str
    here: str
    test: str


def rows() -> list[Row]:
    text = (ROOT / "docs" / "about" / "sources.md").read_text(encoding="utf-8")
    table = text.split("<!-- begin sources -->\n", 1)[1].split("<!-- end sources -->", 1)[0].strip().splitlines()
    return [Row(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in table[2:]]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def names_in(path: Path) -> frozenset[str]:
    """What a module defines: functions, classes with what they hold, and assigned names."""
    found: set[str] = set()

    def collect(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(before + node.name)
                if isinstance(node, ast.ClassDef):
                    collect(node.body, f"{before}{node.name}.")
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(before + node.target.id)
            elif isinstance(node, ast.Assign):
                found.update(before + target.id for target in node.targets if isinstance(target, ast.Name))

    collect(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return frozenset(found)


def exists(dotted: str) -> bool:
    """Whether `ctxasm.room.module.name` is there; a module alone is too."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:cut])
        module = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
        if module.is_file():
            return cut == len(parts) or ".".join(parts[cut:]) in names_in(module)
    return False


def test_the_table_names_all_five_sources_in_turn() -> None:
    assert list(dict.fromkeys(row.source for row in rows())) == list(SOURCES)
    assert all(row.has and row.here and row.test for row in rows())


def test_every_place_exists() -> None:
    """A module with a name in it, a setting, or a preset."""
    known = {spec.name for spec in specs()} | set(PRESETS)
    missing = [name for row in rows() for name in quoted(row.here) if not (exists(name) if "." in name else name in known)]
    assert missing == []
    assert not exists("ctxasm.assembly.order.no_such_name")
    assert [row.has for row in rows() if not quoted(row.here)] == []


def test_every_row_names_a_test_that_exists() -> None:
    named = [(row.has, name.partition("::")) for row in rows() for name in quoted(row.test)]
    assert [has for has, (file, _, test) in named if not (ROOT / file).is_file() or test not in names_in(ROOT / file)] == []
    assert [row.has for row in rows() if not quoted(row.test)] == []


@pytest.mark.parametrize("source", SOURCES)
def test_every_function_of_a_source_is_in_the_table(source: str) -> None:
    named = {name for row in rows() if row.source == source for name in quoted(row.has)}
    assert sorted(set(DEFINED[source]) - named) == []


def test_every_setting_of_a_strategy_has_a_row() -> None:
    """What the sources disagree about can be set, so all of it is here; the rest of the settings is ours."""
    ours = {"top_k", "gap_mark", "marker_collisions", "pack_k", "pack_unit", "pool_window", "order_level"}
    named = {name for row in rows() for name in quoted(row.here) if "." not in name}
    assert sorted({spec.name for spec in specs()} - named - ours) == []


def test_nothing_of_the_sources_is_left_out() -> None:
    assert [row.has for row in rows() if NOT_HERE in row.here] == []


@pytest.mark.parametrize("source", SOURCES)
def test_the_list_of_names_is_that_of_the_source(source: str) -> None:
    """Reads the sources where they lie beside the project; the list above is what holds where they do not."""
    text = source_text(source)
    if text is None:
        pytest.skip("the sources are not beside the project")
    defined = set(re.findall(r"(?:def|class) (\w+)[(:]", text)) | set(re.findall(r"\b(\w+)\(List<", text))
    defined |= set(re.findall(r"(?<!\w)(_\w+)\(\)", text)) | set(re.findall(r"\.(build_context)\(\)", text))
    if source == "SOURCE-N assembler":
        defined |= set(re.findall(r"\b([a-z]\w+)\(c", text)) | set(re.findall(r"Assembler\.(\w+)\(", text))
    assert defined - ELSEWHERE == set(DEFINED[source])


def source_text(source: str) -> str | None:
    """The text of a source: they are numbered in the order of `SOURCES`."""
    data = real_folder()
    folder = Path(os.environ.get("CTXASM_SOURCES") or (data.parent / "seeds" if data is not None else ROOT / "none"))
    files = sorted(folder.glob(f"{SOURCES.index(source):03d}_*.txt"))
    return files[0].read_text(encoding="utf-8") if files else None
