"""Make the prior of recommendations (`prior.json`) anew from bundles with labelled questions, when a policy or
`curated.toml` has changed:

    python -m ctxasm.app.prior BUNDLES/*

Every curated setting is counted at every limit on every question. Only figures are written: nothing of the bundles is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from ctxasm import __version__
from ctxasm.data.files import load_bundle
from ctxasm.model.amounts import counted as count_words
from ctxasm.model.records import Bundle
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.engines import AllCores, PlainTools
from ctxasm.tuning.recommend import LIMITS, PLACE, Corpus, Curated, Prior, curated_settings
from ctxasm.tuning.sweep import SweepContext, grid_of, sweep
from ctxasm.tuning.sweep_results import SweepResult


def counted(bundle: Bundle, curated: Sequence[Curated]) -> SweepResult:
    """Every curated setting at every limit, limits changing fastest."""
    tried = [each.on(AssemblySettings(max_tokens=limit)) for each in curated for limit in LIMITS]
    counters = {encoding: open_counter(encoding) for encoding in {each.encoding for each in tried}}
    store = MemoryStore(counters[tried[0].encoding])
    store.add(bundle)
    dataset = store.dataset()
    context = SweepContext(dataset, dataset.queries(), PlainTools(counters, None), __version__, engine=AllCores())
    return sweep(context, grid_of(tried[0], tried, {}))


def corpus_of(found: SweepResult, curated: Sequence[Curated]) -> Corpus:
    """The figures of one corpus."""
    shares = found.whole.mean(axis=1)
    own = {each.name: range(at * len(LIMITS), (at + 1) * len(LIMITS)) for at, each in enumerate(curated)}
    whole = {name: tuple(float(shares[at]) for at in places) for name, places in own.items()}
    tokens = {name: tuple(found.tokens(at) for at in places) for name, places in own.items()}
    return Corpus(found.dataset, len(found.labelled), whole, tokens)


def main(folders: Sequence[str]) -> int:
    """Write the prior of these bundles; those without chunks or labelled questions are left out."""
    curated, corpora = curated_settings(), []
    for folder in filter(os.path.isdir, folders):
        bundle = load_bundle(folder, Path(folder).name)
        if not bundle.chunks or not any(query.is_labelled for query in bundle.queries):
            continue
        corpora.append(corpus_of(counted(bundle, curated), curated))
        print(f"{corpora[-1].name}: {count_words(corpora[-1].questions, 'question')}", file=sys.stderr)
    if not corpora:
        print("no bundle with labelled questions was given", file=sys.stderr)
        return 2
    prior = Prior(curated, LIMITS, tuple(corpora), __version__)
    (Path(str(files(PLACE))) / "prior.json").write_text(prior.to_json(), encoding="utf-8")
    for each in prior.ranked():
        print(f"{prior.value(each.name):.4f}  {each.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
