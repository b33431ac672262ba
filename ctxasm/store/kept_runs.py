"""Runs and judgements in a database. A judgement is never changed: each version is a row, and what stands is the newest one.

The version is part of the key, so of two writers that saw the same version one is refused by the database itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, select, text, tuple_, update

from ctxasm.model.characters import storable
from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.runs import (
    ALL_RUNS,
    Judgement,
    Run,
    RunEntry,
    RunFilter,
    Written,
    as_json,
    check_judgement,
    read_judgement,
    read_run,
)
from ctxasm.store.connect import Connections
from ctxasm.store.records import decoding
from ctxasm.store.schema import judgements, runs

_ENTRY = (runs.c.run_id, runs.c.kept_at, runs.c.dataset, runs.c.batch, runs.c.query_id, runs.c.question, runs.c.model, runs.c.author)
_COLUMNS = (*(column.name for column in _ENTRY), "payload")
_ADD_RUN = text(
    f"INSERT INTO ctxasm_runs ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)}) "  # noqa: S608
    "ON CONFLICT DO NOTHING"
)
_ADD = text(
    "INSERT INTO ctxasm_judgements (run_id, item, reviewer, version, payload) VALUES (:run_id, :item, :reviewer, :version, :payload) "
    "ON CONFLICT DO NOTHING"
)
_MOST = 500
"""Names in one statement."""


class StoredRuns:
    """The runs of a `Store`. A `RunStore`."""

    _connections: Connections

    def keep_runs(self, given: Sequence[Run], *, skip_known: bool = False) -> int:
        """See `RunStore`."""
        new = 0
        with self._connections.writing() as connection:
            for row in map(_row, given):
                added = connection.execute(_ADD_RUN, row).rowcount
                new += added
                if not added and not skip_known:
                    there = connection.execute(select(runs.c.payload).where(runs.c.run_id == row["run_id"])).scalar_one()
                    if there != row["payload"]:
                        taken = f"run {shown(row['run_id'])} is kept with other content, and a run never changes"
                        raise InvalidInput(f"{taken}: give this one another run_id")
        return new

    def runs(self, wanted: RunFilter = ALL_RUNS) -> list[RunEntry]:
        """See `RunStore`."""
        own = select(*_ENTRY, runs.c.deleted_at).order_by(runs.c.kept_at.desc(), runs.c.run_id.desc())
        own = own.where(runs.c.deleted_at.is_not(None) if wanted.deleted else runs.c.deleted_at.is_(None))
        for name in ("dataset", "batch", "query_id", "model", "author"):
            if (value := getattr(wanted, name)) is not None:
                if not storable(value):
                    return []
                own = own.where(runs.c[name] == value)
        if wanted.since is not None:
            own = own.where(runs.c.kept_at >= wanted.since)
        if wanted.until is not None:
            own = own.where(runs.c.kept_at < wanted.until)
        limited = own if wanted.limit is None else own.limit(wanted.limit)
        return self._connections.read(lambda c: [RunEntry(*row[:-1], row[-1] is not None) for row in c.execute(limited)])

    def run(self, run_id: str) -> Run:
        """See `RunStore`."""
        own = select(runs.c.payload).where(runs.c.run_id == run_id)
        payload = self._connections.read(lambda c: c.execute(own).scalar_one_or_none()) if storable(run_id) else None
        if payload is None:
            raise _no_run(run_id)
        with decoding(f"run {shown(run_id)}"):
            return read_run(payload)

    def delete_runs(self, run_ids: Sequence[str], *, undo: bool = False) -> int:
        """See `RunStore`."""
        at, changed = None if undo else _now(), 0
        with self._connections.writing() as connection:
            for some in _parts([run_id for run_id in run_ids if storable(run_id)]):
                there = runs.c.deleted_at.is_not(None) if undo else runs.c.deleted_at.is_(None)
                changed += connection.execute(update(runs).where(runs.c.run_id.in_(some), there).values(deleted_at=at)).rowcount
        return changed

    def purge_runs(self) -> int:
        """See `RunStore`."""
        with self._connections.writing() as connection:
            return connection.execute(delete(runs).where(runs.c.deleted_at.is_not(None))).rowcount

    def judge(self, judgement: Judgement, expected: int) -> Written:
        """See `RunStore`."""
        new = replace(judgement, version=expected + 1, changed_at=_now())
        check_judgement(new)
        with self._connections.writing() as connection:
            _require_run(connection, new.run_id)
            newest = _newest(connection, new)
            if (newest.version if newest is not None else 0) == expected:
                if connection.execute(_ADD, _judgement_row(new)).rowcount:
                    return Written(True, new)
                newest = _newest(connection, new)
        # The same as what is there: its writer never heard that it was saved.
        return Written(newest is not None and (newest.version, newest.content) == (new.version, new.content), newest)

    def judgements(self, run_ids: Sequence[str], *, history: bool = False) -> list[Judgement]:
        """See `RunStore`."""
        found: list[Judgement] = []
        j = judgements.c
        for some in _parts([run_id for run_id in run_ids if storable(run_id)]):
            own = select(j.payload).where(j.run_id.in_(some))
            if not history:
                newest = select(j.run_id, j.item, j.reviewer, func.max(j.version)).where(j.run_id.in_(some))
                own = own.where(tuple_(j.run_id, j.item, j.reviewer, j.version).in_(newest.group_by(j.run_id, j.item, j.reviewer)))
            found += self._connections.read(lambda c, own=own: _read_all(c, own))  # type: ignore[misc]
        return sorted(found, key=lambda each: each.order)

    def add_judgements(self, given: Sequence[Judgement]) -> list[tuple[Judgement, Judgement]]:
        """See `RunStore`."""
        conflicts: list[tuple[Judgement, Judgement]] = []
        with self._connections.writing() as connection:
            for judgement in sorted(given, key=lambda each: each.order):
                check_judgement(judgement)
                _require_run(connection, judgement.run_id)
                there = _same_version(judgement, _read_all(connection, _versions(judgement)))
                if there is None:
                    connection.execute(_ADD, _judgement_row(judgement))
                elif there != judgement:
                    conflicts.append((judgement, there))
        return conflicts


def _row(run: Run) -> dict[str, Any]:
    payload = as_json(run)
    read_run(payload)  # what cannot be read back is refused before it is kept
    named = {column.name: getattr(run, column.name) for column in _ENTRY}
    return {**named, "payload": payload}


def _require_run(connection: Connection, run_id: str) -> None:
    there = storable(run_id) and connection.execute(select(runs.c.run_id).where(runs.c.run_id == run_id)).one_or_none() is not None
    if not there:
        raise _no_run(run_id)


def _judgement_row(judgement: Judgement) -> dict[str, Any]:
    key = {"run_id": judgement.run_id, "item": judgement.item, "reviewer": judgement.reviewer, "version": judgement.version}
    payload = as_json(judgement)
    read_judgement(payload)
    return {**key, "payload": payload}


def _versions(judgement: Judgement) -> Select[Any]:
    j = judgements.c
    own = j.run_id == judgement.run_id, j.item == judgement.item, j.reviewer == judgement.reviewer
    return select(j.payload).where(*own).order_by(j.version)


def _newest(connection: Connection, judgement: Judgement) -> Judgement | None:
    return next(iter(_read_all(connection, _versions(judgement))[-1:]), None)


def _read_all(connection: Connection, own: Select[Any]) -> list[Judgement]:
    payloads: list[str] = [row[0] for row in connection.execute(own)]
    with decoding("a judgement"):
        return [read_judgement(payload) for payload in payloads]


def _parts(names: Sequence[str]) -> Iterable[Sequence[str]]:
    unique = list(dict.fromkeys(names))
    return (unique[at : at + _MOST] for at in range(0, len(unique), _MOST))


def _same_version(judgement: Judgement, versions: Sequence[Judgement]) -> Judgement | None:
    """The stored judgement of this version; None where it comes next. Raises InvalidInput after a gap."""
    if judgement.version > len(versions) + 1:
        where = f"item {judgement.item} of run {shown(judgement.run_id)}"
        raise InvalidInput(f"the next version of {where} must be {len(versions) + 1}, got {judgement.version}")
    return versions[judgement.version - 1] if judgement.version <= len(versions) else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _no_run(run_id: str) -> NotFound:
    return NotFound(f"no run {shown(run_id)} is kept: `ctxasm history` lists those that are")
