"""Text as UTF-8 can hold it: some servers cut an emoji in two and send its halves as two escapes (`"\\ud83d"`, then `"\\ude00"`)."""

from __future__ import annotations

import re

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")


def joined(text: str) -> str:
    """`text` with the two halves of a character as that character, and a half alone as U+FFFD."""
    if not _HALF.search(text):
        return text
    return _HALF.sub("\ufffd", _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text))


class Halves:
    """`joined` for a text that comes in pieces: a first half at the end of a piece waits for the next one."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """What of the text so far is certain and was not given yet."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return joined(text[: len(text) - len(self._half)])

    def rest(self) -> str:
        """What was held when the text ended."""
        held, self._half = self._half, ""
        return joined(held)
