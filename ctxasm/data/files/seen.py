"""What stands where in rows of objects and lists: a few rows walked to any depth into a table of paths, and the values at a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.rows import Rows
from ctxasm.data.names import FIELD_NAMES, plain_name
from ctxasm.data.paths import EVERY, dotted, lists_of

ABSENT = object()
LEAST_VECTOR = 16
METADATA = frozenset(map(plain_name, ("metadata", "meta", "cmetadata", "chunk_metadata", "meta_data", "metadatas")))
VECTORS = frozenset(plain_name(name) for field in ("embedding", "tsvector") for name in FIELD_NAMES[field])
CELL_KEYS = frozenset(("apikey", "xapikey", "authorization", "accesstoken", "secretkey", "password"))
ROWS, ITEMS, KEYS, VALUES, DEPTH = 20, 8, 60, 4_000, 12
"""What is looked at: rows, items of a list, keys of an object, values of a row, levels."""
OTHERS = frozenset(
    map(
        plain_name,
        (
            *("gold", "spans", "history", "messages", "tool_calls", "prompts", "labels", "highlights", "choices", "tests"),
            *(
                "reference_contexts",
                "ground_truth_contexts",
                "reference_context_ids",
                "aggregations",
                "child_runs",
                "observations",
                "events",
            ),
        ),
    )
)
"""Lists that are no hits."""


@dataclass(slots=True)
class Seen:
    """What stands at each path of some rows, and the lengths of the lists at each path, in the order of the walk."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    lengths: dict[str, list[int]] = field(default_factory=dict)
    left: int = VALUES

    def walk(self, value: Any, path: str, depth: int = DEPTH) -> None:
        """Take in a value and all below it."""
        value = parsed(value) if isinstance(value, str) and path else value
        self.left -= 1
        if self.left < 0 or depth < 0 or is_vector(path.rpartition(".")[2], value):
            return
        if path:
            self.values.setdefault(path, []).append(value)
        if isinstance(value, list) or (path and _is_keyed(value)):
            self.lengths.setdefault(f"{path}{EVERY}", []).append(len(value))
            for item in islice(value if isinstance(value, list) else value.values(), ITEMS):
                self.walk(item, f"{path}{EVERY}", depth - 1)
        elif isinstance(value, Mapping):
            for name, inner in islice(value.items(), KEYS):
                if isinstance(name, str) and EVERY not in name and "->" not in name:
                    self.walk(inner, f"{path}.{name}" if path else name, depth - 1)

    def below(self, path: str) -> dict[str, list[Any]]:
        """What stands inside the objects at a path, by the paths from there, down to the next list."""
        return {
            name[len(path) + 1 :]: own
            for name, own in self.values.items()
            if name.startswith(f"{path}.") and EVERY not in name[len(path) :]
        }


def seen_in(rows: Rows) -> Seen:
    """What the first rows hold."""
    seen = Seen()
    for _, row in islice(rows.rows, ROWS):
        seen.left = VALUES
        seen.walk(row, "")
    return seen


class Paths(NamedTuple):
    """The paths of some rows: all, those to lists, and those from a hit, or to lists beside the hits."""

    every: tuple[str, ...]
    lists: tuple[str, ...]
    inner: tuple[str, ...]


NO_PATHS = Paths((), (), ())


def paths_in(rows: Rows, hits: str = "") -> Paths:
    """Where something stands in the first rows, and in the hits of the list `hits`."""
    seen = seen_in(rows)
    path = hits if hits.endswith(EVERY) else f"{hits}{EVERY}"
    beside = [other for other, lengths in seen.lengths.items() if lengths == seen.lengths.get(path)]
    return Paths(tuple(shallow(seen.values)), tuple(shallow(seen.lengths)), (*shallow(seen.below(path)), *beside))


def lists_in(rows: Rows, used: Iterable[str]) -> list[str]:
    """The paths to lists of objects that nobody used, outermost only."""
    seen, taken = seen_in(rows), tuple(used)
    found = [path for path in seen.lengths if path.count(EVERY) == 1 and not path.startswith(taken)]
    kept = [path for path in found if plain_name(name_of(path)) not in OTHERS]
    return [path for path in kept if most(seen.values.get(path, ()), lambda item: isinstance(item, (Mapping, list)))]


def _is_keyed(value: Any) -> bool:
    """Whether an object is a list of objects by their names: all of one form, with a text or a number in each."""
    if not isinstance(value, Mapping) or len(value) < 2:
        return False
    first, *others = islice(value.values(), ITEMS)
    if not isinstance(first, Mapping) or not all(isinstance(other, Mapping) and other.keys() == first.keys() for other in others):
        return False
    return any(isinstance(inner, str) and " " in inner for inner in first.values())


def name_of(path: str, every: bool = False) -> Any:
    """The last key of a path, or every one."""
    parts = path.replace(EVERY, "").split(".")
    return parts if every else parts[-1]


def shallow(places: Iterable[str]) -> list[str]:
    """Paths, those of few steps first."""
    return sorted(places, key=lambda path: path.count(".") + path.count(EVERY))


def most(values: Sequence[Any], fits: Callable[[Any], bool]) -> bool:
    """Whether at least half of the values that are there fit."""
    known = [value for value in values if value is not None and value != ""]
    return bool(known) and 2 * sum(fits(value) for value in known) >= len(known)


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value at a column or path, ABSENT where there is none; JSON in a text cell is looked into."""
    return _present(row[path]) if path in row else _below(row, dotted(path))


def each_at(row: Any, path: str) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The values at a path with `[*]`, each with its place in those lists; one with the place () where the path has none."""
    if isinstance(row, Mapping) and path in row:
        yield (), _present(row[path])
    else:
        yield from _each(row, lists_of(path))


def _each(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    found = _below(value, parts[0])
    if len(parts) == 1:
        yield (), found
        return
    inner = parsed(found) if isinstance(found, str) else found
    listed = inner if isinstance(inner, list) else list(inner.values()) if isinstance(inner, Mapping) else ()
    for at, item in enumerate(listed):
        for place, innermost in _each(item, parts[1:]):
            yield (at, *place), innermost


def _below(value: Any, path: str) -> Any:
    """The value at a dotted path below a value, the value itself for no path."""
    rest = path
    while rest:
        if isinstance(value, str):
            value = parsed(value)
        if isinstance(value, Mapping):
            if rest in value:
                return _present(value[rest])
            at = next((end for end, letter in enumerate(rest) if letter == "." and rest[:end] in value), None)
            if at is None:
                return ABSENT
            value, rest = value[rest[:at]], rest[at + 1 :]
        elif isinstance(value, list) and (index := rest.partition(".")[0]).isdecimal() and int(index[:9]) < len(value):
            value, rest = value[int(index[:9])], rest.partition(".")[2]
        else:
            return ABSENT
    return _present(value)


def _present(value: Any) -> Any:
    return ABSENT if value is None or value == "" else value


def is_vector(name: str, value: Any) -> bool:
    """Whether a cell holds an embedding or a text index, which no record needs."""
    if isinstance(value, list):
        return len(value) >= LEAST_VECTOR and all(type(number) in (int, float) for number in value)
    return isinstance(value, str) and plain_name(name) in VECTORS and (value[:1] == "[" or "':" in value[:1000])


def is_key(name: str) -> bool:
    """Whether something of this name opens an account: a log of requests may hold it, and what is loaded is kept and exported."""
    return plain_name(name) in CELL_KEYS
