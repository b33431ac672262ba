"""The empty metadata that records share."""

from __future__ import annotations

import pytest

from ctxasm.model.records import NOTHING, Query


def test_metadata_that_is_empty_is_joined_as_a_dict_is() -> None:
    assert Query("Why?", (), "q").metadata is NOTHING
    assert NOTHING | {"a": 1} == {"a": 1}
    assert {"a": 1} | NOTHING == {"a": 1}
    assert NOTHING | NOTHING == {}
    given = {"a": 1}
    joined = given | NOTHING
    joined["b"] = 2
    assert (given, dict(NOTHING)) == ({"a": 1}, {})
    with pytest.raises(TypeError):
        NOTHING | [("a", 1)]
