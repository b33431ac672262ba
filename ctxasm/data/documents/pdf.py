"""PDF: the text of each page in reading order, sections from the outline, title and date as the file states them.

Read by PDFium (pypdfium2; Apache 2.0 and BSD, wheels for all platforms). Compared in November 2026 on six files, TeX, browser
and report generators, two with columns: share of words in their right order and milliseconds a page.

    pypdfium2 5.15   1.00   3      pypdf 7.1          1.00  25
    pdfplumber 0.11   .75  80      pdfminer.six        .94  45

Where the words stand is asked too (columns, turned lines, raised figures), which makes it about 6 ms a page.

pymupdf is AGPL. What no reader can do here is left as it is: a table comes as its rows, its cells parted by spaces; a scan has no text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.layout import HYPHEN, Line, Page, page_text
from ctxasm.data.documents.source import SourceText, TextBuilder, document_metadata, word_set
from ctxasm.model.amounts import agreeing
from ctxasm.model.characters import mended

MOST_BOOKMARKS = 20_000
MOST_PAGES = 100_000
FEWEST_LETTERS = 50
"""A page with fewer may be the picture of a page, stamped with a number."""
MOST_OBJECTS = 1000
_LETTER = re.compile(r"[^\W\d_]")
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
    pages: list[Page] = []
    unread, unsure = [], []
    for number in range(count):
        page = _page(document, number)
        unread += [] if page is not None else [number + 1]
        unsure += [number + 1] if page is not None and page.unsure else []
        pages.append(page or Page(""))
        on_page(number + 1, count)
    if not any(page.text.strip() for page in pages):
        why = "it is damaged" if unread else "its pages are pictures, run text recognition (OCR) on it first"
        raise UnreadableDocument(f"it holds no text: {why}")
    builder = TextBuilder()
    starts = []
    for number, words in enumerate(_joined(_without_running(pages))):
        if number:
            builder.page_break("\n")
        starts.append(builder.length)
        builder.block(_LEADERS.sub(" … ", words))
    text = builder.text()
    _add_sections(builder, document, text, starts)
    fields = document_metadata((name, document.get_metadata_value(key)) for key, name in _STATED)
    pictures = [number for number, each in enumerate(pages, 1) if each.is_picture]
    kinds = (
        (unread, "cannot be read", "cannot be read"),
        (
            pictures,
            "seems to be a picture without its text: run text recognition (OCR) on it",
            "seem to be pictures without their text: run text recognition (OCR) on them",
        ),
        (unsure, "may be set in columns: it was read row by row", "may be set in columns: they were read row by row"),
    )
    notes = [
        f"{agreeing(len(numbers), 'page', 'pages')} {_listed(numbers)} of {count} {many if len(numbers) > 1 else one}"
        for numbers, one, many in kinds
        if numbers
    ]
    return SourceText(fields, text, builder.page_breaks, builder.sections(), paged=True, notes=notes)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")


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


def _page(document: Any, number: int) -> Page | None:
    """The text of a page, U+FFFE where a word was parted by a line's end; None where it cannot be read."""
    import pypdfium2

    try:
        page = document[number]
        text_page = page.get_textpage()
        read = page_text(text_page)
        is_picture = len(_LETTER.findall(read.text)) < FEWEST_LETTERS and _is_picture(page, bool(read.text.strip()))
        text_page.close()
        page.close()
    except pypdfium2.PdfiumError:
        return None
    lines = mended(read.text).replace("\r\n", "\n").replace("\r", " ").replace("\x02", HYPHEN).split("\n")
    return read._replace(text="\n".join(line.rstrip() for line in lines), is_picture=is_picture)


def _is_picture(page: Any, has_text: bool) -> bool:
    """Whether a page with next to no text shows something else: anything at all, or a picture of half its size."""
    from pypdfium2 import raw

    width, height = page.get_size()
    for shown in islice(page.get_objects(max_depth=3), MOST_OBJECTS):
        if not has_text:
            return True
        if shown.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = shown.get_bounds()
            if 2 * abs((right - left) * (top - bottom)) >= width * height:
                return True
    return False


_MOST_RUNNING = 3
"""Lines of a running head that are looked at, from either end of a page."""
_PAGE_WORDS = word_set(
    "page pages pag pg p pagina pagine página páginas seite s side sida sivu strona stránka strana oldal sayfa страница стр сторінка blad"
    " bladzijde blz folio σελίδα halaman trang"
)
_LEADERS = re.compile(r"(?:[ \t]?[.·…․]){4,}[ \t]*(?=[\divxlcIVXLC]{1,6}[ \t]*$)", re.MULTILINE)
"""The dots of a table of contents."""


def _without_running(pages: Sequence[Page]) -> list[str]:
    """The pages without the lines that stand at the begin or end of at least three of them and of half of all.

    They say the same each time, away from the text around them, or count the pages. What they say stays where it stands first.
    """
    split = [[line for line in page.text.split("\n") if line.strip()] for page in pages]
    gone: list[set[int]] = [set() for _ in pages]
    for step in (1, -1):
        at = [0 if step > 0 else len(lines) - 1 for lines in split]
        for _ in range(_MOST_RUNNING):
            keys = [_running_keys(pages[number], lines, at[number], number, len(pages)) for number, lines in enumerate(split)]
            times = Counter(key for found in keys for key in found)
            running = {key for key, count in times.items() if count >= 3 and 2 * count + 1 >= len(pages)}
            seen: set[tuple[str, int]] = set()
            for number, found in enumerate(keys):
                if common := running.intersection(found):
                    if seen & common or not re.search(r"[^\W\d_]", split[number][at[number]]):
                        gone[number].add(at[number])
                    seen |= common
                    at[number] += step
    return ["\n".join(line for place, line in enumerate(lines) if place not in gone[number]) for number, lines in enumerate(split)]


def _running_keys(page: Page, lines: Sequence[str], at: int, number: int, count: int) -> set[tuple[str, int]]:
    """What a line says if it may stand on other pages too: with its number, and how far that is from the page's."""
    if not 0 <= at < len(lines) or len(line := lines[at].strip()) > 150:
        return set()
    stands = page.lines[at] if len(page.lines) == len(lines) else Line(True, False)
    keys = {(line, 0)} if stands.alone or (at in (0, len(lines) - 1) and not stands.parted) else set()
    for found in islice(_NUMBER.finditer(line), 4):
        before, after = line[: found.start()].rstrip(), line[found.end() :].lstrip()
        words = [word.lower() for word in _WORD.findall(f"{before} {after}")]
        is_page = not words or any(word in _PAGE_WORDS for word in words) or any(sign in line for sign in "页頁쪽") or "ページ" in line
        of_all = re.search(r"(\d{1,6})\D*\Z", after)
        is_at_edge = (not before or not after) and (stands.parted or not before or before[-1] in "|•·–—-/")
        if is_page or is_at_edge or (of_all is not None and int(of_all[1]) == count):
            keys.add((f"{before}#{after}", int(found[0]) - number))
    return keys


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
