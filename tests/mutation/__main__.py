"""``python -m tests.mutation [MODULE …]``: how many mutants of the rules the tests notice, and which ones they do not.

Own code, because of what the kept tools leave out: mutmut changes function bodies only, so neither the tuned constants of a module nor the
defaults of a dataclass, and cosmic-ray starts a process of pytest for each mutant. Here pytest collects once; each mutant is a forked
child of that process, which puts the changed code in the place of the function's own and runs only the tests that reach the changed line,
until one fails. What is run when a module is loaded (a constant, a default) takes longer: the child loads the module again, and what rests
on it.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib.machinery
import json
import os
import random
import resource
import signal
import sys
import threading
import time
import traceback
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.mutation.mutants import Mutant, function_of, mutants_of

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).parent / "survivors.tsv"
MAP = ROOT / ".pytest_cache" / "mutation.json"
RULES = ["ctxasm/assembly", "ctxasm/citations", "ctxasm/text/markers", "ctxasm/text/tokens/counter.py", "ctxasm/model/characters.py"] + [
    f"ctxasm/text/{name}.py" for name in ("sentences", "dates", "units", "chunk_facts")
]
TESTS = [
    "tests/assembly",
    "tests/citations",
    "tests/text",
    "tests/answering",
    "tests/app/commands/test_check.py",
    "tests/model/test_quiet.py",
    "tests/llm/test_compressor.py",
    "tests/llm/test_repeats.py",
]
PLAINLY = ["-n0", "-s", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
SECONDS = 5.0
"""Processor time, traced, of the unchanged tests that one mutant may be put to unless told otherwise; the slower ones are left out."""
SMALL = 0.1
"""Processor time of a test that tries one case."""
STEPS = 2000
AT_IMPORT = "at import"
_sound: dict[str, bool] = {}
_told: list[int] = []
"""The pipe through which a child says which test failed."""
_RULES = tuple(f"{ROOT}/{one}" for one in RULES)


class Quick:
    """No shrinking, no memory of failures, the same examples each time: whether a mutant is noticed must not depend on luck."""

    def pytest_configure(self) -> None:
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutation", hypothesis.settings(), derandomize=True, database=None, phases=phases)
        hypothesis.settings.load_profile("mutation")


class Reached:
    """Which lines of the rules were run since it was told to begin; of what runs often, those of the first so many steps."""

    def __init__(self) -> None:
        self._left: dict[types.CodeType, set[int]] = {}
        self._steps: dict[types.CodeType, int] = {}

    def _call(self, frame: types.FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if (left := self._left.get(code)) is None:
            ours = code.co_filename.startswith(_RULES)
            left = self._left[code] = {line for _, _, line in code.co_lines() if line} if ours else set()
            self._steps[code] = STEPS
        return self._line if left and self._steps[code] > 0 else None

    def _line(self, frame: types.FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        self._left[code].discard(frame.f_lineno)
        self._steps[code] -= 1
        frame.f_trace_lines = self._steps[code] > 0
        return self._line

    def begin(self) -> None:
        self._left.clear()
        self._steps.clear()
        threading.settrace(self._call)
        sys.settrace(self._call)

    def end(self) -> dict[str, list[int]]:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        found: dict[str, set[int]] = defaultdict(set)
        for code, left in list(self._left.items()):  # a thread that is not over still adds to it
            if code.co_filename.startswith(_RULES):
                name = str(Path(code.co_filename).relative_to(ROOT))
                found[name] |= {line for _, _, line in code.co_lines() if line and line not in left}
        return {name: sorted(lines) for name, lines in found.items()}


class Mapping(Quick):
    """Which lines of the rules each test reaches, its fixtures' too, and what it takes."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}
        self._reached = Reached()
        self._has_failed = False
        self._caches: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        self._reached.begin()

    def pytest_collection_finish(self) -> None:
        self.found[AT_IMPORT] = {"seconds": 0, "lines": self._reached.end()}
        self._caches = caches()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= not report.passed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        for cache in self._caches:
            cache.cache_clear()
        self._has_failed = False
        before = time.process_time()
        self._reached.begin()
        done = yield
        lines = self._reached.end()
        if not self._has_failed:
            self.found[item.nodeid] = {"seconds": time.process_time() - before, "lines": lines}
        return done


