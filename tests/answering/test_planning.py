"""From a query to the limit of its context: what is sent fits, whatever the prompt; and what does not is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as tries
from hypothesis import strategies as st

import ctxasm
from ctxasm.answering.prompts import PROMPT_STYLES, PromptChoice, build_messages
from ctxasm.answering.windows import shipped_windows
from ctxasm.answering.zones import conversation_line, count_messages, plan_zones, zones_line
from ctxasm.app.workbench import Workbench
from ctxasm.assembly.pipeline import assemble
from ctxasm.config import Config
from ctxasm.data.files import load_bundle
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Query, Turn
from ctxasm.model.results import Zones
from ctxasm.model.settings import ENCODINGS, AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.fences import fence_code
from ctxasm.text.tokens import open_counter
from tests.contexts import make_assembly
from tests.examples import examples, few
from tests.fakes import FakeSource
from tests.strategies import COUNTER, WORDS, cases

BUNDLE = load_bundle(Path(__file__).parents[2] / "sample_data" / "hospital-nl")
TABLE = shipped_windows()
SETTINGS = AssemblySettings(budget_mode="window", model_name="gemma2:9b")
CHAT = (Turn("user", "Mag ik eten voor de MRI?"), Turn("assistant", "Ja. " * 50), Turn("user", "En koffie?"), Turn("assistant", "Ja."))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_code_around_a_context_takes_more_than_was_counted(encoding: str) -> None:
    counter, held = open_counter(encoding), ""
    lines = set()
    for _ in range(40):  # the fixed codes, and digests after them
        code = fence_code(held)
        lines.add(counter.count(f"CONTEXT {code}\nx\nCONTEXT {code}\n\nVraag: "))
        held += f"{code}\n"
    assert len(lines) == 1


def test_a_code_that_the_question_or_the_context_holds_is_counted_as_its_successor() -> None:
    question = f"Wat betekent CONTEXT {fence_code('')}?"
    counted = count_messages(Query(question), AssemblySettings(), COUNTER)
    for text in ("De balie.", fence_code(question)):
        assembly = make_assembly(question)
        object.__setattr__(assembly, "text", text)
        user = build_messages(assembly)[-1].content
        assert fence_code(text, question) in user
        assert COUNTER.count(user) <= counted.question + COUNTER.count(text)


def test_what_is_sent_fits_the_window_for_every_query_of_the_sample() -> None:
    source = FakeSource(BUNDLE.documents, BUNDLE.chunks, COUNTER)
    extras = (("", None), ("Be brief. " * 90, "en"))
    choices = [PromptChoice(style, first, *extra) for style in PROMPT_STYLES for first in (False, True) for extra in extras]
    for at, query in few(list(enumerate(BUNDLE.queries))):
        settings = SETTINGS.replace(model_window=1_400 + 97 * at, answer_tokens=300, overhead_tokens=8, max_tokens=500)
        choice = choices[at % len(choices)]
        plan = plan_zones(query, settings, COUNTER, TABLE, choice)
        assembly = plan.on(assemble(query, source, settings, COUNTER, limit=plan.limit))
        sent = sum(COUNTER.count(message.content) for message in build_messages(assembly, choice))
        assert assembly.limit == plan.limit == plan.zones.context  # type: ignore[union-attr]
        assert assembly.token_count <= plan.limit
        assert sent <= settings.model_window - 300  # type: ignore[operator]


@given(st.lists(WORDS, max_size=40).map("".join), st.lists(WORDS, min_size=1, max_size=6).map("".join))
@example("a" + ">" * 7, "Hoe?")
@example("\n \n:::::::=>>>>>>>", "Hoe?")
def test_joining_the_context_to_the_rest_costs_no_more_than_was_counted(context: str, question: str) -> None:
    if not question.strip() or not context:
        return
    counted = count_messages(Query(question), AssemblySettings(), COUNTER)
    assembly = make_assembly(question)
    object.__setattr__(assembly, "text", context)
    user = build_messages(assembly)[-1]
    assert COUNTER.count(user.content) <= counted.question + COUNTER.count(context)


@pytest.mark.parametrize("channel", ["text", "voice"])
def test_the_counts_are_those_of_the_message_builder(channel: str) -> None:
    settings = AssemblySettings(channel=channel)  # type: ignore[arg-type]
    for choice in (PromptChoice(), PromptChoice("strict", extra="Wees kort.", language="en")):
        query = Query("Hoe laat mag ik komen?", history=CHAT)
        counted = count_messages(query, settings, COUNTER, choice)
        assembly = make_assembly(query.query)
        object.__setattr__(assembly, "settings", settings)
        system, user = build_messages(assembly, choice)
        assert counted.system == COUNTER.count(system.content)
        around = COUNTER.count(user.content) - COUNTER.count(assembly.text)
        assert counted.question in (around + 1, around + 2)  # a full stop at the end of a context joins the line break


def zones_of(**changes: object) -> Zones:
    zones = plan_zones(Query("Hoe laat?", history=CHAT), SETTINGS.replace(**changes), COUNTER, TABLE).zones
    assert zones is not None
    return zones


def test_a_window_that_is_set_outweighs_the_table_and_says_when_it_is_larger() -> None:
    assert zones_of(model_window=4_096).window == 4_096
    larger = zones_of(model_window=16_000)
    assert larger.window == 16_000
    assert "model_window is 16,000; the table of models says 8,192 for gemma2:9b." in larger.hints


@pytest.mark.parametrize("changes", [{"model_name": "nobody-7b"}, {"model_name": ""}, {"model_name": "gpt-4o-audio"}])
def test_an_unknown_window_is_never_sized(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"set model_window|model_window to its window"):
        zones_of(**changes)
    fixed = plan_zones(Query("Hoe laat?"), SETTINGS.replace(budget_mode="fixed", **changes), COUNTER, TABLE)
    assert (fixed.limit, fixed.zones) == (None, None)
    assert zones_of(**changes, model_window=5_000).window == 5_000


def test_with_a_fixed_limit_the_zones_are_shown_and_the_limit_stays() -> None:
    plan = plan_zones(Query("Hoe laat?"), SETTINGS.replace(budget_mode="fixed", max_tokens=4_000), COUNTER, TABLE)
    assert plan.limit is None
    assert plan.zones is not None
    assert plan.zones.context == 4_000
    assert plan.zones.tokens_of("free") > 0
    over = plan_zones(Query("Hoe laat?"), SETTINGS.replace(budget_mode="fixed", max_tokens=8_000), COUNTER, TABLE).zones
    assert over is not None
    assert over.over > 0
    assert over.hints[0].endswith(f"tokens: lower max_tokens to {8_000 - over.over:,}, or choose budget_mode=window.")
    fits = SETTINGS.replace(budget_mode="fixed", max_tokens=8_000 - over.over)
    assert plan_zones(Query("Hoe laat?"), fits, COUNTER, TABLE).zones.over == 0  # type: ignore[union-attr]
    tiny = plan_zones(Query("Hoe laat?"), SETTINGS.replace(budget_mode="fixed", model_window=1_500), COUNTER, TABLE).zones
    assert tiny is not None
    assert tiny.hints[0].endswith("choose a larger window, or reserve less.")


def test_another_vocabulary_is_a_hint_whatever_the_margin_until_its_server_has_counted() -> None:
    own = "gemma2:9b counts with a vocabulary of its own; how much more than cl100k_base is known once it has answered here: "
    assert own + "no room is kept for that (safety_margin=0)." in zones_of().hints
    assert own + "safety_margin=0.05 may not be enough." in zones_of(safety_margin=0.05).hints
    other = "gpt-4o counts with o200k_base: set encoding=o200k_base."
    assert other in zones_of(model_name="gpt-4o", safety_margin=0.05).hints
    assert other in zones_of(model_name="gpt-4o").hints
    assert zones_of(model_name="gpt-4o", encoding="o200k_base").hints == ()
    assert "our-model counts with a vocabulary that is not known here" in zones_of(model_name="our-model", model_window=9_000).hints[0]


def test_many_messages_outgrow_the_overhead() -> None:
    query = Query("Hoe laat?", history=CHAT * 8)
    zones = plan_zones(query, SETTINGS.replace(model_name="gpt-4o", encoding="o200k_base"), COUNTER, TABLE).zones
    assert zones is not None
    assert zones.hints == ("A server adds about 136 tokens around 34 messages, more than overhead_tokens reserves.",)


def test_what_is_sent_of_the_history_is_on_the_assembly_and_in_its_json() -> None:
    workbench = Workbench(Config("sqlite://"), MemoryStore())
    workbench.store.add(BUNDLE)
    query = next(query for query in BUNDLE.queries if query.history)
    whole = workbench.assemble(query, AssemblySettings())
    assert whole.turns == query.history
    settings = AssemblySettings(history_tokens=0, model_name="gpt-4o")
    assembly = workbench.assemble(query, settings)
    assert assembly.turns == ()
    assert [message.role for message in build_messages(assembly)] == ["system", "user"]
    shown = json.loads(json.dumps(assembly.to_dict(), allow_nan=False))
    assert shown["history"] | {"note": ""} == shown["history"]
    assert (shown["history"]["trimmed"], shown["history"]["turns"], shown["model_window"]) == (len(query.history), [], 128_000)
    assert sum(zone["tokens"] for zone in shown["zones"]) == 128_000
    assert {zone["name"]: zone["how"] for zone in shown["zones"]}["context"] == "reserved"


def test_a_workbench_in_window_mode_keeps_to_the_context_zone() -> None:
    workbench = Workbench(Config("sqlite://"), MemoryStore())
    workbench.store.add(BUNDLE)
    query = BUNDLE.queries[0]
    wide = workbench.assemble(query, SETTINGS)
    tight = workbench.assemble(query, SETTINGS.replace(answer_tokens=7_000))
    assert wide.limit - tight.limit == 7_000 - 1_024
    assert 0 < tight.token_count <= tight.limit < wide.token_count
    more = workbench.assemble(query, SETTINGS, choice=PromptChoice(extra="Answer in one short sentence. " * 50))
    assert more.limit < wide.limit
    with pytest.raises(InvalidInput, match="which window has the model 'nobody'"):
        workbench.assemble(query, SETTINGS.replace(model_name="nobody"))


def test_a_users_table_is_read_through_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[models.ours]\nwindow = 2000\n", "utf-8")
    workbench = Workbench(Config("sqlite://", model_windows=str(file)), MemoryStore())
    workbench.store.add(BUNDLE)
    assembly = workbench.assemble(BUNDLE.queries[0], SETTINGS.replace(model_name="ours", answer_tokens=400))
    assert assembly.zones is not None
    assert assembly.zones.window == 2_000
    monkeypatch.chdir(tmp_path)  # a message shortens a long path
    broken = Workbench(Config("sqlite://", model_windows="none.toml"), MemoryStore())
    with pytest.raises(InvalidInput, match=r"none\.toml"):
        broken.zones.windows


def test_the_words() -> None:
    zones = zones_of()
    assert zones_line(zones).startswith("window of 8,192 tokens: system ")
    total = sum(int(part.split()[-1].replace(",", "")) for part in zones_line(zones).partition(": ")[2].split(" + "))
    assert total == 8_192
    plan = plan_zones(Query("Hoe laat?", history=CHAT), SETTINGS.replace(history_tokens=20), COUNTER, TABLE)
    assert plan.conversation is not None
    line = conversation_line(plan.conversation)
    assert line.startswith("History: of 4 earlier turns 2 turns (")
    assert line.endswith("tokens are sent.")
    every = plan_zones(Query("Hoe laat?", history=CHAT), SETTINGS, COUNTER, TABLE).conversation
    assert every is not None
    assert conversation_line(every) == ""


@tries(max_examples=examples(30))
@given(cases(), st.integers(600, 3_000), st.integers(0, 200))
def test_any_context_is_within_its_zone(corpus: object, window: int, answer: int) -> None:
    settings = AssemblySettings(budget_mode="window", model_window=window, answer_tokens=answer)
    plan = plan_zones(corpus.query, settings, COUNTER, TABLE)  # type: ignore[attr-defined]
    done = assemble(corpus.query, corpus.source(), settings, COUNTER, limit=plan.limit)  # type: ignore[attr-defined]
    assert plan.limit is not None
    assert done.token_count <= plan.limit


def test_planning_is_light() -> None:
    heavy = ("pydantic", "sqlalchemy", "streamlit", "openai", "tiktoken")
    code = f"import sys, ctxasm.answering.zones; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_public_assemble_keeps_to_the_zones_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = MemoryStore()
    store.add(BUNDLE)
    query = BUNDLE.queries[0]
    done = ctxasm.assemble(query, store, SETTINGS.replace(answer_tokens=7_000))
    assert done.zones is not None
    assert done.token_count <= done.limit == done.zones.context < 1_000
    assert ctxasm.assemble(query, store, SETTINGS, limit=700).limit == 700
    with pytest.raises(InvalidInput, match="which window has the model 'ours'"):
        ctxasm.assemble(query, store, SETTINGS.replace(model_name="ours"))
    (tmp_path / "own.toml").write_text("[models.ours]\nwindow = 2000\n", "utf-8")
    monkeypatch.setenv("CTXASM_MODEL_WINDOWS", str(tmp_path / "own.toml"))
    assert ctxasm.assemble(query, store, SETTINGS.replace(model_name="ours")).limit < 1_000
