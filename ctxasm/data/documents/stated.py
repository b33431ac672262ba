"""What a file says of itself: its title, its date and its language, as far as they can be used."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ctxasm.model.characters import mended
from ctxasm.text.dates import period_of

LONGEST_TITLE = 300
_NO_TITLES = re.compile(
    r"untitled|naamloos|document\d*|microsoft word\b.*|powerpoint presentation|.*\.(?:docx?|pdf|indd|qxd|pptx?|xlsx?)", re.I
)
_NAMES = {"title": "title", "date": "date", "language": "language", "lang": "language"}
_ISO_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]\d.*")
_PDF_DATE = re.compile(r"D:(\d{4})(?:(\d\d)(\d\d)?)?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")


def stated(fields: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Title, date and language of what a file says; the first of a name counts, what says nothing is left out."""
    found: dict[str, str] = {}
    for name, value in fields:
        kept = _NAMES.get(name)
        if kept is None or kept in found or value is None:
            continue
        readers = {"title": title_of, "date": date_of, "language": language_code}
        if (usable := readers[kept](value)) is not None:
            found[kept] = usable
    return found


def title_of(value: str) -> str | None:
    """A title on one line; None for one that a program made up ("untitled", a file name)."""
    title = " ".join(mended(value[: 4 * LONGEST_TITLE]).split())
    if not title or _NO_TITLES.fullmatch(title):
        return None
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"


def date_of(value: str) -> str | None:
    """A date as it is kept: the day of a moment, else as it was written where that can be read; else None."""
    text = " ".join(value[:60].split())
    if found := _PDF_DATE.match(text):
        text = "-".join(part for part in found.groups() if part)
    elif found := _ISO_MOMENT.fullmatch(text):
        text = found[1]
    return text if period_of(text) is not None else None


def language_code(value: str) -> str | None:
    """A language code, as "nl" or "de-AT"."""
    code = value.strip().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else None
