"""The answers under A and B: who is asked and how, what they are worth over all questions, and those to one question."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ctxasm.app.ui.ask.page import asking_controls, prompt_words
from ctxasm.app.ui.compare.differences import Sides, chip, sides_of
from ctxasm.app.ui.compare.questions import MOST_ROWS, question_words
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import show_problem
from ctxasm.app.ui.frame.links import compare_address, hear_clicks
from ctxasm.app.ui.frame.models import pick_models
from ctxasm.app.ui.frame.recorded_answers import data_key
from ctxasm.app.ui.frame.session import Scene, Session, session
from ctxasm.app.ui.frame.work import awaited, begin_job, give_up, show_job, take_ended
from ctxasm.app.ui.widgets.html import boxed, state_link, table_html
from ctxasm.app.ui.widgets.word_diff import sentence_diff
from ctxasm.app.ui.words.words import number
from ctxasm.citations.answer_text import without_markers
from ctxasm.citations.checked import FINE, CheckedClaim, label, parts_of, sign
from ctxasm.citations.markers import parse_markers
from ctxasm.citations.report import CheckedAnswer
from ctxasm.model.amounts import counted, percent, signed
from ctxasm.model.errors import CtxasmError
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.compare_answers import FREE, SHARES, AnswerComparison, AnswerEstimate, AnswerPair, FigureName

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.model.ports import TokenCounter
    from ctxasm.tuning.compare_answers import AnswerComparison, AnswerEstimate, How, Prices


class Line(NamedTuple):
    """How to ask, what a million tokens cost, and the row for a button. `name` is the same where the same is asked: it holds no key."""

    how: How
    prices: Prices
    name: tuple[object, ...]
    row: DeltaGenerator

    @property
    def is_local(self) -> bool:
        """Whether no model is asked: then nothing is sent anywhere, and nothing costs."""
        return not self.how.model.is_language_model


def asking_line(assembly: Assembly) -> Line | None:
    """Draw the line; None where the model cannot be asked, which is said."""
    from ctxasm.tuning.compare_answers import How, Prices

    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with row:
        with st.popover("Change", key="compare_asking"):
            picked = pick_models()
            asking = asking_controls(assembly)
            sent = written = 0.0
            if any(model.is_language_model for model in picked.models[:1]):
                with st.container(horizontal=True, gap="small"):
                    sent = _price("Price of a million tokens sent", "price_sent", 230)
                    written = _price("… written", "price_written", 150)
        problem = picked.problem or asking.problem
        if problem:
            show_problem(problem)
            return None
        model = picked.models[0]
        told = ", ".join(filter(None, (model.name, prompt_words(asking))))
        st.html(boxed(f'<p class="cx-mute cx-small" id="ctx-asked-by">{escape(told)}</p>'))
    how = How(model, asking.choice, asking.temperature, asking.max_tokens)
    return Line(how, Prices(sent, written), (model.name, asking), row)


def _price(label: str, key: str, width: int) -> float:
    return float(st.number_input(label, 0.0, 1e6, 0.0, key=key, persist_state="session", width=width))


ALIKE = 0.6
"""From this share of common words on, two statements say the same thing."""
_WORD = re.compile(r"\w+")


class ClaimPair(NamedTuple):
    """A statement of either answer, or of both."""

    a: CheckedClaim | None
    b: CheckedClaim | None

    @property
    def flipped(self) -> bool:
        """Whether both make it, with other verdicts."""
        return self.a is not None and self.b is not None and self.a.verdict != self.b.verdict


def claim_pairs(a: CheckedAnswer, b: CheckedAnswer) -> tuple[ClaimPair, ...]:
    """Every statement once: those whose verdict flipped, those that only one makes, those that stayed as they were."""
    likeness = sorted(
        ((_alike(one, other), -at, -to) for at, one in enumerate(a.claims) for to, other in enumerate(b.claims)),
        reverse=True,
    )
    partner: dict[int, int] = {}
    for share, at, to in likeness:
        if share >= ALIKE and -at not in partner and -to not in partner.values():
            partner[-at] = -to
    pairs = [ClaimPair(one, b.claims[partner[at]] if at in partner else None) for at, one in enumerate(a.claims)]
    pairs += [ClaimPair(None, other) for to, other in enumerate(b.claims) if to not in partner.values()]
    return tuple(sorted(pairs, key=lambda pair: 0 if pair.flipped else 1 if None in pair else 2))


def _alike(a: CheckedClaim, b: CheckedClaim) -> float:
    one, other = (set(_WORD.findall(claim.claim.text.casefold())) for claim in (a, b))
    return len(one & other) / len(one | other) if one | other else 1.0


def claims_html(pair: AnswerPair) -> str:
    """What differs of the statements; those that stayed are counted."""
    pairs = claim_pairs(pair.a.checked, pair.b.checked)
    flipped, same = sum(each.flipped for each in pairs), sum(not each.flipped and None not in each for each in pairs)
    rows = [(_cell(each.a, pair.a.checked), _cell(each.b, pair.b.checked)) for each in pairs if each.flipped or None in each]
    said = f"{counted(flipped, 'statement')} with another verdict, {same} with the same"
    used = f"expected passages used: {pair.a.used} → {pair.b.used} of {pair.b.expected}" if pair.b.expected else ""
    head = f'<h2 class="cx-h">Answers<small>{said}{f"; {used}" if used else ""}</small></h2>'
    table = table_html((chip("A"), chip("B")), rows, caption="Statements that differ") if rows else ""
    return boxed(head + table, "ctx-claims")


def _cell(claim: CheckedClaim | None, answer: CheckedAnswer) -> str:
    if claim is None:
        return '<span class="cx-mute">not said</span>'
    parts = parts_of(claim, answer)
    look = "good" if FINE.issuperset(parts) else "warn"
    shown = sign(parts[0] if parts else "declined")
    return (
        f'<span class="cx-{look}" data-verdict="{claim.verdict}">{shown} {escape(label(claim, answer))}</span> {escape(claim.claim.text)}'
    )


LABELS: Mapping[FigureName, str] = {
    "support": "Statements that the context carries",
    "citation": "Statements that their citations carry",
    "passages": "Expected passages used",
    "declined": "Answers declined",
    "sent": "Tokens sent",
    "written": "Tokens written",
    "cost": "Cost of an answer",
}


def figures_html(found: AnswerComparison, is_local: bool) -> str:
    """The table of figures; of a model that is not asked anywhere (`is_local`) without what asking takes."""
    rows = [
        (
            LABELS[each.name],
            _value(each.name, each.a),
            _value(each.name, each.b),
            "<b>{}</b> [{}, {}]{}".format(
                *(_signed(each.name, at) for at in (each.result.difference, each.result.interval.low, each.result.interval.high)),
                " points" if each.name in SHARES else "",
            ),
            f'<span data-p="{each.result.p:.4f}">{each.result.certainty()}</span>',
            f'<span title="{escape(each.missing())}">{each.result.n}</span>' + (f" of {len(found.pairs)}" if each.without else ""),
        )
        for each in found.figures
        if not is_local or each.name in SHARES
    ]
    caption = f"{counted(len(found.pairs), 'question')} answered under both: {escape(found.model)}{', free, local' * is_local}"
    return boxed(
        table_html(("", chip("A"), chip("B"), "B − A, with its interval", "", "questions"), rows, (1, 2, 3, 5), caption), "ctx-worth"
    )


def _value(name: FigureName, value: float) -> str:
    if name in SHARES:
        return percent(value)
    return f"{value:.4f}" if name == "cost" else number(value)


def _signed(name: FigureName, value: float) -> str:
    if name not in ("cost", *SHARES):
        return signed(value)
    return signed(value, 4) if name == "cost" else signed(100 * value, 1)


def worth(each: AnswerPair) -> float:
    """By how much B's answer is worth more: the shares of its statements and passages, less where it declines."""
    total = 0.0
    for name in SHARES:
        one, other = each.a.figure(name, FREE), each.b.figure(name, FREE)
        total += (other - one) * (-1 if name == "declined" else 1) if one is not None and other is not None else 0.0
    return total


