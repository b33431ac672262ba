"""Raised and lowered characters and equations as text on a line: 10^6, m², H2O, (a + b)/2, sqrt(x).

Readers put marks around what is raised or lowered; `plain_scripts` writes it out when the whole line is known, because the
figure before it decides: a power of ten must not become another number, and the mark of a note no part of a year.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ctxasm.data.documents.source import word_set

if TYPE_CHECKING:
    from lxml.etree import _Element

RAISED, LOWERED, NOTE, END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
"""Marks around raised and lowered text and the mark of a note: Unicode keeps these four for programs."""
_MARKS = re.compile(f"[{RAISED}-{END}]")
_SCRIPT = re.compile(f"([{RAISED}-{NOTE}])([^{RAISED}-{END}]*){END}")
_FRACTION = re.compile(f"(\\d?)[ ]?{RAISED}\\s?(\\d{{1,4}})\\s?{END}\\s?[/⁄∕]\\s?{LOWERED}\\s?(\\d{{1,4}})\\s?{END}")
_TWICE = re.compile(f"([{RAISED}{LOWERED}])[{RAISED}{LOWERED}]([^{RAISED}-{END}]*)({END}){END}")
DEEPEST = 8
"""Scripts on scripts that are written out; deeper ones lose their marks."""

_RAISED_FORMS = str.maketrans("0123456789+-−–=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_FORM = re.compile(r"[0-9+\-−–=()]+")
_NUMBER = re.compile(r"[+\-−–]?\d+(?:[.,/]\d+)?")
_NOTES = re.compile(r"[(\[]?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*[)\]]?|\(?[a-z]\)|[*†‡§¶#]+")
_ORDINALS = word_set("st nd rd th er re ère e ème de ste o a os as º ª me mes lle lles r gr tm sm ter tel")
_UNITS = word_set("min mol rad sec hrs dag yrs sin cos tan log exp kwh mhz ghz mol kcal ohm bar")
_BASE = re.compile(
    r"(?:(?<![\d.,])(?P<year>1[1-9]\d\d|20\d\d|21\d\d)|(?P<digit>\d)|(?<!\w)(?P<symbol>[^\W\d_]{1,2})|(?P<word>[^\W\d_]+))\Z"
)
_LONGEST = 16
"""Characters of a script; what is longer is text that is set small."""
_LONGEST_WORD = 40


def plain_scripts(text: str) -> str:
    """`text` with what is marked in it as people write it on a line."""
    if not _MARKS.search(text):
        return text
    text = _TWICE.sub(r"\1\2\3", text)
    text = _FRACTION.sub(lambda found: f"{found[1]}{' ' if found[1] else ''}{found[2]}/{found[3]}", text)
    for _ in range(DEEPEST):
        text, times = _innermost(text)
        if not times:
            break
    return _MARKS.sub("", text)


def _innermost(text: str) -> tuple[str, int]:
    pieces: list[str] = []
    at = times = 0
    written = ""
    for found in _SCRIPT.finditer(text):
        before = text[at : found.start()]
        pieces.append(before)
        written = (written + before)[-_LONGEST_WORD:]
        script = _written(found[1], found[2], written, text[found.end() : found.end() + 1])
        pieces.append(script)
        written = (written + script)[-_LONGEST_WORD:]
        at, times = found.end(), times + 1
    return "".join([*pieces, text[at:]]), times


def _written(mark: str, script: str, before: str, after: str) -> str:
    """One script behind the text `before`. Blanks around it are kept outside of it."""
    bare, trail = script.strip(), script[len(script.rstrip()) :]
    base = _BASE.search(before)
    if not bare or (base is None and (not before or before[-1].isspace())):
        return script
    if len(bare) > _LONGEST:
        return f" {script.lstrip()}"
    if bare.lower() in ("o", "º", "0", "∘") and base is not None and base["digit"] and after in ("C", "F", "K"):
        return f"°{trail}"
    if mark == LOWERED:
        return _lowered(bare, base, after) + trail
    return (_note(bare) if mark == NOTE or _is_note(bare, before, base) else _raised(bare, base)) + trail


def _is_note(bare: str, before: str, base: re.Match[str] | None) -> bool:
    if not _NOTES.fullmatch(bare):
        return False
    if base is None:
        return before[-1:] not in (")", "]", "}", "|", "′", "∂", "∇", "Δ", "°")
    if base["year"] or base["digit"]:
        return bool(base["year"]) or bare == "1" or not bare.isdigit()
    return base["word"] is not None and base["word"].lower() not in _UNITS


def _note(bare: str) -> str:
    """A figure and the mark of its note are told apart by a blank, a word and its mark too."""
    return f" {bare.translate(_RAISED_FORMS) if bare[:1].isdigit() else bare}"


def _raised(bare: str, base: re.Match[str] | None) -> str:
    behind_figure = base is not None and (base["year"] or base["digit"])
    if bare in ("°", "º", "∘", "®", "©", "™", "′", "″", "'", '"') or bare.lower() in _ORDINALS:
        return {"∘": "°", "tm": "™"}.get(bare.lower(), bare)
    if not behind_figure and _FORM.fullmatch(bare):
        return bare.translate(_RAISED_FORMS)
    return f"^{_grouped(bare)}"


def _lowered(bare: str, base: re.Match[str] | None, after: str) -> str:
    if bare.isdigit() and base is not None and not base["year"] and not base["digit"]:
        return f"_{bare} " if after.isdigit() else bare
    return f"_{_grouped(bare)}"


def _grouped(bare: str) -> str:
    """An expression in brackets where it would be read on into what follows."""
    is_one = _NUMBER.fullmatch(bare) or bare.isalnum() or (bare[0] == "(" and bare[-1] == ")" and bare.count("(") == 1)
    return bare.replace("−", "-").replace("–", "-") if is_one else f"({bare})"


# Equations of Word (OMML) and of web pages (MathML)

_DEEPEST = 60
"""Parts in parts of an equation that are laid out; what is deeper comes as its characters."""
_KINDS = {
    "f": "fraction",
    "mfrac": "fraction",
    "rad": "root",
    "msqrt": "root",
    "mroot": "root",
    "nary": "sum",
    "d": "brackets",
    "mfenced": "brackets",
    "sSup": "up",
    "msup": "up",
    "mover": "up",
    "sSub": "down",
    "msub": "down",
    "munder": "down",
    "sSubSup": "both",
    "msubsup": "both",
    "munderover": "both",
    "sPre": "before",
    "limLow": "down",
    "limUpp": "up",
    "m": "matrix",
    "mtable": "matrix",
    "eqArr": "lines",
    "func": "function",
    "acc": "plain",
    "bar": "plain",
}
_PARTS = word_set("num den deg e sup sub lim fName mr")
_NOTHING = word_set(
    "annotation annotation-xml ctrlPr fPr radPr sSupPr sSubPr sSubSupPr sPrePr naryPr dPr funcPr accPr barPr rPr mPr "
    "eqArrPr limLowPr limUppPr oMathParaPr del delText instrText groupChrPr boxPr borderBoxPr phantPr argPr mphantom "
    "malignmark maligngroup"
)
_SIMPLE = re.compile(r"[-−]?\w+(?:[.,]\w+)*|\([^()]*\)|[^\s\w]")


def equation_text(element: _Element) -> str:
    """An equation on a line, as people type it: all its characters, in reading order."""
    text = " ".join(_linear(element, 0).split())
    return re.sub(r"(?<=[(\[|]) | (?=[)\]|,;])", "", text)


def _name(element: _Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _linear(element: _Element, depth: int) -> str:
    name = _name(element)
    if not name or name in _NOTHING:
        return ""
    if depth > _DEEPEST:
        return "".join(str(piece) for piece in element.itertext())
    kind = _KINDS.get(name)
    if kind is None:
        if name in ("t", "mi", "mn", "mtext", "ms"):
            return "".join(str(piece) for piece in element.itertext())
        if name == "mo":
            return _operator((element.text or "").strip())
        if name in ("mspace", "br", "tab"):
            return " "
        return (element.text or "") * (name == "math") + "".join(_linear(child, depth + 1) for child in element)
    return _LAYOUTS[kind](element, _parts(element, name, depth))


def _operator(sign: str) -> str:
    if sign in ("\u2061", "\u2062", "\u2063", "\u2064"):
        return " " if sign == "\u2062" else ""
    return f" {sign} " if sign in tuple("+-−±=<>≤≥≠≈·×÷→⇒∈") else f"{sign} " if sign in (",", ";") else sign


def _parts(element: _Element, name: str, depth: int) -> dict[str, list[str]]:
    """The parts of one layout by what they are; those of MathML, which have no names, in their order."""
    found: dict[str, list[str]] = {}
    for child in element:
        inner = _name(child)
        if inner and inner not in _NOTHING:
            found.setdefault(inner if inner in _PARTS else "", []).append(_linear(child, depth + 1).strip())
    if name == "msqrt":
        return {"e": ["".join(found.get("", ()))]}
    order = {"mfrac": "num den", "mroot": "e deg", "msup": "e sup", "mover": "e sup", "msub": "e sub", "munder": "e sub"}
    order |= {"msubsup": "e sub sup", "munderover": "e sub sup"}
    if name in order:
        unnamed = found.get("", [])
        return {part: [text] for part, text in zip(order[name].split(), unnamed, strict=False)} | {
            "rest": unnamed[len(order[name].split()) :]
        }
    return found


def _first(parts: dict[str, list[str]], *names: str) -> str:
    return next((parts[name][0] for name in names if parts.get(name)), "")


def _one(text: str) -> str:
    """A part as one thing: in brackets unless it is a word, a number, a sign or bracketed already."""
    return text if not text or _SIMPLE.fullmatch(text) else f"({text})"


def _value(element: _Element, *names: str, default: str = "") -> str:
    """A property of OMML, as the sign of a sum, or an attribute of MathML."""
    for child in element:
        if _name(child).endswith("Pr"):
            for part in child:
                if _name(part) == names[0]:
                    return next((str(value) for key, value in part.attrib.items() if str(key).rpartition("}")[2] == "val"), "")
    return str(element.get(names[-1], default)) if len(names) > 1 else default


def _scripts(parts: dict[str, list[str]]) -> str:
    sub, sup = _first(parts, "sub"), _first(parts, "sup")
    return (f"_{_one(sub)}" if sub else "") + (f"^{_one(sup)}" if sup else "")


def _sum(element: _Element, parts: dict[str, list[str]]) -> str:
    return f"{_value(element, 'chr', default='∫')}{_scripts(parts)} {_first(parts, 'e')}"


def _brackets(element: _Element, parts: dict[str, list[str]]) -> str:
    opening = _value(element, "begChr", "open", default="(")
    closing, parting = _value(element, "endChr", "close", default=")"), _value(element, "sepChr", "separators", default="|")
    return opening + f"{parting[:1] or ','} ".join(parts.get("e") or parts.get("") or ()) + closing


def _scripted(element: _Element, parts: dict[str, list[str]]) -> str:
    base, under, over = _first(parts, "e", "fName"), _first(parts, "sub", "lim"), _first(parts, "sup")
    if _name(element) in ("mover", "limUpp") and len(over or under) == 1 and not (over or under).isalnum():
        return base + (over or under)  # an accent
    is_sign = len(base) == 1 and not base.isalnum()
    return (base if is_sign else _one(base)) + _scripts({"sub": [under], "sup": [over]}) + (" " if is_sign else "")


def _matrix(element: _Element, parts: dict[str, list[str]]) -> str:
    rows = [child for child in element if _name(child) in ("mr", "mtr", "mlabeledtr")]
    return (
        "["
        + "; ".join(", ".join(_linear(cell, _DEEPEST - 10).strip() for cell in row if _name(cell) not in _NOTHING) for row in rows)
        + "]"
    )


_LAYOUTS: dict[str, Callable[[_Element, dict[str, list[str]]], str]] = {
    "fraction": lambda element, parts: f"{_one(_first(parts, 'num'))}/{_one(_first(parts, 'den'))}",
    "root": lambda element, parts: f"{_root(_first(parts, 'deg'))}({_first(parts, 'e')})",
    "sum": _sum,
    "brackets": _brackets,
    "up": _scripted,
    "down": _scripted,
    "both": _scripted,
    "before": lambda element, parts: f"{_scripts(parts)}{_first(parts, 'e')}",
    "matrix": _matrix,
    "lines": lambda element, parts: "; ".join(parts.get("e", ())),
    "function": lambda element, parts: f"{_first(parts, 'fName')} {_one(_first(parts, 'e'))}",
    "plain": lambda element, parts: _first(parts, "e") + (_value(element, "chr", default="\u0302") if _name(element) == "acc" else ""),
}


def _root(degree: str) -> str:
    return "sqrt" if degree in ("", "2") else f"root_{_one(degree)}"
