"""Named starting points. A preset names only what it changes; everything else is the default."""

from __future__ import annotations

from ctxasm.model.errors import InvalidInput
from ctxasm.model.settings import ENGLISH_TEMPLATE, AssemblySettings

DUTCH_SEPARATOR = "--- AANVULLENDE ZOL INFORMATIE ---"
"""The line above the supplement in the five-stage pipeline, word for word; a preset of `supplement_separator`."""

PRESETS: dict[str, dict[str, object]] = {
    "five_stage": {},
    "baseline": {"enabled": False},
    "tight_budget": {"max_tokens": 2000},
    "wide_window": {"expand_window": 2, "decay_mode": "per_step", "max_tokens": 12000},
    "citation_heavy": {"citation_unit": "passage"},
    "literal_source": {"budget_scope": "chunks", "oversized": "drop", "dedup_exact": False, "marker_collisions": "off"},
    "english": {"summary_template": ENGLISH_TEMPLATE},
}
PRESET_HELP: dict[str, str] = {
    "five_stage": "The defaults: the five-stage pipeline with a budget that always holds.",
    "baseline": "Assembly off: retrieved chunks in retrieval order, one block each.",
    "tight_budget": "2,000 tokens: see what a small window costs.",
    "wide_window": "Two neighbours on each side, decaying by distance, 12,000 tokens.",
    "citation_heavy": "One number per passage, so that a citation points at less text.",
    "literal_source": "The five-stage pipeline read to the letter: only chunk text counts, an oversized best document is dropped.",
    "english": "English wording of the page summary.",
}


def preset(name: str) -> AssemblySettings:
    """The settings of a preset; raises InvalidInput naming those that exist."""
    if name not in PRESETS:
        raise InvalidInput(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    return AssemblySettings.from_dict(PRESETS[name])


def preset_of(settings: AssemblySettings) -> str | None:
    """The preset that these settings are, or None when they are nobody's."""
    changed = settings.changed()
    return next((name for name, changes in PRESETS.items() if changes == changed), None)
