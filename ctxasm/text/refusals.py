"""The sentences by which an answer is declined in the tool's own words. A check recognises them to the letter."""

from __future__ import annotations

from ctxasm.text.language import Language

REFUSAL: dict[Language, str] = {
    "nl": "De bronnen die hier gegeven zijn, beantwoorden deze vraag niet.",
    "en": "The sources given here do not answer this question.",
}
"""What the strict prompt asks for, and nothing else, where the context holds no answer."""
NOTHING_FOUND: dict[Language, str] = {"nl": "Geen relevante inhoud gevonden.", "en": "No relevant content found."}
"""The answer to an empty context, which reaches no model."""
UNANSWERED: dict[Language, str] = {
    "nl": "In de context staat geen zin die deze vraag beantwoordt.",
    "en": "No sentence of the context answers this question.",
}
"""What the extractive model says where it finds nothing to quote."""
OTHER_LANGUAGE: dict[Language, str] = {
    "nl": "De context is in een andere taal dan de vraag: daarvoor is een taalmodel nodig.",
    "en": "The context is in another language than the question: that takes a language model.",
}
"""Follows UNANSWERED where that may be why."""
OWN_REFUSALS = tuple(text for texts in (REFUSAL, NOTHING_FOUND, UNANSWERED, OTHER_LANGUAGE) for text in texts.values())
