"""The scorer that needs no model: how much of a claim stands together in its sources, and what stands against it.

The score is the share of the claim that the chosen windows hold, with rare words weighing more, times a factor for everything
that stands against it (see `gates`). Word overlap alone certifies nothing, so a conflict, or a figure, a name or a word of
weight that is not there, keeps a claim below the threshold whatever it shares.

The factors and the threshold were set on one half of 308 answers of the HAGRID development data (Kamalloo et al. 2023, labels
by people, split by question) and one half of the project's own probe claims; docs/about/measurements.md shows what they give on
the other halves.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.citations.lexical.decision import Certainty
from ctxasm.citations.lexical.evidence import Evidence, Split
from ctxasm.citations.lexical.findings import Findings, examine, find_lacking, missing_bits
from ctxasm.citations.lexical.parts import Parts, parts_of
from ctxasm.citations.lexical.windows import Window, Windows, union
from ctxasm.citations.lexical.words import Tongue, stems_of, tongue_of
from ctxasm.model.messages import Cancel
from ctxasm.model.support import NO_MATCH, Found, Match, Source, Spent
from ctxasm.text.sentences import sentence_spans

THRESHOLD = 0.78
PARTLY = 0.5
LOOKED_AT = PARTLY
"""Windows that hold less than this share of the words of a claim are no evidence: nothing is shown of them, no gate looks at them."""
LONGEST_CLAIM = 8_000
"""Characters; what is longer is no claim, and nothing carries it."""
RUN_COST = 0.1
"""What each further word of the longest stretch that is not there costs, up to four: a detail weighs more than scattered synonyms."""
FIGURE_FACTOR = 0.6
NAME_FACTOR = 0.7
CONFLICT_FACTOR = 0.8
RISK_COST = 0.2
"""What a claim that is carried loses of its score at most for its differences; it stays above the threshold."""
BLOCKED = 0.9
"""Where something stands against a claim its score ends between this share of the threshold and the threshold."""
WINDOW_FACTOR = 0.98
ROUNDING = 0.0005
"""More than a score changes by being rounded."""


class LexicalScorer:
    """Compares by words, stems, figures, names and denials; Dutch, English and German. Deterministic, no model, no network.

    All claims are read in one language, that of the answer, and the sources with them: between languages it finds names and figures only.

    `split` finds sentences; `tongue` fixes the language instead of recognising it; `certainty` says how safe "supported" must be.
    """

    threshold = THRESHOLD
    partly = PARTLY

    def __init__(self, split: Split = sentence_spans, tongue: Tongue | None = None, certainty: Certainty = "strict") -> None:
        self.name = "lexical" if certainty == "strict" else f"lexical-{certainty}"
        self._split, self._tongue, self._certainty = split, tongue, certainty

    def compare(
        self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None
    ) -> LexicalComparison:
        """See `Scorer`. The question is not used: what only it says supports nothing."""
        tongue = self._tongue or tongue_of(claims, (source.text for source in sources))
        return LexicalComparison(claims, Evidence(sources, stems_of(tongue), self._split), self._certainty)


class LexicalComparison:
    """Claims compared with sources when they are asked for."""

    spent = Spent()

    def __init__(self, claims: Sequence[str], evidence: Evidence, certainty: Certainty) -> None:
        self._claims = claims
        self._certainty = certainty
        self._evidence = evidence
        self._windows: dict[str, Windows] = {}
        self._known: dict[tuple[int, tuple[int, ...]], Match] = {}
        self._known_far: dict[tuple[int, int, int], Match] = {}

    def each(self, claim: int) -> Sequence[Match]:
        """See `Comparison`."""
        return [self.together(claim, (position,)) for position in range(len(self._evidence.sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        """See `Comparison`."""
        key = claim, tuple(sources) if len(sources) < 2 else tuple(dict.fromkeys(sources))
        if key not in self._known:
            self._known[key] = self._match(claim, key[1])
        return self._known[key]

    def _windows_of(self, claim: int) -> Windows | None:
        """The windows of a claim; None for what is none."""
        text = self._claims[claim]
        windows = self._windows.get(text)
        if windows is None and len(text) <= LONGEST_CLAIM:
            windows = self._windows[text] = Windows(parts_of(text, self._evidence), self._evidence)
        return windows

    def _match(self, claim: int, sources: Sequence[int]) -> Match:
        windows = self._windows_of(claim)
        if windows is None:
            return NO_MATCH
        chosen, is_evidence = self._chosen(windows, sources)
        if not is_evidence:
            return self._far(claim, windows, chosen)
        return self._told(windows, chosen, examine(windows.parts, chosen, self._evidence, self._certainty))

    def _told(self, windows: Windows, chosen: Sequence[Window], findings: Findings) -> Match:
        parts = windows.parts
        found = tuple(self._found(windows, window) for window in chosen)
        missing = missing_words(parts, missing_bits(parts, self._shown(chosen, findings), findings))
        return Match(round(score_of(parts, chosen, findings), 4), found, missing, findings.conflict, findings.gated)

    def _chosen(self, windows: Windows, sources: Sequence[int]) -> tuple[list[Window], bool]:
        """The windows of a claim in sources, and whether they are evidence. No window is tried where a single source holds too little."""
        if len(sources) == 1 and windows.parts.words and not windows.may_hold(sources[0], LOOKED_AT):
            return windows.best_sentence(sources[0]), False
        chosen = windows.choose(sources)
        return chosen, is_close(windows.parts, union(chosen))

    def _far(self, claim: int, windows: Windows, chosen: Sequence[Window]) -> Match:
        """The match with windows that are no evidence: the same with all that hold the same bits."""
        key = claim, union(chosen), len(chosen)
        known = self._known_far.get(key)
        if known is None:
            parts, lacking = windows.parts, find_lacking(windows.parts, chosen)
            score = round(score_of(parts, chosen, lacking), 4) if chosen else 0.0
            known = self._known_far[key] = Match(score, missing=missing_words(parts, lacking.uncovered))
        return known

    def _shown(self, chosen: Sequence[Window], findings: Findings) -> Window:
        """The window that is shown first: the one with the conflict, else the best."""
        conflict, sentences = findings.conflict, self._evidence.sentences
        for window in chosen if conflict is not None else ():
            number = self._evidence.sources[window.source].number
            if conflict and number == conflict.number and sentences[window.first].start <= conflict.start < sentences[window.last].end:
                return window
        return chosen[0]

    def _found(self, windows: Windows, window: Window) -> Found:
        first, last = self._evidence.sentences[window.first], self._evidence.sentences[window.last]
        share = windows.parts.weight(window.mask) / windows.parts.total
        return Found(self._evidence.sources[window.source].number, first.start, last.end, round(share, 4))


def is_close(parts: Parts, held: int) -> bool:
    """Whether windows that hold some bits of a claim hold so much of its words that they are evidence."""
    words = parts.everything & ~parts.all_quantities or parts.everything
    return bool(held) and parts.weight(held & words) >= LOOKED_AT * parts.weight(words)


def score_of(parts: Parts, windows: Sequence[Window], findings: Findings) -> float:
    """Between 0 and 1: the share of the claim that the windows hold, times the factors of what stands against it.

    Where anything does, it stays below the threshold.
    """
    share = parts.weight(union(windows)) / parts.total
    share *= 1 - RUN_COST * min(max(findings.longest - 1, 0), 4)
    share *= FIGURE_FACTOR ** min(findings.figures.bit_count(), 2) * NAME_FACTOR ** min(findings.names.bit_count(), 2)
    share *= WINDOW_FACTOR ** (len(windows) - 1)
    share = max(share * (1 - RISK_COST * findings.risk), min(share, THRESHOLD))
    if findings.conflict is not None:
        share *= CONFLICT_FACTOR
    return opposed(share) if findings.stands_against else share


def opposed(share: float) -> float:
    """The score where something stands against a claim that else had this score: below the threshold, and the higher the more it shares."""
    return min(share, THRESHOLD * (BLOCKED + (1 - BLOCKED) * share) - 0.001)


def missing_words(parts: Parts, uncovered: int) -> tuple[str, ...]:
    """The words and figures of a claim that are not there, as they stand in it; neighbours together."""
    pieces: list[tuple[int, int]] = []
    for bit in dict.fromkeys(parts.order if uncovered else ()):
        if uncovered >> bit & 1:
            part = parts.part(bit)
            if pieces and parts.text[pieces[-1][1] : part.start] == " ":
                pieces[-1] = pieces[-1][0], part.end
            else:
                pieces.append((part.start, part.end))
    return tuple(parts.text[start:end] for start, end in pieces)
