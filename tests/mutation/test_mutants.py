"""Each kind of change is made, one at a time, and nothing else of the module is touched."""

from __future__ import annotations

import ast

import pytest

from tests.mutation.__main__ import ROOT, listed
from tests.mutation.mutants import function_of, mutants_of


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b <= c", ["x = a <= b <= c", "x = a < b < c"]),
        ("x = a == b", ["x = a != b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a is None", []),
        ("LIMIT = 21", ["LIMIT = 22", "LIMIT = 20"]),
        ("START = 0", ["START = 1"]),
        ("SHARE = 0.5", ["SHARE = 0.55", "SHARE = 0.45"]),
        ("IS_ON = True", []),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("class A(NamedTuple):\n    n: int = 3", ["class A(NamedTuple):\n    n: int = 4", "class A(NamedTuple):\n    n: int = 2"]),
        ("@lru_cache(maxsize=512)\ndef f(a: Literal[1]) -> Literal[2]:\n    return a", []),
    ],
)
def test_mutants_of_a_line(source: str, expected: list[str]) -> None:
    found = mutants_of("m", source)
    assert [ast.unparse(one.plant()) for one in found] == expected
    assert len({one.name for one in found}) == len(found)


def test_a_mutant_is_named_by_its_place_without_a_line_and_knows_the_function_to_call() -> None:
    source = "class A:\n    def f(self):\n        return [n for n in self if n > 0]\n"
    names = {one.name: one.function for one in mutants_of("m", f"\n\n{source}")}
    assert names == {one.name: one.function for one in mutants_of("m", source)} == {
        "m:A.f: n > 0 [n > 0 → n >= 0]": "A.f",
        "m:A.f: n > 0 [0 → 1]": "A.f",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["f", "A.f"])
def test_the_code_of_a_function_is_found_by_its_name(name: str) -> None:
    module = compile("def f(): return 1\nclass A:\n    def f(self): return 2\n", "m.py", "exec")
    found = function_of(module, name)
    assert found is not None
    assert (found.co_qualname, found.co_consts[-1]) == (name, {"f": 1, "A.f": 2}[name])


def test_of_two_functions_with_one_name_none_is_taken_for_the_other() -> None:
    module = compile("class A:\n    @property\n    def f(self): ...\n    @f.setter\n    def f(self, x): ...\n", "m.py", "exec")
    assert function_of(module, "A.f") is function_of(module, "A.g") is None


@pytest.mark.slow
def test_what_is_listed_to_survive_is_still_there() -> None:
    """A reason that is given for code of before excuses nothing."""
    survivors = listed()
    files = {name: ROOT / f"{name.replace('.', '/')}.py" for name in {each.partition(":")[0] for each in survivors}}
    known = {one.name for name, file in files.items() for one in mutants_of(name, file.read_text(encoding="utf-8"))}
    assert survivors.keys() <= known
