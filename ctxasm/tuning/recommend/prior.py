"""What is known before a question is labelled: the curated settings, and what each held of the evidence of other corpora."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

from ctxasm.model.settings import AssemblySettings

PLACE = "ctxasm.tuning.recommend"
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
    """The prior that ships, made by `ctxasm.app.prior`."""
    stored = json.loads(files(PLACE).joinpath("prior.json").read_text(encoding="utf-8"))
    corpora = tuple(
        Corpus(name, own["questions"], _by_name(own["whole"]), _by_name(own["tokens"])) for name, own in stored["corpora"].items()
    )
    return Prior(curated_settings(), tuple(stored["limits"]), corpora, stored["version"])


def _by_name(values: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(own) for name, own in values.items()}
