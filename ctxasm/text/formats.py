"""How a block is written, format by format: what stands before and after its text, and by which marker it is cited.

`numbered` (token-budget guide, bookend guide): `[N] Source: title, page p`. `source` (SOURCE-N assembler): `[SOURCE N] file §
section`. `xml` (token-budget guide): a `<chunk>` element whose attributes are escaped; it is cited by its index, `[N]`.
`grouped` (token-budget guide): a heading for each document. `minimal`: the text alone. The last two have no markers and no
safe boundaries: no number is shown, so none is asked for, and the blocks themselves are the sources of an answer.

What a header names is made one line here. The text of a block is neither escaped nor trimmed, so the closing tag of `xml`
always brings its own line break, as in the source.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.records import Document
from ctxasm.model.settings import AssemblySettings, Format

TAG = "chunk"
"""The element of `xml`."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_LARGE_SCORE = 1e9


class Heading(NamedTuple):
    """What the header of a block may name. `pages` in any order; `score` is the best one in the block.

    `source` and `section` are None where there is none, and where the header has to be short: see `heading_of`.
    """

    title: str
    source: str | None
    section: str | None
    pages: tuple[int, ...]
    score: float
    document_id: str


class Frame(NamedTuple):
    """What stands around the text of a block: `before` + number, where `numbered` + `after`, the text, `foot`.

    A number is never followed by a digit and `before` never ends in one, so the number is a piece of its own to a tokenizer.
    """

    before: str
    after: str
    foot: str
    numbered: bool


def heading_of(document: Document, title: str, sections: Iterable[str | None], pages: Iterable[int | None], score: float) -> Heading:
    """The heading of a block that shows chunks of these sections and pages.

    `title` is what `title_of` gives, or less where the budget shortened it: then the header names nothing else.
    """
    shortened = title != title_of(document)
    return Heading(
        title,
        None if shortened else document.source,
        None if shortened else _section(sections),
        tuple({page for page in pages if page is not None}),
        score,
        document.document_id,
    )


def title_of(document: Document) -> str:
    """What a header names: the title, else the source, else the id, on one line."""
    return _first_visible(document.title, document.source) or one_line(document.document_id) or "?"


def frame_of(format: Format, heading: Heading, *, continues: bool = False) -> Frame:
    """The frame of a block in this format. `continues`: the block before is of the same document, so `grouped` opens no group."""
    match format:
        case "numbered":
            return Frame("[", f"] Source: {one_line(heading.title)}{_pages(heading.pages)}\n", "", True)
        case "source":
            return Frame("[SOURCE ", f"] {_reference(heading)}\n", "", True)
        case "xml":
            return Frame(f'<{TAG} index="', f'"{_attributes(heading)}>\n', f"\n</{TAG}>", True)
        case "grouped":
            return Frame("" if continues else f"## {one_line(heading.title)}\n\n", "", "", False)
        case "minimal":
            return Frame("", "", "", False)


def with_number(frame: Frame, number: int) -> tuple[str, str]:
    """Header and foot of block `number`."""
    return (f"{frame.before}{number}{frame.after}" if frame.numbered else frame.before + frame.after), frame.foot


def has_markers(format: Format) -> bool:
    """Whether the blocks show numbers by which an answer can cite them, and boundaries that no source text can forge."""
    return format in ("numbered", "source", "xml")


def marker_of(format: Format, number: int) -> str:
    """The marker by which an answer cites block `number`; empty in a format without markers."""
    if not has_markers(format):
        return ""
    return f"[SOURCE {number}]" if format == "source" else f"[{number}]"


def expects_markers(settings: AssemblySettings) -> bool:
    """Whether an answer is asked for markers and read for them. Otherwise its citations come straight from the blocks."""
    return settings.channel == "text" and has_markers(settings.format)


def _pages(pages: tuple[int, ...]) -> str:
    if not pages:
        return ""
    low, high = min(pages), max(pages)
    return f", page {low}" if low == high else f", pages {low}–{high}"


def _reference(heading: Heading) -> str:
    """`file § section`."""
    name = _first_visible(heading.source, heading.title) or one_line(heading.document_id) or "?"
    section = one_line(heading.section or "")
    return f"{name} § {section}" if section else name


def _attributes(heading: Heading) -> str:
    """The attributes after the index, each with a blank before it."""
    low, high = (min(heading.pages), max(heading.pages)) if heading.pages else (None, None)
    page = "" if low is None else f' page="{low}"' if low == high else f' pages="{low}–{high}"'
    return f' source="{one_line(heading.title).translate(_ESCAPES)}"{page} score="{_score(heading.score)}"'


def _score(score: float) -> str:
    """Three decimals, as in the token-budget guide; a score too large for that in six digits."""
    return f"{round(score, 3) + 0.0:.3f}" if abs(score) < _LARGE_SCORE else f"{score:.6g}"


def _section(sections: Iterable[str | None]) -> str | None:
    """The section of a block; of several the first and the last, as with pages."""
    names = list(dict.fromkeys(name for section in sections if section and (name := one_line(section))))
    if not names:
        return None
    return names[0] if len(names) == 1 else f"{names[0]} – {names[-1]}"


def _first_visible(*names: str | None) -> str:
    """The first of these that a reader would see, on one line."""
    return next((one_line(name) for name in names if name and (name[0].isalnum() or is_visible(name))), "")
