"""What stands under the name that a load is given, and whether the load may have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, NotFound, shown

if TYPE_CHECKING:
    from ctxasm.data.datasets import Datasets
    from ctxasm.model.datasets import DatasetInfo, OwnedDataset
    from ctxasm.model.records import Answer, Chunk, Document, Query


Over = Literal["new", "replace", "join"]
"""What a load does where its name is taken: `new` refuses unless it is the same content, `replace` takes its place, `join` adds to it."""

NOUNS = {"documents": "document", "chunks": "chunk", "queries": "query", "answers": "answer"}
"""What a dataset holds, and one of it."""


class Standing(NamedTuple):
    """A dataset as somebody should know it before it is replaced. `summaries` are documents with one, `saved` saved questions.

    `lacks_sent`: what is loaded is the same, but for what its answers were sent, which an earlier version did not keep.
    """

    info: DatasetInfo
    summaries: int
    saved: int
    enriched: bool
    lacks_sent: bool = False

    @property
    def differs(self) -> str:
        """How it differs from what is loaded."""
        return "without what its answers were sent, which is kept now" if self.lacks_sent else "with other content"

    def goes(self) -> str:
        """What goes when it is replaced."""
        info = self.info
        counts = [(info.documents, "document"), (info.chunks, "chunk"), (info.queries, "query"), (info.answers, "answer")]
        return ", ".join(counted(count, noun) for count, noun in (*counts, (self.summaries, "summary")) if count) or "no record"

    def stays(self) -> str:
        """What stays, empty where there is nothing of the kind."""
        parts = [counted(self.saved, "saved question")] if self.saved else []
        return " and ".join([*parts, *(["the enrichment of texts that come again"] if self.enriched else [])])


class NameTaken(InvalidInput):
    """A dataset of this name is there with other content, and nobody said what should become of it."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        stays = f"; {standing.stays()} would stay" if standing.stays() else ""
        there = f"dataset {shown(standing.info.name)} is there already, {standing.differs}"
        super().__init__(f"{there}: replacing it would take away {standing.goes()}{stays}")


def stored_info(datasets: Datasets, name: str) -> DatasetInfo | None:
    """The stored dataset of this name, None where there is none. Raises InvalidInput for the name of a linked table."""
    datasets.links.check_load(name)
    return next((info for info in datasets.store.datasets() if info.name == name), None)


def standing(datasets: Datasets, info: DatasetInfo) -> Standing:
    """What is there of a dataset that is stored."""
    from ctxasm.data.enrich.cache import written_for

    store = datasets.store
    summaries = sum(1 for document in store.dataset(info.name).documents() if document.summary)
    return Standing(info, summaries, len(store.saved_queries(info.name)), bool(written_for(store, info.name)))


def lacks_sent(datasets: Datasets, info: DatasetInfo, chunks: int, queries: int, answers: Sequence[Answer]) -> bool:
    """Whether a stored dataset is that of so many records with these answers, but for their prompts and sources."""
    if (info.chunks, info.queries, info.answers) != (chunks, queries, len(answers)):
        return False
    there = {answer.query_id: answer for answer in datasets.store.dataset(info.name).answers()}
    pairs = [(there.get(new.query_id), new) for new in answers]
    if any(old is None or old.answer != new.answer for old, new in pairs):
        return False
    return any((new.sources or new.metadata) and not (old.sources or old.metadata) for old, new in pairs if old is not None)


def joined_dataset(datasets: Datasets, name: str, over: Over) -> OwnedDataset | None:
    """The dataset that a load joins, None where it joins none. Raises NotFound, and InvalidInput for a linked table."""
    if over != "join":
        return None
    if datasets.links.dataset(name) is not None:
        raise InvalidInput(f"dataset {shown(name)} is a table that is read where it is: nothing can be added to it here")
    try:
        return datasets.store.dataset(name)
    except NotFound as error:
        raise NotFound(f"{error}; what should be added to must be there") from None


def is_content_of(
    info: DatasetInfo,
    documents: Iterable[Document],
    chunks: Iterable[Chunk],
    queries: Iterable[Query] = (),
    answers: Iterable[Answer] = (),
) -> bool:
    """Whether these records are exactly what is stored. Chunks in another order than that of the store count as other content."""
    from ctxasm.store.digest import ContentDigest

    digest, count = ContentDigest(), 0
    for document in documents:
        count += 1
        digest.document(document)
    if count != info.documents:
        return False
    for chunk in chunks:
        digest.chunk(chunk)
    for query in queries:
        digest.query(query)
    for answer in answers:
        digest.answer(answer)
    return digest.hex() == info.content_hash


def is_counted(datasets: Datasets, info: DatasetInfo) -> bool:
    """Whether the tokens of a dataset are counted as a load would count them now."""
    counter = datasets.counter()
    return info.encoding == (counter.encoding if counter.exact else None)


def added_notes(before: DatasetInfo, after: DatasetInfo) -> tuple[str, ...]:
    """What an addition brought, in words."""
    if before.dataset_id == after.dataset_id:
        return (f"all of it was in {after.name} already",)
    more = [(getattr(after, kind) - getattr(before, kind), noun) for kind, noun in NOUNS.items()]
    told = ", ".join(counted(count, noun) for count, noun in more if count)
    return (f"added {told} to {after.name}" if told else f"filled in what records of {after.name} lacked",)
