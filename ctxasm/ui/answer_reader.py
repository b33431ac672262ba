"""The answer beside its context, as one component: a click on a citation shows its span without asking the server.

The script and the style are files beside the style of the pages. All text reaches the browser as JSON and is set as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parent / "assets"
HTML = """
<div id="ctx-reader">
  <p id="live" role="status" aria-live="polite"></p>
  <div id="bar" hidden>
    <div id="attempts" role="group" aria-label="Answers to this question"></div>
    <label class="toggle"><input id="before" type="checkbox" role="switch">If citations had been built before assembly</label>
  </div>
  <div id="would" role="status" hidden></div>
  <div class="columns">
    <div id="answers"></div>
    <div id="beside">
      <div id="note" role="status" hidden></div>
      <div id="ctx-sources" role="region" aria-label="Context" tabindex="0"></div>
    </div>
  </div>
  <div id="table" hidden></div>
  <div id="tip" role="tooltip" hidden></div>
</div>
"""


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    css, js = ((ASSETS / f"answer_reader.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return st.components.v2.component("ctxasm_answer_reader", html=HTML, css=css, js=js)


def show_reader(data: Mapping[str, Any], run: int) -> None:
    """Draw the data of `reader_data`. `run` counts the runs of the page: a test sees by it that a click caused none."""
    _component()(data={**data, "run": run}, key="answer_reader", height="content")