def questions_html(found: AnswerComparison, words: Mapping[str, str], link_of: Callable[[str], str]) -> str:
    """The questions whose answers differ in worth, the worst for B first; each a link, `link_of` its id."""
    pairs = sorted((each for each in found.pairs if worth(each)), key=worth)
    rows = [
        (
            state_link(link_of(each.query_id), words.get(each.query_id, each.query_id)),
            _arrow("support", each),
            _arrow("citation", each),
            f"{each.a.used} → {each.b.used} of {each.b.expected}" if each.b.expected else "–",
            " → ".join("yes" if side.declined else "no" for side in (each.a, each.b)),
        )
        for each in pairs[:MOST_ROWS]
    ]
    heads = ("Question", "Carried", "Citations carry", "Passages", "Declined")
    caption = f"{counted(len(pairs), 'question')} whose answers differ in worth, the worst for B first"
    return boxed(table_html(heads, rows, (1, 2, 3, 4), caption), "ctx-questions") if rows else ""


def _arrow(name: FigureName, each: AnswerPair) -> str:
    one, other = each.a.figure(name, FREE), each.b.figure(name, FREE)
    return " → ".join("–" if value is None else _value(name, value) for value in (one, other))


def estimate_words(told: AnswerEstimate, is_local: bool) -> str:
    """`12 of 40 answers known already, 28 calls: 41,000 tokens to send, at most 14,000 written, at most 1.20.`; nothing of tokens and cost
    where no model is asked (`is_local`).
    """
    known = f"{number(told.known)} of {counted(told.answers, 'answer')} known already"
    if not told.asked:
        return f"{known}, no calls."
    if is_local:
        return f"{known}; the others are free, made on this machine."
    cost = f", at most {told.cost:.2f}" if told.cost else ""
    return f"{known}, {counted(told.asked, 'call')}: {number(told.sent)} tokens to send, at most {number(told.written)} written{cost}."


