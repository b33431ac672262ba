"""Where a field stands: the grammar of paths, and that nothing but a quoted name or key comes out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.data.paths import MAX_KEYS, Path, read_path
from ctxasm.model.errors import InvalidInput

COLUMNS = ("text", "chunk_metadata", 'a "b"', "x.y", "select", "met spatie", "data")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("text", Path("text")),
        ("TEXT", Path("text")),
        ('a "b"', Path('a "b"')),
        ("x.y", Path("x.y")),
        ("met spatie", Path("met spatie")),
        ("chunk_metadata->>'page_summary'", Path("chunk_metadata", ("page_summary",))),
        ("chunk_metadata -> 'a' ->> 'b'", Path("chunk_metadata", ("a", "b"))),
        ("chunk_metadata->'a'->'b'", Path("chunk_metadata", ("a", "b"))),
        ("chunk_metadata->0->>'it''s'", Path("chunk_metadata", (0, "it's"))),
        ('"a ""b"""->>\'k\'', Path('a "b"', ("k",))),
        ("\"met spatie\"->>'k'", Path("met spatie", ("k",))),
        ("chunk_metadata.page.title", Path("chunk_metadata", ("page", "title"))),
        ("chunk_metadata.pages[0].title", Path("chunk_metadata", ("pages", 0, "title"))),
        ("chunk_metadata[2]", Path("chunk_metadata", (2,))),
        ("x.y.z", Path("x.y", ("z",))),
        ("met spatie.k", Path("met spatie", ("k",))),
        ("chunk_metadata->>''", Path("chunk_metadata", ("",))),
    ],
)
def test_what_can_be_typed(text: str, path: Path) -> None:
    assert read_path(text, COLUMNS, "title") == path
    assert read_path(str(path), COLUMNS, "title") == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nowhere",
        "nowhere->>'a'",
        "pg_sleep(10)",
        "text; DROP TABLE x",
        "chunk_metadata->>'a' || pg_sleep(1)",
        "chunk_metadata->>'a'->>'b'",
        "chunk_metadata->>a",
        "chunk_metadata->>('a')",
        "chunk_metadata->>'a",
        "chunk_metadata->>'a''",
        "chunk_metadata->'a'::int",
        "chunk_metadata->>-1",
        "chunk_metadata.lower()",
        "chunk_metadata.pages[*]",
        "chunk_metadata[-1]",
        "(SELECT 1)",
        "chunk_metadata->>'a\n'",
        "chunk_metadata->>'\x00'",
        "chunk_metadata" + "->'a'" * (MAX_KEYS + 1),
        "x" * 10_000,
    ],
)
def test_anything_else_is_refused_with_the_field(text: str) -> None:
    with pytest.raises(InvalidInput, match="title must be a column, or a path") as raised:
        read_path(text, COLUMNS, "title")
    assert len(str(raised.value)) < 600


@given(st.text(max_size=60))
def test_a_text_is_a_column_a_path_or_refused(text: str) -> None:
    try:
        path = read_path(text, COLUMNS, "title")
    except InvalidInput:
        return
    assert path.column in COLUMNS
    assert read_path(str(path), COLUMNS, "title") == path


_KEYS = st.one_of(st.integers(0, 10**9 - 1), st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12))


@given(st.sampled_from(COLUMNS), st.lists(_KEYS, min_size=1, max_size=5))
def test_a_path_is_read_as_it_was_written(column: str, keys: list[str | int]) -> None:
    path = Path(column, tuple(keys))
    assert read_path(str(path), COLUMNS, "title") == path
