"""Numbers as a person reads them: one spelling of a plural, of a sign and of a percentage, and no second one anywhere in the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ctxasm
from ctxasm.model.amounts import agreeing, counted, interval, percent, signed

ROOT = Path(ctxasm.__file__).parent
SOURCES = sorted([*ROOT.rglob("*.py"), *(ROOT.parent / "pages").glob("*.py")])
OWN = ROOT / "model" / "amounts.py"
STYLE = re.compile(r"(width|left|top|height|--from|--to|polygon|calc|min)[^;]*$")
"""What comes before a percentage that is for the browser, not for a reader."""


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "chunk", "0 chunks"),
        (1, "chunk", "1 chunk"),
        (2, "chunk", "2 chunks"),
        (2000, "query", "2,000 queries"),
        (2, "key", "2 keys"),
        (2, "batch", "2 batches"),
        (1, "match", "1 match"),
        (2, "page summary", "2 page summaries"),
        (2, "index", "2 indexes"),
    ],
)
def test_a_noun_agrees_with_its_count(count: int, noun: str, said: str) -> None:
    assert counted(count, noun) == said


def test_a_verb_agrees_a_sign_is_true_and_a_percentage_has_one_spelling() -> None:
    assert [agreeing(count, "is", "are") for count in (0, 1, 2)] == ["are", "is", "are"]
    assert [signed(value, 1) for value in (-3.3, 0.04, -0.04, 12345.678)] == ["−3.3", "0.0", "0.0", "+12,345.7"]
    assert [signed(value) for value in (-3, 0, 12)] == ["−3", "0", "+12"]
    assert interval(-1.24, 8, 1) == "[−1.2, +8.0]"
    assert [percent(0.571), percent(1), percent(0.125, 2), percent(0.1, 2)] == ["57 %", "100 %", "12.5 %", "10 %"]


def formatted(path: Path) -> list[tuple[int, str, str, str]]:
    """Every value in an f-string of a file: line, the text before it, its format, the text after it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else part for part in node.values]
            for at, part in enumerate(parts):
                if isinstance(part, ast.FormattedValue):
                    before = parts[at - 1] if at and isinstance(parts[at - 1], str) else ""
                    after = parts[at + 1] if at + 1 < len(parts) and isinstance(parts[at + 1], str) else ""
                    spec = ast.unparse(part.format_spec) if part.format_spec is not None else ""
                    found.append((part.lineno, str(before), spec, str(after)))
    return found


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(ROOT.parent))) for path in SOURCES if path != OWN])
def test_no_sentence_makes_its_own_sign_percentage_or_plural(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    slips = []
    for line, before, spec, after in formatted(path):
        if re.search(r"\+[,.]?[^a-z]*[dfg]", spec):
            slips.append(f"{line}: a sign by a format: use `signed`")
        if spec.rstrip("'").endswith("%"):
            slips.append(f"{line}: a percentage by a format: use `percent`")
        if re.match(r"[ \u00a0\u202f]?%(?![a-zA-Z])", after) and ".0f" in spec and not STYLE.search(before):
            slips.append(f"{line}: a percent sign after a number: use `percent`")
    slips += [f"{text[: found.start()].count(chr(10)) + 1}: a plural by hand: use `counted`" for found in HAND_MADE.finditer(text)]
    assert slips == []


HAND_MADE = re.compile(
    r"""['"]{2} if [^{}\n]*? [=>]= ?1 else ['"](?:s|es)['"]|['"](?:s|es)['"] if [^{}\n]*? (?:!=|>) 1 else|\.replace\(['"]\w+hs['"]"""
)
