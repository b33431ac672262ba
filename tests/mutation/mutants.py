"""What a mutant is: one comparison, number or connective of a module changed, by its place in the syntax tree."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

_PAIRS = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn))
_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_MIN_MAX = {"min": "max", "max": "min"}


class Mutant(NamedTuple):
    """``name`` says place and change without a line number, so that a list of names outlives edits elsewhere in the file."""

    name: str
    function: str | None
    """The outermost function as tracebacks name it; none: run when the module is loaded."""
    line: int
    lines: range
    """Of that function, or of nothing."""
    plant: Callable[[], ast.Module]


def _numbers(value: float) -> list[float]:
    if isinstance(value, float):
        return [1.0] if value == 0 else [value * 1.1, value * 0.9]
    return [1] if value == 0 else [value + 1, value - 1]


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            if other := _SWAPPED.get(type(operator)):
                yield ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from (ast.Constant(number) for number in _numbers(node.value))  # type: ignore[arg-type]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Name) and node.id in _MIN_MAX:
        yield ast.Name(_MIN_MAX[node.id], ast.Load())


class _Place(NamedTuple):
    parent: ast.AST
    field: str
    index: int | None
    scope: tuple[str, ...]
    function: str | None
    lines: range


def _places(
    node: ast.AST, scope: tuple[str, ...] = (), function: str | None = None, lines: range = range(0)
) -> Iterator[tuple[ast.AST, _Place]]:
    """Every expression that runs; annotations, docstrings and the sizes of caches (``@lru_cache(maxsize=…)``) are none."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST):
                continue
            yield child, _Place(node, field, index, scope, function, lines)
            inner, first, within = scope, function, lines
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = (*scope, child.name)
                if not isinstance(child, ast.ClassDef) and function is None:
                    first, within = ".".join(inner), range(child.lineno, (child.end_lineno or child.lineno) + 1)
            yield from _places(child, inner, first, within)


def _planted(tree: ast.Module, place: _Place, node: ast.AST) -> ast.Module:
    """A copy of the tree with the node in that place; the tree itself is as it was."""
    held = getattr(place.parent, place.field)
    old = held if place.index is None else held[place.index]

    def put(what: ast.AST) -> None:
        if place.index is None:
            setattr(place.parent, place.field, what)
        else:
            held[place.index] = what

    put(ast.copy_location(node, old))
    try:
        return ast.fix_missing_locations(copy.deepcopy(tree))
    finally:
        put(old)


def function_of(module: types.CodeType, name: str) -> types.CodeType | None:
    """The code of an outermost function (``Class.method``) in the code of its module; none where two have the name."""
    found = [module]
    for part in name.split("."):
        found = [one for code in found for one in code.co_consts if isinstance(one, types.CodeType) and one.co_name == part]
    return found[0] if len(found) == 1 else None


def _shown(node: ast.AST, most: int = 70) -> str:
    said = " ".join(ast.unparse(node).split())
    return said if len(said) <= most else said[: most - 1] + "…"


def _around(place: _Place, node: ast.AST) -> ast.AST:
    """A bare number or name says little: it is shown within the expression or statement that holds it."""
    bare = isinstance(node, ast.Constant | ast.Name) and isinstance(place.parent, ast.expr | ast.stmt | ast.keyword)
    return place.parent if bare and not isinstance(place.parent, ast.FunctionDef | ast.ClassDef) else node


def mutants_of(module: str, source: str) -> list[Mutant]:
    tree = ast.parse(source)
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    for node, place in list(_places(tree)):
        for changed in _changed(node):
            change = f"{_shown(node, 40)} → {_shown(changed, 40)}"
            if isinstance(node, ast.BoolOp):
                change = "and → or" if isinstance(node.op, ast.And) else "or → and"
            name = f"{module}:{'.'.join(place.scope) or '-'}: {_shown(_around(place, node))} [{change}]"
            seen[name] = seen.get(name, 0) + 1
            name += f" #{seen[name]}" if seen[name] > 1 else ""
            found.append(Mutant(name, place.function, getattr(node, "lineno", 0), place.lines, partial(_planted, tree, place, changed)))
    return found
