"""What a page hides from its readers, which is where texts for models are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

NEVER_SHOWN = frozenset(
    (
        *("script", "style", "template", "noscript", "head", "title", "iframe", "object", "embed", "applet", "canvas", "audio", "video"),
        *("svg", "map", "input", "select", "datalist", "textarea", "progress", "meter", "colgroup"),
    )
)
"""Elements whose text is no part of what a page says."""
_HEADS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary")
"""Where a button holds the heading of what it unfolds."""
_HIDING = re.compile(
    r"(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}(?:hidden|collapse)"
    r"|font-size\s{0,9}:\s{0,9}0(?:\.0{0,9})?(?:px|pt|em|rem|%)?\s{0,9}(?:;|!|$))",
    re.IGNORECASE,
)
"""Not `opacity: 0`: pages that fade their text in as they are scrolled are full of it."""
_SIMPLE = re.compile(r"(?P<tag>[a-z][a-z0-9-]*)?(?:\.(?P<class>[\w-]+)|#(?P<id>[\w-]+))?", re.IGNORECASE)
_COMMENT = re.compile(r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
MOST_STYLE = 1_000_000
"""Characters of style sheets that are looked at."""


class Hidden:
    """Tells which elements of a page are hidden."""

    def __init__(self, root: _Element) -> None:
        styles = "\n".join(style.text or "" for style in root.iter("style") if (style.get("media") or "all") in ("all", "screen"))
        self._rules = set(_hiding_selectors(styles[:MOST_STYLE]))

    def hides(self, element: _Element) -> bool:
        """Whether this element by itself is hidden, with everything in it."""
        tag = element.tag
        if not isinstance(tag, str) or tag in NEVER_SHOWN or (tag == "dialog" and element.get("open") is None):
            return True
        if tag == "button" and getattr(element.getparent(), "tag", None) not in _HEADS:
            return True
        if not element.attrib:
            return bool(self._rules) and self._is_ruled_out(element, tag)
        if element.get("hidden", "until-found").lower() != "until-found":
            return True
        style = element.get("style")
        if style and _HIDING.search(style):
            return True
        return bool(self._rules) and self._is_ruled_out(element, tag)

    def _is_ruled_out(self, element: _Element, tag: str) -> bool:
        names = [("class", name) for name in (element.get("class") or "").split()] + [("id", element.get("id") or "")]
        return ("", tag, "", "") in self._rules or any(
            (kind, before, name, "") in self._rules for kind, name in names if name for before in ("", tag)
        )


def visible_text(element: _Element, hidden: Hidden) -> str:
    """All visible text in an element, line breaks of its markup included."""
    pieces = [element.text or ""]
    open_elements = [iter(element)]
    tails: list[str] = []
    while open_elements:
        child = next(open_elements[-1], None)
        if child is None:
            open_elements.pop()
            pieces.append(tails.pop() if tails else "")
        elif hidden.hides(child):
            pieces.append(child.tail or "")
        else:
            pieces.append("\n" if child.tag == "br" else child.text or "")
            tails.append(child.tail or "")
            open_elements.append(iter(child))
    return "".join(pieces)


def _hiding_selectors(style: str) -> Iterator[tuple[str, str, str, str]]:
    """`(kind, tag, name, "")` of each plain selector (`tag`, `.name`, `#name`, `tag.name`) whose rule hides; none inside `@media`."""
    for selector, rule in _rules(_COMMENT.sub("", style)):
        if _HIDING.search(rule):
            for one in selector.split(","):
                if (found := _SIMPLE.fullmatch(one.strip())) is not None and found[0]:
                    kind = "class" if found["class"] else "id" if found["id"] else ""
                    yield kind, (found["tag"] or "").lower(), found["class"] or found["id"] or "", ""


def _rules(style: str) -> Iterator[tuple[str, str]]:
    """Selector and declarations of each rule that stands by itself."""
    depth, selector, began = 0, "", 0
    for place in re.finditer(r"[{};]", style):
        mark, at = place[0], place.start()
        if mark == "{":
            if depth == 0:
                selector, began = style[began:at].strip(), at + 1
            depth += 1
        elif mark == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                if not selector.startswith("@"):
                    yield selector, style[began:at]
                began = at + 1
        elif depth == 0:
            began = at + 1
