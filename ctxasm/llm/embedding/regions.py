"""What a cosine between two chunks means: it belongs to the embedder, and was measured for each.

The bookend guide names its regions for a sentence transformer: from 0.95 near-verbatim copies, 0.90 to 0.94 close paraphrases (its
default is 0.92), below 0.90 also distinct chunks on one topic. Measured here (cosines; chunks of 200 and more characters of the
four real corpora, paraphrases of ten English and ten Dutch passages of our own; `tests/bench/test_dedup.py`):

| pairs | wordllama | multilingual-e5-small |
| --- | --- | --- |
| of different documents, median / 99 % | .14 / .62 English, .80 / .90 Dutch | .81 / .88 English |
| of one document, not neighbours, 99 % | .84 English, .92 Dutch, .98 code and API pages | .95 API pages |
| paraphrases, lowest / median | .69 / .78 English, .57 / .78 Dutch | .92 / .96 English, .95 / .97 Dutch |
| 8 % of the words replaced, lowest twentieth | .94 English, .98 Dutch | .98 English |
| the first tenth cut off, lowest twentieth | .97 English, .99 Dutch | .98 English |
| one figure, name or negation changed | .84 to .98 | .97 to .98 |

The last row is why a cosine alone never decides: figures, names and negation are compared besides. With that check no pair at
or above 0.96 on either half of the four corpora was a wrong one for wordllama; from 0.90 to 0.95 a dozen pairs were (code and
option lists).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

SLIDER = (0.85, 0.98)
"""The range that a slider needs: below it everything on a topic is alike, above it only copies."""
THRESHOLDS: Mapping[str, float] = {"wordllama": 0.96, "multilingual-e5-small": 0.96}
"""From where on two chunks say the same, by embedder."""
SOURCE_THRESHOLD = 0.92
"""The bookend guide's, for an embedder that was not measured."""


class Region(NamedTuple):
    """From `least` upwards (to the next region) a pair of chunks is one that the words describe."""

    least: float
    words: str


_SOURCE = (
    Region(0.95, "only near-verbatim copies"),
    Region(0.90, "close paraphrases (the bookend guide recommends this region)"),
    Region(0.85, "aggressive: chunks that are distinct but on one topic may go"),
    Region(0.0, "far too low: most chunks on a topic would go"),
)
_REGIONS: Mapping[str, Sequence[Region]] = {
    "wordllama": (
        Region(0.98, "only copies with a few words changed or an edge cut off"),
        Region(0.96, "copies reworked in places; no wrong pair in the measured corpora"),
        Region(0.92, "also lists and code of one pattern with different entries; free paraphrases lie below"),
        Region(0.85, "aggressive: in Dutch most chunks of one document lie here; English paraphrases begin"),
        Region(0.0, "far too low: in Dutch any two chunks are this much alike"),
    ),
    "multilingual-e5-small": (
        Region(0.98, "only near-verbatim copies"),
        Region(0.96, "close paraphrases: half of the English and most of the Dutch ones measured"),
        Region(0.94, "nearly all paraphrases, and the first chunks that merely treat one subject"),
        Region(0.90, "aggressive: neighbouring chunks on one topic lie here"),
        Region(0.0, "far too low: with this embedder unrelated chunks lie at 0.8 to 0.9"),
    ),
}


def threshold_of(embedder: str) -> float:
    """From which cosine on two chunks say the same to this embedder."""
    return THRESHOLDS.get(embedder, SOURCE_THRESHOLD)


def meaning_of(threshold: float, embedder: str | None = None) -> str:
    """What a threshold makes of two chunks, in words for the control beside it. Without a measured embedder as the source says."""
    regions = _REGIONS.get(embedder or "", _SOURCE)
    return next(region.words for region in regions if threshold >= region.least or region is regions[-1])
