"""What the steps are about: one question of the sample, assembled in three ways, and its recorded answer, checked. Pure but for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.caching import cache_resource

from ctxasm.app.ui.ask.answer import Chip, checked_pieces, stale_numbers
from ctxasm.app.ui.ask.page import PARAMETER, RECORDED
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import DOCUMENTS, QUERY, WAY
from ctxasm.app.ui.frame.browser import bring_into_view
from ctxasm.app.ui.frame.layout import show_empty, show_problem, show_title, show_trouble
from ctxasm.app.ui.frame.session import DATASET, QUERY_ID
from ctxasm.app.ui.inspect.budget_bar import BarDocument, budget_bar
from ctxasm.app.ui.markup import document_of
from ctxasm.app.ui.words import in_attribute, number, title_of
from ctxasm.app.workbench import SAMPLE
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.report import CheckedAnswer, brackets
from ctxasm.config import shipped
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import Dataset
from ctxasm.model.errors import InvalidInput, NotFound, StoreUnavailable
from ctxasm.model.events import stage_name
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.presets import preset
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_url
from ctxasm.tuning.compare import Comparison
from ctxasm.tuning.evidence import EvidenceState

FOUND = 3
"""How many of its hits the steps take: so few that they fit on a page."""
ASKED = "what a cold changes"
"""What of its answer only assembly brings, in words."""
SHORT = 15
"""Tokens by which the third step's limit falls short of what the whole context takes."""
LIMIT = 2_000
"""Max tokens of the comparison over all questions at the end."""
LEAD = 110
"""Characters of what was found that are shown before what stands beside it."""


class Tells(Protocol):
    """What a story is read from: the workbench."""

    def dataset(self, name: str | None = None) -> Dataset: ...
    def assemble(self, query: Query, settings: AssemblySettings, dataset: str | None = None) -> Assembly: ...
    def evidence(self, assembly: Assembly, dataset: str | None = None) -> tuple[EvidenceState, ...]: ...
    def check(self, assembly: Assembly, answer: str) -> CheckedAnswer: ...


class Excerpt(NamedTuple):
    """Text of one page around the fact: the end of what was found, what stands beside it, the fact itself, and what follows."""

    found: str
    beside: str
    fact: str
    after: str


class Story(NamedTuple):
    """The question without assembly (`off`), with it (`on`), and with too small a limit (`tight`); the recorded answer, checked.

    `fact` is the evidence that only assembly brings, in piece `key` of its page. `pages` holds how many pieces each page has that
    search found, in the order of the context.
    """

    query: Query
    off: Assembly
    on: Assembly
    tight: Assembly
    checked: CheckedAnswer
    key: Key
    excerpt: Excerpt
    pages: dict[str, int]

    @property
    def wrong(self) -> CheckedClaim:
        """The claim that its source contradicts."""
        return next(claim for claim in self.checked.claims if claim.conflict is not None)


def settings_of(on: Assembly | None = None, enabled: bool = True) -> AssemblySettings:
    """The defaults with the first hits; with the assembly of the whole context, a limit that falls short of it."""
    settings = AssemblySettings(top_k=FOUND, enabled=enabled)
    return settings if on is None else settings.replace(max_tokens=on.token_count - SHORT)


def benefit_settings() -> tuple[AssemblySettings, AssemblySettings]:
    """What the end of the page compares: the five stages and the preset `recommended`, at a limit where it matters."""
    return AssemblySettings(max_tokens=LIMIT), preset("recommended").replace(max_tokens=LIMIT)


