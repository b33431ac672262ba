"""Loading files: looked at first, then loaded whole or in part; what a load brought, in words."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ctxasm.data.datasets import Datasets
from ctxasm.data.files.recognised.draft import ONLY_RETRIEVED
from ctxasm.data.load_conflicts import (
    NameTaken,
    Over,
    added_notes,
    is_content_of,
    is_counted,
    joined_dataset,
    lacks_sent,
    standing,
    stored_info,
)
from ctxasm.model.amounts import counted
from ctxasm.model.characters import mended
from ctxasm.model.datasets import Moves
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import STDIN, open_regular, read_regular, refuse_irregular

if TYPE_CHECKING:
    from ctxasm.config import Config
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.importing import Preview
    from ctxasm.data.files.reading import Reading
    from ctxasm.data.files.source import FileLimits
    from ctxasm.model.datasets import DatasetInfo


class Loading(Datasets, Protocol):
    """What loading files asks for: the datasets, and the limits that the environment sets."""

    @property
    def config(self) -> Config: ...


Pasted = Callable[[int], bytes]
"""Reads what was pasted for the path -, at most so many bytes."""
PASTED = "pasted"
"""The name of the file that it becomes."""
MOST_FILES = 1_000
"""Files of one folder that are loaded together."""


class LoadReport(NamedTuple):
    """What a load brought. `changed` is False where the same was loaded before. `notes` are sentences for the user.

    `query_id` is the first of the questions that were added to a dataset, None where it is all of them.
    """

    info: DatasetInfo
    changed: bool
    notes: tuple[str, ...]
    query_id: str | None = None

    @property
    def summary(self) -> str:
        """The load as one sentence."""
        info = self.info
        counts = [(info.documents, "document"), (info.chunks, "chunk"), (info.queries, "query"), (info.answers, "answer")]
        parts = ", ".join(counted(count, noun) for count, noun in counts if count)
        replaced = f"; {counted(info.replaced, 'character')} became U+FFFD (NUL, lone surrogates)" if info.replaced else ""
        return f"{info.name}: {parts}{replaced}"


def preview_files(
    datasets: Loading,
    files: Sequence[tuple[str, bytes]],
    mappings: Mapping[str, ColumnMapping] | None = None,
    into: str | None = None,
    onto: str | None = None,
) -> Preview:
    """What files (name, bytes) hold: each table's shape or mapping, its first 20 rows, notes, and all problems. Loads nothing.

    `into` names the dataset that they would join, `onto` the one whose chunks their hits would be on. Raises InvalidInput where the
    only file cannot be read at all, or a mapping does not fit, and NotFound.
    """
    from ctxasm.data.files.importing import preview

    joins = None if into is None else joined_dataset(datasets, into, "join")
    return preview(files, limits_of(datasets.config), mappings, joins, None if onto is None else datasets.dataset(onto))


def load_files(
    datasets: Loading,
    files: Sequence[tuple[str, bytes]],
    name: str | None = None,
    mappings: Mapping[str, ColumnMapping] | None = None,
    valid_only: bool = False,
    over: Over = "replace",
    by_order: bool = False,
) -> LoadReport:
    """Load files (name, bytes) together as one dataset; `over` says what becomes of one of that name.

    `mappings` are by the name of the table, as a preview names it ("": for all). With `valid_only` rows that fail are left
    out, and the notes count them. With `by_order` the chunks of each document are numbered by their order. Raises InvalidInput,
    NameTaken, InvalidBundle with all problems, StoreUnavailable; then nothing changed.
    """
    from ctxasm.data.files.importing import default_name, import_files

    into = joined_dataset(datasets, name if name is not None else default_name(files), over)
    reading = import_files(files, mappings, name, valid_only=valid_only, limits=limits_of(datasets.config), into=into)
    reading = _numbered(reading, over) if by_order else reading
    origin = ", ".join(file for file, _ in files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    return keep_bundle(datasets, reading, origin, over)


def join_files(
    datasets: Loading,
    files: Sequence[tuple[str, bytes]],
    dataset: str,
    mappings: Mapping[str, ColumnMapping] | None = None,
    valid_only: bool = False,
) -> LoadReport:
    """Add the questions of logs (name, bytes) to a dataset, with their hits on its chunks; to a linked table as saved questions.

    The notes say how each hit was found, and what was not found, whose hits are left out. Raises as `load_files`, and NotFound.
    """
    from ctxasm.data.files.importing import import_files

    linked = datasets.links.dataset(dataset)
    onto = datasets.dataset(dataset) if linked is None else linked
    into = None if linked is not None else joined_dataset(datasets, dataset, "join")
    reading = import_files(files, mappings, dataset, valid_only=valid_only, limits=limits_of(datasets.config), into=into, onto=onto)
    first = reading.bundle.queries[0].query_id if reading.bundle.queries else None
    if linked is None:
        return keep_bundle(datasets, reading, ", ".join(file for file, _ in files[:5]), "join")._replace(query_id=first)
    for query in reading.bundle.queries:
        datasets.store.save_query(dataset, query, linked=True)
    notes = [f"saved {counted(len(reading.bundle.queries), 'question')} beside the table of {dataset}", *reading.notes]
    if answers := reading.bundle.answers:
        notes.append(f"left out {counted(len(answers), 'answer')}: beside a table that is read where it is, questions alone are kept")
    return LoadReport(linked.info, True, tuple(notes), first)


def join_paths(
    datasets: Loading,
    paths: Sequence[str | os.PathLike[str]],
    dataset: str,
    mappings: Mapping[str, ColumnMapping] | None = None,
    valid_only: bool = False,
    pasted: Pasted | None = None,
) -> LoadReport:
    """`join_files` of whatever stands at paths; `pasted` reads the path -."""
    return join_files(datasets, files_at(paths, datasets.config, pasted), dataset, mappings, valid_only)


def load_paths(
    datasets: Loading,
    paths: Sequence[str | os.PathLike[str]],
    name: str | None = None,
    mappings: Mapping[str, ColumnMapping] | None = None,
    valid_only: bool = False,
    over: Over = "replace",
    pasted: Pasted | None = None,
    by_order: bool = False,
) -> LoadReport:
    """Load whatever stands at paths: one bundle, or files that go together, as `load_files`; `pasted` reads the path -.

    Raises InvalidInput, NameTaken, InvalidBundle, StoreUnavailable; then nothing changed.
    """
    given = [os.fspath(path) for path in paths]
    if len(given) == 1 and not mappings and not valid_only and _is_bundle(given[0]):
        return load_bundle(datasets, given[0], name, over, by_order)
    files = files_at(given, datasets.config, pasted)
    name = name if name is not None or len(given) > 1 else _name_of(Path(given[0]), bool(mappings))
    return load_files(datasets, files, name, mappings, valid_only, over, by_order)


def one_mapping(columns: Mapping[str, str], kind: str | None = None) -> dict[str, ColumnMapping]:
    """For every table: the columns of some fields and what the rows are, the rest being guessed. Raises InvalidInput."""
    if not columns and kind is None:
        return {}
    from ctxasm.data.files.cells import ColumnMapping

    return {"": ColumnMapping(kind or "", columns, guess_rest=True)}


def _name_of(path: Path, mapped: bool) -> str | None:
    """The folder that a path is, or that a file of a bundle lies in, names the dataset; a file that is mapped names it itself."""
    from ctxasm.data.files.bundle import KNOWN_FILES

    if path.is_dir() or path.name not in KNOWN_FILES:
        return path.resolve().name if path.is_dir() else None
    return path.stem if mapped else path.resolve().parent.name


def _is_bundle(path: str) -> bool:
    """Whether a path is for the reader of bundles: a folder or .zip that has one, or nothing at all (which it says best)."""
    from ctxasm.data.files.bundle import KNOWN_FILES
    from ctxasm.data.files.importing import is_bundle_archive

    try:
        place = Path(path).expanduser()
        refuse_irregular(place, STDIN)
        if place.is_dir():
            return any((place / file).exists() for file in KNOWN_FILES) and not (place / "corpus.jsonl").exists()
        return path != "-" and (not place.exists() or is_bundle_archive(place))
    except (OSError, RuntimeError, ValueError):
        return True


def load_bundle(
    datasets: Datasets, path: str | os.PathLike[str], name: str | None = None, over: Over = "replace", by_order: bool = False
) -> LoadReport:
    """Load a bundle (folder or .zip); a large one record by record, in flat memory. `over` says what becomes of a dataset of its name.

    With `by_order`, which takes all of it into memory, the chunks of each document are numbered by their order.

    Raises InvalidInput, NameTaken, InvalidBundle, StoreUnavailable; then nothing changed.
    """
    from ctxasm.data.files import read_bundle
    from ctxasm.data.files.streaming import LARGE_BYTES, stream_bundle

    with stream_bundle(path, name) as stream:
        size, called = stream.size, stream.name
    into = joined_dataset(datasets, called, over)
    if size < LARGE_BYTES or by_order:
        reading = read_bundle(path, name, into=into)
        return keep_bundle(datasets, _numbered(reading, over) if by_order else reading, os.fspath(path), over)
    there = stored_info(datasets, called)
    if there is not None and over == "new":
        with stream_bundle(path, name) as stream:
            if not is_content_of(there, *stream.parts()):
                raise NameTaken(standing(datasets, there))
            if is_counted(datasets, there):
                return LoadReport(there, False, (*stream.notes(), *neighbour_notes(datasets, there)))
    with stream_bundle(path, name, into=into) as stream:
        origin = mended(os.fspath(path))  # a path may hold bytes that are no text; the origin is only shown
        moves = Moves()
        info = datasets.store.add_stream(called, *stream.parts(), origin=origin, replaced=stream.replaced, join=over == "join", moves=moves)
        return reported(datasets, info, there, over, (*moves.notes(), *stream.notes()))


def _numbered(reading: Reading, over: Over) -> Reading:
    """The records with their chunks numbered by order. Raises InvalidInput where they join others, whose numbers stay."""
    from ctxasm.data.files.importing import number_by_order

    if over == "join":
        raise InvalidInput("chunks are numbered by order in a dataset of their own, not where they join another: load them by themselves")
    bundle, notes = number_by_order(reading.bundle)
    return reading._replace(bundle=bundle, notes=(*reading.notes, *notes))


def keep_bundle(datasets: Datasets, reading: Reading, origin: str, over: Over) -> LoadReport:
    """Load records that were read; where `over` is new, the same ones again change nothing.

    Raises InvalidInput, NameTaken, StoreUnavailable.
    """
    from ctxasm.store.digest import content_hash
    from ctxasm.store.validation import check_records

    bundle = reading.bundle
    there = stored_info(datasets, bundle.name)
    if there is not None and over == "new":
        records = check_records(bundle.documents, bundle.chunks, bundle.queries, bundle.answers)
        if content_hash(records) != there.content_hash:
            lacking = lacks_sent(datasets, there, len(bundle.chunks), len(bundle.queries), bundle.answers)
            raise NameTaken(standing(datasets, there)._replace(lacks_sent=lacking))
        if is_counted(datasets, there):
            return LoadReport(there, False, (*reading.notes, *neighbour_notes(datasets, there)))
    moves = Moves()
    info = datasets.store.add(bundle, origin=mended(origin), join=over == "join", moves=moves)
    return reported(datasets, info, there, over, (*moves.notes(), *reading.notes))


def reported(datasets: Datasets, info: DatasetInfo, there: DatasetInfo | None, over: Over, notes: tuple[str, ...]) -> LoadReport:
    """What a load brought to the name where `there` stood before."""
    if not any(note.startswith(ONLY_RETRIEVED) for note in notes):  # which says why already
        notes = (*notes, *neighbour_notes(datasets, info))
    if over == "join" and there is not None:
        return LoadReport(info, info.dataset_id != there.dataset_id, (*added_notes(there, info), *notes))
    return LoadReport(info, True, (*replaced_notes(there), *notes))


def neighbour_notes(datasets: Datasets, info: DatasetInfo) -> tuple[str, ...]:
    """The sentence that says why no chunk of a stored dataset has a neighbour; none where one has."""
    found = datasets.store.dataset(info.name).no_neighbours() if info.chunks else None
    return () if found is None else (found.sentence,)


def replaced_notes(there: DatasetInfo | None) -> tuple[str, ...]:
    """The note of a load that took the place of a stored dataset; none where there was none."""
    return () if there is None else (f"replaced the dataset {there.name} that was there ({counted(there.chunks, 'chunk')})",)


def limits_of(config: Config) -> FileLimits:
    """How large a file may be, by the settings."""
    from ctxasm.data.files.source import MB, FileLimits

    return FileLimits(config.max_upload_mb * MB)


def files_at(paths: Sequence[str | os.PathLike[str]], config: Config, pasted: Pasted | None = None) -> list[tuple[str, bytes]]:
    """The files at these paths with their bytes; of a folder all that can be read, in folders below it too. `pasted` reads the path -.

    Raises InvalidInput for a path that is none, for what is no regular file, and for a file beyond the limits.
    """
    limits = limits_of(config)
    found: list[tuple[str, bytes]] = []
    for path in paths:
        if path == "-" and pasted is not None:
            found.append((PASTED, pasted(limits.upload_bytes + 1)))
            continue
        place, named = Path(path).expanduser(), shown(os.fspath(path), 300)
        try:
            members = _members(place) if place.is_dir() else [place]
            for file in members:
                refuse_irregular(file, STDIN if file is place else "take it out of the folder")
                if not file.exists():
                    raise InvalidInput(f"there is no file or folder at {named}")
                limits.check_bytes(file.name, file.stat().st_size)
                with open_regular(file) as stream:
                    found.append((file.name, stream.read(limits.upload_bytes + 1)))
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{named} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if not members:
            remedy = "documents (PDF, DOCX, HTML, Markdown, text) are loaded with `ctxasm ingest`"
            raise InvalidInput(f"the folder {named} holds no file that can be read as a table: {remedy}")
    return found


def _members(folder: Path) -> list[Path]:
    from ctxasm.data.files.formats import READABLE

    readable = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in READABLE)
    seen = (path for path in readable if not any(part.startswith((".", "__MACOSX")) for part in path.relative_to(folder).parts))
    files = [path for path in seen if not path.is_dir() and not path.is_symlink()]
    if len(files) > MOST_FILES:
        raise InvalidInput(f"the folder {folder} holds {len(files):,} files, allowed are {MOST_FILES:,}: pack them into fewer")
    return files


def fingerprint(folder: Path) -> str:
    """A digest of the files of a bundle: equal for equal data."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.jsonl")):
        digest.update(path.name.encode() + b"\0" + read_regular(path) + b"\0")
    return digest.hexdigest()[:16]
