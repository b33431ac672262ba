"""The mapping editor's choices: laws over any columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.load.mapping import as_kind, chosen, fields_of, is_needed, lacking, leading_of, offered_of, paths_of
from ctxasm.data.files.cells import FIELDS, HIT_FIELDS, HITS, NEEDED, ColumnMapping

kinds = st.sampled_from(sorted(FIELDS))
columns = st.lists(
    st.text(min_size=1, max_size=8) | st.sampled_from(["id", "body", "doc", "vraag", "score", "nr"]), max_size=8, unique=True
)


@st.composite
def mappings(draw):
    kind = draw(kinds)
    return ColumnMapping(kind, draw(st.dictionaries(st.sampled_from(FIELDS[kind]), st.text(min_size=1), max_size=5)))


@given(mappings())
def test_every_field_is_offered_once_and_every_mapped_one_at_once(mapping):
    first, later = fields_of(mapping)
    assert sorted((*first, *later)) == sorted(offered_of(mapping))
    assert set(mapping.columns) | set(leading_of(mapping)) == set(first)


@given(mappings())
def test_what_is_lacking_is_what_the_check_refuses(mapping):
    missing = [group for group in NEEDED[mapping.kind] if not any(field in mapping.columns for field in group)]
    assert bool(lacking(mapping)) == bool(missing)
    assert all(field in lacking(mapping) and is_needed(mapping.kind, field) for group in missing for field in group)


@given(mappings(), kinds, columns)
def test_another_kind_keeps_what_both_have(mapping, kind, there):
    turned = as_kind(mapping, kind, there)
    assert turned.kind == kind
    assert set(turned.columns) <= set(FIELDS[kind])
    assert all(turned.columns[field] == column for field, column in mapping.columns.items() if field in FIELDS[kind])
    assert all(column in there or column in mapping.columns.values() for column in turned.columns.values())


@given(mappings(), st.data())
def test_a_pick_changes_its_field_and_no_other(mapping, data):
    field = data.draw(st.sampled_from(FIELDS[mapping.kind]))
    column = data.draw(st.none() | st.text(min_size=1, max_size=5))
    after = chosen(mapping, {field: column})
    if field == HITS and column != mapping.columns.get(HITS):  # what stands in a hit belongs to its list
        assert not set(after.columns) & set(HIT_FIELDS)
        mapping = ColumnMapping(mapping.kind, {key: value for key, value in mapping.columns.items() if key not in HIT_FIELDS})
    assert {key: value for key, value in after.columns.items() if key != field} == {
        key: value for key, value in mapping.columns.items() if key != field
    }
    assert after.columns.get(field) == column


def test_reasons_stay_only_with_what_was_guessed():
    mapping = ColumnMapping("chunks", {"text": "body", "title": "kop"}, {"text": "by its values", "title": "a usual name"})
    assert chosen(mapping, {"text": "other"}).reasons == {"title": "a usual name"}
    assert chosen(mapping, {"title": None}).reasons == {"text": "by its values"}


def test_paths_reach_into_objects():
    rows = [(1, {"text": "x", "meta": {"page": 3, "deep": {"er": 1}}}), (2, {"text": "y"})]
    assert paths_of(("text", "meta"), rows) == ("text", "meta", "meta.page", "meta.deep", "meta.deep.er")


def test_paths_reach_into_the_json_of_a_text_cell():
    rows = [(1, {"meta": '{"page": {"nr": 3}}', "broken": '{"page": '})]
    assert paths_of(("meta", "broken"), rows) == ("meta", "broken", "meta.page", "meta.page.nr")


def test_the_surest_name_comes_first():
    assert as_kind(None, "chunks", ("body", "text", "doc", "document_id")).columns == {"text": "text", "document_id": "document_id"}


@pytest.mark.parametrize(
    ("kind", "field", "column"), [("chunks", "text", "body"), ("queries", "query", "vraag"), ("chunks", "text", "m.text")]
)
def test_names_are_known(kind, field, column):
    assert as_kind(None, kind, (column,)).columns == {field: column}
