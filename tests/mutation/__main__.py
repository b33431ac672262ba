"""``python -m tests.mutation [MODULE …]``: how many mutants of the rules the tests notice, and which ones they do not.

Own code, because of what the kept tools leave out: mutmut changes function bodies only, so neither the tuned constants of a module nor the
defaults of a dataclass, and cosmic-ray starts a process of pytest for each mutant. Here each mutant is a forked child of a process that has
already loaded everything the module does not touch, and runs only the tests that call the function, the quickest first.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib
import importlib.machinery
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.mutation.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).parent / "survivors.tsv"
MAP = ROOT / ".pytest_cache" / "mutation.json"
RULES = ["ctxasm/citations", "ctxasm/text/markers", "ctxasm/text/tokens/counter.py", "ctxasm/model/characters.py", "ctxasm/assembly"] + [
    f"ctxasm/text/{name}.py" for name in ("sentences", "dates", "units", "chunk_facts")
]
TESTS = [
    "tests/citations",
    "tests/text",
    "tests/assembly",
    "tests/model/test_quiet.py",
    "tests/llm/test_compressor.py",
    "tests/llm/test_repeats.py",
    "tests/mutation",
]
PLAINLY = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
SECONDS = 4.0
"""Processor time of the unchanged tests that one mutant may be put to; the slower ones are left out."""


class Quick:
    """No shrinking, no memory of failures, the same examples each time: whether a mutant is noticed must not depend on luck."""

    def pytest_configure(self) -> None:
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutation", hypothesis.settings(), derandomize=True, database=None, phases=phases)
        hypothesis.settings.load_profile("mutation")


class Calls(Quick):
    """Which functions of the rules each test calls, and what it takes."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}
        self.caches: list[Any] = []

    def pytest_collection_finish(self) -> None:
        self.caches = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        for cache in self.caches:
            cache.cache_clear()
        called: set[types.CodeType] = set()

        def seen(frame: types.FrameType, event: str, arg: object) -> None:
            called.add(frame.f_code)

        before = time.process_time()
        sys.settrace(seen)
        try:
            outcome: Any = yield
        finally:
            sys.settrace(None)
        if outcome.excinfo is None:
            ours = [code for code in called if code.co_filename.startswith(f"{ROOT}/ctxasm/")]
            names = sorted(f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}" for code in ours)
            self.found[item.nodeid] = {"seconds": time.process_time() - before, "calls": names}


class Only(Quick):
    """Just these tests, in this order."""

    def __init__(self, ids: list[str]) -> None:
        self.place = {name: place for place, name in enumerate(ids)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.place), key=lambda one: self.place[one.nodeid])


class Verdict(Only):
    """The same in a child, which has said all it knows when the tests end: to tear down takes longer than most tests."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        os._exit(exitstatus)


def forked(work: Callable[[], int]) -> int:
    """What a child came back with; 0 is "every test passed", below 0 the signal that ended it."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 3
    try:
        code = work()
    except Exception:  # noqa: BLE001 a child never goes on where its parent is
        traceback.print_exc()
    finally:
        os._exit(code)


def _silently(arguments: list[str], plugin: object) -> int:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    return int(pytest.main([*arguments, "-x", *PLAINLY], plugins=[plugin]))


def map_tests(tests: list[str]) -> dict[str, Any]:
    """The table of tests, made in a child (its modules must not be ours) and kept with pytest's own cache."""

    def work() -> int:
        calls = Calls()
        pytest.main([*tests, *PLAINLY], plugins=[calls])
        MAP.parent.mkdir(exist_ok=True)
        MAP.write_text(json.dumps((read_map() if MAP.exists() else {}) | calls.found))
        return 0

    forked(work)
    return read_map()


def read_map() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MAP.read_text())
    return found


def tests_for(mutant: Mutant, path: Path, table: dict[str, Any]) -> list[str]:
    """The tests that call the function, or anything of the module where the mutant is not in one, the quickest first."""
    place = f"{path.relative_to(ROOT)}:{mutant.function or ''}"
    calling = [
        name for name, one in table.items() if any(call == place or (place[-1] == ":" and call.startswith(place)) for call in one["calls"])
    ]
    spent, kept = 0.0, list[str]()
    for name in sorted(calling, key=lambda one: table[one]["seconds"]):
        spent += table[name]["seconds"]
        if kept and spent > SECONDS:
            break
        kept.append(name)
    return kept


