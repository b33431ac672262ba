"""The presets against the figures of the sources that they are named after."""

from __future__ import annotations

import pytest

from ctxasm.answering.zones import ZONE_PROFILES
from ctxasm.app.ui.setting_words import help_of
from ctxasm.model.presets import DUTCH_SEPARATOR, PRESET_HELP, PRESETS, RECOMMENDED, is_recommended, other_choice, preset, preset_of
from ctxasm.model.settings import MEASURED_AGAINST, SUPPLEMENT_SEPARATOR, AssemblySettings, spec_of, spoken_against
from ctxasm.tuning.recommend import curated_settings


@pytest.mark.parametrize(
    ("name", "format_", "ordering", "compressed"),
    [
        ("factual_qa", "xml", "lost_in_middle", False),
        ("long_document", "grouped", "chronological", True),
        ("citation_heavy", "numbered", "relevance", False),
        ("conversational", "minimal", "relevance", False),
        ("tight_budget", "xml", "lost_in_middle", True),
    ],
)
def test_the_use_cases_of_the_token_budget_guide(name: str, format_: str, ordering: str, compressed: bool) -> None:
    chosen = preset(name)
    assert (chosen.format, chosen.ordering, chosen.compression != "off") == (format_, ordering, compressed)
    assert PRESET_HELP[name].startswith("Token-budget guide")


def test_what_is_recommended_stands_first_and_one_step_goes_there_and_back() -> None:
    own = AssemblySettings(max_tokens=2000, format="xml")
    taken = other_choice(own)
    assert next(iter(PRESETS)) == RECOMMENDED
    assert taken == own.replace(**PRESETS[RECOMMENDED])
    assert is_recommended(taken)
    assert not is_recommended(own)
    assert other_choice(taken) == own


def test_what_a_measurement_speaks_against_is_not_recommended_and_named_where_a_source_has_it() -> None:
    """A preset of a source keeps what the source has; its figure stands in the help."""
    assert not spoken_against(AssemblySettings().to_dict())
    for each in (PRESETS[RECOMMENDED], *(dict(curated.changes) for curated in curated_settings())):
        assert not spoken_against(each)
    named = {name: figures for name, changes in PRESETS.items() if (figures := spoken_against(changes))}
    assert {"bookend", "literal_source"} <= set(named)
    assert all(figure in PRESET_HELP[name] for name, figures in named.items() for figure in figures)


def test_a_setting_that_a_measurement_speaks_against_says_so() -> None:
    for (name, value), figure in MEASURED_AGAINST.items():
        assert figure in spec_of(name).help
        assert figure in help_of(spec_of(name))
        assert getattr(AssemblySettings().replace(**{name: value}), name) == value
        assert figure.startswith("Measured: ")


def test_the_five_stage_pipeline_is_the_default() -> None:
    chosen = preset("five_stage")
    assert chosen == AssemblySettings()
    assert (chosen.enabled, chosen.expand_window, chosen.max_tokens, chosen.decay) == (True, 1, 8000, 0.5)
    assert (chosen.min_overlap_chars, chosen.encoding, chosen.ordering) == (20, "cl100k_base", "document_first")
    assert preset("literal_source").supplement_separator == DUTCH_SEPARATOR != SUPPLEMENT_SEPARATOR


def test_the_source_n_assembler() -> None:
    chosen = preset("source_blocks")
    assert (chosen.max_chars, chosen.format, chosen.citation_unit, chosen.expand_window) == (24_000, "source", "chunk", 0)
    assert (chosen.ordering, chosen.budget_policy) == ("relevance", "greedy")
    # 24,000 characters are about 6,000 tokens, as the source says: the limit in tokens never binds first.
    assert chosen.max_tokens > 6_000


def test_the_token_budget_guides_pipeline() -> None:
    chosen = preset("packed")
    assert (chosen.budget_policy, chosen.min_chunk_tokens, chosen.encoding) == ("greedy", 20, "cl100k_base")
    assert (chosen.budget_mode, chosen.model_window, chosen.answer_tokens, chosen.overhead_tokens) == ("window", 8_192, 1_024, 64)
    assert (chosen.format, chosen.ordering, chosen.compression, chosen.dedup_exact) == ("xml", "lost_in_middle", "off", True)


def test_the_bookend_guides_pipeline() -> None:
    chosen = preset("bookend")
    assert (chosen.ordering, chosen.budget_policy, chosen.format) == ("auto", "greedy_skip", "numbered")
    assert (chosen.dedup_exact, chosen.dedup_semantic, chosen.max_chunk_tokens) == (True, True, 2_000)


def test_the_bookend_guides_starting_zones() -> None:
    chosen = preset("starting_zones")
    zones = (chosen.system_tokens, chosen.history_tokens, chosen.question_tokens, chosen.answer_tokens)
    assert zones == (4_000, 8_000, 1_000, 4_000)
    assert (chosen.model_window or 0) * chosen.safety_margin == 1_000
    assert retrieved("starting_zones") == 32_000
    # More retrieved and less conversation, the other way round, and no conversation at all.
    assert retrieved("analytical_zones") > 32_000 > retrieved("support_chat_zones")
    assert (preset("analytical_zones").history_tokens or 0) < 8_000 < (preset("support_chat_zones").history_tokens or 0)
    assert (preset("single_turn_zones").history_tokens, retrieved("single_turn_zones")) == (0, 40_000)


def retrieved(name: str) -> float:
    """What the zones of a preset leave of its window."""
    chosen = preset(name)
    taken = (chosen.system_tokens, chosen.history_tokens, chosen.question_tokens, chosen.answer_tokens, chosen.overhead_tokens)
    window = chosen.model_window or 0
    return window - window * chosen.safety_margin - sum(zone or 0 for zone in taken)


@pytest.mark.parametrize("name", ZONE_PROFILES)
def test_a_zone_profile_is_a_preset(name: str) -> None:
    assert PRESETS[name] == AssemblySettings().replace(**ZONE_PROFILES[name].changes).changed()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_only_what_it_changes(name: str) -> None:
    assert preset(name).changed() == PRESETS[name]
    assert preset_of(preset(name)) == name
