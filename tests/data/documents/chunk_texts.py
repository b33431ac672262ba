"""Texts and sizes that chunkers are tried on, and a tokenizer that a person can follow."""

from hypothesis import strategies as st

from ctxasm.text.tokens.counter import open_counter

COUNTER = open_counter("cl100k_base")

prose = st.lists(
    st.sampled_from(
        ["De raadpleging duurt 30 minuten.", "Breng uw identiteitskaart mee!", "dr. Peeters", "€ 12,50", "\n", "\n\n", " ", "a)"]
    ),
    max_size=120,
).map(" ".join)
wild = st.text(st.characters(exclude_categories=("Cs",)), max_size=300)
scripts = st.lists(st.sampled_from(["汉字。", "👩‍👩‍👧‍👦", "é", "ا", " ", "\t", "\n", "woord", ".", "x" * 40]), max_size=150).map("".join)
texts = prose | wild | scripts
sizes = st.tuples(st.integers(1, 60), st.integers(0, 59)).map(lambda pair: (pair[0], pair[1] % pair[0]))


class Characters:
    """A tokenizer of one token a character: what it does can be worked out by hand."""

    def count(self, text: str) -> int:
        return len(text)

    def boundaries(self, text: str) -> list[int]:
        return list(range(1, len(text) + 1))