ESTIMATE, BOTH = "answers_estimate", "ask_both"


def show_answers(scene: Scene, pinned: AssemblySettings) -> None:
    """What asking takes, Start, how far it is, and what came of it."""
    try:
        line = asking_line(sides_of(scene, pinned).b)
    except CtxasmError as error:
        show_problem(str(error))
        return
    if line is None:
        return
    about = about_answers(scene.dataset, pinned, line)
    _take_ended(scene)
    if show_job(_key(scene)):
        return
    kept = session.answered
    if kept is None or kept[0] != about:
        if session.answers_problem:
            show_problem(session.answers_problem)
        _offer(scene, pinned, line, about)
        return
    _show(kept[1], line.is_local)


def about_answers(dataset: str, pinned: AssemblySettings, line: Line) -> tuple[Hashable, ...]:
    """What answers are of."""
    return (data_key(dataset), pinned, session.now, line.name, line.prices)


def _key(scene: Scene) -> str:
    return f"answers {scene.dataset}"


def _take_ended(scene: Scene) -> None:
    if (job := take_ended(_key(scene))) is None:
        return
    give_up(ESTIMATE)  # less is left to ask now
    if isinstance(job.error, CtxasmError):
        session.answers_problem = str(job.error)
    else:
        session.answered = job.result()


def _offer(scene: Scene, pinned: AssemblySettings, line: Line, about: tuple[Hashable, ...]) -> None:
    from ctxasm.app.tuned import answer_desk

    workbench, now = server.workbench(), session.now
    try:
        told: AnswerEstimate = awaited(
            ESTIMATE,
            about,
            lambda report, cancelled: answer_desk(workbench, line.how, scene.dataset).estimate(pinned, now, line.prices, report, cancelled),
        )
    except CtxasmError as error:
        show_problem(str(error))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Ask all questions", key="start_answers", type="primary", icon=":material/play_arrow:"):
            _begin(scene, pinned, line, about)
        st.html(boxed(f'<p class="cx-note" role="status" id="ctx-answers-plan">{escape(estimate_words(told, line.is_local))}</p>'))


def _begin(scene: Scene, pinned: AssemblySettings, line: Line, about: tuple[Hashable, ...]) -> None:
    from ctxasm.app.tuned import answer_desk

    workbench, now, dataset = server.workbench(), session.now, scene.dataset
    session.answers_problem = None
    try:
        begin_job(
            _key(scene),
            f"Asking {line.how.model.name} about {dataset}",
            dataset,
            lambda report, cancelled: (
                about,
                answer_desk(workbench, line.how, dataset).compare(pinned, now, line.prices, report, cancelled),
            ),
            about,
            "Asking",
        )
    except CtxasmError as error:
        session.answers_problem = str(error)
    st.rerun()


