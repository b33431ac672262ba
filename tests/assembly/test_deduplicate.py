"""Duplicates of every likeness: what leaves, for what, and that nothing is lost by it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxasm.assembly.deduplicate import by_document, duplicate_events, likeness_of, name_of, promote, relations_of, resolve
from ctxasm.assembly.near_copies import Words, _alike_in_meaning
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.stages import NO_RELATIONS, Related, Relations, Resolution
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Duplicate, Promoted
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.chunk_facts import duplicate_key
from ctxasm.text.dates import period_of
from tests.examples import examples

WORDS = [*(f"word{letter}" for letter in "abcdefghijklmnopqrs"), "12", "not"]


class LetterVectors:
    """A fake embedder: the shares of the words of a text, as a unit vector."""

    name, threshold = "letters", 0.97

    def vectors(self, chunks: Sequence[FetchedChunk]) -> Any:
        rows = np.array([[chunk.text.split().count(word) for word in WORDS] for chunk in chunks], np.float32) + np.float32(1e-3)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@dataclass(frozen=True)
class Found:
    candidates: Mapping[Key, Candidate]
    documents: Mapping[str, Document]
    settings: AssemblySettings

    def relations(self) -> Relations:
        return relations_of(self.candidates, self.settings, LetterVectors(), self.documents)

    def resolved(self) -> tuple[Relations, Resolution]:
        relations = self.relations()
        return relations, resolve(by_document(promote(self.candidates, relations)[0].values()), relations)


@st.composite
def cases(draw: st.DrawFn, **fixed: object) -> Found:
    """Documents whose chunks are copies of a few texts, some a little changed or longer, with dates and titles of all sorts."""
    texts = draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), min_size=1, max_size=4))
    candidates: dict[Key, Candidate] = {}
    documents = {}
    for number in range(draw(st.integers(1, 5))):
        name = f"d{number}"
        title, date = draw(st.sampled_from(["A", "A 2", "B", None])), draw(st.sampled_from([None, "2020", "2021", "2021-05", "2022", "x"]))
        documents[name] = Document(name, title=title, date=date)
        hits: list[int] = []
        for index in range(draw(st.integers(1, 4))):
            words = list(draw(st.sampled_from(texts)))
            match draw(st.sampled_from(["same", "longer", "changed"])):
                case "longer":
                    words += draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
                case "changed":
                    words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(WORDS))
            retrieved = not hits or draw(st.booleans())
            hits += [index] if retrieved else []
            score, rank = draw(st.sampled_from([0.1, 0.5, 0.9, -1.0])), draw(st.integers(1, 9))
            chunk = FetchedChunk(name, index, " ".join(words))
            candidates[name, index] = Candidate(chunk, retrieved, score, rank, () if retrieved else tuple(hits[-1:]))
    chosen = {
        "dedup_exact": draw(st.booleans()),
        "dedup_near": draw(st.booleans()),
        "near_threshold": draw(st.sampled_from([0.5, 0.7, 0.9])),
        "dedup_semantic": draw(st.booleans()),
        "semantic_threshold": draw(st.sampled_from([None, 0.9])),
        "dedup_keep": draw(st.sampled_from(["best", "newest"])),
    }
    return Found(candidates, documents, AssemblySettings().replace(**(chosen | fixed)))


LAWS = hypothesis_settings(max_examples=examples(60))


def kept(resolution: Resolution) -> set[Key]:
    return {(document_id, index) for document_id, indexes in resolution.shown.items() for index in indexes}


@LAWS
@given(cases())
def test_a_copy_is_one_of_a_chunk_that_is_kept_and_stands_no_later(found: Found) -> None:
    _, resolution = found.resolved()
    there = kept(resolution)
    place = {document_id: at for at, document_id in enumerate(resolution.order)}
    for copy, related in resolution.likeness.items():
        assert related.key in there
        assert place[related.key[0]] <= place[copy[0]]
        assert resolution.duplicates[copy] == related.key
    assert resolution.likeness.keys() == resolution.duplicates.keys()
    for key in found.candidates:
        assert (key in there) + (key in resolution.duplicates) + (key in resolution.orphans) == 1


@LAWS
@given(cases())
def test_no_two_kept_chunks_repeat_each_other(found: Found) -> None:
    relations, resolution = found.resolved()
    there = kept(resolution)
    for key in there:
        for related in relations.copies.get(key, ()):
            # One way only (what stands inside another, in a document that stands before it) is no repetition.
            mutual = any(back.key == key for back in relations.copies.get(related.key, ()))
            assert related.key == key or related.key not in there or not mutual


@LAWS
@given(cases(dedup_exact=True), st.integers(0, 5))
def test_cutting_documents_from_the_tail_loses_no_text_that_only_a_copy_held(found: Found, cut: int) -> None:
    _, resolution = found.resolved()
    left = set(resolution.order[:cut])
    texts = {key: candidate.chunk.text for key, candidate in found.candidates.items()}
    shown = {texts[key] for key in kept(resolution) if key[0] in left}
    for copy, related in resolution.likeness.items():
        if related.likeness == "exact" and copy[0] in left:
            assert texts[copy] in shown


@LAWS
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_is_no_matter(found: Found, shuffle: random.Random) -> None:
    items = list(found.candidates.items())
    shuffle.shuffle(items)
    other = Found(dict(items), found.documents, found.settings)
    assert other.resolved() == found.resolved()


@LAWS
@given(cases(dedup_keep="best"))
def test_documents_taken_in_the_order_that_was_found_show_the_same(found: Found) -> None:
    relations, resolution = found.resolved()
    assert resolve(by_document(found.candidates.values()), relations, resolution.order) == resolution


@LAWS
@given(cases(dedup_keep="best"))
def test_relations_are_symmetric_but_for_what_stands_inside_another(found: Found) -> None:
    relations = found.relations()
    assert relations.superseded == {}
    keys = list(found.candidates)
    inside = {(keys[small], keys[large]) for small, large, _ in Words([c.chunk.text for c in found.candidates.values()]).inside()}
    for key, related in ((key, related) for key, own in relations.copies.items() for related in own):
        assert Related(key, related.likeness, related.similarity) in relations.copies.get(related.key, ()) or (related.key, key) in inside
        assert (key, related.key) not in inside or related.likeness == "semantic"


@LAWS
@given(cases(dedup_near=True))
def test_neighbours_are_only_ever_exact_copies(found: Found) -> None:
    for key, own in found.relations().copies.items():
        for related in own:
            next_to_it = related.key[0] == key[0] and abs(related.key[1] - key[1]) == 1
            assert not next_to_it or (related.likeness == "exact" and found.settings.dedup_exact)


@LAWS
@given(cases(dedup_keep="newest", dedup_exact=True))
def test_the_newest_version_never_loses(found: Found) -> None:
    relations, resolution = found.resolved()
    period = {key: period_of(found.documents[key[0]].date) for key in found.candidates}
    for older, newer in relations.superseded.items():
        first, second = period[older], period[newer.key]
        assert first is not None
        assert second is not None
        assert second.is_after(first)
        assert newer.key not in relations.superseded
        assert older not in kept(resolution)
    for copy, related in resolution.likeness.items():
        first, second = period[copy], period[related.key]
        if copy not in relations.superseded and first is not None and second is not None:
            assert not first.is_after(second)


@LAWS
@given(cases(dedup_keep="newest", dedup_exact=True), st.integers(0, 4))
def test_an_older_text_never_shows_instead_of_its_successor(found: Found, without: int) -> None:
    relations = found.relations()
    own = {name: chunks for name, chunks in by_document(found.candidates.values()).items() if name != f"d{without}"}
    resolution = resolve(own, relations)
    assert not kept(resolution) & relations.superseded.keys()
    assert set(resolution.order) == set(own)


def exact_relations(documents: Mapping[str, Mapping[int, Candidate]]) -> Relations:
    """Every chunk whose normalised text another candidate has too, with the whole group it belongs to (itself included)."""
    groups: dict[bytes, list[Key]] = {}
    seen: dict[bytes, Key] = {}
    for document_id, own in documents.items():
        for index, candidate in own.items():
            chunk = candidate.chunk
            text = chunk.duplicate_key or duplicate_key(chunk.text)
            if text in seen:
                groups.setdefault(text, [seen[text]]).append((document_id, index))
            else:
                seen[text] = (document_id, index)
    if not groups:
        return NO_RELATIONS
    copies: dict[Key, tuple[Related, ...]] = {}
    for keys in groups.values():
        copies |= dict.fromkeys(keys, tuple([Related(key, "exact", 1.0) for key in keys]))
    return Relations(copies, {})


@LAWS
@given(cases())
def test_exact_copies_alone_are_those_of_the_simple_rule(found: Found) -> None:
    only = found.settings.replace(dedup_exact=True, dedup_near=False, dedup_semantic=False, dedup_keep="best")
    own = by_document(found.candidates.values())
    simple, full = resolve(own, exact_relations(own)), resolve(own, relations_of(found.candidates, only))
    assert (simple.order, simple.shown, simple.orphans, simple.likeness) == (full.order, full.shown, full.orphans, full.likeness)


# Worked examples


def candidates(*rows: tuple[str, int, str, float]) -> dict[Key, Candidate]:
    ranked = sorted(rows, key=lambda row: -row[3])
    return {(d, i): Candidate(FetchedChunk(d, i, text), True, score, ranked.index((d, i, text, score)) + 1) for d, i, text, score in rows}


def dated(**dates: str | None) -> dict[str, Document]:
    return {name: Document(name, title=f"Visiting hours ({date})", date=date) for name, date in dates.items()}


RULE = (
    "Visitors are welcome every day from 14 to 20 o'clock, two at a time, and leave by the main entrance when the bell rings for the night."
)
NEAR = AssemblySettings().replace(dedup_near=True)
NEWEST = NEAR.replace(dedup_keep="newest")


def outcome(found: Mapping[Key, Candidate], settings: AssemblySettings, documents: Mapping[str, Document] | None = None) -> Resolution:
    relations = relations_of(found, settings, LetterVectors(), documents or {})
    return resolve(by_document(promote(found, relations)[0].values()), relations)


def test_the_better_document_keeps_the_text() -> None:
    found = candidates(("a", 0, RULE, 0.5), ("b", 3, RULE.replace("welcome", "admitted"), 0.9))
    resolution = outcome(found, NEAR)
    assert resolution.likeness == {("a", 0): Related(("b", 3), "near", pytest.approx(24 / 26))}
    assert duplicate_events(resolution) == [Duplicate("a", 0, "b", 3, "near", pytest.approx(24 / 26))]
    assert outcome(found, NEAR.replace(near_threshold=0.95)).likeness == {}
    assert outcome(found, AssemblySettings()).likeness == {}


def test_of_documents_with_equal_scores_the_one_with_the_best_rank_stands_first() -> None:
    found = candidates(("z", 0, "one", 0.5), ("b", 0, "two", 0.5), ("z", 5, "three", 0.5))
    assert [candidate.rank for candidate in found.values()] == [1, 2, 3]
    assert outcome(found, AssemblySettings()).order == ("z", "b")


def test_where_every_text_is_there_twice_half_of_them_leave() -> None:
    found = candidates(("a", 0, RULE, 0.5), ("b", 3, RULE, 0.9))
    for settings in (AssemblySettings(), NEAR):
        assert outcome(found, settings).duplicates == {("a", 0): ("b", 3)}


def test_another_figure_is_another_text() -> None:
    found = candidates(("a", 0, RULE, 0.5), ("b", 0, RULE.replace("20", "19"), 0.9))
    assert outcome(found, NEAR).likeness == {}
    assert outcome(found, AssemblySettings().replace(dedup_semantic=True, semantic_threshold=0.5)).likeness == {}


def test_what_is_inside_another_leaves_but_never_makes_it_leave() -> None:
    longer = f"Dear visitor. {RULE} Children come with an adult, and flowers stay outside."
    assert outcome(candidates(("a", 0, longer, 0.9), ("b", 0, RULE, 0.5)), NEAR).duplicates == {("b", 0): ("a", 0)}
    # The larger text stands later: dropping the small one would lose it with a cut of the tail, so both stay.
    assert outcome(candidates(("a", 0, longer, 0.5), ("b", 0, RULE, 0.9)), NEAR).duplicates == {}
    # Inside one document the larger one says it all, whatever its score.
    assert outcome(candidates(("a", 0, longer, 0.5), ("a", 5, RULE, 0.9)), NEAR).duplicates == {("a", 5): ("a", 0)}
    # And all that stands inside it, also where it comes last.
    two = RULE.replace("Visitors", "Suppliers").replace("main", "back").replace("night", "day").replace("two at a time", "never on Sunday")
    found = candidates(("a", 0, RULE, 0.9), ("a", 4, two, 0.8), ("a", 9, f"{RULE} {two}", 0.5))
    assert outcome(found, NEAR).duplicates == {("a", 0): ("a", 9), ("a", 4): ("a", 9)}


class Plane:
    """A fake embedder of two directions: each text is the cosine that it has with the first one."""

    name, threshold = "plane", 0.9

    def vectors(self, chunks: Sequence[FetchedChunk]) -> Any:
        cosines = np.array([float(chunk.text) for chunk in chunks])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


@pytest.mark.parametrize(("cosine", "is_copy"), [("0.90001", True), ("0.9", True), ("0.89997", False)])
def test_meaning_is_told_to_five_digits(cosine: str, is_copy: bool) -> None:
    links = _alike_in_meaning([one.chunk for one in candidates(("a", 0, "1.0", 0.9), ("b", 0, cosine, 0.5)).values()], None, Plane())
    assert [(one, other) for one, other, _ in links] == ([(0, 1)] if is_copy else [])


def test_vectors_a_hair_too_long_are_no_more_than_alike() -> None:
    class Longer(Plane):
        def vectors(self, chunks: Sequence[FetchedChunk]) -> Any:
            return super().vectors(chunks) * np.float32(1.0001)

    assert _alike_in_meaning([one.chunk for one in candidates(("a", 0, "0.5", 0.9), ("b", 0, "0.5", 0.5)).values()], None, Longer()) == [
        (0, 1, 1.0)
    ]


def test_without_copies_a_document_has_the_score_of_its_best_hit() -> None:
    found = candidates(("a", 0, "Parking is free.", 0.4), ("a", 1, "Dogs stay outside.", 0.7), ("b", 0, RULE, 0.9))
    assert resolve(by_document(found.values()), NO_RELATIONS).scores == {"b": 0.9, "a": 0.7}


def test_what_is_not_shown_is_like_the_first_that_is_shown_whole() -> None:
    found = candidates(("a", 0, RULE, 0.9), ("b", 0, RULE, 0.8), ("c", 0, RULE, 0.7), ("d", 0, "Parking is free.", 0.6))
    relations = relations_of(found, NEAR, None, {})
    nothing = Resolution(("a", "b", "c", "d"), {}, {}, frozenset(), {}, {})

    def joined(document_id: str, less: int = 0) -> Joined:
        chunk = found[document_id, 0].chunk
        return Joined(chunk, 0, len(chunk.text) - less, True)

    shown = [joined("d"), joined("b"), joined("a")]
    assert likeness_of(nothing, relations, shown, found) == {("c", 0): Related(("b", 0), "exact", 1.0)}
    cut = [joined("d"), joined("b", less=1), joined("a")]
    assert likeness_of(nothing, relations, cut, found) == {("c", 0): Related(("a", 0), "exact", 1.0)}


def test_the_strongest_likeness_of_several_is_named() -> None:
    changed = RULE.replace("welcome", "admitted")
    found = candidates(("a", 0, changed, 0.9), ("a", 4, RULE + " Thank you for coming here.", 0.9), ("b", 0, changed, 0.5))
    assert outcome(found, NEAR).likeness[("b", 0)] == Related(("a", 0), "exact", 1.0)
    turned = " ".join([changed.split()[-1], *changed.split()[:-1]])  # the same words
    found = candidates(("a", 0, turned, 0.9), ("a", 4, changed, 0.8), ("b", 0, changed, 0.5))
    both = NEAR.replace(near_threshold=0.99)
    assert outcome(candidates(("a", 0, turned, 0.9), ("b", 0, changed, 0.5)), both).likeness[("b", 0)] == Related(("a", 0), "near", 1.0)
    assert (
        outcome(candidates(("a", 0, turned, 0.9), ("b", 0, changed, 0.8), ("b", 1, turned, 0.7)), both).likeness[("b", 1)].likeness
        == "exact"
    )


def test_an_old_version_does_not_beat_its_successor_by_luck() -> None:
    found = candidates(("old", 0, RULE, 0.9), ("new", 0, RULE.replace("20", "19"), 0.4), ("other", 0, "Parking is free.", 0.6))
    documents = dated(old="2023-03-13", new="2026-01-05", other=None)
    relations = relations_of(found, NEWEST, None, documents)
    assert relations.superseded == {("old", 0): Related(("new", 0), "near", pytest.approx(24 / 26))}
    promoted, events = promote(found, relations)
    assert events == (Promoted("new", 0, "old", 0, 0.9),)
    assert (promoted["new", 0].score, promoted["new", 0].rank) == (0.9, 1)
    resolution = resolve(by_document(promoted.values()), relations)
    assert resolution.order[:2] == ("new", "other")
    assert resolution.duplicates == {("old", 0): ("new", 0)}
    # Without dates, with the same date, or with `best`, another figure is another text.
    for dates in (dated(old="2023", new="2023", other=None), dated(old="2023", new=None, other=None), {}):
        assert outcome(found, NEWEST, dates).duplicates == {}
    assert outcome(found, NEAR, documents).duplicates == {}


def test_where_the_successor_is_not_there_its_copy_stands_for_the_old_text() -> None:
    newer = RULE.replace("20", "19")
    found = candidates(("old", 0, RULE, 0.9), ("new", 0, newer, 0.4), ("also", 3, newer, 0.3))
    documents = dated(old="2023", new="2026", also="2026")
    relations = relations_of(found, NEWEST, None, documents)
    assert relations.superseded[("old", 0)].key == ("also", 3)
    for missing, left in (("also", ("new", 0)), ("new", ("also", 3))):
        own = {name: chunks for name, chunks in by_document(found.values()).items() if name != missing}
        assert resolve(own, relations).duplicates == {("old", 0): left}
    assert resolve(by_document([found["old", 0]]), relations).duplicates == {("old", 0): ("also", 3)}


def test_a_successor_does_not_leave_for_a_better_copy() -> None:
    found = candidates(
        ("other", 0, RULE, 0.95), ("old", 0, RULE.replace("welcome", "admitted"), 0.9), ("new", 0, RULE.replace("welcome", "received"), 0.4)
    )
    resolution = outcome(found, NEWEST, dated(old="2023", new="2026", other=None))
    assert resolution.duplicates == {("old", 0): ("new", 0)}
    assert set(resolution.order) == {"other", "new", "old"}


def test_documents_of_other_names_are_no_editions() -> None:
    found = candidates(("a", 0, RULE, 0.9), ("b", 0, RULE.replace("20", "19"), 0.4))
    documents = {"a": Document("a", title="Ward A", date="2020"), "b": Document("b", title="Ward C", date="2024")}
    assert outcome(found, NEWEST, documents).duplicates == {}
    documents = {"a": Document("a", source="wards/a.md", date="2020"), "b": Document("b", source="wards/c.md", date="2024")}
    assert outcome(found, NEWEST, documents).duplicates == {}
    documents = {"a": Document("a", source="2020/ward.md", date="2020"), "b": Document("b", source="2024/ward-2.md", date="2024")}
    assert outcome(found, NEWEST, documents).duplicates == {("a", 0): ("b", 0)}
    assert name_of("Bezoekuren (versie 2023)") == name_of("Bezoekuren, v2.1") == "bezoekuren"
    assert name_of("handbook-v3.pdf") == name_of("Handbook_2024.PDF")


def test_the_successor_stands_where_the_old_one_stood() -> None:
    """Its own score is low and the old document has a better chunk: cut after the first place, the text would be lost."""
    found = candidates(
        ("old", 0, RULE, 0.5), ("old", 9, "Parking is free.", 0.9), ("new", 0, RULE, 0.1), ("mid", 0, "Something else.", 0.7)
    )
    resolution = outcome(found, NEWEST, dated(old="2023", new="2026", mid=None))
    assert resolution.order == ("new", "old", "mid")
    assert [resolution.scores[name] for name in resolution.order] == [0.9, 0.9, 0.7]


def test_of_two_successors_the_better_stands_first() -> None:
    found = candidates(("old", 0, "one", 0.9), ("old", 1, "two", 0.8), ("old", 2, "x", 0.95), ("b", 0, "1", 0.5), ("a", 0, "2", 0.4))
    superseded = {("old", 0): Related(("a", 0), "near", 1.0), ("old", 1): Related(("b", 0), "near", 1.0)}
    assert resolve(by_document(found.values()), Relations({}, superseded)).order == ("b", "a", "old")


def test_a_newer_part_does_not_stand_for_a_longer_old_text() -> None:
    longer = f"Dear visitor. {RULE} Children come with an adult, and flowers stay outside."
    found = candidates(("old", 0, longer, 0.9), ("new", 0, RULE, 0.5))
    assert outcome(found, NEWEST, dated(old="2023", new="2026")).duplicates == {}
    assert outcome(found, NEWEST, dated(old="2026", new="2023")).duplicates == {("new", 0): ("old", 0)}


def test_meaning_needs_an_embedder_and_uses_its_threshold() -> None:
    moved = " ".join(reversed(WORDS[:12]))
    found = candidates(("a", 0, " ".join(WORDS[:12]), 0.9), ("b", 0, moved, 0.5), ("c", 0, " ".join(WORDS[6:18]), 0.4))
    meaning = AssemblySettings().replace(dedup_semantic=True)
    assert outcome(found, meaning).likeness == {("b", 0): Related(("a", 0), "semantic", 1.0)}
    assert set(outcome(found, meaning.replace(semantic_threshold=0.5)).duplicates) == {("b", 0), ("c", 0)}
    with pytest.raises(InvalidInput, match="needs an embedder"):
        relations_of(found, meaning)


def test_nothing_asked_nothing_related() -> None:
    found = candidates(("a", 0, RULE, 0.9), ("b", 0, RULE, 0.5))
    assert relations_of(found, AssemblySettings().replace(dedup_exact=False)) == NO_RELATIONS
    assert relations_of({}, NEWEST) == NO_RELATIONS
    found = candidates(("a", 0, RULE, 0.9), ("b", 0, RULE, 0.5), ("c", 0, "Parking is free.", 0.4))
    assert relations_of(found, NEAR).copies.keys() == {("a", 0), ("b", 0)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a:\n  b: 1\n  c: 2\nd: 3", "a:\n  b: 1\nc: 2\nd: 3"),
        ("if x:\n    a()\n    b()", "if x:\n    a()\nb()"),
        ("if x:\n\ta()\n\tb()", "if x:\n\ta()\n\t\tb()"),
        ("if x {\n\ta()\n}\nb()", "if x {\n    a()\n}\nb()"),
        ("    a()\nb()", "a()\nb()"),
        ("- a\n  - b\n - c", "- a\n  - b\n  - c"),
        ("x = 1\n    # set\ny = 2", "x = 1\n    # set y = 2"),
        ("if x:\r\n    a()\r\n    b()", "if x:\r\n    a()\r\n  b()"),
        ("The fee is 12 euros.", "The fee is 15 euros."),
        ("The fee is 12 euros.", "The fee is 12 Euros."),
    ],
)
def test_indentation_and_every_visible_character_are_content(one: str, other: str) -> None:
    assert duplicate_key(one) != duplicate_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Helmets are lent free\nof charge to members.", "Helmets are lent\nfree of charge to\nmembers."),
        ("Two  words.\tThree.  ", "Two words. Three.\n"),
        (" of the library", "of the library\n\n"),
        ("    of the library", "\tof the library"),
        (" of the\nlibrary", "of the library"),
        ("if x:\n    a()\n\n    b()  ", "if x:\r\n    a() \r\n    b()"),
        ("é:\n    a\u00ad()\n\u200b\n\xa0 \xa0 b()", "e\u0301:\n    a()\n    b()"),
        ("\u200b  a()\n  b()", "  a()\n  b()"),
        ("if  x:\n    a(1,  2)", "if x:\n    a(1, 2)"),
        ("Crème brûlée", "Cre\u0300me bru\u0302le\u0301e"),
        ("koffie", "kof\u00adfie"),
        ("en koffie", "\ufeffen\u200b kof\u200cf\u2060ie\u200e"),
    ],
)
def test_texts_that_read_the_same_are_one(one: str, other: str) -> None:
    assert duplicate_key(one) == duplicate_key(other)


@given(st.text("ab \n"))
def test_the_key_of_text_without_indentation_is_what_it_was(text: str) -> None:
    """Kept vectors are called by it."""
    flat = "\n".join(line.strip() for line in text.splitlines())
    assert duplicate_key(flat) == blake2b(" ".join(flat.split()).encode(), digest_size=16).digest()
