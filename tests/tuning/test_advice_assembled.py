"""The advisor on real assemblies: each rule on a small corpus that has its trouble, and what applying the change then brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Chunk, Document, GoldChunk, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, advise, measured
from ctxasm.tuning.advice_view import View
from ctxasm.tuning.evidence import EvidenceState, evidence_states
from tests.fakes import FakeSource
from tests.strategies import COUNTER

NUMERALS = ("nul", "een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen")


def prose(topic: str, tokens: int) -> str:
    """About so many tokens of whole sentences, in words that no other topic has."""
    text, n = "", 0
    while COUNTER.count(text) < tokens:
        word = "".join(NUMERALS[int(digit)] for digit in str(n))
        text += f"Het {topic}{word} van {topic} kent {topic}regel{word}. "
        n += 1
    return text.strip()


class Scene(NamedTuple):
    """Documents with the tokens of their chunks, the hits (best first), the evidence, and the settings."""

    texts: dict[str, list[str]]
    hits: list[tuple[str, int]]
    gold: tuple[tuple[str, int], ...] = ()
    chosen: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    scores: list[float] = []  # noqa: RUF012
    more: dict[str, Any] = {}  # noqa: RUF012
    dates: dict[str, str] = {}  # noqa: RUF012
    summary: str | None = None

    def assembler(self) -> Callable[[AssemblySettings], Assembly]:
        documents = [Document(name, name.capitalize(), None, self.summary, self.dates.get(name)) for name in self.texts]
        chunks = [Chunk(name, n, text) for name, own in self.texts.items() for n, text in enumerate(own)]
        scores = self.scores or [1 - place / 100 for place in range(len(self.hits))]
        hits = tuple(Hit(*key, score) for key, score in zip(self.hits, scores, strict=True))
        query = Query("Wat is de regel?", hits, "q", gold=tuple(GoldChunk(*key) for key in self.gold), **self.more)
        source = FakeSource(documents, chunks, COUNTER)

        def assemble_with(settings: AssemblySettings) -> Assembly:
            left = (settings.model_window or 0) - settings.answer_tokens if settings.budget_mode == "window" else None
            return assemble(query, source, settings, COUNTER, limit=left)

        return assemble_with

    def evidence(self, assembly: Assembly) -> tuple[EvidenceState, ...]:
        stored = {name: [Chunk(name, n, text) for n, text in enumerate(own)] for name, own in self.texts.items()}
        return evidence_states(assembly, stored)


def of(**sizes: int | list[int]) -> dict[str, list[str]]:
    return {
        name: [prose(f"{name}{NUMERALS[n]}", tokens) for n, tokens in enumerate(own if isinstance(own, list) else [own])]
        for name, own in sizes.items()
    }


FOUR = {"budget_policy": "drop_documents", "max_tokens": 900}
MANY = of(zon=100, maan=100, ster=100, wolk=100, regen=100)
MARKED = {"zon": [prose("zon", 60) + " Zie [1] en [2]."], "maan": [prose("maan", 60) + " Zie [3]."]}
SCENES: dict[str, Scene] = {
    "evidence_cut": Scene(of(zon=300, maan=700, ster=200), [("zon", 0), ("maan", 0), ("ster", 0)], (("ster", 0),), FOUR),
    "evidence_next_door": Scene(of(zon=[80, 80, 80, 80]), [("zon", 0)], (("zon", 2),)),
    "evidence_beyond_top_k": Scene(of(zon=80, maan=80), [("zon", 0), ("maan", 0)], (("maan", 0),), {"top_k": 1}),
    "evidence_below_floor": Scene(of(zon=80, maan=80), [("zon", 0), ("maan", 0)], (("maan", 0),), {"relevance_floor": 0.995}),
    "fragments": Scene(
        {"zon": ["U komt op tijd met uw", "kaart naar", "de balie beneden."], "maan": ["Wie belt naar het", "nummer boven, wacht even."]},
        [("zon", 1), ("maan", 0)], (), {"expand_window": 0},
    ),
    "tiny_chunks": Scene(
        of(zon=[10, 90, 90, 90], maan=[10, 90, 90, 90], ster=[10, 90, 90, 90]), [("zon", 0), ("maan", 0), ("ster", 0)],
    ),
    "unused_tokens": Scene(of(zon=300, maan=700, ster=200), [("zon", 0), ("maan", 0), ("ster", 0)], (), FOUR),
    "one_document": Scene(
        of(zon=[200] * 6, maan=200), [("zon", 0), ("maan", 0), ("zon", 5)], (), {"max_tokens": 900, "expand_window": 1},
    ),
    "window_crowds_out": Scene(
        of(zon=[200, 100, 200], maan=[200, 100, 200], ster=[200, 100, 200]), [("zon", 1), ("maan", 1), ("ster", 1)], (),
        {"max_tokens": 620},
    ),
    "cut_mid_sentence": Scene(
        of(zon=300, maan=700, ster=180), [("zon", 0), ("maan", 0), ("ster", 0)], (), {"max_tokens": 620, "budget_policy": "greedy"},
    ),
    "repeats": Scene(
        {"zon": [prose("zon", 100)], "maan": [prose("zon", 100)]}, [("zon", 0), ("maan", 0)], (), {"dedup_exact": False},
    ),
    "stale_copy": Scene(
        {"zon": [prose("zon", 100) + " tot zover."], "maan": [prose("zon", 100) + " tot straks."]}, [("zon", 0), ("maan", 0)], (),
        {"dedup_near": True}, dates={"zon": "2024-01-01", "maan": "2026-01-01"},
    ),
    "low_score_tail": Scene(MANY, [(name, 0) for name in MANY], (), {}, [0.9, 0.88, 0.86, 0.2, 0.19]),
    "overshoot": Scene(of(zon=480), [("zon", 0)], (), {"max_tokens": 500, "budget_scope": "chunks"}, summary="Alles over de regel. " * 8),
    "best_in_middle": Scene(MANY, [("ster", 0), ("zon", 0), ("maan", 0), ("wolk", 0)], (), {"ordering": "chronological"}),
    "second_in_middle": Scene(
        of(zon=400, maan=500, ster=400, wolk=400, regen=400), [(name, 0) for name in MANY],
    ),
    "unsafe_format": Scene(MANY, [("zon", 0), ("maan", 0)], (), {"format": "minimal"}),
    "markers_in_sources": Scene(MARKED, [("zon", 0), ("maan", 0)], (), {"marker_collisions": "warn"}),
    "scaffolding": Scene(of(zon=60, maan=60), [("zon", 0), ("maan", 0)], (), {}, summary="Alles over de regel van vandaag. " * 5),
    "supplement_needless": Scene(
        MANY, [("zon", 0)], (), {"supplement_mode": "always"}, more={"supplement": "Dienst: Zon.", "best_similarity": 0.9},
    ),
    "supplement_missing": Scene(
        MANY, [("zon", 0)], (), {"supplement_mode": "never"}, more={"supplement": "Dienst: Zon.", "best_similarity": 0.2},
    ),
    "answer_reserve": Scene(MANY, [("zon", 0)], (), {"budget_mode": "window", "model_window": 8192, "answer_tokens": 50}),
}  # fmt: skip


def advised(scene: Scene, chosen: AssemblySettings) -> tuple[Assembly, tuple[Advice, ...]]:
    assemble_with = scene.assembler()
    assembly = assemble_with(chosen)
    return assembly, advise(assembly, evidence=scene.evidence, assemble_with=assemble_with)


@pytest.mark.parametrize("rule", SCENES)
def test_a_real_assembly_is_advised_and_the_advice_keeps_its_word(rule: str) -> None:
    scene = SCENES[rule]
    chosen = AssemblySettings().replace(**scene.chosen)
    before, given = advised(scene, chosen)
    own = [each for each in given if each.rule == rule]
    assert own, [(each.rule, dict(each.changes)) for each in given]
    changed = chosen.replace(**own[0].changes)
    after, then = advised(scene, changed)
    assert own[0].effect is not None
    assert own[0].effect.before == measured(View(before, scene.evidence))
    assert own[0].effect.after == measured(View(after, scene.evidence))
    assert rule not in [each.rule for each in then if dict(each.changes) == dict(own[0].changes)]


def test_a_good_assembly_needs_no_advice() -> None:
    scene = Scene(of(zon=[100, 100, 100], maan=[100, 100]), [("zon", 1), ("maan", 0)], (("zon", 1),))
    assert advised(scene, AssemblySettings())[1] == ()


def test_no_hits_need_no_advice() -> None:
    assert advised(Scene(MANY, []), AssemblySettings())[1] == ()
