"""The widget of one setting, by its kind: seeded from the session's record, marked where it differs, disabled where it is idle.

Max tokens has a range beside its box that moves the page while it is dragged; the threshold of the same meaning a slider over
the useful region.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.address import copy_link, keep_address, offer_pin, settings_written
from ctxasm.app.ui.frame.browser import live_range
from ctxasm.app.ui.frame.layout import drawer, open_drawer
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.idle import idle
from ctxasm.app.ui.setting_words import CHOICES, choice_sentence, help_of
from ctxasm.llm.embedding.local import embedder_name
from ctxasm.model.amounts import counted
from ctxasm.model.events import stage_name
from ctxasm.model.presets import PRESET_HELP, PRESETS, preset, preset_of
from ctxasm.model.settings import BY_VALUE, LARGEST, AssemblySettings, Spec, choice_name, label_of, spec_of, specs, value_words

SMALLEST = 0.001
"""The lowest number that a widget takes where the bound itself is excluded."""
EMPTY = {"summary_template": "by the language of the data", "block_separator": "a blank line"}
"""What an empty text box stands for, where that is not nothing."""
MOST_SEGMENTS = 4
"""Choices that stand side by side; more of them fold into a list."""
STEP = 100
"""Tokens that one step of the range is worth."""
BOX_WIDTH = 130
"""Width of the box of max tokens in pixels."""
LEADING = ("expand_window", "max_tokens", "enabled")
"""Settings at the top of the page, drawn without a sign for help. The drawer has the others."""
UNDRAWN = object()
"""Stands for what a widget says that was not drawn."""
PAGE = "page"
"""The fragment that is all of Inspect: a setting changes nothing outside it."""


class Look(NamedTuple):
    """How the settings are drawn: their values, and the idle ones with the reason."""

    settings: AssemblySettings
    idle: Mapping[str, str]

    def marked(self, spec: Spec) -> str:
        """The label of a setting, which says where it differs from its default: in plain words, because it is the accessible name too."""
        return f"{label_of(spec)}, changed" if self.is_changed(spec) else label_of(spec)

    @property
    def neighbours(self) -> Spec:
        """The setting that says how many neighbours there may be: the candidates of a policy by value have their own."""
        by_value = self.settings.pool_window is not None and self.settings.budget_policy in BY_VALUE
        return spec_of("pool_window" if by_value else "expand_window")

    def leads(self, spec: Spec) -> bool:
        """Whether a setting stands at the top of the page."""
        return spec.name in (self.neighbours.name, *LEADING[1:])

    def is_changed(self, spec: Spec) -> bool:
        """Whether a setting differs from its default."""
        return bool(getattr(self.settings, spec.name) != spec.default)

    def seeded(self, spec: Spec) -> dict[str, Any]:
        """What every widget of a setting is told; its key is the setting's key in the address, and it now says what the record says."""
        wanted, why = getattr(self.settings, spec.name), self.idle.get(spec.name)
        if spec.name in session.problems:
            wanted = session.problems[spec.name][0]
        if st.session_state.get(spec.url, UNDRAWN) != wanted:
            st.session_state[spec.url] = wanted
        return {
            "key": spec.url,
            "on_change": _take,
            "args": (spec.name, spec.url),
            "help": help_of(spec, why) if why or not self.leads(spec) else None,
            "disabled": why is not None,
        }


def _take(name: str, key: str) -> None:
    state.change(name, st.session_state.get(key))


def _step(spec: Spec) -> int:
    """How far one click goes: a hundred tokens where there are thousands, else one."""
    if spec.name == "max_chars":
        return 500
    return 100 if spec.name.endswith("_tokens") and spec.name != "min_chunk_tokens" else 1


def meaning_sentence(threshold: float | None, embedder: str | None) -> str:
    """What shows as the same from this cosine on, to the embedder that is used; None: its own threshold."""
    from ctxasm.llm.embedding.regions import meaning_of, threshold_of

    cosine = threshold_of(embedder or "") if threshold is None else threshold
    whose = f"{embedder or 'the embedder'}'s own threshold, " if threshold is None else ""
    return f"From {whose}{cosine:g} on: {meaning_of(cosine, embedder)}."


