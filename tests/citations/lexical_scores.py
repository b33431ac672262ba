"""What the words alone say of each probe of the half for tuning, as kept in `probes/lexical_scores.jsonl`.

`python -m tests.citations.lexical_scores` writes the file anew: look at what changed before it is kept. The half for reporting is not
in it, because nobody reads its claims one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.model.support import Source
from tests.citations.probes_data import FOLDER, Language, probes

KEPT = FOLDER / "lexical_scores.jsonl"


def lines(language: Language) -> Iterator[str]:
    """A line for each probe: score, what carries it, what is missing and what says otherwise, by the cited sources and by each source."""
    scorer = LexicalScorer()
    for probe in probes(language, "tune"):
        sources = [Source(one.n, one.text, ((0, len(one.text)),)) for one in probe.sources]
        compared = scorer.compare([probe.claim], sources, probe.question)
        cited = [at for at, one in enumerate(sources) if one.number in probe.cites]
        matches = [compared.together(0, cited), compared.together(0, range(len(sources))), *compared.each(0)]
        yield json.dumps([probe.id, *dict.fromkeys(matches)], ensure_ascii=False)


if __name__ == "__main__":
    KEPT.write_text("".join(f"{line}\n" for language in ("nl", "en") for line in lines(language)), encoding="utf-8")
