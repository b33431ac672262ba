"""PDF: the text of each page in reading order, sections from the outline, title and date as the file states them.

Read by PDFium (pypdfium2; Apache 2.0 and BSD, wheels for all platforms). Compared in November 2026 on six files, TeX, browser
and report generators, two with columns: share of words in their right order and milliseconds a page.

    pypdfium2 5.15   1.00   3      pypdf 7.1          1.00  25
    pdfplumber 0.11   .75  80      pdfminer.six        .94  45

pymupdf is AGPL. What no reader can do here is left as it is: a table comes as its rows, its cells parted by spaces; a scan has no text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.source import SourceText, TextBuilder, stated
from ctxasm.model.characters import mended

MOST_BOOKMARKS = 20_000
MOST_PAGES = 100_000
OnPage = Callable[[int, int], None]
"""Told after each page: how many are read, of how many."""

_HYPHENATED = re.compile("([^\\W\\d_]+)\ufffe([^\\W\\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NUMBER = re.compile(r"\d{1,6}")


def read_pdf(data: bytes, on_page: OnPage) -> SourceText:
    """A PDF. Raises UnreadableDocument for one that is encrypted, damaged, or holds no text."""
    document = _opened(data)
    if (count := len(document)) > MOST_PAGES:
        raise UnreadableDocument(f"it has {count:,} pages, allowed are {MOST_PAGES:,}: split it")
    pages, unread = [], []
    for number in range(count):
        text = _page_text(document, number)
        if text is None:
            unread.append(number + 1)
        pages.append(text or "")
        on_page(number + 1, count)
    if not any(page.strip() for page in pages):
        why = "it is damaged" if unread else "its pages are pictures, run text recognition (OCR) on it first"
        raise UnreadableDocument(f"it holds no text: {why}")
    builder = TextBuilder()
    starts = []
    for number, page in enumerate(_joined(_unnumbered(pages))):
        if number:
            builder.page_break("\n")
        starts.append(builder.length)
        builder.block(page)
    text = builder.text()
    _add_sections(builder, document, text, starts)
    fields = stated((name, document.get_metadata_value(key)) for key, name in _STATED)
    listed = ", ".join(map(str, unread[:10])) + (" …" if len(unread) > 10 else "")
    notes = [f"{len(unread)} of {count} pages cannot be read: {listed}"] if unread else []
    return SourceText(fields, text, builder.page_breaks, builder.sections(), paged=True, notes=notes)


_STATED = (("Title", "title"), ("CreationDate", "date"), ("ModDate", "date"))


def _opened(data: bytes) -> Any:
    import pypdfium2
    from pypdfium2 import raw

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise UnreadableDocument("it is protected by a password: save it without one") from None
        raise UnreadableDocument("it is damaged, or no PDF") from None


def _page_text(document: Any, number: int) -> str | None:
    """The text of a page, U+FFFE where a word was parted by a line's end; None where it cannot be read."""
    import pypdfium2

    try:
        page = document[number]
        text_page = page.get_textpage()
        text: str = text_page.get_text_bounded()
        text_page.close()
        page.close()
    except pypdfium2.PdfiumError:
        return None
    lines = mended(text).replace("\r\n", "\n").replace("\r", " ").replace("\x02", "\ufffe").split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _unnumbered(pages: Sequence[str]) -> list[str]:
    """The pages without their first or last line where it counts the pages, on at least three of them and on half of all.

    Only a line whose number goes up by one a page is certain to be no text. What else it says stays where it stands first.
    """
    split = [page.strip("\n").split("\n") for page in pages]
    for at in (0, -1):
        counted = Counter(key for number, lines in enumerate(split) for key in set(_counting(lines[at], number)))
        running = {key for key, times in counted.items() if times >= 3 and 2 * times >= len(pages)}
        seen: set[tuple[str, int]] = set()
        for number, lines in enumerate(split):
            found = [key for key in _counting(lines[at], number) if key in running]
            if found and (seen & set(found) or not re.search(r"[^\W\d_]", lines[at])):
                lines[at] = ""
            seen.update(found)
    return ["\n".join(lines).strip("\n") for lines in split]


def _counting(line: str, number: int) -> Iterator[tuple[str, int]]:
    """What a line says around each of its numbers, and how far that number is from the page's."""
    if len(line) <= 150:
        for found in islice(_NUMBER.finditer(line), 4):
            yield f"{line[: found.start()]}#{line[found.end() :]}", int(found[0]) - number


def _joined(pages: Sequence[str]) -> list[str]:
    """The pages with each word that a line's end parted: joined where the document has the joined word, else as printed."""
    words = {word for page in pages for word in _WORD.findall(page.lower())}

    def whole(found: re.Match[str]) -> str:
        joined = found[1] + found[2]
        return joined if joined.lower() in words else f"{found[1]}-\n{found[2]}"

    return [_HYPHENATED.sub(whole, page).replace("\ufffe", "-\n") for page in pages]


def _add_sections(builder: TextBuilder, document: Any, text: str, starts: Sequence[int]) -> None:
    """The bookmarks of the outline as sections: where their words stand on their page, else at its begin."""
    earliest = dict(enumerate(starts))
    for bookmark in islice(document.get_toc(), MOST_BOOKMARKS):
        words = mended(bookmark.get_title() or "").split()
        destination = bookmark.get_dest()
        page = destination.get_index() if destination is not None else None
        if not words or page is None or not 0 <= page < len(starts):
            continue
        end = starts[page + 1] if page + 1 < len(starts) else len(text)
        pattern = re.compile(r"\s+".join(map(re.escape, words[:20])), re.IGNORECASE)
        found = pattern.search(text, earliest[page], end)
        start = found.start() if found is not None else starts[page]
        if found is not None:
            earliest[page] = found.end()
        builder.section(bookmark.level, " ".join(words), start)
