"""The table of model windows: what ships, what a user adds, and that an unknown model is a question, never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.answering.windows import ModelWindow, read_windows, shipped_windows, unknown_window, window_of
from ctxasm.model.errors import InvalidInput

TABLE = shipped_windows()
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20).map(str.strip).filter(bool)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("mistral", 8_192),
        ("llama3.2", 128_000),
        ("llama3.2:3b", 128_000),
        ("qwen2.5:3b", 32_768),
        ("qwen2.5:14b", 128_000),
        ("deepseek-r1:8b", 128_000),
        ("gemma2:9b", 8_192),
    ],
)
def test_the_table_of_the_token_budget_guide_is_in_it(name: str, window: int) -> None:
    assert TABLE[name].window == window


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("gpt-4o", "gpt-4o"),
        (" GPT-4o ", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openrouter/anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5"),
        ("mistral:latest", "mistral"),
        ("llama3.2:3b", "llama3.2:3b"),
        # Another size or another model is not the same model.
        ("gpt-4o-audio", None),
        ("gpt-4-64k", None),
        ("mistral:7b-instruct", None),
        ("qwen2.5:7b", None),
        ("gpt", None),
        ("", None),
        ("/", None),
        ("-latest", None),
    ],
)
def test_a_model_is_found_by_its_name_and_nothing_else(asked: str, found: str | None) -> None:
    entry = window_of(asked, TABLE)
    assert (entry.name if entry else None) == found


@given(NAMES)
def test_an_unknown_model_is_a_question(name: str) -> None:
    if window_of(name, TABLE) is None:
        words = str(unknown_window(name, TABLE))
        assert "set model_window" in words or "model_window to its window" in words
        assert "8,192" not in words


def test_the_question_names_the_model_and_its_neighbours() -> None:
    words = str(unknown_window("gpt-40", TABLE))
    assert words.startswith("which window has the model 'gpt-40'? The table of models does not know it; the table knows gpt-4")
    assert str(unknown_window(" ", TABLE)).startswith("budget_mode=window needs a model: set model_name, or model_window")


def test_what_ships_is_a_table() -> None:
    assert len(TABLE) > 40


def test_a_users_file_adds_and_replaces(tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_text('[models."Our-Model"]\nwindow = 12_000\n[models.mistral]\nwindow = 4096\nencoding = "cl100k_base"\n', "utf-8-sig")
    table = read_windows(str(file))
    assert window_of("our-model", table) == ModelWindow("Our-Model", 12_000)
    assert window_of("mistral", table) == ModelWindow("mistral", 4_096, "cl100k_base")
    assert window_of("gpt-4o", table) == TABLE["gpt-4o"]
    assert TABLE["mistral"].window == 8_192


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models = 3", 'must have tables [models."NAME"] with a window'),
        ("[models", "is not valid TOML"),
        ("a = " + "[" * 100_000, "is not valid TOML: too deeply nested"),
        ("[models.a]\nwindow = " + "9" * 5_000, "a number of too many digits"),
        ("[models.a]\nwindow = 0", 'models."a".window must be a whole number from 1 to 2000000000, got 0'),
        ('[models.a]\nwindow = "8k"', "got '8k'"),
        ("[models.a]\nwindow = true", "got True"),
        ("[models.a]", "got None"),
        ('[models." "]\nwindow = 5', "a model must have a name"),
        ("[models]\na = 5", 'models."a" must be a table with a window, got 5'),
        ('[models.a]\nwindow = 5\nencoding = "sentencepiece"', 'models."a".encoding must be one of cl100k_base'),
        ("[models.a]\nwindow = 5\nsize = 4", "takes window, encoding and note, got ['size']"),
        ("[models.a]\nwindow = 5\nnote = 4", 'models."a".note must be a text, got 4'),
        ("".join(f"[models.m{i}]\n" for i in range(9)), "; and 4 more"),
    ],
)
def test_a_file_that_is_none_is_one_error(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_windows(str(file))
    assert words in str(caught.value)
    assert "windows.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"No such file or directory.*set CTXASM_MODEL_WINDOWS"):
        read_windows(str(tmp_path / "missing.toml"))
    (tmp_path / "latin.toml").write_bytes(b'[models."caf\xe9"]')
    with pytest.raises(InvalidInput, match="it is not UTF-8"):
        read_windows(str(tmp_path / "latin.toml"))
