"""The labelled claims of real cited answers, with what the parser reads from each claim's own text."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from ctxasm.citations.markers import parse_markers
from tests.real_data import real_folder


class Label(NamedTuple):
    """`cites` as labelled, `parsed` by the marker parser, `plain` by `\\[\\d+\\]`; all sorted. `texts`: the markers read."""

    query_id: str
    claim: str
    cites: tuple[int, ...]
    parsed: tuple[int, ...]
    plain: tuple[int, ...]
    texts: tuple[str, ...]


def read_labels() -> list[Label]:
    """Every label of the file, in its order."""
    folder = real_folder()
    assert folder is not None
    labels = []
    for line in (folder / "cited-hagrid" / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for label in record["labels"]:
            claim = label["claim"]
            markers = parse_markers(claim)
            labels.append(
                Label(
                    record["query_id"],
                    claim,
                    tuple(sorted(label["cites"])),
                    tuple(sorted({n for marker in markers for n in marker.numbers})),
                    tuple(sorted({int(n) for n in re.findall(r"\[(\d+)\]", claim)})),
                    tuple(marker.text for marker in markers),
                )
            )
    return labels
