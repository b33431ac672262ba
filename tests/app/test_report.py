"""Reports: complete, small, without scripts or requests whatever they are made of; and cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import ctxasm
from ctxasm import AssemblySettings, Judgement, MemoryStore, Passage
from ctxasm.__main__ import main
from ctxasm.app.report.page import LIMIT, POLICY, Writer
from ctxasm.app.report.runs import Funnel, runs_html
from ctxasm.model.frames import as_csv, data_frame
from ctxasm.model.messages import Message
from ctxasm.model.runs import Run, RunSource, as_json, read_run

TAGS = (
    "script",
    "img",
    "svg",
    "iframe",
    "object",
    "embed",
    "a",
    "form",
    "input",
    "style",
    "link",
    "meta",
    "base",
    "video",
    "math",
    "details",
)
HANDLERS = ("onload", "onerror", "onclick", "onmouseover", "onfocus", "ontoggle", "onbegin", "onanimationstart", "onpointerdown", "onwheel")
BREAKS = ("", '">', "'>", "-->", "</style>", "</title>", "</text></svg>", "</textarea>", "</pre>", "]]>", "&lt;", "\0")
PAYLOADS = tuple(f"{BREAKS[at % len(BREAKS)]}<{tag} {name}=boom(1) src=//evil.example/x href=javascript:boom(1)>{tag}</{tag}>"
                 for at, (tag, name) in enumerate((tag, name) for tag in TAGS for name in HANDLERS))  # fmt: skip
PLAIN = [payload.replace("\0", "") for payload in PAYLOADS]
ALLOWED = {"class", "dir", "lang", "charset", "content", "http-equiv", "name", "role", "aria-label"}
DRAWN = {"viewbox", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "rx", "r", "cx", "cy", "d", "fill", "stroke", "stroke-width"}
DRAWN |= {"stroke-dasharray", "text-anchor", "font-size", "font-weight"}
ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "section",
        "footer",
        "h1",
        "h2",
        "h3",
        "p",
        "div",
        "span",
        "b",
        "small",
        "sup",
        "mark",
    ),
    *("ul", "li", "dl", "dt", "dd", "pre", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "rect", "text", "line", "circle", "path"),
}


class Elements(HTMLParser):
    """Whatever a page has that we did not write: elements, attributes, and values that load or run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.policies: list[str | None] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.foreign += [tag] if tag not in ELEMENTS else []
        self.foreign += [f"{tag} {name}={value}" for name, value in attrs if name not in ALLOWED | DRAWN]
        self.policies += [own["content"]] if own.get("http-equiv") == "Content-Security-Policy" else []


def checked(page: str) -> str:
    found = Elements(page)
    assert found.foreign == []
    assert found.policies == [POLICY]
    assert page.index("Content-Security-Policy") < page.index("<title>")
    assert len(page.encode()) <= LIMIT
    assert "url(" not in page.partition("</style>")[0]
    return page


def hostile_run(payload: str, run_id: str = "r") -> Run:
    support = {"number": 1, "start": 2, "end": len(payload), "score": 1.0}
    conflict = {"kind": "number", "claim": payload, "source": payload, "number": 1, "start": 0, "end": 4}
    disputed = {"number": 2, "date": payload, "age": payload, "conflict": {"claim": payload, "source": payload}}
    claim = {"start": 0, "end": len(payload), "text": payload, "kind": "sentence", "axes": {"support": "contradicted", "citation": "right"}}
    claim |= {"markers": [1, 9], "support": [support], "conflict": conflict, "disputed": disputed}
    check = {"claims": [claim], "summary": {"sentence": payload}, "scorer": payload, "threshold": payload}
    sources = (RunSource(1, payload * 3, payload, payload, (0,), payload, 3, payload),)
    named = {name: payload.replace("\0", "") for name in ("question", "author", "batch", "dataset", "query_id", "model")}
    made = Run(
        run_id=run_id, kept_at="2026-11-28T00:00:00", answer=payload * 2, check=check, version=payload, digest=payload,
        settings={"model_name": payload, payload: payload}, prompt=(Message("user", payload),), parameters={payload: payload},
        sources=sources, complete=False, note=payload, reference=payload, **named,
    )  # fmt: skip
    return read_run(as_json(made))


def said_of(run: Run, payload: str) -> list[Judgement]:
    name = payload.replace("\0", "")
    whole = Judgement(run.run_id, "answer", name, note=payload, answers="no", complete=False, should_cite=(Passage(payload, 1, payload),))
    return [whole, Judgement(run.run_id, "0:1", name, "wrong_fact", payload), Judgement(run.run_id, "0:9", name, None, payload)]


def test_no_text_of_others_becomes_markup_in_the_report_of_a_run() -> None:
    assert len(PAYLOADS) >= 100
    for payload in PAYLOADS:
        run = hostile_run(payload)
        page = checked(runs_html([run], said_of(run, payload), {"r": Funnel(None, (), payload)}, Writer(), payload, [payload]))
        assert page.count("boom(1)") >= 30  # it is all there, as text


def test_a_report_of_very_much_is_cut_and_says_so() -> None:
    runs = [hostile_run("<&\"'é😀" * 4_000, f"r{at}") for at in range(30)]
    said = [each for run in runs for each in said_of(run, "&" * 400)]
    for some in (runs[:1], runs):
        page = checked(runs_html(some, said, {run.run_id: Funnel(None, (), "x") for run in some}, Writer(), "0"))
        assert " more)</small>" in page
    assert "more answers left out: a report has at most 150 kB." in page


