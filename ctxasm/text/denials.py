"""Words that deny, in Dutch, English and German at once, because a text quotes others; lower case, without accents."""

from __future__ import annotations

_DUTCH = "niet geen nooit noch nergens niemand niets evenmin zonder geenszins nimmer"
_ENGLISH = "not no never nor nowhere nobody none nothing neither without cannot"
_GERMAN = "nicht kein keine keinen keinem keiner keines nie niemals nirgends niemand nichts weder ohne"
DENIALS = frozenset(f"{_DUTCH} {_ENGLISH} {_GERMAN}".split())
EXCEPTIONS = frozenset(("behalve", "tenzij", "except", "unless", "ausser", "außer"))
"""What follows them is not meant."""


def is_denial(word: str) -> bool:
    """Whether a word in lower case denies, by itself or by its end ("isn't")."""
    return word in DENIALS or word.endswith(("n't", "n’t"))