@functools.cache
def _imports(path: Path) -> set[str]:
    """Module names that a file imports, each name taken from a package counted as a module too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def forget(module: str) -> None:
    """Unload a module and all that rests on it, tests included: the next import meets the mutant."""
    loaded = {
        name: Path(one.__file__) for name, one in sys.modules.items() if (getattr(one, "__file__", None) or "").startswith(f"{ROOT}/")
    }
    imports = {name: _imports(path) for name, path in loaded.items() if "/.venv/" not in str(path)}
    gone = {module} | {name for name, path in loaded.items() if (ROOT / "tests") in path.parents and "mutation" not in path.parts}
    while more := {name for name, one in imports.items() if name not in gone and one & gone}:
        gone |= more
    for name in gone - {"__main__"}:
        parent, _, last = name.rpartition(".")
        sys.modules.pop(name, None)
        if parent in sys.modules and hasattr(sys.modules[parent], last):
            delattr(sys.modules[parent], last)


def run(mutant: Mutant | None, module: str, ids: list[str]) -> int:
    """Put one mutant to its tests; an endless loop ends at a limit of processor seconds, and is noticed."""
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: Any, fullname: str) -> Any:
        if mutant and fullname == module:
            return compile(mutant.plant(), loader.path, "exec")
        return plain(loader, fullname)

    def work() -> int:
        limit = int(SECONDS * 3 + 20)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        signal.alarm(600)
        importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
        return _silently(sorted({name.partition("::")[0] for name in ids}), Verdict(ids))

    return forked(work)


def listed() -> dict[str, str]:
    """Survivors that were looked at: name → what it is."""
    return dict(reversed(line.split("\t")) for line in LISTED.read_text().splitlines()) if LISTED.exists() else {}  # type: ignore[misc]


def measure(path: Path, table: dict[str, Any], most: int) -> dict[str, Any]:
    """All mutants of a module (or a sample), what was tried, what survived."""
    module, known = ".".join(path.relative_to(ROOT).with_suffix("").parts), listed()
    every = mutants_of(module, path.read_text())
    real = [one for one in every if known.get(one.name) != "equivalent"]
    tried = sorted(random.Random(12).sample(real, min(most, len(real))), key=lambda one: one.line)
    forget(module)
    gc.freeze()
    survived = []
    for mutant in tried:
        ids = tests_for(mutant, path, table)
        if not ids or run(mutant, module, ids) == 0:
            survived.append(mutant.name)
            print(f"{mutant.line}\t{mutant.name}\t{len(ids)} tests\t{known.get(mutant.name, '')}", flush=True)
    print(f"{len(every):5} {len(real):5} {len(tried):5} {len(tried) - len(survived):5}  {module}", flush=True)
    return {"mutants": len(every), "real": len(real), "tried": len(tried), "survived": survived}


def paths_of(modules: list[str]) -> list[Path]:
    wanted = modules or RULES
    found = [p for one in wanted for p in ([ROOT / one] if one.endswith(".py") else sorted((ROOT / one).rglob("*.py")))]
    return [path for path in found if mutants_of("", path.read_text())]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", help="files or folders; without any: the rules of citations and of what assembly rests on")
    parser.add_argument("--map", action="store_true", help="find anew what the --tests call (needed after tests were written)")
    parser.add_argument("--tests", nargs="*", default=TESTS)
    parser.add_argument("--most", type=int, default=60, help="mutants per module; a module with more is sampled (default %(default)s)")
    chosen = parser.parse_args()
    os.chdir(ROOT)
    sys.dont_write_bytecode = False  # read again by each child
    table = map_tests(chosen.tests) if chosen.map or not MAP.exists() else read_map()
    files = sorted({name.partition("::")[0] for name in table})
    if pytest.main([*files, "--collect-only", "-qqq", *PLAINLY], plugins=[Only([])]) not in (0, 5):
        return 2
    for one in [*(ROOT / "ctxasm").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        _imports(one)
    for path in paths_of(chosen.modules):
        forked(lambda path=path: _kept(path, measure(path, table, chosen.most)))  # type: ignore[misc]
    return 0


def _kept(path: Path, result: dict[str, Any]) -> int:
    with MAP.with_name("mutation.jsonl").open("a") as out:
        out.write(json.dumps({"file": str(path.relative_to(ROOT)), **result}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
