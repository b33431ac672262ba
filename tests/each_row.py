"""A table of cases as one test, where each case takes less than what pytest does around a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any

import pytest


def each_row(
    names: str | tuple[str, ...], rows: Iterable[Any], ids: Iterable[str] | Callable[[Any], object] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, in one test: every row is tried, and the failure lists all that fail with what each says.

    For tests that are given nothing which a row could leave changed for the next one.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if len(keys) > 1 else (row,) for row in rows]
    labels = [str(tuple(map(ids, row)) if callable(ids) else row) for row in table] if ids is None or callable(ids) else [*map(str, ids)]
    assert table, "a table without a row tests nothing"
    assert len(labels) == len(table), "each row has one id"

    def over_all(test: Callable[..., None]) -> Callable[..., None]:
        def tried(**given: Any) -> None:
            failed = list[str]()
            for label, row in zip(labels, table, strict=True):
                try:
                    test(**given, **dict(zip(keys, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (told below, whatever it is)
                    failed.append(f"{label}\n{type(error).__name__}: {error}")
            if failed:
                pytest.fail(f"{len(failed)} of {len(table)} rows fail\n\n" + "\n\n".join(failed), pytrace=False)

        left = [each for name, each in signature(test).parameters.items() if name not in keys]
        tried.__name__, tried.__doc__, tried.__module__ = test.__name__, test.__doc__, test.__module__
        tried.__signature__ = signature(test).replace(  # type: ignore[attr-defined]
            parameters=[Parameter(each.name, Parameter.KEYWORD_ONLY) for each in left]
        )
        return tried

    return over_all
