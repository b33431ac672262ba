"""Runs and judgements in memory, and the rules that every store of them keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from threading import Lock

from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.runs import ALL_RUNS, Judgement, Run, RunEntry, RunFilter, Written, as_json, check_judgement, read_judgement, read_run

Key = tuple[str, str, str]


class MemoryRuns:
    """The runs of a `MemoryStore`. A `RunStore`."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._deleted: set[str] = set()
        self._judgements: dict[Key, list[Judgement]] = {}
        self._writing = Lock()

    def keep_runs(self, given: Sequence[Run], *, skip_known: bool = False) -> int:
        """See `RunStore`."""
        with self._writing:
            new: dict[str, Run] = {}
            for run in (read_run(as_json(run)) for run in given):
                there = self._runs.get(run.run_id) or new.setdefault(run.run_id, run)
                if not skip_known and as_json(there) != as_json(run):
                    raise frozen(run.run_id)
            self._runs |= new
            return len(new)

    def runs(self, wanted: RunFilter = ALL_RUNS) -> list[RunEntry]:
        """See `RunStore`."""
        named = ("dataset", "batch", "query_id", "model", "author")
        found = [
            run
            for run in list(self._runs.values())
            if (run.run_id in self._deleted) == wanted.deleted
            and all(getattr(wanted, name) in (None, getattr(run, name)) for name in named)
            and (wanted.since is None or run.kept_at >= wanted.since)
            and (wanted.until is None or run.kept_at < wanted.until)
        ]
        found.sort(key=lambda run: (run.kept_at, run.run_id), reverse=True)
        return [
            RunEntry(r.run_id, r.kept_at, r.dataset, r.batch, r.query_id, r.question, r.model, r.author, wanted.deleted)
            for r in found[: wanted.limit]
        ]

    def run(self, run_id: str) -> Run:
        """See `RunStore`."""
        if run_id not in self._runs:
            raise no_run(run_id)
        return self._runs[run_id]

    def delete_runs(self, run_ids: Sequence[str], *, undo: bool = False) -> int:
        """See `RunStore`."""
        with self._writing:
            changed = {run_id for run_id in run_ids if run_id in self._runs and (run_id in self._deleted) == undo}
            self._deleted = self._deleted - changed if undo else self._deleted | changed
            return len(changed)

    def purge_runs(self) -> int:
        """See `RunStore`."""
        with self._writing:
            gone, self._deleted = self._deleted, set()
            self._runs = {run_id: run for run_id, run in self._runs.items() if run_id not in gone}
            self._judgements = {key: own for key, own in self._judgements.items() if key[0] not in gone}
            return len(gone)

    def judge(self, judgement: Judgement, expected: int) -> Written:
        """See `RunStore`."""
        new = next_version(judgement, expected)
        self.run(new.run_id)
        with self._writing:
            versions = self._judgements.setdefault(_key(new), [])
            if len(versions) != expected:
                return settled(new, versions[-1] if versions else None)
            versions.append(read_judgement(as_json(new)))
        return Written(True, new)

    def judgements(self, run_ids: Sequence[str], *, history: bool = False) -> list[Judgement]:
        """See `RunStore`."""
        asked = set(run_ids)
        own = [versions for key, versions in list(self._judgements.items()) if key[0] in asked and versions]
        return sorted((one for versions in own for one in (versions if history else versions[-1:])), key=lambda each: each.order)

    def add_judgements(self, given: Sequence[Judgement]) -> list[tuple[Judgement, Judgement]]:
        """See `RunStore`."""
        conflicts: list[tuple[Judgement, Judgement]] = []
        for judgement in (checked := sorted(given, key=lambda each: each.order)):
            check_judgement(judgement)
            self.run(judgement.run_id)
        with self._writing:
            there = {key: list(versions) for key, versions in self._judgements.items()}
            for judgement in checked:
                versions = there.setdefault(_key(judgement), [])
                if (standing := standing_at(judgement, versions)) is None:
                    versions.append(judgement)
                elif standing != judgement:
                    conflicts.append((judgement, standing))
            self._judgements = there
        return conflicts


def _key(judgement: Judgement) -> Key:
    return judgement.run_id, judgement.item, judgement.reviewer


def standing_at(judgement: Judgement, versions: Sequence[Judgement]) -> Judgement | None:
    """What stands in place of a version that is to be added; None where it comes next. Raises InvalidInput after a gap."""
    if judgement.version > len(versions) + 1:
        where = f"item {judgement.item} of run {shown(judgement.run_id)}"
        raise InvalidInput(f"the next version of {where} must be {len(versions) + 1}, got {judgement.version}")
    return versions[judgement.version - 1] if judgement.version <= len(versions) else None


def now() -> str:
    """The time as it is kept."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def next_version(judgement: Judgement, expected: int) -> Judgement:
    """The judgement as the version after `expected`, at this time. Raises InvalidInput."""
    new = replace(judgement, version=expected + 1, changed_at=now())
    check_judgement(new)
    return new


def settled(new: Judgement, standing: Judgement | None) -> Written:
    """What became of a version that was not added: it is the same as what stands, where its writer never heard that it was saved."""
    same = standing is not None and (standing.version, standing.content) == (new.version, new.content)
    return Written(same, standing)


def frozen(run_id: str) -> InvalidInput:
    """The error for other content under an id that is taken."""
    return InvalidInput(f"run {shown(run_id)} is kept with other content, and a run never changes: give this one another run_id")


def no_run(run_id: str) -> NotFound:
    """The error for a run that is not there."""
    return NotFound(f"no run {shown(run_id)} is kept: `ctxasm history` lists those that are")