def tell(bench: Tells) -> Story:
    """Work the story out. Raises NotFound or InvalidInput where the sample is not there, or is not the one that this was chosen on."""
    sample = bench.dataset(SAMPLE)
    query = sample.query(QUERY)
    off, on = (bench.assemble(query, settings_of(enabled=enabled), SAMPLE) for enabled in (False, True))
    fact = _brought(bench.evidence(off, SAMPLE), bench.evidence(on, SAMPLE))
    recorded = next((answer.answer for answer in sample.answers() if answer.query_id == QUERY), "")
    checked = bench.check(on, recorded)
    if fact is None or not any(claim.conflict for claim in checked.claims):
        raise InvalidInput(f"dataset {SAMPLE} is not the sample of this version: load the sample again")
    chunks = sample.document_chunks(fact.document_id)
    holder = next(chunk for chunk in chunks if chunk.chunk_index in fact.chunk_indexes and _holds(chunk, fact))
    key = (fact.document_id, holder.chunk_index)
    first = (fact.place.start or 0) - (holder.start or 0)
    excerpt = _excerpt(on, key, holder.text[first : first + (fact.place.end or 0) - (fact.place.start or 0)])
    pages = {cited.document_id: len(sample.document_chunks(cited.document_id)) for cited in on.citations}
    tight = bench.assemble(query, settings_of(on), SAMPLE)
    return Story(query, off, on, tight, checked, key, excerpt, pages)


def _brought(without: Sequence[EvidenceState], with_it: Sequence[EvidenceState]) -> EvidenceState | None:
    """The first piece of evidence that is not there without assembly, and is with it."""
    pairs = zip(without, with_it, strict=True)
    return next((after for before, after in pairs if before.state != "found" and after.state == "found"), None)


def _holds(chunk: FetchedChunk, fact: EvidenceState) -> bool:
    return (chunk.start or 0) <= (fact.place.start or 0) and (fact.place.end or 0) <= (chunk.end or 0)


def _excerpt(on: Assembly, key: Key, fact: str) -> Excerpt:
    """From the end of the find before it to the end of the paragraph of the fact."""
    at = on.text.index(fact)
    join = min(segment.start for segment in on.segments if (segment.document_id, segment.chunk_index) == key)
    low = on.text.index(" ", max(0, join - LEAD)) + 1
    end = at + len(fact)
    stop = on.text.find("\n", end)
    return Excerpt(on.text[low:join], on.text[join:at], fact, on.text[end : stop if stop >= 0 else len(on.text)])


BESIDE = 40
"""Characters that are shown of the first lines between a find and the fact."""
AROUND = 70
"""Characters of a source that are shown before what contradicts an answer."""
SENT = ("kept", "truncated", "merged")
STAGE = "expand"
"""The stage that brings pieces which search did not find."""


KEYS = {"retrieved": "found", "added": "neighbour", "scaffold": "page title and summary", "dropped": "left out"}
"""What the looks on the bar mean."""

LINKS = {"Inspect": "Open in Inspect", "Ask": "Open this answer on Ask"}
"""What the link of a step says by its page."""


class StoryStep(NamedTuple):
    """One step: what it says, its picture as HTML, and where the same state is open to change."""

    says: str
    picture: str
    page: str
    settings: AssemblySettings

    @property
    def address(self) -> str:
        """The link, from wherever the workbench is served."""
        where = {DATASET: SAMPLE, QUERY_ID: QUERY, **to_url(self.settings)}
        if self.page == "Ask":
            where[PARAMETER] = RECORDED
        return f"./{'ask' if self.page == 'Ask' else ''}?{urlencode(where)}"


def steps(story: Story) -> tuple[StoryStep, ...]:
    """All of them, in order."""
    on, tight = settings_of(), settings_of(story.on)
    conflict = story.wrong.conflict
    assert conflict is not None
    gone = [document for document in budget_bar(story.tight).dropped if document.missing_tokens]
    needs = number(gone[0].missing_tokens or 0) if gone else "nothing"
    wrong = sorted(stale_numbers(story.on))
    return (
        StoryStep(
            f"Search found the right page, but not the piece that says {ASKED}: the model never reads it.",
            _pieces(story, story.off) + _text(story, sent=False),
            "Inspect",
            settings_of(enabled=False),
        ),
        StoryStep(
            f"Assembly adds the neighbours of each found piece: now the model reads {ASKED}.",
            _pieces(story, story.on) + _text(story, sent=True),
            "Inspect",
            on,
        ),
        StoryStep(
            f"With {needs} tokens too few, the whole last page is left out, and with it {ASKED}.",
            _room(story.on, "All of it", story.tight.limit) + _room(story.tight, "Too little room", story.tight.limit) + _room_legend(),
            "Inspect",
            tight,
        ),
        StoryStep(
            f"An answer is checked against its sources: it says “{conflict.claim}”, its source says “{conflict.source}”.",
            _answer(story),
            "Ask",
            on,
        ),
        StoryStep(
            f"Numbered in search order, {brackets(wrong)} in that answer would point to the wrong page.",
            _numbers(story),
            "Ask",
            on,
        ),
    )


