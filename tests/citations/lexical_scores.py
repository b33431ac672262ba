"""What the words alone say of each probe of the half for tuning, as kept in `probes/lexical_scores.jsonl`, and of each probe of a single
word that may be read, as kept in `probes/operator_verdicts.jsonl`.

`python -m tests.citations.lexical_scores` writes the files anew: look at what changed before it is kept. What is for reporting is not
in them, because nobody reads its claims one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.model.support import Source
from tests.citations.operator_probes import WRITTEN, OperatorProbe, Third, written
from tests.citations.probes_data import FOLDER, Language, probes

KEPT = FOLDER / "lexical_scores.jsonl"
KEPT_OPERATORS = FOLDER / "operator_verdicts.jsonl"


def lines(language: Language) -> Iterator[str]:
    """A line for each probe: score, what carries it, what is missing and what says otherwise, by the cited sources and by each source."""
    scorer = LexicalScorer()
    for probe in probes(language, "tune"):
        sources = [Source(one.n, one.text, ((0, len(one.text)),)) for one in probe.sources]
        compared = scorer.compare([probe.claim], sources, probe.question)
        cited = [at for at, one in enumerate(sources) if one.number in probe.cites]
        matches = [compared.together(0, cited), compared.together(0, range(len(sources))), *compared.each(0)]
        yield json.dumps([probe.id, *dict.fromkeys(matches)], ensure_ascii=False)


Checked = tuple[OperatorProbe, tuple[CheckedClaim, ...]]


def checked_operators(third: Third, file: Path = WRITTEN) -> list[Checked]:
    """The probes of single words, each checked as an answer that cites its text."""
    return [
        (probe, check_answer(f"{probe.claim} [1]", grounds_of_sources([{"n": 1, "text": probe.text}]), LexicalScorer()).claims)
        for probe in written(third, file)
    ]


def operator_lines(checked: Iterable[Checked]) -> Iterator[str]:
    """A line for each probe: the verdict on each of its claims, its score, what is missing, what says otherwise and what gates it."""
    for probe, claims in checked:
        said = [(claim.verdict, claim.score, claim.missing, claim.conflict, claim.gated) for claim in claims]
        yield json.dumps([probe.claim, *said], ensure_ascii=False)


if __name__ == "__main__":
    KEPT.write_text("".join(f"{line}\n" for language in ("nl", "en") for line in lines(language)), encoding="utf-8")
    KEPT_OPERATORS.write_text("".join(f"{line}\n" for line in operator_lines(checked_operators("read"))), encoding="utf-8")