class Only(Quick):
    """Just these tests, in this order; the process ends with the first failure, or with the last test."""

    def __init__(self, ids: list[str]) -> None:
        self.place = {name: place for place, name in enumerate(ids)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.place), key=lambda one: self.place[one.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            failed(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        os._exit(exitstatus)


class Workshop(Quick):
    """In place of running the tests it has collected, this session measures modules with them."""

    def __init__(self, work: Callable[[Workshop], None]) -> None:
        self._work = work
        self._is_child = False
        self.items: dict[str, pytest.Item] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        for cache in caches():
            cache.cache_clear()
        self._work(self)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._is_child and report.failed:
            failed(report)

    def run(self, ids: list[str]) -> int:
        """In a child only."""
        self._is_child = True
        chosen = [self.items[one] for one in ids]
        for item, after in zip(chosen, [*chosen[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        return 0


def failed(report: pytest.TestReport) -> None:
    """The end of a child, which says which test it was."""
    os.write(_told[1], report.nodeid.encode())
    os._exit(1)


def caches() -> list[Any]:
    """Of functions: what a mutant would have found must not be remembered from before it."""
    every = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    return [one for one in every if str(getattr(one, "__module__", "")).startswith("ctxasm.")]


def forked(work: Callable[[], int]) -> int:
    """What a child came back with; 0 is "every test passed", below 0 the signal that ended it."""
    sys.stdout.flush()
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 3
    try:
        code = work()
    except Exception:  # noqa: BLE001 a child never goes on where its parent is
        traceback.print_exc()
    finally:
        os._exit(code)


def tested(work: Callable[[], int], seconds: float) -> tuple[bool, str]:
    """Whether a child without a voice passed every test, and which failed; an endless loop ends at a limit of processor seconds."""

    def bounded() -> int:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        limit = int(seconds * 3 + 4)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        signal.alarm(limit * 20)
        return work()

    _told[:] = os.pipe()
    passed = forked(bounded) == 0
    os.close(_told[1])
    with os.fdopen(_told[0]) as pipe:
        return passed, pipe.read()


def map_tests(tests: list[str]) -> None:
    """The table of tests, made in a child (its modules must not be ours) and kept with pytest's own cache."""

    def work() -> int:
        mapping = Mapping()
        pytest.main([*tests, *PLAINLY], plugins=[mapping])
        MAP.parent.mkdir(exist_ok=True)
        known = read_map() if MAP.exists() else {}
        if AT_IMPORT in known:
            del mapping.found[AT_IMPORT]
        MAP.write_text(json.dumps(known | mapping.found))
        return 0

    forked(work)


def read_map() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MAP.read_text())
    return found


class Tests:
    """Which tests a mutant is put to."""

    def __init__(self, table: dict[str, Any], path: Path, most: float) -> None:
        self._most = most
        self._name = str(path.relative_to(ROOT))
        self._room, self._mirror = f"tests/{path.relative_to(ROOT).parts[1]}/", path.stem
        self._seconds = {name: one["seconds"] for name, one in table.items()}
        self._by_line: dict[int, set[str]] = defaultdict(set)
        for name, one in table.items():
            for line in one["lines"].get(self._name, ()):
                self._by_line[line].add(name)
        self.at_import = {line for line, names in self._by_line.items() if AT_IMPORT in names}

    def of(self, mutant: Mutant) -> list[str]:
        """Those that reach the line, or any of the module where the mutant is in no function.

        Those that mirror the module first, then of its room, small ones before laws, one case of each test before the second of any.
        """
        reaching = self._by_line.get(mutant.line, set()) - {AT_IMPORT} if mutant.function else set()
        if not reaching:  # a default, or what is run when the module is loaded
            lines = mutant.lines if mutant.function else self._by_line.keys()
            reaching = set().union(*(self._by_line.get(line, set()) for line in lines)) - {AT_IMPORT}
        turns, cases = dict[str, int](), Counter[str]()
        for name in sorted(reaching, key=lambda one: (self._seconds[one], one)):
            turns[name] = cases[test := name.partition("[")[0]]
            cases[test] += 1
        spent, kept = 0.0, list[str]()
        for name in sorted(turns, key=lambda one: (*self._rank(one), turns[one], self._seconds[one], one)):
            if kept and spent + self._seconds[name] > self._most:
                continue
            spent += self._seconds[name]
            kept.append(name)
        return kept

    def _rank(self, name: str) -> tuple[bool, bool, bool]:
        return self._mirror not in name.partition("::")[0], not name.startswith(self._room), self._seconds[name] > SMALL

    def seconds(self, ids: list[str]) -> float:
        return sum(self._seconds[one] for one in ids)


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


def loaded_anew(tree: ast.Module, module: str, ids: list[str]) -> int:
    """In a child only: the tests, in a session of their own that meets the mutant wherever the module is imported."""
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: Any, fullname: str) -> Any:
        return compile(tree, loader.path, "exec", dont_inherit=True) if fullname == module else plain(loader, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    forget(module)
    return int(pytest.main([*sorted({name.partition("::")[0] for name in ids}), *PLAINLY], plugins=[Only(ids)]))


class Module:
    """One module of the rules: plants its mutants, and runs what may notice them."""

    def __init__(self, path: Path, workshop: Workshop, table: dict[str, Any], most: float) -> None:
        self.name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        self.mutants = mutants_of(self.name, path.read_text())
        self._path, self._workshop = path, workshop
        self._tests = Tests({name: one for name, one in table.items() if name == AT_IMPORT or name in workshop.items}, path, most)
        self._functions: dict[tuple[str, int], list[types.FunctionType]] = defaultdict(list)
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType) and one.__code__.co_filename == str(path):
                self._functions[one.__code__.co_qualname, one.__code__.co_firstlineno].append(one)

    def _is_sound(self, name: str) -> bool:
        """Whether a test passes alone with nothing changed: one that does not would notice everything."""
        if name not in _sound:
            _sound[name] = tested(lambda: self._workshop.run([name]), 60)[0]
        return _sound[name]

    def is_noticed(self, mutant: Mutant) -> bool:
        every = self._tests.of(mutant)
        while ids := [one for one in every if _sound.get(one, True)]:
            passed, name = self._put(mutant, ids)
            if passed:
                return False
            if not name or self._is_sound(name):
                return True
        return False

    def _put(self, mutant: Mutant, ids: list[str]) -> tuple[bool, str]:
        """What comes of putting a mutant to tests."""
        seconds, tree = self._tests.seconds(ids), mutant.plant()
        code = function_of(compile(tree, str(self._path), "exec", dont_inherit=True), mutant.function) if mutant.function else None
        functions = self._functions[code.co_qualname, code.co_firstlineno] if code else []
        if functions and all(one.__code__ != code for one in functions):

            def exchanged() -> int:
                for one in functions:
                    one.__code__ = code
                return self._workshop.run(ids)

            passed, name = tested(exchanged, seconds)
            if not passed or mutant.line not in self._tests.at_import:
                return passed, name
        return tested(lambda: loaded_anew(tree, self.name, ids), seconds + 20)


def listed() -> dict[str, str]:
    """Mutants that survived and were looked at: name → why it is the same program, or "" where a test is missing."""
    lines = [line.split("\t") for line in LISTED.read_text().splitlines()] if LISTED.exists() else []
    return {name: why for name, why in lines}  # noqa: C416 a list of two is no pair to the type checker


def survivors(module: Module, tried: list[Mutant]) -> list[Mutant]:
    found = []
    for mutant in tried:
        if not module.is_noticed(mutant):
            found.append(mutant)
            print(f"  {mutant.line}\t{mutant.name}", flush=True)
    return found


def paths_of(modules: list[str]) -> list[Path]:
    wanted = modules or RULES
    found = [p for one in wanted for p in ([ROOT / one] if one.endswith(".py") else sorted((ROOT / one).rglob("*.py")))]
    return [path for path in found if mutants_of("", path.read_text())]


def keep(tried: list[Mutant], survived: list[Mutant]) -> None:
    """The list, with what is known now in the place of what was said of the mutants tried."""
    known = listed()
    names = {one.name for one in tried}
    rest = {name: why for name, why in known.items() if why or name not in names} | dict.fromkeys([one.name for one in survived], "")
    LISTED.write_text("".join(f"{name}\t{why}\n" for name, why in sorted(rest.items())))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", help="files or folders; without any: assembly, citations, and what both rest on")
    parser.add_argument("--map", action="store_true", help="find anew what the --tests reach (needed after tests were written)")
    parser.add_argument("--tests", nargs="*", default=TESTS)
    parser.add_argument("--sample", type=int, help="so many mutants, drawn at random from all of these modules (default: all are tried)")
    parser.add_argument("--seed", type=int, default=12, help="of the draw (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of tests that one mutant may be put to (default %(default)s)")
    parser.add_argument("--open", action="store_true", help="only those that survivors.tsv has without a reason")
    parser.add_argument("--keep", action="store_true", help="write the survivors into survivors.tsv")
    chosen = parser.parse_args()
    os.chdir(ROOT)
    sys.dont_write_bytecode = False  # read again by children
    if chosen.map or not MAP.exists():
        map_tests(chosen.tests)
    table, paths = read_map(), paths_of(chosen.modules)
    files = sorted({name.partition("::")[0] for name in table if name != AT_IMPORT})

    def work(workshop: Workshop) -> None:
        totals: dict[str, Counter[str]] = defaultdict(Counter)
        modules = [Module(path, workshop, table, chosen.seconds) for path in paths]
        gc.freeze()
        known = listed()
        real = {one.name: one for module in modules for one in module.mutants if not known.get(one.name)}
        drawn = [name for name in real if name in known or not chosen.open]
        if chosen.sample:
            drawn = random.Random(chosen.seed).sample(drawn, min(chosen.sample, len(drawn)))
        print(" all  same tried noticed")
        for module in modules:
            tried = [one for one in module.mutants if one.name in set(drawn)]
            same = sum(one.name not in real for one in module.mutants)
            survived = survivors(module, tried)
            print(f"{len(module.mutants):4} {same:5} {len(tried):5} {len(tried) - len(survived):7}  {module.name}", flush=True)
            if chosen.keep:
                keep(tried, survived)
            totals[module.name.split(".")[1]].update(same=same, tried=len(tried), noticed=len(tried) - len(survived))
        for room, one in totals.items():
            print(
                f"{room}: {one['noticed']} of {one['tried']} noticed ({one['noticed'] / max(1, one['tried']):.1%}); {one['same']} the same"
            )
        stale = set(listed()) - {one.name for module in modules for one in module.mutants} if paths == paths_of([]) else set()
        print("".join(f"no such mutant any more: {name}\n" for name in sorted(stale)), end="")

    return int(pytest.main([*files, "-qqq", *PLAINLY], plugins=[Workshop(work)]))


if __name__ == "__main__":
    sys.exit(main())
