"""Ask: how it is asked, the answer while it comes in, the answers that are kept, and the page itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from threading import Event
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from ctxasm.answering.prompts import PROMPT_HELP, PROMPT_STYLES, PromptChoice, Zone, build_messages, prompt_zones
from ctxasm.app.ui.ask.answer import AnswerText, Chip, answer_pieces, context_cards, sources_html
from ctxasm.app.ui.ask.reader import reader_data, show_reader
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.address import compare_address, hear_clicks, review_address
from ctxasm.app.ui.frame.gold import keep_marks, show_gold_problem
from ctxasm.app.ui.frame.jobs import asked_to_end, rerun_after_stop, ticker
from ctxasm.app.ui.frame.layout import report_button, runs_report, show_empty, show_problem, show_trouble
from ctxasm.app.ui.frame.models import LEXICAL, RECHECK, SCORERS, Picked, offer_summary, pick_models, show_turns
from ctxasm.app.ui.frame.server import recorded_answers
from ctxasm.app.ui.frame.session import SENT, Asked, Asking, Attempt, KeptAnswer, KeptAnswers, Scene, once, session, take
from ctxasm.app.ui.frame.state import of_query, unlabelled
from ctxasm.app.ui.frame.typed_questions import LANGUAGES, zones_key
from ctxasm.app.ui.inspect.change import changed_settings
from ctxasm.app.ui.inspect.evidence import expected
from ctxasm.app.ui.markup import NONE_EXPECTED, marked_key, marked_of, state_link
from ctxasm.app.ui.setting_words import BOUNDARY_LABEL
from ctxasm.app.ui.words import number
from ctxasm.citations.checked import doubtful
from ctxasm.citations.figures import used_passages
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError, StoreUnavailable
from ctxasm.model.kept import key_of
from ctxasm.model.records import Answer, Query, recorded_of
from ctxasm.model.results import Assembly
from ctxasm.model.settings import Channel, label_of, spec_of
from ctxasm.model.settings_text import from_url, to_url
from ctxasm.text.formats import expects_markers, has_markers
from ctxasm.text.language import language_of

if TYPE_CHECKING:
    from ctxasm.answering.known_answers import KnownAnswers
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel
    from ctxasm.model.support import Scorer


CHANNELS: tuple[Channel, ...] = ("text", "voice")
ZONES = {"system": "#5B5EA6", "history": "#CC79A7", "scaffolding": "#7F7F7F", "context": "#0072B2", "question": "#E69F00"}
ZONE_MARKS = {
    "system": "background-image:repeating-linear-gradient(45deg,transparent 0 5px,rgb(255 255 255/.35) 5px 7px)",
    "history": "background-image:radial-gradient(rgb(255 255 255/.5) 1px,transparent 1.2px);background-size:5px 5px",
    "scaffolding": "",
    "context": "",
    "question": "background-image:repeating-linear-gradient(-45deg,transparent 0 5px,rgb(255 255 255/.45) 5px 7px)",
}


def asked_how(asking: Asking) -> str:
    """The prompt in words: its style, and what is not as by default."""
    choice = asking.choice
    parts: list[str] = [choice.style]
    parts += ["answer first"] if choice.answer_first else []
    parts += [f"in {name}" for name, language in LANGUAGES.items() if language and language == choice.language]
    parts += ["own instructions"] if choice.extra else []
    parts += [f"temperature {asking.temperature:g}"] if asking.temperature else []
    return ", ".join(parts)


def prompt_words(asking: Asking) -> str:
    """The same where it is not as by default; else empty."""
    how = asked_how(asking)
    return f"{how} prompt" if how != PromptChoice().style else ""


def _named(channel: Channel, assembly: Assembly) -> str:
    return f"{channel}, {'with' if expects_markers(assembly.settings.replace(channel=channel)) else 'without'} citations"


def zones_html(zones: Sequence[Zone]) -> str:
    """The prompt as one stacked bar, a zone each."""
    total = max(sum(zone.tokens for zone in zones), 1)
    shown = [zone for zone in zones if zone.tokens]
    bars = "".join(
        f'<div style="width:{100 * z.tokens / total:.3f}%;min-width:2px;background-color:{ZONES[z.name]};{ZONE_MARKS[z.name]}" '
        f'title="{z.name}: {counted(z.tokens, "token")}"></div>'
        for z in shown
    )
    keys = "".join(
        f'<li data-zone="{z.name}" data-tokens="{z.tokens}"><i class="cx-swatch" style="background-color:{ZONES[z.name]};'
        f'{ZONE_MARKS[z.name]}"></i>{z.name} <b>{number(z.tokens)}</b></li>'
        for z in shown
    )
    spoken = ", ".join(f"{z.name} {number(z.tokens)}" for z in shown)
    return (
        f'<div class="cx cx-zones" id="ctx-zones" data-tokens="{total}"><h2 class="cx-h">Prompt<small>'
        f"{number(total)} tokens in all messages</small></h2>"
        f'<div class="cx-track" role="img" aria-label="Prompt zones in tokens: {spoken}">{bars}</div><ul class="cx-keys">{keys}</ul></div>'
    )


def asking_controls(assembly: Assembly) -> Asking:
    """Draw the prompt's wording and the model's sampling, and return what they say."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        style = st.selectbox(
            "Prompt",
            PROMPT_STYLES,
            key="prompt_style",
            persist_state="session",
            width=135,
            help="\n".join(f"- **{name}**: {text}" for name, text in PROMPT_HELP.items()),
        )
        language = st.selectbox("Language", tuple(LANGUAGES), key="prompt_language", persist_state="session", width=155)
        _channel(assembly)
        temperature, longest = _sampling()
    first = st.toggle("Answer first, then details", key="answer_first", persist_state="session")
    extra = st.text_area(
        "Your own instructions",
        key="prompt_extra",
        persist_state="session",
        height=90,
        placeholder="Added after the prompt's own rules, which still apply.",
    )
    try:
        choice = PromptChoice(style, first, extra.strip(), LANGUAGES[language])
    except CtxasmError as error:
        return Asking(PromptChoice(), problem=str(error))
    return Asking(choice, temperature, longest)


