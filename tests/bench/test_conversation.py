"""What a conversation sends and keeps, by layout and window: `CTXASM_DATA=… pytest -n 0 -m bench -s tests/bench/test_conversation.py`."""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from ctxasm.answering.conversation import Conversation, Layout, Price, Turn
from ctxasm.answering.prompts import build_messages
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.messages import Message
from ctxasm.model.records import Hit, Query
from ctxasm.model.results import Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.memory import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.statistics import paired_difference
from tests.bench.tables import show
from tests.real_data import load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="no folder of real bundles")]
WINDOWS = (4_000, 8_000, 32_000)
HITS = 10
PRICE = Price(1.0, 0.1, 4.0)
"""Of a million tokens: what the cache had costs a tenth."""
WORDS = re.compile(r"\w{4,}")
CARRIED = 0.5
"""A source counts as cited where it holds this share of the longer words of a sentence of the answer: the answers have no marks."""


class Sent(NamedTuple):
    """A conversation: whether the window of its last turn holds all gold chunks, and what was sent in all its turns."""

    whole: bool
    tokens: int
    cached: int
    cost: float
    moved: int


def cited_by(answer: str, turn: Turn) -> set[int]:
    """The sources that an answer without marks seems to stand on."""
    texts = {source["n"]: set(WORDS.findall(source["text"].lower())) for source in turn.sources()}
    found = set()
    for sentence in re.split(r"(?<=[.!?])\s+", answer.lower()):
        words = set(WORDS.findall(sentence))
        if len(words) >= 4:
            found |= {n for n, own in texts.items() if len(words & own) >= CARRIED * len(words)}
    return found


def questions(conversation: dict[str, Any]) -> Iterator[tuple[Query, str]]:
    for at, turn in enumerate(conversation["turns"]):
        hits = tuple(Hit(h["document_id"], h["chunk_index"], h["score"], h["rank"]) for h in turn["retrieved"][:HITS])
        yield Query(turn["question"], hits, f"t{at}"), turn["answer"] or ""