def setting_widget(spec: Spec, look: Look, **place: Any) -> None:
    """Draw the widget of a setting, and what is wrong with what was typed into it."""
    label, told = look.marked(spec), look.seeded(spec) | place
    named: dict[str, Any] = {"format_func": partial(choice_name, spec)}
    match spec.kind:
        case "bool":
            st.toggle(label, **told)
        case "int" if spec.low is not None and spec.high is not None and spec.high - spec.low < MOST_SEGMENTS:
            st.segmented_control(label, list(range(int(spec.low), int(spec.high) + 1)), required=True, **{"width": "stretch"} | told)
        case "int" | "float":
            _number_box(spec, label, told)
        case "choice" if len(spec.choices) <= MOST_SEGMENTS:
            st.segmented_control(label, list(spec.choices), required=True, **{"width": "stretch"} | told | named)
        case "choice":
            st.selectbox(label, spec.choices, **told | named)
        case "text":
            empty = EMPTY.get(spec.name, "none") if not spec.default else None
            st.text_input(label, placeholder=empty, **told)
    if spec.name in session.problems:
        note_below(f"{session.problems[spec.name][1]}; the value before stays in use.")


def note_below(sentence: str, pull: int = 10) -> None:
    """A sentence under a widget, as text and not as markdown, `pull` pixels closer to it than widgets stand apart."""
    st.html(f'<div class="cx cx-side cx-mute" style="margin-top:-{pull}px;line-height:1.4">{escape(sentence)}</div>')


def _number_box(spec: Spec, label: str, told: dict[str, Any]) -> None:
    """A number box. An optional number may be empty; the box then says what stands for it."""
    told = told | ({"placeholder": value_words(spec, None)} if spec.optional else {})
    low, high = -LARGEST if spec.low is None else spec.low, LARGEST if spec.high is None else spec.high
    bounds: dict[str, Any]
    if spec.kind == "int":
        bounds = {"min_value": int(low), "max_value": int(high), "step": _step(spec)}
    else:
        lowest = SMALLEST if spec.open_low else float(low)
        bounds = {"min_value": lowest, "max_value": float(high), "step": 0.01 if high - lowest <= 0.5 else 0.05, "format": "%g"}
    st.number_input(label, value=spec.default, **bounds, **told)


def neighbours_widget(look: Look, width: int) -> None:
    """How many neighbours: a fixed number on each side, or up to so many where a policy chooses them by value."""
    spec = look.neighbours
    if spec.name == "expand_window":
        setting_widget(spec, look, width=width)
        return
    most = [None, *range(int(spec.low or 0), int(spec.high or 0) + 1)]
    name = label_of(spec_of("expand_window"))
    st.selectbox(
        f"{name}, changed",
        most,
        format_func=lambda count: "a fixed number" if count is None else f"up to {count}, by value",
        width=width,
        **look.seeded(spec),
    )


def limit_widget(spec: Spec, look: Look) -> None:
    """The box, and beside it the range where the limit is this number at all."""
    setting_widget(spec, look, width=BOX_WIDTH)
    if spec.name not in look.idle:
        _hand(int(spec.low or 1), int(spec.high or 16000))


@fragment(key="max_tokens_hand")
def _hand(low: int, high: int) -> None:
    """The range under the hand; a fragment, so that the page is not told of a new run with every step."""
    live_range(session.now.max_tokens, low, high, STEP, "max_tokens_range", _drag, _release)


def _drag() -> None:
    """While dragged: only the fragment of the budget bar runs, where there is one."""
    hand = session.max_tokens_range
    if hand is None or int(hand.live) == session.released_at:
        return
    session.live, session.released_at = int(hand.live), None
    if session.budget_shown:
        st.rerun("budget")


def _release() -> None:
    """Let go: the page runs, and outweighs a step that was sent just before."""
    hand = session.max_tokens_range
    if hand is not None and hand.settled is not None:
        state.change("max_tokens", int(hand.settled))
        # The last step of the drag may still be on its way; it is over now, and must not be drawn after the release.
        session.released_at = int(hand.live)
        st.rerun(PAGE if session.budget_shown else "app")


def threshold_widget(spec: Spec, look: Look) -> None:
    """The box; where it has an effect, the slider and what the chosen region means."""
    setting_widget(spec, look)
    if spec.name in look.idle:
        return
    from ctxasm.llm.embedding.regions import SLIDER, threshold_of

    threshold, embedder, (low, high) = look.settings.semantic_threshold, embedder_name(), SLIDER
    session.semantic_threshold = min(max(threshold_of(embedder or "") if threshold is None else threshold, low), high)
    st.slider(
        "Cosine of the same meaning",
        low,
        high,
        step=0.01,
        key="semantic_threshold",
        on_change=_into_box,
        label_visibility="collapsed",
    )
    note_below(meaning_sentence(threshold, embedder))


def _into_box() -> None:
    state.change("semantic_threshold", round(float(session.semantic_threshold), 2))


