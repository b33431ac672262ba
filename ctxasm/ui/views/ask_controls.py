"""The controls of Ask: how the prompt is worded, and how the model samples."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.model.formats import expects_markers, has_markers
from ctxasm.model.results import Assembly
from ctxasm.model.settings import Channel, spec_of
from ctxasm.prompts import LONGEST_EXTRA, PROMPT_HELP, PROMPT_STYLES, PromptChoice
from ctxasm.ui.setting_words import BOUNDARY_LABEL
from ctxasm.ui.zones_state import LANGUAGES

CHANNELS: tuple[Channel, ...] = ("text", "voice")


class Asking(NamedTuple):
    """How to ask. `problem` says why this prompt cannot be sent."""

    choice: PromptChoice
    temperature: float = 0.0
    max_tokens: int = 512
    problem: str = ""

    @property
    def label(self) -> str:
        """What is not as by default, for the badge of an answer."""
        parts: list[str] = [self.choice.style]
        parts += ["answer first"] if self.choice.answer_first else []
        parts += [f"in {name}" for name, language in LANGUAGES.items() if language and language == self.choice.language]
        parts += ["own instructions"] if self.choice.extra else []
        parts += [f"temperature {self.temperature:g}"] if self.temperature else []
        return ", ".join(parts)


def asking_controls(assembly: Assembly) -> Asking:
    """Draw the prompt's wording and the model's sampling, folded away, and return what they say."""
    with st.expander("Prompt wording and sampling", key="asking"):
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
        first = st.toggle("Answer first, details after it", key="answer_first", persist_state="session")
        extra = st.text_area(
            "Your own instructions",
            key="prompt_extra",
            persist_state="session",
            max_chars=LONGEST_EXTRA,
            height=90,
            placeholder="They follow the rules of the prompt and do not lift them.",
        )
    if not has_markers(assembly.settings.format):
        st.caption(
            f":orange[◆] **{BOUNDARY_LABEL.capitalize()}**: a source's text may pass for another one. "
            f"{assembly.settings.format} shows no numbers, so none are asked for; every block is a source."
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
    """The setting `channel`, here too: its bound widget is in the sidebar, so this one only writes to that."""
    st.session_state["_channel"] = assembly.settings.channel
    st.selectbox(
        "Channel", CHANNELS, key="_channel", format_func=lambda channel: _named(channel, assembly), on_change=_set_channel, width=225
    )


def _named(channel: Channel, assembly: Assembly) -> str:
    return f"{channel}, {'with' if expects_markers(assembly.settings.replace(channel=channel)) else 'without'} citations"


def _set_channel() -> None:
    st.session_state[spec_of("channel").url] = st.session_state["_channel"]
