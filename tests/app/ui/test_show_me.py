"""Show me: every number and word of the steps is what `assemble()` and `check()` give for the sample, worked out here once more."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm import AssemblySettings, assemble, check, compare, preset
from ctxasm.app.ui.frame.links import QUERY
from ctxasm.app.ui.show_me import page as told
from ctxasm.app.ui.show_me.page import FOUND, SHORT, step_html, steps, tell
from ctxasm.app.workbench import SAMPLE, Workbench
from ctxasm.config import read_config
from ctxasm.data.files import load_bundle
from ctxasm.model.settings_text import from_url
from ctxasm.store.memory import MemorySource
from tests.app.ui.pages import MAIN, fine, html, opened, problems
from tests.strategies import COUNTER

HOSPITAL = Path(__file__).parents[3] / "sample_data" / "hospital-en"


@pytest.fixture(scope="module")
def bench(sample_file):
    opened = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{sample_file}"}))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def story(bench):
    return tell(bench)


@pytest.fixture(scope="module")
def drawn(story):
    return [step_html(at, step) for at, step in enumerate(steps(story), 1)]


@pytest.fixture(scope="module")
def fresh():
    """The three assemblies and the check, from the files of the sample."""
    bundle = load_bundle(HOSPITAL)
    query = next(query for query in bundle.queries if query.query_id == QUERY)

    source = MemorySource(bundle.documents, bundle.chunks, COUNTER)

    def made(**settings):
        return assemble(query, source, AssemblySettings(top_k=FOUND, **settings), COUNTER)

    on = made()
    recorded = next(answer for answer in bundle.answers if answer.query_id == QUERY)
    return made(enabled=False), on, made(max_tokens=on.token_count - SHORT), check(on, recorded.answer)


def words(drawn_html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", drawn_html))


def states(drawn_html: str) -> dict[tuple[str, int], str]:
    found = re.findall(r'data-state="(\w+)" data-key="([\w-]+) (\d+)"', drawn_html)
    return {(document, int(index)): state for state, document, index in found}


def sent(assembly) -> dict[tuple[str, int], str]:
    return {
        (f.document_id, f.chunk_index): "found" if f.retrieved else "added" for f in assembly.trace.fates if f.fate in ("kept", "merged")
    }


def test_the_fact_is_in_the_context_with_assembly_only(story, fresh, drawn):
    off, on, _, _ = fresh
    fact = story.excerpt.fact
    assert fact not in off.text
    assert fact in on.text
    assert 'data-sent="false"' in drawn[0]
    assert 'data-sent="true"' in drawn[1]
    assert all(fact in words(step) for step in drawn[:2])


def test_the_text_before_the_fact_is_that_of_a_find(story, fresh):
    off, on, _, _ = fresh
    found, beside, fact, after = story.excerpt
    assert found.rstrip() in off.text
    assert (beside + fact).strip() not in off.text
    assert found + beside + fact + after in on.text


@pytest.mark.parametrize("at", [0, 1])
def test_the_pieces_are_those_that_were_sent(fresh, drawn, at):
    shown = states(drawn[at])
    assert {key: state for key, state in shown.items() if state != "out"} == sent(fresh[at])
    assert f"{sum(state == 'found' for state in shown.values())} found" in words(drawn[at])


def test_the_stage_is_the_one_that_brought_the_piece(story, fresh, drawn):
    brought = next(f for f in fresh[1].trace.fates if (f.document_id, f.chunk_index) == story.key)
    assert not brought.retrieved
    assert states(drawn[1])[story.key] == "added"
    added = sum(state == "added" for state in sent(fresh[1]).values())
    assert f"{added} neighbours" in words(drawn[1])
    assert 'data-stage="expand" title="Expand"' in drawn[1]


def test_what_does_not_fit_says_what_it_needs_and_that_is_true(story, fresh, drawn):
    _, on, tight, _ = fresh
    (gone,) = [size for size in tight.trace.sizes if not size.kept]
    assert gone.missing_tokens == SHORT
    assert gone.document_id == story.key[0]
    assert story.excerpt.fact not in tight.text
    assert f'data-missing="{SHORT}"' in drawn[2]
    assert f"needs {SHORT} more" in words(drawn[2])
    assert re.findall(r'data-limit="(\d+)" data-tokens="(\d+)"', drawn[2]) == [
        (str(assembly.limit), str(assembly.token_count)) for assembly in (on, tight)
    ]
    assert story.excerpt.fact in story.on.text


def test_the_wrong_number_stands_beside_that_of_its_source(fresh, drawn):
    on, checked = fresh[1], fresh[3]
    (wrong,) = [claim for claim in checked.claims if claim.conflict]
    assert re.findall("<del>(.*?)</del>", drawn[3]) == [wrong.conflict.claim]
    assert f"<mark>{wrong.conflict.source}</mark>" in drawn[3]
    assert wrong.conflict.source in on.text
    assert wrong.conflict.claim not in on.text
    assert re.findall('data-part="(.*?)"', drawn[3]) == ["right", "contradicted"]


def test_the_numbers_before_assembly_are_those_of_the_hits(fresh, drawn):
    on = fresh[1]
    titles = {name: document.title for name, document in on.trace.documents.items()}
    before = {entry.number: titles[entry.document_id] for entry in on.trace.before_assembly}
    now = {citation.number: citation.title for citation in on.citations}
    rows = re.findall(r'<tr data-number="(\d+)" data-stale="(\w+)"><td>.*?</td><td>(.*?)</td><td>(.*?)</td></tr>', drawn[4])
    shown = [(int(n), stale == "true", words(then).removeprefix("✗ "), words(after)) for n, stale, then, after in rows]
    everywhere = sorted({*before, *now})
    assert shown == [(n, n in now and before.get(n) != now[n], before.get(n, "no source"), now.get(n, "no source")) for n in everywhere]
    assert "[2] in that answer" in words(drawn[4])


def test_every_step_opens_its_own_state(story):
    for step, assembly in zip(steps(story), (story.off, story.on, story.tight, story.on, story.on), strict=True):
        address = urlsplit(step.address)
        given = {name: value for name, (value,) in parse_qs(address.query).items()}
        settings, rejected = from_url({name: value for name, value in given.items() if name not in ("data", "q", "answer")})
        assert (settings, rejected) == (assembly.settings, ())
        assert (given["data"], given["q"]) == (SAMPLE, QUERY)
        assert given.get("answer") == ("recorded" if step.page == "Ask" else None)
        assert address.path == ("./ask" if step.page == "Ask" else "./")


def test_a_hostile_title_arrives_as_text(bench, monkeypatch):
    monkeypatch.setattr("ctxasm.app.ui.show_me.page.title_of", lambda *_: "<script>alert(1)</script>")
    page = "".join(step_html(at, step) for at, step in enumerate(steps(tell(bench)), 1))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_another_sample_is_named_and_nothing_is_drawn(own_url, monkeypatch):
    monkeypatch.setattr(told, "QUERY", "dog-visit")
    app = fine(show_me(AppTest.from_file(str(MAIN), default_timeout=300).run()))
    assert "The sample is not here as it ships" in html(app)
    assert "cx-step" not in re.sub("<style>.*?</style>", "", html(app), flags=re.DOTALL)


def test_the_page_draws_all_steps_one_sentence_each(open_app, drawn):
    app = fine(show_me(open_app()))
    page = html(app)
    assert re.findall(r'id="step-(\d)"', page) == ["1", "2", "3", "4", "5"]
    assert all(step in page for step in drawn)
    assert all(re.search(r"[.]\s*$", words(says)) for says in re.findall("<h2.*?</h2>", page))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, []),
        ({"step": "5"}, []),
        ({"step": "9"}, ["step must be one of 1, 2, 3, 4, 5, got &#x27;9&#x27;"]),
        ({"step": "<b>"}, ["step must be one of 1, 2, 3, 4, 5, got &#x27;&lt;b&gt;&#x27;"]),
    ],
)
def test_a_step_that_is_not_there_is_said(open_app, asked, said):
    app = fine(show_me(open_app(**asked)))
    assert problems(app) == said
    assert 'id="step-5"' in html(app)


def test_it_ends_with_what_compare_says_of_all_questions(open_app, bench):
    five, learned = AssemblySettings(max_tokens=2000), preset("recommended").replace(max_tokens=2000)
    found = compare(five, learned, bench.store, SAMPLE)
    app = fine(show_me(open_app()))
    (says,) = re.findall(r'id="ctx-benefit">(.*?)</p>', html(app))
    assert says == (
        f"Of the sample’s {found.labelled} questions, at most 2,000 tokens each, the model reads all the evidence for {found.whole_b} "
        f"with the preset recommended, for {found.whole_a} with the five stages alone: {found.result.sentence()}."
    )
    assert found.result.shown


def test_two_ways_lead_on_to_ones_own_data(open_app):
    links = {link.proto.label: link.proto for link in show_me(open_app()).get("page_link")}
    for label, tab in (("Your documents", "Documents"), ("Your log", "Files & paste")):
        assert links[label].page == "load"
        address = {name: value for name, (value,) in parse_qs(links[label].query_string).items()}
        assert (address["data"], address["q"]) == (SAMPLE, QUERY)
        assert fine(open_app("load", **address)).session_state["way"] == tab


def test_the_sidebar_shows_the_question_of_the_steps(open_app):
    app = fine(show_me(open_app(data="attack", q="none")))
    assert (app.session_state["data"], app.session_state["q"]) == (SAMPLE, QUERY)
    assert app.query_params["q"] == QUERY


def test_another_question_is_looked_at_on_inspect(open_app):
    app = fine(show_me(open_app()))
    app.selectbox(key="q").set_value("dog-visit").run()
    assert app.session_state["q"] == "dog-visit"
    assert "Open in Inspect" in [link.proto.label for link in app.get("page_link")]


def test_a_newcomer_lands_on_the_steps(own_url):
    app = fine(opened())
    assert 'id="step-5"' in html(app)
    assert app.query_params["q"] == QUERY


def test_a_link_opens_what_it_says_for_a_newcomer_too(own_url):
    assert "cx-step-n" not in html(fine(opened(data=SAMPLE)))
    assert "cx-step-n" not in html(fine(opened(w="2")))


def test_whoever_has_a_dataset_lands_on_inspect(own_url):
    desk = Workbench(read_config({"CTXASM_DATABASE_URL": own_url}))
    desk.load(HOSPITAL, "mine")
    desk.close()
    assert "cx-step-n" not in html(fine(opened()))


def test_an_older_sample_has_no_steps_to_land_on(own_url, monkeypatch):
    monkeypatch.setattr("ctxasm.app.ui.frame.shell.QUERY", "not yet asked")
    app = fine(opened())
    assert "cx-step-n" not in html(app)
    assert 'id="ctx-title"' in html(app)


def show_me(app: AppTest) -> AppTest:
    return app.switch_page("../../../pages/show_me.py").run()