@pytest.mark.parametrize("secret", ["sk-0123456789&<abcdef", "pass word/with&signs"])
def test_no_key_and_no_login_is_in_a_report(secret: str) -> None:
    run = hostile_run(f"key {secret} postgres://me:hunter2@db/x")
    page = checked(runs_html([run], said_of(run, secret), {"r": Funnel(None, (), secret)}, Writer([secret]), "0"))
    assert secret not in page
    assert secret.replace("&", "&amp;").replace("<", "&lt;") not in page
    assert "postgres://[API key]@db/x" in page
    assert "hunter2" not in page


@pytest.fixture
def store() -> MemoryStore:
    """Twelve questions, half of which need a neighbour of their hit. Every text of it is hostile."""
    chunks = [
        ctxasm.Chunk(f"d{at}", index, f"{PLAIN[at]} Room {at} part {index} opens at {index + 7}.") for at in range(12) for index in range(3)
    ]
    queries = [
        ctxasm.Query(f"{PLAIN[at]} when?", (ctxasm.Hit(f"d{at}", 0, 1.0),), f"={at}", gold=(ctxasm.GoldChunk(f"d{at}", at % 2),))
        for at in range(12)
    ]
    made = MemoryStore()
    documents = tuple(ctxasm.Document(f"d{at}", PLAIN[at + 50]) for at in range(12))
    made.add(ctxasm.Bundle("<b onload=boom(1)>", documents, tuple(chunks), tuple(queries)))
    return made


def test_a_comparison_names_what_changed_and_where_facts_were_lost(store: MemoryStore, tmp_path: Path) -> None:
    a, b = AssemblySettings(expand_window=0, summary_template=f"{PLAIN[3]}{{summary}}"), AssemblySettings(expand_window=1)
    found = ctxasm.compare(a, b, store)
    page = checked(ctxasm.report(found, tmp_path / "c.html", store))
    assert (tmp_path / "c.html").read_text(encoding="utf-8") == page
    assert "6 questions that changed" in page
    assert page.count("in A never retrieved") == 6
    assert "6 of 12 questions in place of" not in page
    assert "12 of 12 questions in place of 6: +50.0 points" in page
    assert "It wins 6 questions, loses 0, and 6 are held by both or by neither." in page


def test_a_sweep_begins_with_the_decision_and_draws_it(store: MemoryStore) -> None:
    start = AssemblySettings(expand_window=0)
    found = ctxasm.sweep({"expand_window": (0, 1), "max_tokens": (500, 4000)}, store, settings=start)
    page = checked(ctxasm.report(found, store=store))
    head = page.index("<h1>")
    assert page[head:].startswith(
        "<h1>Take Neighbours 1, Max tokens 500, the rest as yours: it holds the evidence of 12 of 12 questions, yours 6."
    )
    assert page.count("<svg") == 2
    assert page.count("<rect") == 4  # the heatmap
    assert "max_tokens = 500\n</pre>" in page
    unlabelled = ctxasm.report(replace(found, outcomes=found.outcomes * [1, 0, 0]), store=store)
    assert "<svg" not in checked(unlabelled)


def test_a_kept_answer_shows_its_funnel_and_the_command_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
    out = tmp_path / "r.html"
    assert main(["load", "--sample"]) == 0
    assert main(["ask", "--query-id", "private-room-cost", "--keep"]) == 0
    assert main(["ask", "--query-id", "private-room-cost", "--keep", "--set", "max_tokens=1000"]) == 0
    with ctxasm.open_store() as opened:
        newer, older = (entry.run_id for entry in ctxasm.history(opened))
    assert main(["report", newer, "-o", str(out)]) == 0
    page = checked(out.read_text(encoding="utf-8"))
    assert page.index("claims: ") < page.index(">Question<") < page.index(">Answer<")
    assert "<mark>" in page
    assert "did not fit into 1,000 tokens." in page
    assert "it did not fit into the limit" in page  # why a chunk was left out
    assert "<td>Max tokens</td><td>1,000</td><td>8,000</td>" in page
    assert main(["report", older, newer, "-o", str(out)]) == 0
    assert f"What differs from run {older}" in checked(out.read_text(encoding="utf-8"))
    with ctxasm.open_store() as opened:
        opened.keep_runs([replace(opened.run(older), run_id="other", digest="of other data")])
    assert main(["report", "other", "-o", str(out)]) == 0
    assert "so its context cannot be made again" in checked(out.read_text(encoding="utf-8"))
    capsys.readouterr()
    assert main(["report", "-o", str(out)]) == 2
    assert "report takes the ids of runs, or --batch NAME" in capsys.readouterr().err
    assert main(["report", "nothing", "-o", str(out)]) == 2


def test_no_cell_of_a_frame_is_a_formula_and_numbers_stay_numbers() -> None:
    nasty = ("=1+1", "+x", "-x", "@x", "\t=x", "\r=x")
    text = as_csv(data_frame([(each, -3, -0.5, None) for each in nasty], ("query_id", "tokens", "difference", "none")))
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head == ["query_id", "tokens", "difference", "none"]
    assert [row[0] for row in rows] == [f"'{each}" for each in nasty]
    assert {tuple(row[1:]) for row in rows} == {("-3", "-0.5", "")}
