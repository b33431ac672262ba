"""Inspect while a model shortens chunks: what it was asked, what the page says of it, and that it is asked once."""

from __future__ import annotations

import re

import pytest
import streamlit as st

from tests.app.ui.pages import fine, html
from tests.fake_model_server import serving


@pytest.fixture
def models(monkeypatch):
    with serving() as memory:
        monkeypatch.setenv("CTXASM_LLM_BASE_URL", memory.base_url)
        monkeypatch.setenv("CTXASM_LLM_MODEL", "good")
        # The workbench of a process is kept with the configuration it was opened with.
        st.cache_resource.clear()
        yield memory
    st.cache_resource.clear()


def first_sentences(body) -> str:
    passage = re.search(r"^PASSAGE \w+\n(.*)\nEND OF PASSAGE", body["messages"][-1]["content"], re.DOTALL | re.MULTILINE)
    return " ".join(passage[1].split(". ")[:2]) if passage else ""


def test_a_model_shortens_chunks_once(open_app, models):
    models.answer = first_sentences
    app = fine(open_app(cp="model", cpt="60", mt="900"))
    asked = len(models.requests)
    assert asked > 0
    assert "cannot be assembled" not in html(app)
    assert 'class="cx-cut"' in html(app)
    fine(app.run())
    assert len(models.requests) == asked


def test_a_model_that_is_gone_is_said_and_the_words_decide(open_app, models, monkeypatch):
    monkeypatch.setenv("CTXASM_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    st.cache_resource.clear()
    app = fine(open_app(cp="model", cpt="61", mt="900"))
    assert "✂" in html(app)
    assert "The model that shortens chunks gave no answer" in html(app)
    assert "nothing answers at 127.0.0.1:9:" in html(app)
