"""The common beginning of two prompts, token by token, against tiktoken itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.text.tokens.common_prefix import Prefix, cache_prefix
from ctxasm.text.tokens.estimate import EstimateCounter
from ctxasm.text.tokens.vocabulary import load_encoding
from ctxasm.tuning.cache_prefix import prefix_by_ordering
from tests.app.ui.builders import corpus
from tests.examples import examples
from tests.fakes import FakeSource
from tests.growth import is_linear
from tests.strategies import COUNTER, WORDS

ENCODING = load_encoding("cl100k_base")
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=25).map("".join)


def shared_by_definition(previous: str, current: str) -> tuple[int, int]:
    """Equal tokens from the start, up to where they are valid text; and the characters of that."""
    same = []
    for ours, theirs in zip(ENCODING.encode_ordinary(current), ENCODING.encode_ordinary(previous), strict=False):
        if ours != theirs:
            break
        same.append(ours)
    while True:
        try:
            return len(same), len(b"".join(ENCODING.decode_tokens_bytes(same)).decode())
        except UnicodeDecodeError:
            same.pop()


@settings(max_examples=examples(300))
@given(TEXTS, TEXTS, TEXTS)
@example("a   ", " b", "c")
@example("x" * 500, "y" * 900, "z")
@example("hel", "lo wereld", "p ons")
@example(" \n" * 300, "a", "\nb")
@example("🙂", "🙃", "🙂")
def test_it_is_the_common_tokens(head: str, one: str, other: str) -> None:
    previous, current = head + one, head + other
    found = cache_prefix(previous, current, COUNTER)
    assert (found.tokens, found.chars) == shared_by_definition(previous, current)
    assert found.share == pytest.approx(found.tokens / max(1, COUNTER.count(current)))


@given(TEXTS, TEXTS)
def test_laws(one: str, other: str) -> None:
    there, back = cache_prefix(one, other, COUNTER), cache_prefix(other, one, COUNTER)
    assert (there.tokens, there.chars) == (back.tokens, back.chars)
    assert one[: there.chars] == other[: there.chars]
    assert cache_prefix(one, one, COUNTER) == Prefix(COUNTER.count(one), len(one), 1.0 if one else 0.0)
    assert cache_prefix("", one, COUNTER).tokens == 0
    estimate = cache_prefix(one, other, EstimateCounter("cl100k_base", ""))
    assert 0 <= estimate.share <= 1
    assert one[: estimate.chars] == other[: estimate.chars]


def assembled_by(settings_: AssemblySettings) -> Assembly:
    documents, chunks, query = corpus()
    return assemble(query, FakeSource(documents, chunks, COUNTER), settings_, COUNTER)


def test_every_ordering_is_measured_against_the_prompt_before() -> None:
    chosen = AssemblySettings(citation_unit="chunk", summary_prefix=False)
    previous = assembled_by(chosen).text
    found = prefix_by_ordering(previous, chosen, assembled_by, COUNTER)
    assert tuple(found) == spec_of("ordering").choices
    assert found["document_first"] == Prefix(COUNTER.count(previous), len(previous), 1.0)
    for ordering, prefix in found.items():
        current = assembled_by(chosen.replace(ordering=ordering)).text
        assert (prefix.tokens, prefix.chars) == shared_by_definition(previous, current)


def test_the_prompt_before_may_follow_the_ordering_too() -> None:
    """Asked again under the same ordering, whichever it is, all of a context is shared."""
    chosen = AssemblySettings(citation_unit="chunk")
    found = prefix_by_ordering(lambda settings: assembled_by(settings).text, chosen, assembled_by, COUNTER)
    assert {prefix.share for prefix in found.values()} == {1.0}


def test_six_orderings_of_ten_hits_take_no_longer_than_a_blink() -> None:
    """Worst case: contexts of 7,000 tokens that part only near their end, each ordering anew."""
    body = "".join(f"Zin {n} over de voorbereiding van het onderzoek, met kaart en verwijsbrief.\n" for n in range(330))
    base = assembled_by(AssemblySettings())
    texts = iter([""])

    def next_one(chosen: AssemblySettings) -> Assembly:
        text = next(texts)
        return replace(base, text=text, token_count=COUNTER.count(text), settings=chosen)

    def work(body: str) -> None:
        nonlocal texts
        texts = iter(f"{body}{n}. En dan dit." for n in range(6))
        prefix_by_ordering(body + "Slot.", AssemblySettings(), next_one, COUNTER)

    assert is_linear(work, body)
