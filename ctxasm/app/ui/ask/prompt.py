"""The prompt of Ask: how it is worded and sampled, its zones, and its messages as they are sent."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxasm.answering.prompts import PROMPT_HELP, PROMPT_STYLES, PromptChoice, Zone, build_messages, prompt_zones
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Asking
from ctxasm.app.ui.frame.zones_state import LANGUAGES
from ctxasm.app.ui.words.setting_words import BOUNDARY_LABEL
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.results import Assembly
from ctxasm.model.settings import Channel
from ctxasm.text.formats import expects_markers, has_markers
from ctxasm.text.language import language_of

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
            key=Session.prompt_style.key,
            persist_state="session",
            width=135,
            help="\n".join(f"- **{name}**: {text}" for name, text in PROMPT_HELP.items()),
        )
        language = st.selectbox("Language", tuple(LANGUAGES), key=Session.prompt_language.key, persist_state="session", width=155)
        _channel(assembly)
        temperature, longest = _sampling()
    first = st.toggle("Answer first, details after it", key=Session.answer_first.key, persist_state="session")
    extra = st.text_area(
        "Your own instructions",
        key=Session.prompt_extra.key,
        persist_state="session",
        height=90,
        placeholder="They follow the rules of the prompt and do not lift them.",
    )
    try:
        choice = PromptChoice(style, first, extra.strip(), LANGUAGES[language])
    except CtxasmError as error:
        return Asking(PromptChoice(), problem=str(error))
    return Asking(choice, temperature, longest)


def _sampling() -> tuple[float, int]:
    help = "Only a language model heeds it."
    temperature = st.number_input("Temperature", 0.0, 2.0, 0.0, 0.1, key="temperature", persist_state="session", width=125, help=help)
    longest = st.number_input("Max answer tokens", 16, 8192, 512, 32, key="max_answer_tokens", persist_state="session", width=150)
    return temperature, longest


def _channel(assembly: Assembly) -> None:
    """The setting `channel`, here too: among all settings it has a widget of its own."""
    session.channel = assembly.settings.channel
    st.selectbox(
        "Channel",
        CHANNELS,
        key=Session.channel.key,
        format_func=lambda channel: _named(channel, assembly),
        on_change=_set_channel,
        width=225,
    )


def _set_channel() -> None:
    state.change("channel", session.channel)


def show_warnings(assembly: Assembly, asking: Asking) -> None:
    """Say where sources cannot be told apart, and where the longest answer is longer than what the window's zones reserve for it."""
    if not has_markers(assembly.settings.format):
        st.caption(
            f":orange[◆] **{BOUNDARY_LABEL.capitalize()}**: a source's text may pass for another one. "
            f"{assembly.settings.format} shows no numbers, so none are asked for; every block is a source."
        )
    reserved = assembly.zones.tokens_of("answer") if assembly.zones is not None else asking.max_tokens
    if asking.max_tokens > reserved:
        st.caption(
            f":orange[◆] An answer may take {number(asking.max_tokens)} tokens; its zone reserves {number(reserved)}. "
            "Raise answer_tokens to as many."
        )


def show_prompt(assembly: Assembly, asking: Asking) -> None:
    """What goes to the model, in zones and in full."""
    messages = build_messages(assembly, asking.choice)
    language = asking.choice.language or language_of(assembly.query.query)
    st.html(zones_html(prompt_zones(assembly, messages, server.workbench().counter(assembly.encoding), language)))
    for message in messages:
        st.caption(message.role)
        st.code(message.content, language=None, wrap_lines=True, height=min(420, 90 + len(message.content) // 4))
