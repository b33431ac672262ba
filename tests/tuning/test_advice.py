"""Each rule of the advisor: a trace that triggers it, one that does not, and a trial that helps or does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, get_args

import pytest

from ctxasm.model.errors import InvalidInput
from ctxasm.model.measured import spoken_against
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import RULES, Advice, advise
from ctxasm.tuning.advice_finding import Rule
from ctxasm.tuning.advice_view import View
from tests.tuning.advice_cases import GOLD, Doc, Part, gold_at, made

A = Doc("a", [Part(0)])
CUT = Part(0, 300, 2, "dropped", reason="budget", missing=60)
OTHER_WORDS = "Parkeren kost twee euro per uur in de garage naast het ziekenhuis."
SAME_WORDS = "Bezoek is welkom van twee tot acht uur op alle dagen van de week."
TAIL = [Part(0, 100, 5, score=0.2), Part(1, 100, 6, score=0.19)]
TOP = Doc("a", [Part(0, 100, 1, score=0.9), Part(1, 100, 2, score=0.88), Part(2, 100, 3, score=0.85)])
SMALL = Doc("a", [Part(0)])


def five(order: list[int], tokens: int = 100, **chosen: Any) -> Assembly:
    """One block a document, in this order of ranks."""
    return made(*(Doc(f"d{rank}", [Part(0, tokens, rank)]) for rank in order), limit=8000, **chosen)


def similar(similarity: float) -> Query:
    return Query("Wanneer?", (), "q", best_similarity=similarity, supplement="Dienst: Cardiologie.")


class Case(NamedTuple):
    """What triggers a rule, what is just short of it, what the first change brings, and that change."""

    fires: Assembly
    silent: Assembly
    after: Assembly
    changes: dict[str, object]
    evidence: Any = None


CASES: dict[str, Case] = {
    "evidence_cut": Case(
        made(A, Doc("b", [CUT]), query=GOLD),
        made(A, Doc("b", [Part(0)]), query=GOLD),
        made(A, Doc("b", [Part(0, 300, 2)]), query=GOLD),
        {"budget_policy": "pack"},
        gold_at("b", 0),
    ),
    "evidence_next_door": Case(
        made(Doc("b", [Part(2), Part(3, retrieved=False)]), query=GOLD),
        made(Doc("b", [Part(4)]), query=GOLD),
        made(Doc("b", [Part(0, retrieved=False), Part(1, retrieved=False), Part(2)]), query=GOLD),
        {"expand_window": 2},
        gold_at("b", 0),
    ),
    "evidence_beyond_top_k": Case(
        made(A, Doc("b", [Part(0, rank=7, fate="dropped", reason="top_k")]), query=GOLD, top_k=5),
        made(A, Doc("b", [Part(0)]), Doc("c", [Part(0, rank=7, fate="dropped", reason="top_k")]), query=GOLD, top_k=5),
        made(A, Doc("b", [Part(0, rank=7)]), query=GOLD),
        {"top_k": 7},
        gold_at("b", 0),
    ),
    "evidence_below_floor": Case(
        made(A, Doc("b", [Part(0, rank=7, fate="dropped", reason="floor", score=0.2)]), query=GOLD, relevance_floor=0.3),
        made(A, Doc("b", [Part(0)]), Doc("c", [Part(0, fate="dropped", reason="floor")]), query=GOLD, relevance_floor=0.3),
        made(A, Doc("b", [Part(0, rank=7)]), query=GOLD),
        {"relevance_floor": 0.2},
        gold_at("b", 0),
    ),
    "fragments": Case(
        made(Doc("a", [Part(0, text="met uw kaart"), Part(5)]), expand_window=0),
        made(Doc("a", [Part(0, text="met uw kaart"), Part(5), Part(8)]), expand_window=0),
        made(Doc("a", [Part(0), Part(1, retrieved=False), Part(4, retrieved=False), Part(5)])),
        {"expand_window": 1},
    ),
    "tiny_chunks": Case(
        made(Doc("a", [Part(0, 20), Part(4, 30), Part(8, 200)])),
        made(Doc("a", [Part(0, 60), Part(4, 70), Part(8, 20)])),
        made(Doc("a", [Part(0, 20), Part(1, 90, retrieved=False), Part(4, 30), Part(5, 90, retrieved=False), Part(8, 200)])),
        {"expand_window": 2},
    ),
    "unused_tokens": Case(
        made(SMALL, Doc("b", [CUT]), regret=(1.0, 1.5)),
        made(SMALL, Doc("b", [CUT]), regret=(1.0, 1.01)),
        made(SMALL, Doc("b", [Part(0, 300, 2)])),
        {"budget_policy": "pack"},
    ),
    "one_document": Case(
        made(Doc("a", [Part(0, 900)]), Doc("b", [CUT])),
        made(Doc("a", [Part(0, 300)]), Doc("c", [Part(0, 290)]), Doc("b", [CUT])),
        made(Doc("a", [Part(0, 500)]), Doc("b", [Part(0, 300, 2)])),
        {"budget_policy": "segments"},
    ),
    "window_crowds_out": Case(
        made(Doc("a", [Part(0), Part(1, 90, retrieved=False)]), Doc("b", [CUT]), Doc("c", [CUT])),
        made(Doc("a", [Part(0), Part(1, 90, retrieved=False)]), Doc("b", [CUT])),
        made(A, Doc("b", [Part(0, 300, 2)]), expand_window=0),
        {"expand_window": 0},
    ),
    "cut_mid_sentence": Case(
        made(A, Doc("b", [Part(0, 90, 2, "truncated")]), budget_policy="greedy"),
        made(A, Doc("b", [Part(0, 90, 2)]), budget_policy="greedy"),
        made(A, Doc("b", [Part(0, 90, 2)]), budget_policy="pack"),
        {"budget_policy": "pack"},
    ),
    "repeats": Case(
        made(Doc("a", [Part(0, text=SAME_WORDS)]), Doc("b", [Part(0, rank=2, text=SAME_WORDS)]), dedup_exact=False),
        made(Doc("a", [Part(0, text=SAME_WORDS)]), Doc("b", [Part(0, rank=2, text=SAME_WORDS + " Welkom.")]), dedup_exact=False),
        made(Doc("a", [Part(0, text=SAME_WORDS)]), Doc("b", [Part(0, 100, 2, "duplicate_of", of=("a", 0))])),
        {"dedup_exact": True},
    ),
    "stale_copy": Case(
        made(Doc("a", [Part(0)], date="2024-01-05"), Doc("b", [Part(0, 100, 2, "duplicate_of", of=("a", 0))], date="2026-01-05")),
        made(Doc("a", [Part(0)], date="2026-01-05"), Doc("b", [Part(0, 100, 2, "duplicate_of", of=("a", 0))], date="2024-01-05")),
        made(Doc("a", [Part(0, 100, 1, "duplicate_of", of=("b", 0))], date="2024-01-05"), Doc("b", [Part(0)], date="2026-01-05")),
        {"dedup_keep": "newest"},
    ),
    "low_score_tail": Case(
        made(TOP, Doc("b", TAIL)),
        made(TOP, Doc("b", [Part(0, 100, 5, score=0.4), Part(1, 100, 6, score=0.39)])),
        made(TOP),
        {"relevance_floor": 0.5},
    ),
    "overshoot": Case(
        made(A, limit=90, budget_scope="chunks"),
        made(A, limit=110, budget_scope="chunks"),
        made(Doc("a", [Part(0, 80)]), limit=90),
        {"budget_scope": "rendered"},
    ),
    "best_in_middle": Case(five([3, 2, 1, 4, 5]), five([5, 4, 3, 2, 1]), five([1, 3, 4, 5, 2]), {"ordering": "auto"}),
    "second_in_middle": Case(
        five([1, 3, 2, 4, 5], 800), five([1, 3, 2, 4, 5], 100), five([1, 3, 4, 5, 2], 800), {"ordering": "bookend"}
    ),
    "unsafe_format": Case(
        five([1, 2], format="minimal"), five([1, 2], format="minimal", channel="voice"), five([1, 2]), {"format": "numbered"}
    ),
    "markers_in_sources": Case(
        made(A, neutralised=3, marker_collisions="warn"),
        made(A, neutralised=3),
        made(A, neutralised=3),
        {"marker_collisions": "neutralise"},
    ),
    "scaffolding": Case(
        made(Doc("a", [Part(0)], prefix=60)), made(Doc("a", [Part(0)], prefix=20)), made(A), {"summary_prefix": False}
    ),
    "supplement_needless": Case(
        made(A, supplement=50, query=similar(0.8), supplement_mode="always"),
        made(A, supplement=50, query=similar(0.7), supplement_mode="always"),
        made(A, query=similar(0.8)),
        {"supplement_mode": "auto"},
    ),
    "supplement_missing": Case(
        made(A, query=similar(0.7), supplement_mode="never"),
        made(A, query=similar(0.8), supplement_mode="never"),
        made(A, supplement=50, query=similar(0.7)),
        {"supplement_mode": "auto"},
    ),
    "answer_reserve": Case(
        made(A, budget_mode="window", answer_tokens=100),
        made(A, budget_mode="window", answer_tokens=256),
        made(A),
        {"answer_tokens": 1024},
    ),
}  # fmt: skip


def rules_of(advice: tuple[Advice, ...]) -> list[str]:
    return [each.rule for each in advice]


def trial(before: Assembly, after: Assembly, changes: dict[str, object]) -> Any:
    """Assembles: `after` under the changes, under all others what it was."""
    return lambda settings: after if settings == before.settings.replace(**changes) else before


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(get_args(Rule))
    assert len(RULES) == len(CASES)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_fires_is_tried_and_measured(rule: str) -> None:
    case = CASES[rule]
    given = advise(case.fires, evidence=case.evidence, assemble_with=trial(case.fires, case.after, case.changes))
    own = [each for each in given if dict(each.changes) == case.changes]
    assert len(own) == 1, given
    assert own[0].rule == rule or rule in rules_of(advise(case.fires, evidence=case.evidence))
    assert own[0].effect is not None
    assert own[0].effect.before.tokens == case.fires.token_count
    assert own[0].effect.after.tokens == case.after.token_count
    assert own[0].figures


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_is_silent_just_short_of_it(rule: str) -> None:
    case = CASES[rule]
    assert rule not in rules_of(advise(case.silent, evidence=case.evidence))


@pytest.mark.parametrize("rule", CASES)
def test_no_rule_proposes_what_a_measurement_speaks_against(rule: str) -> None:
    """Near duplicates are looked for where a newer edition is to stand for an older one, and for nothing else."""
    view = View(CASES[rule].fires, CASES[rule].evidence)
    proposed = [changes for check in RULES if (finding := check(view)) for changes in finding.proposals]
    assert proposed
    assert not [each for each in proposed if spoken_against(each) and each.get("dedup_keep") != "newest"]


OLD = Doc("old", [Part(0, text=SAME_WORDS)], date="2024-01-05")
NEW = Doc("new", [Part(0, rank=2, text=SAME_WORDS + " Welkom.")], date="2026-01-05")
LEFT = Doc("new", [NEW.parts[0]._replace(fate="dropped", reason="budget")], date=NEW.date)


@pytest.mark.parametrize(("documents", "left_out"), [((OLD, NEW), False), ((OLD, LEFT), True), ((NEW, OLD), None)])
def test_a_newer_text_is_said_to_stand_where_it_stands(documents: tuple[Doc, Doc], left_out: bool | None) -> None:
    """It ranks below the older one in all three; in the last the order of the context puts it above."""
    found = [advice.figures for advice in advise(made(*documents)) if advice.rule == "stale_copy"]
    assert [figures["left_out"] for figures in found] == ([] if left_out is None else [left_out])
    assert all((figures["newer"], figures["older"], figures["removed"]) == (NEW.date, OLD.date, False) for figures in found)


@pytest.mark.parametrize("rule", sorted(set(CASES) - {"unsafe_format", "answer_reserve"}))
def test_advice_that_does_not_help_is_not_given(rule: str) -> None:
    """Nothing changes whatever is tried. (Format and reserve are choices whose worth no assembly can show.)"""
    case = CASES[rule]
    assert rule in rules_of(advise(case.fires, evidence=case.evidence))
    assert rule not in rules_of(advise(case.fires, evidence=case.evidence, assemble_with=lambda _: case.fires))


@pytest.mark.parametrize("rule", CASES)
def test_no_advice_costs_evidence(rule: str) -> None:
    """A change under which evidence is lost is never advised, whatever else it brings."""
    case = CASES[rule]
    if rule.startswith("evidence") or rule == "overshoot":
        return
    labelled = made(Doc("gold", [Part(0)]), query=GOLD)

    def evidence(assembly: Assembly) -> Any:
        return gold_at("gold", 0)(labelled if assembly is before else assembly)

    before = replace(case.fires, query=replace(case.fires.query, gold=GOLD.gold))
    after = replace(case.after, query=before.query)
    given = advise(before, evidence=evidence, assemble_with=lambda _: after)
    assert rules_of(given) == []


def test_the_best_of_the_changes_that_find_the_evidence() -> None:
    """The change that takes fewest tokens among those that find all; a limit in full hundreds is one of them."""
    case = CASES["evidence_cut"]
    tried: list[AssemblySettings] = []

    def assemble(settings: AssemblySettings) -> Assembly:
        tried.append(settings)
        if settings.budget_policy == "pack":
            return case.after
        if settings.max_tokens != 8000:
            return made(A, Doc("b", [Part(0, 200, 2)]), query=GOLD)
        return case.fires

    (advice, *_) = advise(case.fires, evidence=case.evidence, assemble_with=assemble)
    assert advice.changes == {"max_tokens": 1100}
    assert dict(advice.figures) == {"cut": 1, "documents": 2, "with_evidence": 1, "lost": 1, "evidence": 1}
    assert advice.effect is not None
    assert (advice.effect.before.found, advice.effect.after.found) == (0, 1)
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize("most", [0, 1, 4])
def test_there_are_only_so_many_trials_and_they_can_be_stopped(most: int) -> None:
    case, tried = CASES["evidence_cut"], []

    def assemble(settings: AssemblySettings) -> Assembly:
        tried.append(settings)
        return case.fires

    assert advise(case.fires, evidence=case.evidence, assemble_with=assemble, max_trials=most) == ()
    assert len(tried) == most
    tried.clear()
    assert advise(case.fires, evidence=case.evidence, assemble_with=assemble, cancel=lambda: len(tried) >= 2) == ()
    assert len(tried) == 2


def test_a_trial_that_fails_is_no_help() -> None:
    def assemble(settings: AssemblySettings) -> Assembly:
        raise InvalidInput("no embedder")

    assert advise(CASES["repeats"].fires, assemble_with=assemble) == ()


def test_gravest_first_and_each_change_once() -> None:
    """Two rules name the same change: the graver one gives it."""
    fires = made(Doc("a", [Part(0, 700)]), Doc("b", [CUT]), query=GOLD, regret=(1.0, 1.5))
    after = made(Doc("a", [Part(0, 700)]), Doc("b", [Part(0, 200, 2)]), query=GOLD)
    given = advise(fires, evidence=gold_at("b", 0), assemble_with=lambda _: after)
    changes = [tuple(sorted(each.changes.items())) for each in given]
    assert given[0].rule == "evidence_cut"
    assert len(changes) == len(set(changes))
    severities = [each.severity for each in given]
    assert severities == sorted(severities, key=("loss", "risk", "waste").index)


def test_an_older_edition_above_its_successor() -> None:
    """Both are candidates and neither was removed: near copies have to be looked for, the newest kept, at their own likeness."""
    old, new = SAME_WORDS + " Bel 111 voor vragen.", SAME_WORDS + " Mail ons gerust bij twijfel of nood."
    documents = (Doc("a", [Part(0, text=old)], date="2023"), Doc("b", [Part(0, 300, 2, "dropped", reason="budget", text=new)], date="2026"))
    (advice,) = (each for each in advise(made(*documents)) if each.rule == "stale_copy")
    assert advice.changes == {"dedup_keep": "newest", "dedup_near": True, "near_threshold": 0.54}
    assert (advice.figures["document_id"], advice.figures["newer"], advice.figures["older"]) == ("b", "2026", "2023")
    undated = (documents[0]._replace(date=None), documents[1])
    other = (documents[0], documents[1]._replace(parts=[Part(0, 300, 2, "dropped", reason="budget", text=OTHER_WORDS)]))
    ahead = (documents[0]._replace(date="2026"), documents[1]._replace(date="2023"))
    for calm in (undated, other, ahead):
        assert "stale_copy" not in rules_of(advise(made(*calm)))


def test_nothing_retrieved_needs_no_advice() -> None:
    assert advise(made()) == ()