def step_html(number_: int, step: StoryStep) -> str:
    """One step with its number, its links and its picture."""
    return (
        f'<section class="cx cx-step" id="step-{number_}" data-step="{number_}" aria-labelledby="step-{number_}-says">'
        f'<h2 id="step-{number_}-says"><span class="cx-step-n" aria-hidden="true">{number_}</span><span>{escape(step.says)}</span></h2>'
        f'{step.picture}<p class="cx-step-links"><a href="{escape(step.address)}" data-open="{step.page}">{LINKS[step.page]}</a>'
        f'<a href="?step={number_}" class="cx-mute" aria-label="Link to step {number_}">Link</a></p></section>'
    )


def benefit_html(found: Comparison) -> str:
    """What the preset is worth on all questions of the sample, and where to bring one's own."""
    says = (
        f"Of the sample’s {found.labelled} questions, at most {number(found.a.max_tokens)} tokens each, the model reads all the evidence "
        f"for {found.whole_b} with the preset recommended, for {found.whole_a} with the five stages alone: {found.result.sentence()}."
    )
    return f'<p class="cx cx-benefit" id="ctx-benefit">{escape(says)}</p>'


def question_html(story: Story) -> str:
    """The question that all steps are about."""
    return f'<div class="cx cx-asked"><span class="cx-mute">A patient asks</span><q dir="auto">{escape(story.query.query)}</q></div>'


def _title(story: Story, document_id: str, assembly: Assembly) -> str:
    return title_of(assembly.trace.documents, document_id)


# Steps 1 and 2: what is sent


def _pieces(story: Story, assembly: Assembly) -> str:
    """A row a page: its pieces, each found, brought or not sent; the one that holds the answer is flagged."""
    fates = {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates if fate.fate in SENT}
    rows = []
    for document_id, count in story.pages.items():
        boxes = []
        for index in range(count):
            fate = fates.get((document_id, index))
            state = "out" if fate is None else "found" if fate.retrieved else "added"
            flag = '<b class="cx-flag">answer</b>' if (document_id, index) == story.key else ""
            boxes.append(f'<span class="cx-piece p-{state}" data-state="{state}" data-key="{escape(document_id)} {index}">{flag}</span>')
        title = escape(_title(story, document_id, assembly))
        spoken = f"{title}: {counted(count, 'piece')}"
        rows.append(f'<div class="cx-page"><span>{title}</span><div role="img" aria-label="{spoken}">{"".join(boxes)}</div></div>')
    found = sum(fate.retrieved for fate in fates.values())
    added = len(fates) - found
    says = [f'<span><i class="cx-swatch p-found"></i>{found} found</span>']
    if added:
        says.append(
            f'<span data-stage="{STAGE}" title="{stage_name(STAGE)}"><i class="cx-swatch p-added"></i>{counted(added, "neighbour")}</span>'
        )
    says.append('<span><i class="cx-swatch p-out"></i>left out</span>')
    return f'<div class="cx-pages">{"".join(rows)}<div class="cx-legend">{"".join(says)}</div></div>'


def _shortened(beside: str) -> str:
    """What stands between the find and the fact: how it begins, and its last line."""
    first, _, last = beside.rpartition("\n")
    end = first.rfind(" ", 0, BESIDE)
    return f"{first[:end]} … {last}" if end > 0 and len(first) > BESIDE else beside


