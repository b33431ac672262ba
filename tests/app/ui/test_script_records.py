"""What a script in the page reads is what its record declares: the same names on both sides, and nothing by position."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import pytest

from ctxasm.app.ui.ask import answer, reader
from ctxasm.app.ui.ask.verdict_words import Figure
from ctxasm.app.ui.frame import address, browser
from ctxasm.app.ui.frame.session import RangeState
from tests.app.ui.builders import empty


def asset(name: str) -> str:
    return (browser.ASSETS / f"{name}.js").read_text(encoding="utf-8")


READER, RANGE = asset("answer_reader"), asset("live_range")


class Script(NamedTuple):
    """A script, and which records it calls by which names."""

    name: str
    source: str
    records: dict[tuple[str, ...], tuple[Any, ...]]


SCRIPTS = (
    Script(
        "answer reader",
        READER,
        {
            ("card",): (answer.Card,),
            ("part",): (answer.CardPart,),
            ("pane",): (reader.Pane,),
            ("line",): (answer.Line,),
            ("piece",): (answer.AnswerText, answer.Chip),
            ("claim",): (answer.ClaimRow,),
            ("span", "lead"): (answer.Span,),
            ("source",): (answer.SourceName,),
            ("passage",): (answer.Passage,),
            ("panel",): (reader.Panel,),
            ("figure",): (Figure,),
            ("choice",): (answer.Choice,),
            ("before",): (answer.Before,),
        },
    ),
    Script("range", RANGE, {("data",): (browser.RangeData,)}),
    Script("copy button", asset("copy"), {("data",): (address.CopyData,)}),
    Script("followed link", asset("follow"), {("data",): (browser.FollowData,)}),
    Script("rest", asset("rest"), {("data",): (browser.RestData,)}),
    Script("clicks", asset("chunk_clicks"), {("data",): (browser.ClickData,)}),
    Script("scroll", asset("scroll"), {("data",): (browser.ScrollData,)}),
)
NOT_READ = {("piece",): {"claim"}}
"""A piece is put on the line of its claim before it is sent."""
PLACES = [
    pytest.param(script.source, names, records, id=f"{script.name}: {names[0]}")
    for script in SCRIPTS
    for names, records in script.records.items()
]


def code(source: str) -> str:
    """A script without its comments."""
    return re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE)


def names_read(source: str, names: tuple[str, ...]) -> set[str]:
    """The properties that a script reads of what it calls so."""
    called = "|".join(names)
    return set(re.findall(rf"(?<![\w'])(?:{called})(?:\[\w+\])?\??\.(\w+)", code(source)))


@pytest.mark.parametrize(("source", "names", "records"), PLACES)
def test_a_script_reads_what_is_declared_and_all_of_it(source, names, records):
    declared = {field for record in records for field in record.__annotations__}
    assert names_read(source, names) == declared - NOT_READ.get(names, set())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_no_script_takes_a_record_apart_by_position(script):
    called = "|".join(name for names in script.records for name in names)
    assert re.findall(rf"\b(?:{called})\[\d+\]", code(script.source)) == []


def test_every_record_of_the_reader_is_read_by_its_script():
    own = {one for room in (answer, reader) for one in vars(room).values() if is_dataclass(one) and one.__module__ == room.__name__}
    assert {record for records in SCRIPTS[0].records.values() for record in records} == own | {Figure}
    drawn = {"run", *reader.reader_data(empty(), ())}
    assert names_read(READER, ("data",)) == drawn


def test_a_name_that_only_one_side_knows_is_found():
    assert names_read("const x = span.number + span?.begin;", ("span",)) == {"number", "begin"}
    assert names_read("// span.begin\nspan.start; wingspan.end; 'span.end'", ("span",)) == {"start"}


def test_what_a_script_tells_is_what_the_page_listens_for():
    sent = re.findall(r"set(?:State|Trigger)Value\((.*?),", RANGE)
    assert {name for call in sent for name in re.findall(r"'(\w\w+)'", call)} == set(RangeState.__annotations__)


def test_no_tag_stands_in_the_scripts_of_the_pages():
    """The browser's part of Streamlit takes a script away in which one does, without a word."""
    text = browser.script().removeprefix("<script>").removesuffix("</script>")
    assert re.findall(r"<[/\w!]", text) == []
