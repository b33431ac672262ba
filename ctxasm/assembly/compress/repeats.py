"""Which characters of a text a reply repeats: white space, the shapes of quotes and dashes, and list marks of the reply's own aside."""

from __future__ import annotations

import re

from ctxasm.assembly.extracts import KeptSpan
from ctxasm.text.sentences import sentence_spans

FRAME_CHARS = 1000
"""What a reply may be longer than twice the text: one that is longer repeats nothing but itself."""
_SAME = str.maketrans({**dict.fromkeys("‘’‚‛´`", "'"), **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")})
_GAP = re.compile(r"\n|\[?(?:…|\.{3})\]?")
"""Where a reply may leave out: between lines, and where it says so."""
_MARK = re.compile(r"[-*+•>]\s+|\(?\d{1,3}[.)]\s+|[\"'“”„«‘]")
"""What a reply may put before what it repeats."""
_TRAILING = "\"'”“»’"


def repeated_spans(text: str, reply: str) -> tuple[KeptSpan, ...] | None:
    """The spans of `text` that `reply` consists of, ascending and disjoint; None where it holds anything else.

    Looked for line by line, then sentence by sentence, first after what was found before it, then from the beginning: what a
    reply repeats in another order is put back in the text's own. A first line that only announces (it ends in a colon) is
    passed over. Takes time linear in the text for each line of the reply.
    """
    if len(reply) > 2 * len(text) + FRAME_CHARS:
        return None
    haystack = _Haystack(text)
    spans: list[KeptSpan] = []
    for number, line in enumerate(_parts(reply)):
        found = haystack.spans_of(line)
        if found is None:
            if number == 0 and line.endswith(":"):
                continue
            return None
        spans += found
    return _merged(spans) if spans else None


def _parts(reply: str) -> list[str]:
    """The stretches between gaps that hold something to compare."""
    return [part.strip() for part in _GAP.split(reply) if any(map(str.isalnum, part))]


class _Haystack:
    """A text without its white space, with the place of every character that is left. `at` is the end of what was found last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = [at for at, char in enumerate(text) if not char.isspace()]
        self._folded = "".join(text.split()).translate(_SAME)
        self._at = 0

    def spans_of(self, line: str) -> list[KeptSpan] | None:
        """Where a line stands: as it is, without the reply's marks, or sentence by sentence."""
        bare = _MARK.sub("", line, count=1) if _MARK.match(line) else line
        bare = bare.rstrip().rstrip(_TRAILING) if bare != line else bare
        for words in (line, bare):
            if (span := self._find(words)) is not None:
                return [span]
        spans = [self._find(bare[start:end]) for start, end in sentence_spans(bare)]
        whole = [span for span in spans if span is not None]
        return whole if len(whole) == len(spans) > 1 else None

    def _find(self, words: str) -> KeptSpan | None:
        wanted = "".join(words.split()).translate(_SAME)
        if not wanted:
            return None
        for begin in dict.fromkeys((self._at, 0)):
            at = self._folded.find(wanted, begin)
            while at >= 0:
                span = KeptSpan(self._places[at], self._places[at + len(wanted) - 1] + 1)
                if self._is_whole(span):
                    self._at = at + len(wanted)
                    return span
                at = self._folded.find(wanted, at + len(wanted))
        return None

    def _is_whole(self, span: KeptSpan) -> bool:
        """Whether it begins and ends between words."""
        text, (start, end) = self._text, span
        begins = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
        return begins and (end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum()))


def _merged(spans: list[KeptSpan]) -> tuple[KeptSpan, ...]:
    merged: list[KeptSpan] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = KeptSpan(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)