def _text(story: Story, sent: bool) -> str:
    """The text where the find ends and the piece beside it begins."""
    found, fact, beside = map(escape, (story.excerpt.found, story.excerpt.fact, _shortened(story.excerpt.beside)))
    after = " …" if story.excerpt.after else ""
    head = "The model reads on" if sent else "The model’s text stops here"
    state = "added" if sent else "out"
    return (
        f'<blockquote class="cx-said" dir="auto">…{found}<b class="cx-stop s-{state}">{head}</b>'
        f'<span class="cx-next s-{state}" data-sent="{str(sent).lower()}">{beside}<mark>{fact}</mark>{after}</span></blockquote>'
    )


# Step 3: what fits


def _room(assembly: Assembly, name: str, limit: int) -> str:
    """The budget bar: a segment a page, as wide as its tokens; one axis for both bars."""
    bar = budget_bar(assembly)
    axis = 1.12 * max(limit, sum(document.tokens for document in bar.documents))
    groups = "".join(_segment(document, axis) for document in bar.runs)
    over = assembly.limit == limit
    mark = f'<i class="cx-step-limit" style="left:{100 * limit / axis:.2f}%"></i>' if over else ""
    said = f"{number(assembly.limit if over else assembly.token_count)} tokens"
    gone = "".join(
        f'<span class="cx-need" data-missing="{document.missing_tokens or ""}">{escape(document.title)} needs '
        f"{number(document.missing_tokens or 0)} more</span>"
        for document in bar.dropped
    )
    return (
        f'<div class="cx-room" data-limit="{assembly.limit}" data-tokens="{assembly.token_count}"><p><b>{escape(name)}</b> '
        f'<span class="cx-mute">{said}</span> {gone}</p><div class="cx-step-bar"><div class="cx-track">{groups}</div>{mark}</div></div>'
    )


def _room_legend() -> str:
    keys = "".join(f'<span><i class="cx-swatch k-{look}"></i>{means}</span>' for look, means in KEYS.items())
    return f'<div class="cx-legend">{keys}<span>a token ≈ ¾ of a word</span></div>'


def _segment(document: BarDocument, axis: float) -> str:
    """A page on the bar; its parts look as they do on Inspect."""
    looks = [(part.kind if part.kind in KEYS else "scaffold", 100 * part.tokens / max(document.tokens, 1)) for part in document.parts]
    parts = "".join(f'<div class="cx-part k-{look}" style="width:{width:.2f}%"></div>' for look, width in looks)
    state = "kept" if document.kept else "dropped"
    return (
        f'<div class="cx-group" data-state="{state}" {document_of(document.document_id)} '
        f'style="width:{100 * document.tokens / axis:.2f}%"><span class="cx-tag">{escape(document.title)}</span>'
        f'<div class="cx-parts">{parts}</div></div>'
    )


# Steps 4 and 5: what the answer stands on


def _answer(story: Story) -> str:
    """The recorded answer with a sign for every citation, and the words of the source beside the wrong ones."""
    drawn = "".join(
        _chip(piece) if isinstance(piece, Chip) else f"<del>{escape(piece.text)}</del>" if piece.clash else escape(piece.text)
        for piece in checked_pieces(story.checked, {})
    )
    conflict = story.wrong.conflict
    assert conflict is not None
    block = _block(story.on, conflict.number)
    low = block.rfind(" ", 0, max(conflict.start - AROUND, 0)) + 1
    high = next(at for at in (block.find("\n", conflict.end), len(block)) if at >= 0)
    before, told, after = block[low : conflict.start], block[conflict.start : conflict.end], block[conflict.end : high]
    title = escape(_title(story, _cited(story.on)[conflict.number], story.on))
    return (
        '<div class="cx-two"><blockquote class="cx-said" dir="auto"><cite>Recorded answer with a mistake</cite>'
        f"{drawn}</blockquote>"
        f'<blockquote class="cx-said" dir="auto" data-source="{conflict.number}"><cite><span class="cx-num">{conflict.number}</span> '
        f"{title}</cite>…{escape(before)}<mark>{escape(told)}</mark>{escape(after)}</blockquote></div>"
    )


