"""Where prose is taken by the sentence and code by the line, at the very bounds."""

from __future__ import annotations

import pytest

from ctxasm.text.units import LOOKED_AT, pieces_of_unit, units_of

PROSE = "bel de balie"
CODE = "open(balie);"


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in units_of(text)]


@pytest.mark.parametrize(("code", "prose", "by_line"), [(2, 3, False), (3, 4, True), (1, 1, True), (0, 2, False)])
def test_a_text_is_code_from_more_than_two_lines_in_five_on(code: int, prose: int, by_line: bool) -> None:
    lines = [PROSE] * prose + [CODE] * code
    assert (parts("\n".join(lines)) == lines) == by_line


def test_a_paragraph_of_code_in_prose_is_taken_by_the_line() -> None:
    prose = "\n\n".join(["Bel de balie op de eerste verdieping.\nDie is open tot vijf uur."] * 3)
    assert parts(f"{prose}\n\n{CODE}\n{CODE}")[-2:] == [CODE, CODE]
    together = f"{CODE}\n{CODE}\n{PROSE}\n{PROSE}\n{PROSE}"
    assert parts(f"{prose}\n\n{together}")[-1] == together


def test_code_is_told_by_the_head_of_a_line() -> None:
    for blanks, by_line in ((LOOKED_AT - 2, True), (LOOKED_AT - 1, False)):
        line = "x" * blanks + "::y"
        assert (parts(f"{line}\n{line}") == [line, line]) == by_line


@pytest.mark.parametrize(("indent", "by_line"), [(" ", False), ("  ", True), ("\t", True)])
def test_lines_indented_by_two_or_a_tab_are_code(indent: str, by_line: bool) -> None:
    text = f"{indent}let op\n{indent}ga zitten"
    assert (len(parts(text)) == 2) == by_line


def test_what_stands_between_fences_is_code_and_what_follows_is_not() -> None:
    text = "```\neen\ntwee\n```\n\nBel de balie op\nde eerste verdieping.\n\nDie is open\ntot vijf uur.\n\nGa zitten\nen wacht."
    assert parts(text)[:4] == ["```", "een", "twee", "```"]
    assert "een" in parts("```\neen\n```")


def test_a_unit_is_cut_at_the_last_blank_in_its_second_half() -> None:
    def cut(text: str, longest: int) -> list[str]:
        return [text[low:high] for low, high in pieces_of_unit(text, (0, len(text)), longest)]

    assert cut("abcd efgh", 9) == ["abcd efgh"]
    assert cut("abcd efgh", 8) == ["abcd efg", "h"]
    assert cut("abcde fgh", 8) == ["abcde", "fgh"]
    assert cut("abcd efgh", 4) == ["abcd", "efgh"]
    assert cut("abcd efgh ij", 9) == ["abcd efgh", "ij"]
    assert cut("abc  efghijkl", 8) == ["abc  efg", "hijkl"]
    assert cut("abcd e  fghijkl", 8) == ["abcd e", "fghijkl"]
    assert cut("abcdefghij", 4) == ["abcd", "efgh", "ij"]
