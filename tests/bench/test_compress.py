"""What compression keeps of the evidence, and what it takes: `pytest -m bench -s tests/bench/test_compress.py`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import mean, median

import pytest

from ctxasm.assembly import extract_sentences
from ctxasm.assembly.extract_sentences import ExtractiveCompressor, fill, fitting_units, reader_of, weights_of
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.stages import KeptSpan, gap_between
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.presets import PRESETS
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.units import units_of
from ctxasm.tuning.evidence import evidence_documents, evidence_states
from tests.bench.long_chunks import Half, evidence_of, half_of
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder
from tests.strategies import COUNTER

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="the real bundles do not lie beside the project")]
MARK = "[…]"
GAP = gap_between(MARK)
Keep = Callable[[str, Sequence[str], int, int], Sequence[KeptSpan]]
"""Question, texts compressed together, which one, and its limit, to what is kept of it."""


def head(question: str, texts: Sequence[str], which: int, most: int) -> Sequence[KeptSpan]:
    """The first tokens: what truncation keeps."""
    ends = COUNTER.boundaries(texts[which])
    return [KeptSpan(0, ends[min(most, len(ends)) - 1])]


def sentences(question: str, texts: Sequence[str], which: int, most: int) -> Sequence[KeptSpan]:
    """The sentences that hold the rarest words of the question, without what stands around them."""
    reader, units = reader_of(question), [fitting_units(text, most, COUNTER) for text in texts]
    rows = [[reader.row(text, unit) for unit in own] for text, own in zip(texts, units, strict=True)]
    weights = weights_of(len(reader.asked), rows)
    ratings = [sum(weights[number] * met for number, met in row.met.items()) for row in rows[which]]
    return fill(texts[which], units[which], ratings, most, GAP, COUNTER)


def extractive(question: str, texts: Sequence[str], which: int, most: int) -> Sequence[KeptSpan]:
    chunks = [FetchedChunk("d", number, text) for number, text in enumerate(texts)]
    extract = ExtractiveCompressor(MARK).compress(question, chunks, most, COUNTER)[which]
    assert extract is not None
    kept = GAP.join(texts[which][start:end] for start, end in extract.spans)
    assert COUNTER.count(kept) <= most
    return extract.spans


def survival(name: str, half: Half, share: float, keep: Keep) -> tuple[float, float]:
    """The mean share of the evidence's visible characters that is kept, and the share of spans that are kept whole."""
    found: list[float] = []
    for case in evidence_of(load_real(name), half):
        for which, spans in case.spans.items():
            text = case.texts[which]
            most = int(COUNTER.count(text) * share)
            if most < 20:
                continue
            kept = {at for start, end in keep(case.question, case.texts, which, most) for at in range(start, end)}
            for low, high in spans:
                places = [at for at in range(low, high) if not text[at].isspace()]
                found += [sum(at in kept for at in places) / len(places)] if places else []
    return mean(found), mean(each > 0.98 for each in found)


@pytest.mark.parametrize("half", ["tune", "judge"])
def test_how_much_of_the_evidence_survives(half: Half) -> None:
    """Chunks of 2,000 tokens cut to a half and to a quarter: share of the evidence kept / of spans kept whole."""
    rows, average = [], {}
    for share in (0.5, 0.25):
        for keep in (head, sentences, extractive):
            each = [survival(name, half, share, keep) for name in REAL]
            average[share, keep.__name__] = mean(kept for kept, _ in each)
            cells = [f"{kept:.2f} / {whole:.2f}" for kept, whole in [*each, (mean(k for k, _ in each), mean(w for _, w in each))]]
            rows.append([f"{keep.__name__}, {share:.0%}", *cells])
    show(f"evidence kept, {half} half", ["", *REAL, "mean"], rows)
    for share in (0.5, 0.25):
        assert average[share, "extractive"] > average[share, "head"] + 0.2
        assert average[share, "extractive"] > average[share, "sentences"] + 0.05


FEW = 30
"""Questions of each corpus that the filter is tried on."""


def filtered(name: str, half: Half, shares: Sequence[float], monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """For each share that a unit must be near to: the evidence that stays of what the context held, and the tokens that stay."""
    store = MemoryStore(COUNTER)
    store.add(load_real(name))
    dataset = store.dataset()
    queries = [query for query in dataset.queries() if half_of(query.query_id) == half and query.is_labelled and query.retrieved]
    whole = AssemblySettings(max_tokens=16_000, top_k=10)
    found = []
    for share in shares:
        monkeypatch.setattr(extract_sentences, "NEAR", share)
        kept, tokens = [], []
        for query in queries[:FEW]:
            both = [assemble(query, dataset, chosen, COUNTER) for chosen in (whole, whole.replace(**PRESETS["query_filter"]))]
            stored = {document_id: dataset.document_chunks(document_id) for document_id in evidence_documents(both[0].query)}
            before, after = (mean([state.share for state in evidence_states(done, stored)] or [0]) for done in both)
            kept += [after / before] if before else []
            tokens.append(both[1].token_count / both[0].token_count)
        found.append((mean(kept), mean(tokens)))
    return found


@pytest.mark.parametrize("half", ["tune", "judge"])
def test_what_the_filter_keeps(half: Half, monkeypatch: pytest.MonkeyPatch) -> None:
    """`compression_when=always`: evidence that stays / tokens that stay, by the share that chose `NEAR`."""
    shares = (0.1, 0.2, 0.3)
    each = {name: filtered(name, half, shares, monkeypatch) for name in REAL}
    rows = []
    for at, share in enumerate(shares):
        cells = [each[name][at] for name in REAL]
        means = (mean(kept for kept, _ in cells), mean(tokens for _, tokens in cells))
        rows.append([f"{share:g}", *(f"{kept:.2f} / {tokens:.2f}" for kept, tokens in [*cells, means])])
    show(f"filtered, {half} half", ["near", *REAL, "mean"], rows)


def test_how_long_it_takes() -> None:
    """20 chunks of about 2,000 tokens, each to 400; warm: another setting for the same question."""
    rows = []
    for name in REAL:
        cases = list(evidence_of(load_real(name), "tune"))
        texts = sorted({text for case in cases for text in case.texts}, key=lambda text: abs(COUNTER.count(text) - 2000))[:20]
        chunks = [FetchedChunk("d", number, text) for number, text in enumerate(texts)]
        times: dict[str, list[float]] = {"cold": [], "warm": []}
        for _ in range(7):
            units_of.cache_clear()
            for kind in times:
                began = time.process_time()
                ExtractiveCompressor(MARK).compress(cases[0].question, chunks, 400, COUNTER)
                times[kind].append((time.process_time() - began) * 1000)
        tokens = sum(COUNTER.count(text) for text in texts)
        rows.append([name, len(texts), tokens, round(median(times["cold"]), 1), round(median(times["warm"]), 1)])
        assert median(times["cold"]) < 500
    show("milliseconds of processor time", ["", "chunks", "tokens", "cold", "warm"], rows)
