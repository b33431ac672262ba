"""Claims that stand word for word in a source."""

from __future__ import annotations

from ctxasm.citations.lexical.clause_subjects import Matter

_STOPS = ".!?;:()| -*•"


def is_verbatim(matter: Matter) -> bool:
    """Whether the claim stands word for word in one of its windows, from one stop to another: then nothing can stand against it."""
    claim = _plain(matter.parts.text).strip(_STOPS)
    for window in matter.windows:
        first, last = matter.evidence.sentences[window.first], matter.evidence.sentences[window.last]
        text = _plain(matter.text(window.first)[first.start : last.end])
        at = text.find(claim)
        if at >= 0 and text[:at].rstrip(" ")[-1:] in _STOPS and text[at + len(claim) :].lstrip(" ")[:1] in _STOPS:
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
