"""Gold evidence for a question by hand: on loaded, joined and saved questions, stored and beside linked tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.model.amounts import counted
from ctxasm.model.characters import is_visible, normalised, normalised_places
from ctxasm.model.datasets import ChunkKey, Dataset
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.ports import FetchedChunk, Window
from ctxasm.model.records import GoldBy, GoldChange, GoldChunk, Query, alternatives
from ctxasm.text.overlap import overlap_of

LARGEST_INDEX = 2_000_000_000
"""The largest index of a chunk that a file can bring."""
MOST_PASSAGES, MOST_LISTED = 20, 5
"""Passages of which any one may be enough, and those that an error lists."""


def label(
    datasets: Datasets,
    dataset: str | None,
    query_id: str,
    chunks: Iterable[ChunkKey] = (),
    how: GoldChange = "add",
    by: GoldBy = "hand",
    *,
    phrases: Sequence[str] = (),
    any_of: bool = False,
) -> Query:
    """Say which chunks (document_id, chunk_index) a question needs: added to those it has, taken from them, or in their place.

    A phrase names the chunk that holds it, of which only the phrase is needed; removed are labels that hold it, lost ones too. With
    `any_of` any one of all that is named is enough; without it a phrase must stand in one passage.
    It is kept with the question, with who said it, and exported with it. Raises NotFound for an unknown dataset or question, and
    InvalidInput for a chunk that is not there and a phrase that stands nowhere or in several passages.
    """
    if how not in get_args(GoldChange):
        raise InvalidInput(f"how must be add, remove or replace, got {shown(how)}")
    name = datasets.dataset(dataset).info.name
    there = fresh(datasets, name)
    query = there.query(query_id)  # known, or the error says which are
    named = [GoldChunk(document, index, by) for document, index in dict.fromkeys(chunks)]
    if how == "remove":
        gold = [*_removed(query, named), *(one for phrase in phrases for one in _labels_with(there, query, phrase))]
    else:
        _check_there(datasets, there, name, named)
        gold = [*named, *(one for phrase in phrases for one in _passage(there, name, phrase, by, any_of))]
        if any_of:
            gold = [one] if (one := alternatives(place for each in gold for place in each.places)) is not None else []
    return datasets.store.set_gold(name, query_id, tuple(gold), how, linked=datasets.links.dataset(name) is not None)


def _check_there(datasets: Datasets, there: Dataset, name: str, named: Sequence[GoldChunk]) -> None:
    """Refuse chunks that are not there. Raises InvalidInput."""
    keys = [gold.key for gold in named]
    if wrong := [key for key in keys if type(key[1]) is not int or not 0 <= key[1] <= LARGEST_INDEX]:
        raise InvalidInput(f"gold must name chunks by an index from 0 to {LARGEST_INDEX}, got {shown(wrong[0][1])}")
    windows = [Window(document, index, index) for document, index in keys]
    found = {(chunk.document_id, chunk.chunk_index) for chunk in there.fetch(windows, datasets.counter().encoding).chunks}
    if missing := [key for key in keys if key not in found]:
        first = f"{shown(missing[0][0])} {missing[0][1]}"
        raise InvalidInput(f"gold must name chunks of dataset {shown(name)}, got {first}, which it does not hold")


def _removed(query: Query, named: Iterable[GoldChunk]) -> Iterator[GoldChunk]:
    """The labels of these chunks; of a chunk that has none those that are lost and stood there."""
    held = {key for gold in query.gold for key in gold.chunks}
    for one in named:
        yield one if one.key in held else GoldChunk(*one.key, lost=True)


def _labels_with(there: Dataset, query: Query, phrase: str) -> Iterator[GoldChunk]:
    """The places among a question's labels whose words hold a phrase, or are held by it. Raises InvalidInput where none does."""
    sought, found = normalised(phrase).casefold(), False
    for place in (place for gold in query.gold for place in gold.places):
        text = place.text
        if text is None and not place.lost:
            text = next((chunk.text for chunk in there.fetch([Window(*place.key, place.chunk_index)], "").chunks), "")
        if sought and sought in normalised(text or "").casefold():
            found = True
            yield GoldChunk(*place.key, text=place.text, lost=place.lost)
    if not found:
        raise InvalidInput(f"a phrase to remove must stand in a label of query {shown(query.query_id)}, got {shown(phrase, 80)}")


def _passage(there: Dataset, name: str, phrase: str, by: GoldBy, any_of: bool) -> list[GoldChunk]:
    """The passage that holds a phrase; with `any_of` several. Raises InvalidInput."""
    found = find_passages(there, phrase)
    listed = ", ".join(f"{shown(passage[0].document_id, 60)} {passage[0].chunk_index}" for passage in found[:MOST_LISTED])
    if not found:
        said = "in any case, white space and Unicode form; one that stands over two chunks is found in no one"
        raise InvalidInput(f"a phrase must stand in a chunk of dataset {shown(name)} ({said}), got {shown(phrase, 80)}: take a part of it")
    if len(found) > (MOST_PASSAGES if any_of else 1):
        most = f"at most {MOST_PASSAGES} passages" if any_of else "one passage"
        stands = f"which stands in {counted(len(found), 'passage')} ({listed}{', …' if len(found) > MOST_LISTED else ''})"
        other = "" if any_of else ", or say that any one of them is enough"
        raise InvalidInput(
            f"a phrase must stand in {most} of dataset {shown(name)}, got {shown(phrase, 80)}, {stands}: take a longer one{other}"
        )
    return [one for passage in found if (one := alternatives(_labels_of(passage, phrase, by))) is not None]


def _labels_of(passage: Sequence[FetchedChunk], phrase: str, by: GoldBy) -> Iterator[GoldChunk]:
    for chunk in passage:
        if words := held_words(chunk.text, phrase):
            yield GoldChunk(chunk.document_id, chunk.chunk_index, by, words)


def find_passages(there: Dataset, phrase: str) -> list[list[FetchedChunk]]:
    """The chunks that hold a phrase: exactly, else in any case, white space and Unicode form. Neighbours that share it are one passage."""
    if not is_visible(phrase):
        raise InvalidInput(f"a phrase must have at least one visible character, got {shown(phrase)}")
    phrase = phrase.strip()
    found = there.find_text(phrase)
    found = [chunk for chunk in found if phrase in chunk.text] or found
    if not found:
        found = [chunk for chunk in there.iter_chunks() if held_words(chunk.text, phrase) is not None]
    passages: list[list[FetchedChunk]] = []
    for chunk in found:
        before = passages[-1][-1] if passages else None
        if before is not None and (before.document_id, before.chunk_index + 1) == (chunk.document_id, chunk.chunk_index):
            shared = chunk.text[: overlap_of(before, chunk).chars]
            if held_words(shared, phrase) is not None:
                passages[-1].append(chunk)
                continue
        passages.append([chunk])
    return passages


def held_words(text: str, phrase: str) -> str | None:
    """A phrase as it stands in a text; None where it does not."""
    phrase = phrase.strip()
    if phrase in text:
        return phrase
    plain, places = normalised_places(text)
    sought = normalised(phrase)
    for said, wanted in ((plain, sought), (plain.lower(), sought.lower())):
        at = said.find(wanted) if len(said) == len(plain) else -1
        if at >= 0:
            return text[places[at] : places[at + len(wanted)]].rstrip()
    return None
