"""The text that an index gets, as laws: context, questions, original, in this order and within the cap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxasm.data.enrich.texts import MAX_CHARS, cut_at_word, enriched_text

LINES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60).map(lambda text: " ".join(text.split()))
TEXTS = st.text(st.sampled_from("ab é\n\t.語"), max_size=400)


def test_the_text_of_the_record_on_contextual_embeddings() -> None:
    """`{chunk_context}`, `{canonical_questions}`, `{original_text}`, and 3,000 characters."""
    text = enriched_text("Uit de brochure Cardiologie.", ("Hoelang duurt het?", "Wat breng ik mee?"), "De raadpleging duurt 30 minuten.")
    assert text == "Uit de brochure Cardiologie.\nHoelang duurt het?\nWat breng ik mee?\nDe raadpleging duurt 30 minuten."
    assert MAX_CHARS == 3000
    long = "woord " * 1000
    cut = enriched_text("Context.", ("Vraag?",), long)
    assert 2990 < len(cut) <= 3000
    assert cut == "Context.\nVraag?\n" + ("woord " * 497).rstrip()


@given(LINES, st.lists(LINES, max_size=2), TEXTS, st.integers(1, 500))
def test_it_keeps_the_order_and_the_cap_and_cuts_the_original_alone(context: str, questions: list[str], text: str, cap: int) -> None:
    made = enriched_text(context, questions, text, cap)
    head = "\n".join(part for part in (context, *questions) if part)
    assert len(made) <= cap
    if len(head) > cap:
        assert head.startswith(made)
    elif head:
        assert made == head or made.startswith(head + "\n")
        assert text.startswith(made[len(head) + 1 :])
    else:
        assert text.startswith(made)
    if len(head) + 1 + len(text) <= cap and head and text.strip():
        assert made == f"{head}\n{text}"


@given(TEXTS, st.integers(0, 100))
def test_a_cut_ends_at_a_word_unless_a_word_is_too_long(text: str, cap: int) -> None:
    kept = cut_at_word(text, cap)
    assert len(kept) <= cap or kept == text
    assert text.startswith(kept)
    if kept != text and len(text) > cap and any(char.isspace() for char in text[:cap].lstrip()) and kept and text[len(kept) :][:1]:
        assert text[len(kept)].isspace() or not any(char.isspace() for char in kept)
