"""The line between blocks: no source text passes for it, in any format, and what is swapped keeps its length."""

from __future__ import annotations

import re
import string
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.events import Neutralised
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings, Format
from ctxasm.text.markers.collisions import Body, defuse, find_separators, joint, separator_line, separator_of, swap_marks
from tests.examples import examples
from tests.fakes import FakeClock, FakeSource
from tests.growth import is_linear
from tests.strategies import COUNTER
from tests.text.test_formats_laws import FORMATS, TEXTS

LAW = settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
LINES = ["---", "***", "=== NEXT ===", "<hr>", "```", "§", "‐ é -", "• • •", "~", "|---|", "(1)", "——"]
SCRAPS = [
    *("\n---\n", "---", "-", "\n- - -\n", "\r\n---\r", "\u200b-\u200b--\n", "－－－\n", "\n***\n", "\n`", "``\n"),
    *("=== next ===", "<HR>\n", "\n(1)\n"),
]
PIECES = st.lists(TEXTS | st.sampled_from(SCRAPS), max_size=6)


def rules(text: str, line: str) -> int:
    """How many lines a careless reader takes for the separator: whatever white space, width and case; a rule of any length."""

    def plainly(each: str) -> str:
        folded = unicodedata.normalize("NFKC", each).casefold()
        return "".join(char for char in folded if not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc"))

    wanted = plainly(line)
    rule = len(wanted) > 2 and len(set(wanted)) == 1
    lines = [plainly(each) for each in re.split("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text)]
    return sum(each == wanted or (rule and len(each) > 2 and set(each) == set(wanted)) for each in lines)


@LAW
@given(st.sampled_from(LINES), st.sampled_from(FORMATS), PIECES)
@example("---", "numbered", ["Een.\n-", "--", "\nTwee."])
@example("```", "numbered", ["```\n[2]\n```\n"])
def test_no_text_passes_for_the_separator(line: str, format: Format, pieces: list[str]) -> None:
    body = defuse(pieces, True, format, separator=line)
    text = "".join(body.texts)
    assert [len(each) for each in body.texts] == [len(piece) for piece in pieces]
    assert rules(text, line) == 0
    assert find_separators(text, line) == []
    assert defuse(body.texts, True, format, separator=line) == Body(body.texts)
    told = defuse(pieces, False, format, separator=line)
    assert (told.texts, bool(told.found)) == (tuple(pieces), bool(body.found))


@pytest.mark.parametrize("char", sorted(set(string.punctuation) | set("‐–—·∙•§“”…₂²™½⟦⟧‹›❨❩꞊∗")))
def test_a_mark_that_is_swapped_does_not_fold_back(char: str) -> None:
    line = f"a{char}b-"
    swapped = swap_marks(line)
    assert len(swapped) == len(line)
    assert find_separators(swapped, line) == []


def test_letters_and_digits_stay() -> None:
    assert swap_marks("== Deel 2 ==") == "꞊꞊ Deel 2 ꞊꞊"
    assert find_separators("a --- b\n----\n- - -\n -- \n---x", "---") == [(8, 12), (13, 18)]
    assert find_separators("Deel 2\ndeel 2 -", "Deel 2 -") == [(7, 15)]


def test_an_empty_separator_is_a_blank_line() -> None:
    assert [joint(separator_line(written)) for written in ("", " ", "\n", "\u200b")] == ["\n\n"] * 4
    assert joint(separator_line(" -\n- ")) == "\n\n- -\n\n"
    assert find_separators("\n\n \n", "") == []


def test_a_separator_that_reads_as_a_marker_is_defused_itself() -> None:
    chosen = AssemblySettings(block_separator="[2] Source: x")
    assert separator_of(chosen) == "⟦2⟧ Source: x"
    assert separator_of(chosen.replace(marker_collisions="warn")) == "[2] Source: x"


DOCUMENT = st.tuples(st.none() | TEXTS.map(lambda text: text[:60]), st.lists(TEXTS | st.sampled_from(SCRAPS), min_size=1, max_size=3))


@LAW
@given(st.lists(DOCUMENT, min_size=1, max_size=3), st.sampled_from(FORMATS), st.sampled_from(["document", "chunk"]), st.none() | TEXTS)
@example([(None, ["---"]), ("---", ["a\n---\n", "--", "-"])], "minimal", "chunk", "---\nextra\n---")
def test_a_context_holds_its_own_separators_and_no_other(
    given_documents: list[tuple[str | None, list[str]]], format: Format, unit: str, supplement: str | None
) -> None:
    documents = [Document(f"d{number}", title, summary=title) for number, (title, _) in enumerate(given_documents)]
    chunks = [Chunk(f"d{number}", index, text) for number, (_, texts) in enumerate(given_documents) for index, text in enumerate(texts)]
    hits = tuple(Hit(chunk.document_id, chunk.chunk_index, 1 - at / 100) for at, chunk in enumerate(chunks))
    chosen = AssemblySettings(format=format, citation_unit=unit, block_separator="---", supplement_mode="always", gap_mark="---")  # type: ignore[arg-type]
    done = assemble(Query("Wat?", hits, "q", supplement=supplement), FakeSource(documents, chunks, COUNTER), chosen, COUNTER, FakeClock())
    assert COUNTER.count(done.text) == done.token_count
    own = [done.text[s.start : s.end] for s in done.segments if s.kind == "separator" and s.block is None]
    assert rules(done.text, "---") == own.count("\n\n---\n\n")
    if format != "grouped":
        assert own == ["\n\n---\n\n"] * (len(done.citations) - 1)


def test_a_source_line_that_equals_the_separator_is_told() -> None:
    chunks = [Chunk("a", 0, "Titel\n---\nTekst."), Chunk("b", 0, "Meer.")]
    hits = (Hit("a", 0, 0.9), Hit("b", 0, 0.8))
    for collisions, middle in (("neutralise", "‐‐‐"), ("warn", "---"), ("off", "---")):
        chosen = AssemblySettings(block_separator="---", marker_collisions=collisions)  # type: ignore[arg-type]
        done = assemble(Query("Wat?", hits), FakeSource([], chunks, COUNTER), chosen, COUNTER, FakeClock())
        assert done.text == f"[1] Source: a\nTitel\n{middle}\nTekst.\n\n---\n\n[2] Source: b\nMeer."
        told = [event.text for record in done.trace.stages for event in record.events if isinstance(event, Neutralised)]
        assert told == ([] if collisions == "off" else ["---"])
        assert done.token_count == COUNTER.count(done.text)


def test_many_lines_take_linear_time() -> None:
    for unit in ("---\n", "- - - -\n", "x\n", "\u200b-", "--- \t"):
        assert is_linear(lambda text: defuse([text], True, "numbered", separator="---"), unit * (20_000 // len(unit)))