def _sampling() -> tuple[float, int]:
    help = "Only language models use it."
    temperature = st.number_input("Temperature", 0.0, 2.0, 0.0, 0.1, key="temperature", persist_state="session", width=125, help=help)
    longest = st.number_input("Max answer tokens", 16, 8192, 512, 32, key="max_answer_tokens", persist_state="session", width=150)
    return temperature, longest


def _channel(assembly: Assembly) -> None:
    """The setting `channel`, here too: among all settings it has a widget of its own."""
    session.channel = assembly.settings.channel
    st.selectbox(
        "Channel",
        CHANNELS,
        key="channel",
        format_func=lambda channel: _named(channel, assembly),
        on_change=_set_channel,
        width=225,
    )


def _set_channel() -> None:
    state.change("channel", session.channel)


def show_warnings(assembly: Assembly, asking: Asking) -> None:
    """Say where sources cannot be answer apart, and where the longest answer is longer than what the window's zones reserve for it."""
    if not has_markers(assembly.settings.format):
        st.caption(
            f":orange[◆] **{BOUNDARY_LABEL.capitalize()}**: one source's text could be mistaken for another's. "
            f"{assembly.settings.format} shows no numbers, so none are asked for; every block is a source."
        )
    reserved = assembly.zones.tokens_of("answer") if assembly.zones is not None else asking.max_tokens
    if asking.max_tokens > reserved:
        st.caption(
            f":orange[◆] An answer may take {number(asking.max_tokens)} tokens, but its zone reserves only {number(reserved)}. "
            "Raise answer_tokens to match."
        )