def _show(found: AnswerComparison, is_local: bool) -> None:
    if found.cancelled:
        st.html(
            boxed(
                f'<p class="cx-note" role="status">Cancelled after {counted(len(found.pairs), "question")}; what was answered is kept.</p>'
            )
        )
    if found.failures:
        name, why = next(iter(found.failures.items()))
        show_problem(f"{counted(len(found.failures), 'question')} not answered, {name} among them: {why}")
    if found.cancelled or found.failures:
        st.button("Go on", key="answers_go_on", on_click=_forget)
    if found.pairs:
        st.html(figures_html(found, is_local))
        text = json.dumps(found.to_dict(), ensure_ascii=False)
        st.download_button("JSON", text, "answers.json", "application/json", key="answers_json", on_click="ignore")
        st.html(questions_html(found, question_words(), partial(compare_address, found.a, found.b)))
        hear_clicks(Session.question_clicks)


def _forget() -> None:
    session.answered = None
    give_up(ESTIMATE)


class GivenSides:
    """The contexts that the page has already. An `AnswerTools`."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides

    def assemble(self, query: Query, settings: AssemblySettings, choice: PromptChoice) -> Assembly:
        """See `AnswerTools`."""
        return next(side for side in self._sides if side.settings == settings)

    def counter(self, encoding: str) -> TokenCounter:
        """See `AnswerTools`."""
        return server.workbench().counter(encoding)

    def learn(self, model: str, sent: SentTokens | None) -> None:
        """See `AnswerTools`."""
        server.workbench().zones.ratios.learn(model, sent)


def show_answers_to_one(scene: Scene, sides: Sides) -> None:
    """The answers to one question where they are kept: claims whose verdict flipped, then the words that differ; else a way to ask."""
    from ctxasm import __version__
    from ctxasm.tuning.compare_answers import AnswerDesk

    line = asking_line(sides.b)
    if line is None:
        return
    workbench = server.workbench()
    desk = AnswerDesk(GivenSides(sides), [scene.query], line.how, workbench.open_scorer(), __version__, workbench.store)
    a, b = sides.a.settings, sides.b.settings
    about = (*about_answers(scene.dataset, a, line), scene.query)
    try:
        if session.asked_both == about:
            found: AnswerComparison = awaited(
                BOTH, about, lambda report, cancelled: desk.compare(a, b, line.prices, report, cancelled), "Cancel"
            )
            for why in found.failures.values():
                show_problem(why)
        pair = desk.kept_pair(scene.query, a, b)
    except CtxasmError as error:
        show_problem(str(error))
        return
    if pair is None:
        sent = sum(side.token_count for side in sides)
        cost = "free, local" if line.is_local else f"about {number(sent)} tokens to send"
        help = f"The same model and prompt under both: {cost}."
        line.row.button("Ask both", key="ask_both", on_click=_ask_both, args=(about,), help=help, icon=":material/forum:")
        return
    st.html(claims_html(pair))
    st.html(answers_html(pair, scene.query.answer or ""))


def answers_html(pair: AnswerPair, reference: str) -> str:
    """Both answers side by side, the sentences marked that only one has, and the reference answer where there is one."""
    parts = sentence_diff(unmarked(pair.a.answer), unmarked(pair.b.answer))
    sides = [(chip("A"), "".join(_sentences(each.kind, each.a) for each in parts), "The answer under A")]
    sides += [(chip("B"), "".join(_sentences(each.kind, each.b) for each in parts), "The answer under B")]
    sides += [("<h3>Reference answer</h3>", escape(reference), "The reference answer")] if reference else []
    drawn = "".join(
        f'<div class="cx-quote" tabindex="0" role="region" aria-label="{label}" dir="auto">{head}<p>{text}</p></div>'
        for head, text, label in sides
    )
    return boxed(f'<div class="cx-sides cx-answers">{drawn}</div>', "ctx-answers")


def unmarked(answer: str) -> str:
    """An answer without its markers: under A and B the same number is another source."""
    return without_markers(answer, parse_markers(answer))


def _sentences(kind: str, text: str) -> str:
    return f"<mark>{escape(text)}</mark>" if text and kind == "changed" else escape(text)


def _ask_both(about: Hashable) -> None:
    give_up(BOTH)
    session.asked_both = about