EXPLAINED = ("budget_policy", "ordering", "format")
"""Choices under which the drawer says what the chosen one does."""
GROUPS = ("expand", "deduplicate", "compress", "budget", "zones", "order", "summarise", "supplement", "render", "answer")
"""The stages as groups of settings, in the order of the pipeline; the zones make the budget's limit."""
GROUP_NAMES = {"expand": "Retrieve and expand", "summarise": "Page summaries", "render": "Write"}
"""Groups whose settings say more than the name of their stage."""
SETTINGS = "settings"
"""The drawer of the settings."""
CUSTOM = "custom"


def show_controls(scene: Scene) -> None:
    """Draw the controls, and keep the address a link to them."""
    settings = session.now
    look = Look(settings, idle(settings))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="controls"):
        neighbours_widget(look, width=176)
        limit_widget(spec_of("max_tokens"), look)
        setting_widget(spec_of("enabled"), look, width="content")
        rest = sum(not look.leads(spec) for spec in specs())
        st.button(f"All settings ({rest})", key="all_settings", on_click=open_drawer, args=(SETTINGS,), icon=":material/tune:")
        st.button("↶", key="undo", on_click=state.undo, disabled=not session.past, help="Undo the last change (Ctrl+Z)")
        st.button("↷", key="redo", on_click=state.redo, disabled=not session.future, help="Redo (Ctrl+Shift+Z)")
        changed = len(settings.changed())
        help = f"{counted(changed, 'setting')} differ from the defaults" if changed else "All settings stand at their defaults"
        st.button(f"Reset {changed}", key="reset", on_click=state.apply, args=(AssemblySettings(),), disabled=not changed, help=help)
        copy_link(scene, settings)
    keep_address()


def show_settings_drawer() -> None:
    """Draw the drawer of all settings where it is open."""
    if session.drawer == SETTINGS:
        with drawer("All settings"):
            _all_settings(Look(session.now, idle(session.now)))


def _all_settings(look: Look) -> None:
    """Presets, a search, and a group for each stage of which only an open one is drawn."""
    _preset(look.settings)
    st.text_input("Find a setting", key="find_setting", placeholder="a word of its name or help", persist_state="session")
    if wanted := (session.find_setting or "").casefold().split():
        found = [spec for spec in specs() if not look.leads(spec) and all(word in _words_of(spec) for word in wanted)]
        if not found:
            note_below("No setting is called so, and none is explained so.", pull=0)
        for spec in found:
            _widget(spec, look)
    else:
        for stage in GROUPS:
            own = [spec for spec in specs() if spec.stage == stage and not look.leads(spec)]
            group = st.expander(_group_label(stage, own, look), key=f"settings_{stage}", on_change="rerun")
            if group.open:
                with group:
                    _group(own, look)
    settings_written(look.settings)
    offer_pin("pin_in_drawer")


def _words_of(spec: Spec) -> str:
    choices = " ".join(f"{value} {words}" for value, words in CHOICES.get(spec.name, {}).items())
    return f"{spec.name} {label_of(spec)} {spec.help} {choices}".casefold()


def _preset(settings: AssemblySettings) -> None:
    session.preset = preset_of(settings) or CUSTOM
    st.selectbox(
        "Preset",
        [*PRESETS, CUSTOM] if preset_of(settings) is None else list(PRESETS),
        key="preset",
        format_func=lambda name: name.replace("_", " "),
        on_change=_take_preset,
        help="\n".join(f"- **{name.replace('_', ' ')}**: {text}" for name, text in PRESET_HELP.items()),
    )


def _take_preset() -> None:
    name = session.preset
    if name != CUSTOM:
        state.apply(preset(name))


def _group(own: list[Spec], look: Look) -> None:
    reasons = dict.fromkeys(look.idle[spec.name] for spec in own if spec.name in look.idle)
    if reasons:
        note_below(f"Greyed out is what has no effect now: {'; '.join(reasons)}.", pull=0)
    for spec in own:
        _widget(spec, look)


def group_name(stage: str) -> str:
    """What a group of settings is called."""
    return GROUP_NAMES.get(stage, stage_name(stage))


def _group_label(stage: str, own: list[Spec], look: Look) -> str:
    """The group, and how many of its settings differ from the default; grey where none of them has an effect."""
    changed = sum(map(look.is_changed, own))
    name = group_name(stage)
    if all(spec.name in look.idle for spec in own):
        name = f":gray[{name} · no effect now]"
    return f"{name} · {changed} changed :blue[●]" if changed else name


def _widget(spec: Spec, look: Look) -> None:
    if spec.name == "semantic_threshold":
        threshold_widget(spec, look)
    else:
        setting_widget(spec, look)
    if spec.name in EXPLAINED and spec.name not in look.idle:
        note_below(choice_sentence(spec.name, getattr(look.settings, spec.name)))