def kept(conversation: dict[str, Any], gold: frozenset[Key], layout: Layout, window: int, cites: bool, dataset: Any, counter: Any) -> Sent:
    """By `Conversation`; without `cites` nothing is kept of the turn before, as when each turn is assembled for itself."""
    settings = AssemblySettings().replace(max_tokens=min(window // 2, 16_000))
    talk = Conversation(settings, layout, window)
    tokens = cached = moved = 0
    cost = 0.0
    sources: dict[int, str] = {}
    for query, answer in questions(conversation):
        turn = talk.ask(query, dataset, counter)
        tokens, cached, cost = tokens + turn.window.prompt, cached + turn.cached_tokens, cost + turn.cost(PRICE, counter.count(answer))
        moved += sum(sources.setdefault(block.number, block.document_id) != block.document_id for block in turn.standing)
        talk = turn.answered(answer, cited_by(answer, turn) if cites else ())
    there = {key for block in turn.standing for key in block.keys}
    return Sent(gold <= there, tokens, cached, cost, moved)


def naive(conversation: dict[str, Any], gold: frozenset[Key], window: int, dataset: Any, counter: Any) -> Sent:
    """Every prompt with its own evidence, numbered from 1, behind all that was said and shown before; the oldest goes where it is full."""
    settings = AssemblySettings().replace(max_tokens=min(window // 2, 16_000))
    past: list[tuple[Message, Message, set[Key]]] = []
    before: tuple[Message, ...] = ()
    tokens = cached = moved = 0
    cost = 0.0
    sources: dict[int, str] = {}
    for query, answer in questions(conversation):
        assembly = assemble(query, dataset, settings, counter)
        system, user = build_messages(assembly)
        own = {(c.document_id, index) for c in assembly.citations for index in c.chunk_indexes}
        while past and sum(counter.count(m.content) for m in (system, user, *(m for each in past for m in each[:2]))) > window - 512:
            del past[0]
        messages = (system, *(m for each in past for m in each[:2]), user)
        counts = [counter.count(message.content) for message in messages]
        differs = (at for at, (old, new) in enumerate(zip(before, messages, strict=False)) if old != new)
        same = next(differs, min(len(before), len(messages)))
        had = sum(counts[:same])
        tokens, cached = tokens + sum(counts), cached + had
        cost += ((sum(counts) - had) * PRICE.prompt + had * PRICE.cached + counter.count(answer) * PRICE.answer) / 1e6
        moved += sum(sources.setdefault(c.number, c.document_id) != c.document_id for c in assembly.citations)
        past.append((user, Message("assistant", answer), own))
        before = messages
    return Sent(gold <= set().union(*(each[2] for each in past)), tokens, cached, cost, moved)


def test_layouts_of_conversations() -> None:
    counter, folder = open_counter(), real_folder()
    assert folder is not None
    bundle = load_real("mtrag")
    store = MemoryStore(counter)
    store.add(bundle)
    dataset = store.dataset("mtrag")
    gold = {query.query_id: frozenset(key for label in query.gold for key in label.chunks) for query in bundle.queries}
    lines = (folder / "mtrag" / "conversations.jsonl").read_text("utf-8").splitlines()
    conversations = [record for line in lines if gold[(record := json.loads(line))["query_id"]]]
    for window in WINDOWS:
        rows, wholes = [], {}
        for name in ("rebuild", "append", "each turn for itself", "whole history"):
            began = time.process_time()
            if name == "whole history":
                sent = [naive(each, gold[each["query_id"]], window, dataset, counter) for each in conversations]
            else:
                layout: Layout = "append" if name == "append" else "rebuild"
                cites = name != "each turn for itself"
                sent = [kept(each, gold[each["query_id"]], layout, window, cites, dataset, counter) for each in conversations]
            turns = sum(len(each["turns"]) for each in conversations)
            wholes[name] = [float(each.whole) for each in sent]
            share = sum(each.cached for each in sent) / sum(each.tokens for each in sent)
            rows.append(
                (
                    name,
                    f"{statistics.mean(wholes[name]):.3f}",
                    f"{statistics.mean(each.tokens for each in sent):,.0f}",
                    f"{share:.2f}",
                    f"{1000 * statistics.mean(each.cost for each in sent):.2f}",
                    sum(each.moved for each in sent),
                    f"{1000 * (time.process_time() - began) / turns:.1f}",
                )
            )
            assert name == "whole history" or not sum(each.moved for each in sent)
        head = ("layout", "evidence whole", "tokens sent", "had before", "cost of 1,000", "numbers moved", "ms a turn")
        show(f"{len(conversations)} conversations, window {window:,}", head, rows)
        for name in ("rebuild", "append"):
            gained = [one - other for one, other in zip(wholes[name], wholes["each turn for itself"], strict=True)]
            print(name, "against each turn for itself:", paired_difference(gained))


def test_a_turn_costs_little_more_than_an_assembly() -> None:
    """The median ratio of `Conversation.ask` to an assembly whose prompt is built and counted, on the same question, in one run."""
    counter, folder = open_counter(), real_folder()
    assert folder is not None
    store = MemoryStore(counter)
    store.add(load_real("mtrag"))
    dataset = store.dataset("mtrag")
    rows = []
    lines = (folder / "mtrag" / "conversations.jsonl").read_text("utf-8").splitlines()[:60]
    for layout in ("rebuild", "append"):
        ratios, times = [], []
        for line in lines:
            talk = Conversation(AssemblySettings(), layout, 8_000)
            for query, answer in questions(json.loads(line)):
                took = []
                for _ in range(3):
                    began = time.perf_counter()
                    sum(counter.count(message.content) for message in build_messages(assemble(query, dataset, talk.settings, counter)))
                    middle = time.perf_counter()
                    turn = talk.ask(query, dataset, counter)
                    took.append((time.perf_counter() - middle, middle - began))
                ask, alone = (min(column) for column in zip(*took, strict=True))
                ratios.append(ask / alone)
                times.append(1000 * ask)
                talk = turn.answered(answer, cited_by(answer, turn))
        rows.append((layout, len(ratios), f"{statistics.median(ratios):.2f}", f"{max(times):.1f}"))
    show("A turn beside one assembly", ("layout", "turns", "median ratio", "ms at most"), rows)