def show_prompt(assembly: Assembly, asking: Asking) -> None:
    """What goes to the model, in zones and in full."""
    messages = build_messages(assembly, asking.choice)
    language = asking.choice.language or language_of(assembly.query.query)
    st.html(zones_html(prompt_zones(assembly, messages, server.workbench().counter(assembly.encoding), language)))
    for message in messages:
        st.caption(message.role)
        st.code(message.content, language=None, wrap_lines=True, height=min(420, 90 + len(message.content) // 4))


CHECK_STOPPED = "The check was stopped."
BROKEN_OFF = "The page was stopped, or changed, while the answer came in."
REDRAW = 0.08
"""Seconds between two drawings of an answer that is coming in."""


class _Live:
    """An answer on the page: drawn now and then while it comes, and whatever is left as soon as it pauses."""

    def __init__(self, answer: KeptAnswer, text: Any, place: int) -> None:
        self._answer, self._text, self._place = answer, text, place
        self._decided, self._drawn, self._pending = 0, 0.0, False

    def take(self, answer: KeptAnswer, decided: int) -> None:
        """The answer as far as it is; `decided` characters may be shown."""
        self._answer, self._decided, self._pending = answer, decided, True
        if answer.done or time.monotonic() - self._drawn > REDRAW:
            self.draw()

    def draw(self) -> None:
        """Draw what is not drawn yet."""
        if self._pending:
            self._pending = False
            self._text.html(answer_html(self._answer, None if self._answer.done else self._decided, self._place))
            self._drawn = time.monotonic()


def _stream_one(assembly: Assembly, model: AnswerModel, asking: Asking, text: Any, clock: Any, place: int) -> Iterator[KeptAnswer]:
    from ctxasm.answering.asking import AnswerResult, Marked, Piece, ask

    answer = KeptAnswer(model.name, model.is_language_model, asked=asked_how(asking), marked=expects_markers(assembly.settings))
    yield answer
    live = _Live(answer, text, place)
    tick = ticker(clock, "waiting for the model", live.draw)
    decided = 0
    events = ask(assembly, model, asking.choice, temperature=asking.temperature, max_tokens=asking.max_tokens, cancel=tick)
    for event in events:
        match event:
            case Piece(piece, decided):
                answer = replace(answer, text=answer.text + piece)
            case Marked(markers):
                answer = replace(answer, markers=answer.markers + markers)
            case AnswerResult():
                answer = answer.finished(event)
        yield answer
        live.take(answer, decided)
    clock.empty()


def stopped(attempt: Attempt) -> Attempt:
    """The attempt as a click on Stop leaves it."""
    return tuple(answer if answer.done else replace(answer, done=True, note="Stopped on request.") for answer in attempt)


def answer_html(answer: KeptAnswer, decided: int | None = None, place: int = 1) -> str:
    """An answer that comes in, up to `decided` characters (default: all), each marker as a chip. `place` counts side by side."""
    pieces = "".join(_piece_html(piece) for piece in answer_pieces(answer.text, answer.markers, end=decided))
    name = f"ctx-answer-{place}" if place > 1 else "ctx-answer"
    return (
        f'<div class="cx"><p class="cx-told">{escape(answer.model)}</p>'
        f'<div class="cx-answer" id="{name}" dir="auto" aria-busy="true" data-done="false">{pieces}</div></div>'
    )


def _piece_html(piece: AnswerText | Chip) -> str:
    if isinstance(piece, AnswerText):
        return escape(piece.text)
    if piece.known:
        return f'<span class="cx-chip" data-marker="{piece.number}">{piece.number}</span>'
    what = f"[{piece.number}] unknown" if piece.number is not None else f"{piece.label} unreadable"
    return f'<span class="cx-unknown" data-unknown="{"" if piece.number is None else piece.number}">{escape(what)}</span>'


def stream(assembly: Assembly, models: Sequence[AnswerModel], asking: Asking, place: Any) -> Iterator[Attempt]:
    """Draw each model's answer as it comes, one model after the other; yields the attempt as far as it is, before each drawing."""
    with place.container():
        answers, context = st.columns(2, gap="small")
        panes = [(answers.empty(), answers.empty()) for _ in models]
        context.html(sources_html(context_cards(assembly)))
    attempt: Attempt = ()
    for model, (text, clock) in zip(models, panes, strict=True):
        before = attempt
        for answer in _stream_one(assembly, model, asking, text, clock, len(before) + 1):
            attempt = (*before, answer)
            yield attempt


def settle(attempt: Attempt, assembly: Assembly, picked: Picked, place: Any, stopped: bool = False) -> Attempt:
    """The attempt with every answer ended and checked by the picked scorer; a check that was made is kept.

    `stopped`: what is not checked yet is checked by its words, and says so.
    """
    ended = [answer if answer.done else replace(answer, done=True, note=BROKEN_OFF) for answer in attempt]
    return tuple(_checked(answer, assembly, picked, place, stopped) if _is_to_check(answer, picked) else answer for answer in ended)


def _is_to_check(answer: KeptAnswer, picked: Picked) -> bool:
    return answer.scorer != picked.scorer and answer.called and bool(answer.text.strip())


def _checked(answer: KeptAnswer, assembly: Assembly, picked: Picked, place: Any, stopped: bool) -> KeptAnswer:
    workbench, name, cut = server.workbench(), picked.scorer, not answer.complete
    problem = CHECK_STOPPED if stopped else ""
    if name != LEXICAL and not stopped:
        try:
            tick, ended, scorer = ticker(place, f"checking by {name}"), asked_to_end(), _scorer(name, picked.judge)
            place.caption(f"checking by {name}")
            # A model is asked by threads of its own, which cannot draw: they look whether this run is to end.
            check = workbench.check(assembly, answer.text, scorer, cancel=lambda: tick() or ended(), cut=cut)
            return replace(answer, scorer=name, unchecked="", check=check)
        except CtxasmError as error:
            problem = str(error)
    return replace(answer, scorer=name, unchecked=problem, check=workbench.check(assembly, answer.text, cut=cut))


def _scorer(name: str, judge: Endpoint | None) -> Scorer:
    """The scorer of this session: one that asks a model keeps its replies, so that nothing is paid for twice."""
    return once("scorer", (name, judge), lambda: server.workbench().open_scorer(name, judge))


MOST_ASKED = 20
"""Things asked whose answers are kept, those asked last; each holds on to its context."""
MOST_ATTEMPTS = 5
"""Answers to the same thing to flip between."""
MOST_CHANGES = 2
"""Changes since an answer that are named; the others are counted."""


def answers_to(asked: Asked) -> KeptAnswers | None:
    """What answers this; else the last answer to the same question of the same dataset, asked otherwise."""
    alike = [kept for kept in session.answers if _question(kept.asked) == _question(asked)]
    return next((kept for kept in alike if kept.asked == asked), alike[-1] if alike else None)


def _question(asked: Asked) -> tuple[str, str]:
    return asked.data[0], asked.query.query_id


def keep(asked: Asked, assembly: Assembly, attempts: tuple[Attempt, ...]) -> KeptAnswers:
    """Keep these answers in place of earlier ones to the same."""
    kept = KeptAnswers(asked, assembly, attempts[-MOST_ATTEMPTS:])
    # Those that the data records go first: they cost nothing to show again.
    others = sorted((other for other in session.answers if other.asked != asked), key=lambda other: not is_recorded(other.attempts[-1]))
    session.answers = (*others, kept)[-MOST_ASKED:]
    return kept


def settle_in_place(kept: KeptAnswers, settle: Callable[[Attempt, Assembly], Attempt]) -> KeptAnswers:
    """Keep the newest answer as `settle` leaves it; earlier ones keep the check they had, and say whose it is."""
    *earlier, newest = kept.attempts
    settled = kept._replace(attempts=(*earlier, settle(newest, kept.assembly)))
    session.answers = tuple(settled if other is kept else other for other in session.answers)
    return settled


def relabelled(kept: KeptAnswers, query: Query) -> KeptAnswers:
    """The answers as the labels of the question are now: which expected passages they use may have changed."""
    assembly = of_query(kept.assembly, query)
    if assembly is kept.assembly:
        return kept
    attempts = tuple(tuple(_judged(answer, assembly) for answer in attempt) for attempt in kept.attempts)
    now = kept._replace(assembly=assembly, attempts=attempts)
    session.answers = tuple(now if other is kept else other for other in session.answers)
    return now


def _judged(answer: KeptAnswer, assembly: Assembly) -> KeptAnswer:
    check = answer.check
    return answer if check is None else replace(answer, check=replace(check, passages=used_passages(assembly, check)))


def store_answers(asked: Asked, assembly: Assembly, models: Sequence[AnswerModel], attempt: Attempt) -> None:
    """Keep what the models answered in the database: Compare looks there before it asks, and so does whoever opens the question."""
    from ctxasm.answering.known_answers import KnownAnswer, LastAsked

    known, keys = _known_answers(), _answer_keys(assembly, models, asked.asking)
    try:
        for key, answer in zip(keys, attempt, strict=True):
            server.workbench().zones.ratios.learn(answer.model, answer.sent)
            if answer.error is None:
                known.keep(key, KnownAnswer(answer.text, answer.complete, answer.called))
        # What somebody's own endpoint answers is nothing to show to others: its name says the host alone.
        known_addresses = ("", server.workbench().config.llm_base_url)
        if all(answer.error is None for answer in attempt) and all(getattr(model, "address", "") in known_addresses for model in models):
            how, named = asked.asking, [(answer.model, answer.is_language_model) for answer in attempt]
            last = LastAsked(to_url(asked.settings), how.choice, how.temperature, how.max_tokens, named, keys, key_of(assembly.text))
            known.keep_last_asked(asked.data[0], asked.query, last)
        ratio = server.workbench().zones.ratio(assembly.settings)
        session.token_ratio = ratio.upper if ratio is not None else None
    except StoreUnavailable as error:
        show_problem(f"Nobody else will find this answer, and Compare will ask again: {error}")


def find_answers(asked: Asked, scene: Scene, assembly: Assembly, models: Sequence[AnswerModel]) -> KeptAnswers | None:
    """What is there when the question is opened: the answers of this session, else of the database, to exactly this; then those to the
    question asked otherwise in this session; then the recorded answer; then that to the question asked otherwise by anybody.

    An address that asks for the recorded answer gets it beside those to exactly this.
    """
    kept = answers_to(asked)
    exact = kept if kept is not None and kept.asked == asked else None
    recorded = recorded_answers(scene.dataset).get(scene.query.query_id)
    if recorded is not None and st.query_params.get(PARAMETER) == RECORDED and not (exact and any(map(is_recorded, exact.attempts))):
        return keep(asked, assembly, (*(exact.attempts if exact else ()), _recorded_attempt(recorded)))
    if exact is not None:
        return exact
    if kept is not None and (kept.assembly.text, kept.asked.models, kept.asked.asking) == (assembly.text, asked.models, asked.asking):
        return kept
    try:
        names = [(model.name, model.is_language_model) for model in models]
        if stored := _stored_attempt(_answer_keys(assembly, models, asked.asking), names, asked.asking, assembly):
            return keep(asked, assembly, (stored,))
        if kept is not None and not is_recorded(kept.attempts[-1]):
            return kept
        return keep(asked, assembly, (_recorded_attempt(recorded),)) if recorded is not None else _asked_otherwise(asked, scene)
    except CtxasmError as error:
        show_problem(f"Kept answers cannot be read: {error}")
        return None


def _recorded_attempt(recorded: Answer) -> Attempt:
    return (KeptAnswer(RECORDED_NAME, False, recorded.answer, done=True, complete=True),)


def is_recorded(attempt: Attempt) -> bool:
    """Whether it is the recorded answer."""
    return any(answer.model == RECORDED_NAME for answer in attempt)


def has_own_prompt(scene: Scene) -> bool:
    """Whether the recorded answer brings what it was given, which need not be this context."""
    recorded = recorded_answers(scene.dataset).get(scene.query.query_id)
    return recorded is not None and bool(recorded.sources or recorded_of(recorded).prompt)


def _known_answers() -> KnownAnswers:
    from ctxasm import __version__
    from ctxasm.answering.known_answers import KnownAnswers

    return KnownAnswers(server.workbench().store, __version__)


def _answer_keys(assembly: Assembly, models: Sequence[AnswerModel], asking: Asking) -> list[str]:
    from ctxasm.answering.known_answers import answer_key, messages_to_send

    messages = messages_to_send(assembly, asking.choice)
    return [answer_key(model, messages, assembly, asking.temperature, asking.max_tokens) for model in models]


def _stored_attempt(keys: Sequence[str], models: Sequence[tuple[str, bool]], asking: Asking, assembly: Assembly) -> Attempt:
    """The answers under these keys; none where not all of them are kept."""
    known = _known_answers()
    found = [known.find(key) for key in keys]
    marked, how = expects_markers(assembly.settings), asked_how(asking)
    answer = [
        KeptAnswer(
            name,
            is_language_model,
            one.answer,
            done=True,
            complete=one.complete,
            called=one.called,
            note=None if one.complete or not one.called else ENDED_EARLY,
            asked=how,
            marked=marked,
        )
        for (name, is_language_model), one in zip(models, found, strict=True)
        if one is not None
    ]
    return tuple(answer) if len(answer) == len(found) else ()


def _asked_otherwise(asked: Asked, scene: Scene) -> KeptAnswers | None:
    """The last answers of anybody to this question, beside the context of their settings; none where a model would have to make that."""
    last = _known_answers().last_asked(scene.dataset, asked.query)
    settings = from_url(last.settings)[0] if last is not None else None
    if last is None or settings is None or settings.compression == "model":
        return None
    asking = Asking(last.choice, last.temperature, last.max_tokens)
    assembly = state.assemble_anew(server.workbench(), replace(scene, settings=settings))
    attempt = _stored_attempt(last.answers, last.models, asking, assembly)
    data = asked.data if key_of(assembly.text) == last.context else (asked.data[0], 0, -1)
    before = Asked(data, asked.query, settings, zones_key(settings), tuple(name for name, _ in last.models), asking)
    return keep(before, assembly, (attempt,)) if attempt else None


def stop_all() -> None:
    """Leave every answer that is coming in as far as it is (a callback)."""
    session.answers = tuple(kept._replace(attempts=tuple(stopped(attempt) for attempt in kept.attempts)) for kept in session.answers)


def changes(before: Asked, now: Asked) -> str:
    """What is not as it was when this was answered: `max tokens 8,000, now 4,000`. Empty where all is the same."""
    found = ["other data, now loaded again"] if before.data != now.data else []
    found += [
        f"{label_of(spec_of(change.name)).lower()} {', now '.join(change.words)}"
        for change in changed_settings(before.settings, now.settings)
    ]
    found += ["other hits or earlier turns"] if before.query != now.query else []
    if before.models != now.models:
        found.append(f"{' and '.join(before.models)}, now {' and '.join(now.models)}")
    if before.asking != now.asking:
        same = asked_how(before.asking) == asked_how(now.asking)
        found.append("another prompt" if same else f"the prompt {asked_how(before.asking)}, now {asked_how(now.asking)}")
    if not found and before.window != now.window:
        found.append("another model window, margin or summary of earlier turns")
    rest = len(found) - MOST_CHANGES
    return "; ".join(found[:MOST_CHANGES]) + (f"; {rest} more changed" if rest > 0 else "")


PARAMETER, RECORDED = "answer", "recorded"
"""In the address: the recorded answer is wanted, whatever else was answered."""
RECORDED_NAME = "recorded answer"
"""What stands where an answer names its model."""
ENDED_EARLY = "The model ended it early."
KEY_FREE = "The extractive answer needs no model and no key."
BUTTON_WIDTH = 190


def show_ask(scene: Scene, assembly: Assembly) -> None:
    """Ask, read the answer as it comes, then claim by claim beside its sources; what had arrived is never lost."""
    session.runs = session.runs + 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_line"):
        button = st.empty()
        with st.popover("Change", key="asking"):
            picked = pick_models()
            asking = asking_controls(assembly)
        recheck, keeping, line = st.empty(), st.empty(), st.empty()
    show_gold_problem()
    problem = picked.problem or asking.problem
    asked = _asked(scene, picked, asking)
    show_warnings(assembly, asking)
    offer_summary(scene, assembly, picked)
    show_turns(assembly)
    if picked.untyped:
        show_empty("No endpoint yet", f"{problem} The fields are under Change. {KEY_FREE}")
    elif problem:
        show_trouble("This model cannot be asked yet", problem, KEY_FREE)
    place = st.empty()
    if take("ask_now") and not problem:
        line.html(_line_html(scene, asked, picked, None))
        button.button("Stop answering", key="stop", on_click=stop_all, width=BUTTON_WIDTH)
        before = answers_to(asked)
        earlier = before.attempts if before is not None and before.asked == asked else ()
        try:
            for attempt in stream(assembly, picked.models, asking, place):
                # Kept before each drawing, because any click ends this run at once.
                keep(asked, assembly, (*earlier, attempt))
        except StopException:
            rerun_after_stop()
            raise
        store_answers(asked, assembly, picked.models, attempt)
    kept = find_answers(asked, scene, assembly, picked.models)
    if kept is not None:
        kept = _settled(kept, picked, place, button)
    label = "Ask again" if kept is not None else "Ask"
    button.button(label, key="ask", on_click=_begin, disabled=bool(problem), type="primary", shortcut="Ctrl+Enter", width=BUTTON_WIDTH)
    line.html(_line_html(scene, asked, picked, kept, assembly.text))
    kept = relabelled(kept, scene.query) if kept is not None else None
    _offer_recheck(recheck, kept, picked)
    _offer_keep(keeping, kept, scene)
    with place.container():
        marks = expected(scene, kept.assembly) if kept is not None else NONE_EXPECTED
        show_reader(reader_data(kept.assembly if kept else assembly, kept.attempts if kept else (), marks), session.runs)
    hear_clicks("question_clicks", partial(_picked, scene))
    details = st.expander("Prompt and export", key="prompt_and_export", on_change="rerun")
    if details.open:
        with details:
            _download(kept.attempts[-1] if kept else ())
            show_prompt(assembly, asking)


def _settled(kept: KeptAnswers, picked: Picked, place: Any, button: Any) -> KeptAnswers:
    """The answers with the newest one checked. A check that takes long can be stopped, by a button or by Streamlit's own."""
    stop = session.check_stopper = session.check_stopper or Event()
    stopped = stop.is_set()
    stop.clear()
    if picked.scorer != LEXICAL and not stopped and any(_is_to_check(answer, picked) for answer in kept.attempts[-1]):
        button.button("Stop checking", key="stop_check", on_click=stop.set, width=BUTTON_WIDTH)
    try:
        return settle_in_place(kept, lambda attempt, of: settle(attempt, of, picked, place, stopped))
    except StopException:
        # The run that is over may not touch the session any more, and the next one must not begin the same check again.
        stop.set()
        rerun_after_stop()
        raise


def _begin() -> None:
    session.ask_now = True


def _offer_recheck(place: Any, kept: KeptAnswers | None, picked: Picked) -> None:
    """What it would cost to have a language model look at the claims that words did not find; the button has it look from then on."""
    from ctxasm.citations.grounds import grounds_of_assembly
    from ctxasm.citations.scorers.judge import prompt_cost

    checks = [answer.check for answer in kept.attempts[-1] if answer.check] if kept is not None and picked.scorer == LEXICAL else []
    claims = [claim.claim.text for check in checks for claim in doubtful(check)]
    if kept is None or not claims:
        return
    with place.popover(f"Re-check {counted(len(claims), 'claim')}", key="recheck"):
        cost = prompt_cost(claims, grounds_of_assembly(kept.assembly).sources, kept.asked.query.query)
        st.markdown(
            f"A language model would check the claims that word matching did not find: **{counted(cost.calls, 'call')}, "
            f"about {counted(cost.tokens_in, 'token')}**, plus its reply."
        )
        if not server.workbench().config.has_endpoint:
            st.caption("It needs an endpoint: type one under Change.")
        st.button("Re-check", key="recheck_now", on_click=_recheck, type="primary")


def _picked(scene: Scene, said: str) -> bool:
    """A passage that a claim cites was approved: it is expected from now on; or that was taken back (a callback)."""
    if (key := marked_key(said)) is None:
        return False
    keep_marks(scene, [key], "remove" if key in marked_of(scene.query) else "add", "cited")
    return True


def _offer_keep(place: Any, kept: KeptAnswers | None, scene: Scene) -> None:
    """A button that keeps the newest answer as a run, to be reviewed; then the link that opens it there."""
    attempt = kept.attempts[-1] if kept is not None else ()
    if kept is None or is_recorded(attempt) or not any(answer.done and answer.check for answer in attempt):
        return
    if session.kept_run is not None and session.kept_run[0] == attempt:
        link = state_link(review_address(scene.dataset, session.kept_run[1]), "Kept: review it")
        with place.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html(f'<div class="cx cx-small" id="ctx-kept">{link}</div>')
            report_button(runs_report([session.kept_run[1]]), f"answer-{session.kept_run[1]}.html", "kept_report")
    else:
        place.button(
            "Keep", key="keep_answer", on_click=_keep_run, args=(kept, scene.dataset), help="For review and the history of answers"
        )


def _keep_run(kept: KeptAnswers, dataset: str) -> None:
    """Keep the newest answer of each model with everything that made it (a callback)."""
    from ctxasm.app.reviews import keep_answer
    from ctxasm.review.runs import Parameters

    asking, attempt = kept.asked.asking, kept.attempts[-1]
    how = Parameters(asking.choice, asking.temperature, asking.max_tokens)
    try:
        for answer in attempt:
            if answer.check is not None:
                run = keep_answer(server.workbench(), kept.assembly, answer, answer.check, how, dataset, author=session.reviewer)
                session.kept_run = attempt, run.run_id
    except CtxasmError as error:
        session.gold_problem = f"The answer was not kept: {error}"


def _recheck() -> None:
    session.scorer_name = RECHECK


def _asked(scene: Scene, picked: Picked, asking: Asking) -> Asked:
    data = (scene.dataset, session.info.dataset_id if session.info else 0, session.loads)
    models = tuple(model.name for model in picked.models)
    return Asked(data, unlabelled(scene.query), scene.settings, zones_key(scene.settings), models, asking)


def _line_html(scene: Scene, asked: Asked, picked: Picked, kept: KeptAnswers | None, text: str = "") -> str:
    """Who answers, who checks, how it is asked; and what changed since the answer that is shown. `text` is the context as it is now."""
    recorded = kept is not None and is_recorded(kept.attempts[-1])
    models = "" if recorded else " and ".join(asked.models) or "no model yet"
    scorer = SCORERS.get(picked.scorer, picked.scorer).partition(" (")[0]
    line = escape(" · ".join(filter(None, (models, f"checked by {scorer}", prompt_words(asked.asking) if not recorded else ""))))
    if recorded:
        # Where it is judged beside what was sent for it.
        line = f"{state_link(compare_address(SENT, asked.settings), RECORDED_NAME)} · {line}"
    since = changes(kept.asked, asked) if kept is not None and asked.models else ""
    same = " The context is still the same." if kept is not None and kept.assembly.text == text else ""
    note = f"◆ Answered with {escape(since)}." if since else ""
    if recorded and has_own_prompt(scene):
        note, same = "◆ Checked against these sources, not against the prompt that was sent.", ""
    note_html = f'<p id="ctx-since" role="status"><b>{note}</b>{same}</p>' if note else ""
    return f'<div class="cx" id="ctx-asked"><p class="cx-mute cx-small">{line}</p>{note_html}</div>'


def _download(attempt: Attempt) -> None:
    """The check of the newest answer as JSON; of two models, a list."""
    checks = [answer.check.to_dict() | {"model": answer.model} for answer in attempt if answer.check]
    if checks:
        text = json.dumps(checks[0] if len(checks) == 1 else checks, ensure_ascii=False, indent=2)
        st.download_button("Check as JSON", text, "check.json", "application/json", key="check_json", on_click="ignore")
