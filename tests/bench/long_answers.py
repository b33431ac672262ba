"""A long answer to check: twenty blocks of a corpus, forty sentences from them, every second one altered."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from ctxasm import MemoryStore
from ctxasm.assembly.pipeline import assemble
from ctxasm.citations.claims import split_claims
from ctxasm.citations.grounds import grounds_of_assembly
from ctxasm.model.records import Bundle, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.sentences import sentence_spans
from ctxasm.text.tokens import open_counter

BLOCKS, SENTENCES = 20, 40
WORDS = range(6, 41)


class LongAnswer(NamedTuple):
    """An answer of `SENTENCES` sentences, each with the number of its block, and the context of `BLOCKS` blocks."""

    text: str
    assembly: Assembly


def long_answer(bundle: Bundle, at: int = 0) -> LongAnswer:
    """From the hits of query number `at`, and of those after it where it has too few. The same for the same bundle."""
    assembly = _wide(bundle, at)
    choose = random.Random(at)
    found = _sentences(assembly)
    chosen = sorted(choose.sample(range(len(found)), min(SENTENCES, len(found))))
    pieces = []
    for place, index in enumerate(chosen):
        number, sentence = found[index]
        elsewhere = found[index - len(found) // 2][1]
        pieces.append(f"{_altered(sentence, elsewhere) if place % 2 else sentence} [{number}].")
    return LongAnswer("\n\n".join(" ".join(pieces[low : low + 5]) for low in range(0, len(pieces), 5)), assembly)


def _wide(bundle: Bundle, at: int) -> Assembly:
    """One block a chunk, without neighbours, as many hits as it takes: some are copies of others and make no block."""
    hits = _hits(bundle, at)
    store = MemoryStore()
    store.add(bundle)
    for count in range(BLOCKS, len(hits) + 1):
        query = Query(bundle.queries[at].query, tuple(hits[:count]), "long")
        settings = AssemblySettings(expand_window=0, citation_unit="chunk", max_tokens=16000)
        assembly = assemble(query, store, settings, open_counter())
        if len(assembly.citations) == BLOCKS:
            return assembly
    raise ValueError(f"no {BLOCKS} blocks from {bundle.name}")


def _hits(bundle: Bundle, at: int) -> list[Hit]:
    found: dict[tuple[str, int], Hit] = {}
    for query in (*bundle.queries[at:], *bundle.queries[:at]):
        for hit in query.retrieved:
            found.setdefault((hit.document_id, hit.chunk_index), hit)
        if len(found) > 2 * BLOCKS:
            break
    return [Hit(*key, 1.0 - place / 100, place + 1) for place, key in enumerate(found)]


def _sentences(assembly: Assembly) -> list[tuple[int, str]]:
    """The sentences of the blocks that can stand in an answer, each with its number: prose where there is enough of it."""
    found = [
        (source.number, " ".join(source.text[low + start : low + end].split()).rstrip(".!?:;"))
        for source in grounds_of_assembly(assembly).sources
        for low, high in source.ranges
        for start, end in sentence_spans(source.text[low:high])
    ]
    fitting = [(n, s) for n, s in found if len(s.split()) in WORDS and "[" not in s and len(split_claims(f"{s}.", ())) == 1]
    prose = [(number, sentence) for number, sentence in fitting if sentence[0].isupper()]
    return prose if len(prose) >= SENTENCES else fitting


def _altered(sentence: str, other: str) -> str:
    """With another figure where it has one, else with its second half from a sentence of another block."""
    if figure := re.search(r"\d+", sentence):
        return sentence[: figure.start()] + str(int(figure[0]) + 3) + sentence[figure.end() :]
    words, others = sentence.split(), other.split()
    return " ".join((*words[: len(words) // 2], *others[len(others) // 2 :]))
