"""Which settings to ship for a corpus, and how sure that is: the one rule of recommend, sweep, the page Sweep and Python.

A setting is proposed for its gain only where the gain is shown, or where other corpora say so and the questions here agree with them; else
the settings that one has are kept. Whatever is proposed, a row that holds as much evidence for fewer tokens is named with it, so that no
proposal is beaten by its own table.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from ctxasm.model.amounts import counted, percent, signed
from ctxasm.model.settings import AssemblySettings, named
from ctxasm.tuning.statistics import (
    SIGNIFICANCE,
    Cheaper,
    PairedDifference,
    cheaper_settings,
    max_t_p,
    p_words,
    paired_difference,
    questions_needed,
    questions_to_show,
)
from ctxasm.tuning.sweep import SweepContext, grid_of, sweep
from ctxasm.tuning.sweep_results import SweepResult, rivals

PLACE = "ctxasm.tuning"
LIMITS = (1000, 2000, 4000, 8000, 16000)
"""The token limits that are pooled: a setting is judged over all of them, so that a limit's luck decides nothing."""


class Curated(NamedTuple):
    """A named change on top of anybody's settings."""

    name: str
    changes: Mapping[str, Any]
    help: str

    def on(self, settings: AssemblySettings) -> AssemblySettings:
        """These settings with the change, and with assembly on."""
        return settings.replace(enabled=True, **self.changes)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What curated settings held on one corpus: the share of its questions with all their evidence, by name and limit; and tokens."""

    name: str
    questions: int
    whole: Mapping[str, tuple[float, ...]]
    tokens: Mapping[str, tuple[float, ...]]

    def pooled(self, name: str) -> float:
        """The mean share over the limits."""
        own = self.whole[name]
        return sum(own) / len(own)


@dataclass(frozen=True, slots=True)
class Prior:
    """The curated settings with what other corpora say of them; every corpus counts the same. `version` is that of ctxasm."""

    curated: tuple[Curated, ...]
    limits: tuple[int, ...]
    corpora: tuple[Corpus, ...]
    version: str

    def value(self, name: str) -> float:
        """The mean share over corpora and limits; 0 for one that was not measured."""
        known = [corpus.pooled(name) for corpus in self.corpora if name in corpus.whole]
        return sum(known) / len(known) if known else 0.0

    def ranked(self) -> tuple[Curated, ...]:
        """The best first."""
        return tuple(sorted(self.curated, key=lambda each: -self.value(each.name)))

    def without(self, corpus: str) -> Prior:
        """The prior as it would be had one corpus not been seen."""
        return Prior(self.curated, self.limits, tuple(each for each in self.corpora if each.name != corpus), self.version)

    def to_json(self) -> str:
        """As it is shipped."""
        corpora = {
            corpus.name: {
                "questions": corpus.questions,
                "whole": {name: [round(value, 4) for value in values] for name, values in corpus.whole.items()},
                "tokens": {name: [round(value) for value in values] for name, values in corpus.tokens.items()},
            }
            for corpus in self.corpora
        }
        return json.dumps({"version": self.version, "limits": list(self.limits), "corpora": corpora}, indent=1) + "\n"


def curated_settings() -> tuple[Curated, ...]:
    """The settings of `curated.toml`, each checked. Raises InvalidSetting where the file names none."""
    found = tomllib.loads(files(PLACE).joinpath("curated.toml").read_text(encoding="utf-8"))
    curated = tuple(Curated(name, own["changes"], own["help"]) for name, own in found.items())
    for each in curated:
        each.on(AssemblySettings())
    return curated


def shipped_prior() -> Prior:
    """The prior that ships, made by `tests.tuning.make_prior`."""
    stored = json.loads(files(PLACE).joinpath("prior.json").read_text(encoding="utf-8"))
    corpora = tuple(
        Corpus(name, own["questions"], _by_name(own["whole"]), _by_name(own["tokens"])) for name, own in stored["corpora"].items()
    )
    return Prior(curated_settings(), tuple(stored["limits"]), corpora, stored["version"])


def _by_name(values: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(own) for name, own in values.items()}


DELTA = 0.05
"""What may be lost where something cheaper is taken, and the gain that must not be missed: five points."""
Verdict = Literal["gain", "cheaper", "prior", "keep"]
"""gain: shown to hold more. cheaper: holds as much here for fewer tokens, and is shown to lose little. prior: other corpora say so, the
questions here hold more by it too, and are too few to show it. keep: the settings that one has."""


class PriorChoice(NamedTuple):
    """What was best on other corpora: its place in the table, and its gain over settings like the start there (None: not measured).

    It was chosen before a question here was counted, so its test is not adjusted for the number of settings.
    """

    at: int
    gain: float | None
    corpora: int


@dataclass(frozen=True)
class Recommendation:
    """What follows from a table of settings (`found`), by their places in it. `taken` is what to ship: the start where it is kept.

    `rival` holds more evidence than the start here, which is not shown (verdicts keep and cheaper). `result` is the paired difference of
    the one of these that there is against the start; `adjusted` its p, adjusted for all settings that were tried (None: chosen before).
    `same` is the cheapest row that holds at least what `taken` does, for no more tokens; `same_more` further labels would show that
    it loses at most `delta`. `cheapest` is shown to lose at most `delta` against `taken`, and holds less. `room` is how many questions more
    than the start holds are within reach. `more` labelled questions would show a gain of `delta`: 0 where none is possible or one is shown.
    """

    found: SweepResult
    verdict: Verdict
    taken: int
    rival: int | None
    result: PairedDifference | None
    adjusted: float | None
    same: Cheaper | None
    same_more: int
    cheapest: Cheaper | None
    room: int
    more: int
    delta: float
    prior: PriorChoice | None

    @property
    def settings(self) -> AssemblySettings:
        """What to ship."""
        return self.found.settings[self.taken]

    @property
    def start(self) -> AssemblySettings:
        """What one has."""
        return self.found.settings[self.found.start]

    @property
    def labelled(self) -> int:
        """How many questions were counted on."""
        return len(self.found.labelled)

    @property
    def gold(self) -> str:
        """What the questions are labelled with."""
        return self.found.gold

    @property
    def changes(self) -> Mapping[str, Any]:
        """What to ship, by what it differs from the start in."""
        return _changed(self.settings, self.start)

    def _name(self, at: int, against: AssemblySettings | None = None) -> str:
        """The settings at a place in words, by what they differ from the start in."""
        return named(_changed(self.found.settings[at], against or self.start))

    @property
    def proposed(self) -> int:
        """The place of what the headline proposes to try next, or to ship: it is beaten by no row of the table."""
        return self.taken if self.same is None else self.same.at

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Of how many labelled questions each setting holds all evidence."""
        return tuple(int(value) for value in self.found.whole.sum(axis=1))

    def sentences(self) -> tuple[str, ...]:
        """What a colleague would want to know: what to ship, how sure that is, what it costs. The first is the headline."""
        windows = rivals(self.found)
        texts = (self._headline(), self._gain(), self._prior(), self._costs(), self._cheapest(), windows.sentence() if windows else "")
        return tuple(text for text in texts if text)

    def _headline(self) -> str:
        changes = self._name(self.taken)
        if not self.labelled:
            if self.prior is None:
                return "No question is labelled with its evidence: the table shows tokens alone."
            if self.verdict == "keep":
                return "Keep yours: no question is labelled, and no curated setting did better on other corpora."
            return f"Take {changes}: no question here is labelled, so this rests on {self.prior.corpora} other corpora alone."
        holds = f"the evidence of {self.whole[self.taken]} of {counted(self.labelled, 'question')}"
        own = self.whole[self.found.start]
        match self.verdict:
            case "keep" if self.same is not None:
                return f"Keep yours. {self._same()}"
            case "keep":
                return f"Keep yours: they hold {holds}."
            case "cheaper":
                sure = f"and is shown to lose at most {self.delta * 100:.0f} points"
                text = f"Take {changes}: it holds {_as_much(self.whole[self.taken], own, self.labelled)} {self._fewer(self.taken)}, {sure}."
            case _:
                text = f"Take {changes}, the rest as yours: it holds {holds}, yours {own}."
        return f"{text} {self._same()}".strip()

    def _same(self) -> str:
        """The cheaper row that holds as much as what is taken."""
        if self.same is None:
            return ""
        changes = self._name(self.same.at) or "Your own setting"
        much = _as_much(self.whole[self.same.at], self.whole[self.taken], self.labelled)
        lost = f"that it loses at most {self.delta * 100:.0f} points"
        tried = f", adjusted for {self.same.tried:,} settings that cost no more" if self.same.tried > 1 and not self.same.shown else ""
        sure = f"{lost} is {'shown' if self.same.shown else 'not shown yet'}{tried}"
        label = f": label about {self.same_more:,} more" if self.same_more else ""
        return f"{changes} holds {much} {self._fewer(self.same.at, self.taken)}; {sure}{label}."

    def _fewer(self, at: int, against: int | None = None) -> str:
        """`for 39 % fewer tokens`: of the setting at a place against another one (the start)."""
        own, other = self.found.tokens(at), self.found.tokens(self.found.start if against is None else against)
        saved = 1 - own / other if other else 0.0
        return f"for {percent(saved)} fewer tokens" if saved >= 0.005 else "for as many tokens" if own == other else "for a few tokens less"

    def _gain(self) -> str:
        """What is to be gained, with how sure that is; and what would show more."""
        if not self.labelled:
            return f"To know, {self._label()}." if self.more else ""
        hits, ceiling = f"the hits with {self.found.reach} neighbours", int(self.found.reachable.sum())
        if self.verdict in ("gain", "prior") and self.result is not None:
            why = "" if self.verdict == "gain" or self.prior is None else f"; it rests on {self.prior.corpora} other corpora"
            texts = [f"{self._result(self.result)}{why}.", f"{hits[:1].upper()}{hits[1:]} could give {ceiling}."]
        elif not self.room:
            texts = [f"Nothing can gain: {hits} {f'could give {ceiling}, and yours hold them' if ceiling else 'hold none'}."]
        elif self.rival is None or self.result is None:
            texts = [f"None of {len(self.found.settings):,} settings holds more; {hits} could give {ceiling}."]
        else:
            changes, tokens = self._name(self.rival), self.found.tokens(self.rival)
            of = f"{self.whole[self.rival]} of the {ceiling} that {hits} could give"
            texts = [f"{changes} holds {of}, for {tokens:,.0f} tokens a question: {self._result(self.result)}."]
        return " ".join([*texts, self._label(sentence=True)]).strip()

    def _prior(self) -> str:
        """What did best on other corpora, where it is not taken here though it would be without labels."""
        prior = self.prior
        if prior is None or not self.labelled or self.verdict not in ("keep", "cheaper") or prior.at in (self.taken, self.rival):
            return ""
        if prior.gain is None or prior.gain <= 0:
            return ""
        changes, tokens = self._name(prior.at), self.found.tokens(prior.at)
        gained = f"gained {signed(prior.gain * 100, 1)} points on {prior.corpora} other corpora"
        return f"{changes} {gained}; here it holds {self.whole[prior.at]} for {tokens:,.0f} tokens a question."

    def _result(self, result: PairedDifference) -> str:
        """The paired difference as `compare` says it; behind it what is left of it after so many settings were tried."""
        tried = len(self.found.settings)
        if self.adjusted is None or not result.shown:
            return result.sentence()
        adjusted = f"adjusted for {tried:,} settings {p_words(self.adjusted)}"
        return f"{result.sentence()}; {adjusted}" if self.adjusted <= SIGNIFICANCE else f"{result.sentence()}, but not {adjusted}"

    def _label(self, *, sentence: bool = False) -> str:
        points = f"{self.delta * 100:.0f} points"
        if not self.more:
            possible = 0 < self.room < self.delta * self.labelled and self.verdict in ("keep", "cheaper")
            return f"At most {signed(100 * self.room / self.labelled, 1)} points can be gained here." if sentence and possible else ""
        text = f"label about {self.more:,} more questions to show a gain of {points}"
        return f"{text[:1].upper()}{text[1:]}." if sentence else text

    def _costs(self) -> str:
        if self.taken == self.found.start:
            return ""
        tokens = f"It takes {self.found.tokens(self.taken):,.0f} tokens a question in place of {self.found.tokens(self.found.start):,.0f}"
        if not self.labelled:
            return f"{tokens}."
        gained, lost = self.flips
        if not gained and not lost:
            return f"{tokens}; no question changes."
        return f"{tokens}; it gains {counted(len(gained), 'question')} and loses {counted(len(lost), 'question')}."

    def against_start(self) -> PairedDifference:
        """What is shipped against the start."""
        return paired_difference(self.found.differences(self.taken, self.found.start))

    @property
    def flips(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of the questions that what is shipped gains over the start, and that it loses."""
        return self.found.flips(self.taken, self.found.start)

    def _cheapest(self) -> str:
        if self.cheapest is None:
            return ""
        changes = self._name(self.cheapest.at, self.settings)
        return (
            f"Cheaper, and shown to lose at most {-min(0.0, self.cheapest.bound) * 100:.1f} points: {changes}, "
            f"{self.found.tokens(self.cheapest.at):,.0f} tokens a question ({signed(self.cheapest.difference * 100, 1)} points here)."
        )

    def origin(self, at: int | None = None) -> tuple[str, ...]:
        """Where the settings at a place (those to ship) come from, in lines: version, data and labels; the gain with its interval."""
        at, found = self.taken if at is None else at, self.found
        of = f"ctxasm {found.version}, data {found.dataset} {found.digest[:12]}, {counted(self.labelled, 'labelled question')}"
        if at == found.start or not self.labelled:
            return of, *(text for text in (self._headline(), self._gain()) if text)
        gain = paired_difference(found.differences(at, found.start)).sentence()
        return of, f"against {named(self.start.changed()) or 'the defaults'}: {gain}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        gained, lost = self.flips if self.labelled else ((), ())
        return {
            "dataset": self.found.dataset,
            "digest": self.found.digest,
            "version": self.found.version,
            "verdict": self.verdict,
            "sentences": list(self.sentences()),
            "changes": dict(self.changes),
            "settings": self.settings.changed(),
            "start": self.start.changed(),
            "labelled": self.labelled,
            "gold": self.gold,
            "tried": len(self.found.settings),
            "whole": {
                "recommended": self.whole[self.taken],
                "start": self.whole[self.found.start],
                "ceiling": int(self.found.reachable.sum()),
            },
            "tokens": {"recommended": round(self.found.tokens(self.taken), 3), "start": round(self.found.tokens(self.found.start), 3)},
            "gained": list(gained),
            "lost": list(lost),
            "result": None if self.result is None else self.result.to_dict(),
            "adjusted_p": None if self.adjusted is None else round(self.adjusted, 6),
            "rival": None if self.rival is None else self.found.settings[self.rival].changed(),
            "same": self._cheaper_dict(self.same),
            "same_more_questions": self.same_more,
            "cheaper": self._cheaper_dict(self.cheapest),
            "room": self.room,
            "more_questions": self.more,
            "delta": self.delta,
            "prior": None
            if self.prior is None
            else {"gain": None if self.prior.gain is None else round(self.prior.gain, 6), "corpora": self.prior.corpora},
            "failures": len(self.found.failures),
        }

    def _cheaper_dict(self, cheaper: Cheaper | None) -> dict[str, Any] | None:
        if cheaper is None:
            return None
        return {
            "settings": self.found.settings[cheaper.at].changed(),
            "tokens": round(self.found.tokens(cheaper.at), 3),
            "difference": round(cheaper.difference, 6),
            "bound": round(cheaper.bound, 6),
            "shown": cheaper.shown,
        }


def decide(found: SweepResult, delta: float = DELTA, prior: PriorChoice | None = None) -> Recommendation:
    """Apply the rule to everything that a sweep counted. `delta`: see `DELTA`; `prior`: what other corpora say, if one asks them."""
    if not found.labelled:
        follows = prior is not None and prior.at != found.start and _worth(prior)
        taken, more = (prior.at if prior is not None and follows else found.start), questions_needed(0.25, delta)
        return Recommendation(found, "prior" if follows else "keep", taken, None, None, None, None, 0, None, 0, more, delta, prior)
    return _Table(found, delta, prior).decide()


class _Table:
    """The labelled questions of a sweep: of how many each setting holds all evidence (`whole`), at how many tokens (`costs`)."""

    def __init__(self, found: SweepResult, delta: float, prior: PriorChoice | None) -> None:
        self.found, self.delta, self.prior, self.start = found, delta, prior, found.start
        self.whole = [int(value) for value in found.whole.sum(axis=1)]
        self.costs = [found.tokens(at) for at in range(len(found.settings))]
        self.more_held = [at for at, whole in enumerate(self.whole) if whole > self.whole[self.start]]
        self.results = {at: paired_difference(found.differences(at, self.start)) for at in self.more_held}
        self.adjusted = self._adjusted()
        self.room = int(((found.reachable | found.whole.any(axis=0)) & ~found.whole[self.start]).sum())

    def decide(self) -> Recommendation:
        """The rule, step by step."""
        verdict: Verdict = "gain"
        taken = self._most([at for at in self.more_held if self._is_shown(at)])
        rival = None
        if taken is None:
            rival = self._most(self.more_held)
            if self._follows_prior() and self.prior is not None:
                taken, rival, verdict = self.prior.at, None, "prior"
            elif (cheaper := self._shown_as_good()) is not None:
                taken, verdict = cheaper.at, "cheaper"
            else:
                taken, verdict = self.start, "keep"
        compared = rival if verdict in ("keep", "cheaper") else taken
        same = self._cheapest_that_beats(taken)
        differing = 0.1 if compared is None else self._differing(compared)
        possible = verdict != "gain" and self.room >= self.delta * len(self.found.labelled)
        return Recommendation(
            self.found,
            verdict,
            taken,
            rival,
            None if compared is None else self.results[compared],
            None if compared is None else self.adjusted[compared],
            same,
            0 if same is None else questions_to_show(self.found.whole, self.costs, same.at, taken, self.delta),
            next((each for each in self._cheaper(taken) if each.shown and self.whole[each.at] < self.whole[taken]), None),
            self.room,
            max(0, questions_needed(differing, self.delta) - len(self.found.labelled)) if possible else 0,
            self.delta,
            self.prior,
        )

    def _adjusted(self) -> dict[int, float | None]:
        """The p of each setting that holds more, adjusted for all that were tried, those that hold less too; None: chosen before."""
        if not self.more_held:
            return {}
        whole = self.found.whole.astype(float)
        adjusted = max_t_p((whole - whole[self.start]).T.tolist())
        before = None if self.prior is None else self.prior.at
        return {at: None if at == before else max(adjusted[at], self.results[at].p) for at in self.more_held}

    def _is_shown(self, at: int) -> bool:
        p = self.adjusted[at]
        return self.results[at].shown and (p is None or p <= SIGNIFICANCE)

    def _differing(self, at: int) -> float:
        """The share of questions on which a setting and the start differ."""
        return float((self.found.whole[at] != self.found.whole[self.start]).mean())

    def _most(self, places: Sequence[int]) -> int | None:
        return min(places, key=lambda at: (-self.whole[at], self.costs[at], at), default=None)

    def _follows_prior(self) -> bool:
        """Whether other corpora decide: the questions here hold more by it, are too few to show it, and no row beats it."""
        prior = self.prior
        if prior is None or prior.at not in self.results or not _worth(prior):
            return False
        few = questions_needed(self._differing(prior.at), self.delta) > len(self.found.labelled)
        return few and not any(self._beats(at, prior.at) for at in range(len(self.whole)))

    def _shown_as_good(self) -> Cheaper | None:
        """The cheapest setting that holds as much as the start, and is shown to lose little."""
        return next((each for each in self._cheaper(self.start) if each.shown and self.whole[each.at] >= self.whole[self.start]), None)

    def _cheapest_that_beats(self, taken: int) -> Cheaper | None:
        beating = [at for at in range(len(self.whole)) if self._beats(at, taken)]
        best = min(beating, key=lambda at: (self.costs[at], -self.whole[at], at), default=None)
        if best is None:
            return None
        return next(each for each in self._cheaper(taken) if each.at == best)

    def _cheaper(self, reference: int) -> list[Cheaper]:
        return cheaper_settings(self.found.whole, self.costs, reference, self.delta)

    def _beats(self, at: int, other: int) -> bool:
        """Whether a row holds at least as much for at most as many tokens, and is better in one of them."""
        own, held = (-self.whole[at], self.costs[at]), (-self.whole[other], self.costs[other])
        return own != held and own[0] <= held[0] and own[1] <= held[1]


def _worth(prior: PriorChoice) -> bool:
    return prior.gain is None or prior.gain > 0


def _as_much(own: int, other: int, n: int) -> str:
    return f"the same {own} of {n}" if own == other else f"{own} of {n}, {own - other} more,"


def _changed(settings: AssemblySettings, against: AssemblySettings) -> dict[str, Any]:
    own, other = settings.to_dict(), against.to_dict()
    return {name: value for name, value in own.items() if value != other[name]}


def recommend(context: SweepContext, start: AssemblySettings, *, prior: Prior | None = None, delta: float = DELTA) -> Recommendation:
    """What to ship in place of `start`. Raises as `sweep`."""
    prior = prior or shipped_prior()
    found = sweep(context, grid_of(start, settings_tried(start, prior), {}))
    return decide(found, delta, prior_choice(found, prior))


def settings_tried(start: AssemblySettings, prior: Prior) -> tuple[AssemblySettings, ...]:
    """The curated changes on top of `start`, and `start` itself, at its own limit and those of the prior that are lower.

    A higher one is not tried: what a question may cost is not ours to raise.
    """
    own = (start, *(each.on(start) for each in prior.curated))
    limits = [limit for limit in prior.limits if start.budget_mode == "fixed" and limit < start.max_tokens]
    lower = (settings.replace(max_tokens=limit) for settings in own for limit in limits)
    return tuple(dict.fromkeys((*own, *lower)))


def prior_choice(found: SweepResult, prior: Prior) -> PriorChoice:
    """The curated setting that was best on other corpora, on top of the start of a sweep that tried it."""
    start, best = found.settings[found.start], prior.ranked()[0]
    own = next((each.name for each in prior.ranked() if each.on(start) == start), None)
    gain = None if own is None else prior.value(best.name) - prior.value(own)
    return PriorChoice(found.settings.index(best.on(start)), gain, len(prior.corpora))
