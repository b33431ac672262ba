"""Claims and citation marks by writers who had seen neither code nor other claims: `pytest -n 0 -m bench -s tests/bench/test_fresh.py`.

The figures of their first look stand in docs/about/measurements.md. They have been read since: they tell nothing new about a check that
was changed for them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from tests.bench.tables import show

pytestmark = pytest.mark.bench
HERE = Path(__file__).parent
LANGUAGES = ("en", "nl", "de")


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def support(record: dict[str, Any], certainty: Any) -> set[str]:
    """How the sources carry the claim, all of them cited together."""
    marks = "".join(f"[{number}]" for number in range(1, len(record["sources"]) + 1))
    answer = f"{record['claim'].rstrip().rstrip('.!?')} {marks}."
    grounds = grounds_of_sources([{"n": number, "text": text} for number, text in enumerate(record["sources"], 1)])
    return {claim["axes"]["support"] for claim in check_answer(answer, grounds, LexicalScorer(certainty=certainty)).to_dict()["claims"]}


@pytest.mark.parametrize("certainty", ["strict", "usual"])
def test_claims_of_four_writers(certainty: str) -> None:
    counts: Counter[tuple[str, str, bool]] = Counter()
    against: Counter[bool] = Counter()
    for record in read("fresh_claims.jsonl"):
        found = support(record, certainty)
        kind = re.split("[_-]", record["kind"])[-1] if record["supported"] else "false"
        for group in (record["language"], f"writer {record['writer']}", "all"):
            counts[kind, group, found == {"full"}] += 1
        against[record["supported"]] += "contradicted" in found
    groups = ("all", *LANGUAGES, *(f"writer {number}" for number in range(1, 5)))
    rows = [
        (kind, *(f"{counts[kind, group, True]}/{counts[kind, group, True] + counts[kind, group, False]}" for group in groups))
        for kind in ("false", "verbatim", "merged", "paraphrased")
    ]
    show(f"Called supported, {certainty}", ("kind", *groups), rows)
    print(f"called contradicted: {against[False]} of the false, {against[True]} of the true claims")


def test_marks_in_forty_odd_answers() -> None:
    def plain(text: str) -> str:
        return re.sub(r"\W+", " ", text.lower()).strip()

    answers = claims = right = 0
    for record in read("fresh_marks.jsonl"):
        found = check_answer(record["answer"], grounds_of_sources(record["sources"]), LexicalScorer()).to_dict()["claims"]
        good = []
        for expected in record["expected"]:
            wanted = plain(expected["claim"])
            own = [claim for claim in found if wanted in plain(claim["text"]) or plain(claim["text"]) in wanted]
            cites = sorted({number for claim in own for number in claim["markers"]})
            full = all(claim["axes"]["support"] == "full" for claim in own)
            good.append(bool(own) and cites == sorted(expected["cites"]) and (full or not expected["cites"]))
        answers, claims, right = answers + all(good), claims + len(good), right + sum(good)
    print(f"answers read as a person reads them: {answers} of {len(read('fresh_marks.jsonl'))}, claims {right} of {claims}")