def _chip(chip: Chip) -> str:
    return (
        f'<span class="cx-cited v-{chip.part}" data-part="{chip.part}" title="{in_attribute(chip.spoken)}">'
        f"{escape(chip.label)} {escape(chip.mark)}</span>"
    )


def _block(assembly: Assembly, block: int) -> str:
    segments = [segment for segment in assembly.segments if segment.block == block]
    return assembly.text[segments[0].start : segments[-1].end]


def _cited(assembly: Assembly) -> Mapping[int, str]:
    return {citation.number: citation.document_id for citation in assembly.citations}


def _numbers(story: Story) -> str:
    """What every number means, and what it would have meant."""
    now, before = _cited(story.on), {entry.number: entry.document_id for entry in story.on.trace.before_assembly}
    stale = stale_numbers(story.on)
    rows = "".join(
        f'<tr data-number="{n}" data-stale="{str(n in stale).lower()}"><td><span class="cx-num">{n}</span></td>'
        f"<td>{_meant(story, before.get(n), n in stale)}</td><td>{_meant(story, now.get(n), False)}</td></tr>"
        for n in sorted({*now, *before})
    )
    return (
        '<div class="cx-table-wrap"><table><thead><tr><th scope="col">number</th><th scope="col">by search</th>'
        f'<th scope="col">after assembly</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _meant(story: Story, document_id: str | None, wrong: bool) -> str:
    if document_id is None:
        return '<span class="cx-mute">no source</span>'
    title = escape(_title(story, document_id, story.on))
    return f'<span class="cx-wrong">✗ {title}</span>' if wrong else title


STYLE = Path(__file__).parent / "assets" / "show_me.css"
STEP = "step"
"""In the address: the step to scroll to."""
OWN = {"Your documents": {WAY: DOCUMENTS}, "Your log": {}}
"""The ways on, and what of the address opens their tab of Load: files are what it opens with."""


def show_steps() -> None:
    """Everything that Show me draws."""
    show_title(
        "Show me",
        "What you retrieve is not what the model reads",
        "Search finds pieces of pages; assembly makes of them what a model reads. Five steps, worked out now, no model needed.",
    )
    story = _story()
    if story is None:
        return
    st.html(STYLE)
    drawn = steps(story)
    asked, known = st.query_params.get(STEP), [str(at) for at in range(1, len(drawn) + 1)]
    if asked is not None and asked not in known:
        show_problem(f"{STEP} must be one of {', '.join(known)}, got {asked[:60]!r}")
    st.html(question_html(story))
    for at, step in enumerate(drawn, 1):
        with st.container(key=f"step_{at}"):
            st.html(step_html(at, step))
    _show_benefit()
    if asked in known:
        # Below zero: reports of loads, which are scrolled to as well, count upwards from one.
        bring_into_view(f"step_{asked}", -int(asked))


def _show_benefit() -> None:
    """The last sentence, counted anew for each load of the sample, and the ways to one's own data."""
    info = next(info for info in server.datasets() if info.name == SAMPLE)
    with st.container(key="benefit"):
        with st.spinner("Counting over all questions …"):
            st.html(benefit_html(_benefit(server.workbench().config.database_url, info.dataset_id)))
        with st.container(horizontal=True):
            here = {name: value for name, value in st.query_params.to_dict().items() if name != STEP}
            for label, way in OWN.items():
                st.page_link(shipped("pages") / "load.py", label=label, icon=":material/arrow_forward:", query_params={**here, **way})


@cache_resource(max_entries=4, show_spinner=False)
def _benefit(database_url: str, dataset_id: int) -> Comparison:
    from ctxasm.app.api import compare

    return compare(*benefit_settings(), server.workbench(), SAMPLE)


def _story() -> Story | None:
    try:
        return tell(server.workbench())
    except (NotFound, InvalidInput):
        show_empty("The sample is not here as it ships", "Open Load, Sample, and load it: one click, no network.")
        return None
    except StoreUnavailable as error:
        show_trouble("The data cannot be read", str(error), "Nothing was changed. Reload this page when it is fixed.")
        return None
