"""Settings: their ranges, and every way they are written down and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.model import settings_text as text
from ctxasm.model.errors import InvalidInput, InvalidSetting, UnknownSetting
from ctxasm.model.presets import PRESET_HELP, PRESETS, preset, preset_of
from ctxasm.model.settings import LARGEST, AssemblySettings, specs

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


def _value(spec):
    if spec.kind == "bool":
        return st.booleans()
    if spec.kind == "choice":
        return st.sampled_from(spec.choices)
    if spec.kind == "text":
        if spec.name == "summary_template":
            return st.one_of(st.none(), WORDS.map(lambda t: t + "{summary}"))
        return WORDS.map(lambda t: t and t + "-") if spec.name == "block_separator" else WORDS
    low, high = -LARGEST if spec.low is None else spec.low, LARGEST if spec.high is None else spec.high
    number = st.integers(int(low), int(high)) if spec.kind == "int" else st.floats(low, high, exclude_min=spec.open_low)
    return st.one_of(st.none(), number) if spec.optional else number


SETTINGS = st.fixed_dictionaries({}, optional={spec.name: _value(spec) for spec in specs()}).map(AssemblySettings.from_dict)


@given(SETTINGS)
def test_settings_survive_every_way_of_writing_them(chosen):
    assert text.from_url(text.to_url(chosen)) == (chosen, ())
    assert text.from_toml(text.to_toml(chosen)) == chosen
    assert text.from_toml(text.to_toml(chosen, ["of a\nb = 1\x7f\x00", "−1.0 points [−2.0, +0.5]"])) == chosen
    assert text.from_environment(text.to_environment(chosen)) == chosen
    assert eval(text.to_python(chosen), {"AssemblySettings": AssemblySettings}) == chosen
    assert text.from_assignments([f"{n}={text.write(s, v)}" for s in specs() for n, v in [(s.name, getattr(chosen, s.name))]]) == chosen


def test_the_url_holds_only_what_differs_from_the_defaults():
    assert text.to_url(AssemblySettings()) == {}
    assert text.to_url(AssemblySettings(expand_window=2, max_tokens=4000)) == {"w": "2", "mt": "4000"}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("expand_window", 7, "expand_window must be a whole number between 0 and 3, got 7"),
        ("expand_window", True, "got True"),
        ("max_tokens", 499, "between 500 and 16000, got 499"),
        ("decay", 0, "above 0 and at most 1, got 0"),
        ("decay", float("nan"), "got nan"),
        ("top_k", 0, "at least 1, or all, got 0"),
        ("citation_unit", "page", "one of document, passage, chunk, got 'page'"),
        ("summary_template", "no place", "holds {summary}"),
        ("gap_mark", "x" * 501, "at most 500 characters"),
        ("block_separator", "Bron 2", "that is empty or holds a mark such as -"),
        ("overflow", "skip", "one of cut, stop"),
        ("compression_when", "never", "one of tight, always"),
        ("min_overlap_chars", 1001, "between 0 and 1000"),
    ],
)
def test_a_value_out_of_range_is_named_with_what_is_allowed(name, value, words):
    with pytest.raises(InvalidSetting) as caught:
        AssemblySettings(**{name: value})
    assert words in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("spec", [spec for spec in specs() if spec.optional], ids=lambda spec: spec.name)
def test_an_optional_setting_is_unset_by_its_own_word(spec):
    for written in (spec.none, spec.none.upper(), "none", ""):
        assert text.parse(spec, written) is None
    assert text.write(spec, None) == spec.none
    assert text.from_url({spec.url: spec.none}) == (AssemblySettings(), ())


def test_a_floor_may_be_negative_wherever_it_is_written():
    floor = AssemblySettings(relevance_floor=-2.5)
    assert text.to_url(floor) == {"fl": "-2.5"}
    assert text.from_url({"fl": "-2.5"}) == (floor, ())
    assert text.from_toml(text.to_toml(floor)) == floor
    assert text.from_assignments(["relevance_floor=-2.5"]) == floor


@pytest.mark.parametrize("written", ["nan", "inf", "-1e999", "9" * 400, "1e5000", "0x10", "١٢٣x", "1;2", "<b>", "\0", "null", "[1]"])
def test_no_number_is_read_from_what_is_none(written):
    chosen, rejected = text.from_url({spec.url: written for spec in specs() if spec.kind in ("int", "float", "bool")})
    assert chosen == AssemblySettings()
    assert len(rejected) == sum(spec.kind in ("int", "float", "bool") for spec in specs())
    assert all(len(str(error)) < 400 for error in rejected)


def test_rejected_url_values_fall_back_and_are_named():
    chosen, rejected = text.from_url({"w": "9", "mt": "2000", "cu": "<script>", "utm_source": "x"})
    assert chosen == AssemblySettings(max_tokens=2000)
    assert [error.name for error in rejected] == ["expand_window", "citation_unit"]


@pytest.mark.parametrize("written", ["w", "expand_window", "expand_window=", "expand_window=two", "nonsense=1"])
def test_unusable_assignments_are_refused(written):
    with pytest.raises(InvalidInput):
        text.from_assignments([written])


def test_an_unknown_setting_names_those_that_exist():
    with pytest.raises(UnknownSetting, match="expand_window"):
        AssemblySettings().replace(window=1)


def test_url_keys_are_short_and_unique():
    keys = [spec.url for spec in specs()]
    assert len(set(keys)) == len(keys)
    assert all(1 <= len(key) <= 3 for key in keys)


def test_presets_are_valid_explained_and_recognised():
    assert set(PRESETS) == set(PRESET_HELP)
    for name in PRESETS:
        assert preset_of(preset(name)) == name
    with pytest.raises(InvalidInput, match="five_stage"):
        preset("nope")


@pytest.mark.parametrize("hostile", ["[context_assembly", "a = " + "[" * 100_000, "[context_assembly]\ntop_k = " + "9" * 5_000])
def test_toml_that_python_cannot_read_is_one_sentence(hostile):
    with pytest.raises(InvalidInput, match="the settings are not valid TOML") as caught:
        text.from_toml(hostile)
    assert "\n" not in str(caught.value)
