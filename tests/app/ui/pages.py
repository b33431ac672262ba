"""A page under AppTest: where it is, what it drew."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

import ctxasm.app.ui
from ctxasm.app.ui.frame.browser import script
from ctxasm.app.ui.frame.session import Session
from ctxasm.app.ui.frame.settings_panel import GROUPS, SETTINGS

MAIN = Path(ctxasm.app.ui.__file__).parent / "main.py"


def opened(page: str = "inspect", **address: str) -> AppTest:
    """The workbench opened on this page by a link, drawn once."""
    return at(page, **address).run()


def at(page: str = "inspect", **address: str) -> AppTest:
    """The same before it is drawn."""
    app = AppTest.from_file(str(MAIN), default_timeout=300)
    for name, value in address.items():
        app.query_params[name] = value
    return app if page == "inspect" else app.switch_page(f"../../../pages/{page}.py")


def html(app: AppTest) -> str:
    """All that was drawn as HTML; scripts are taken from one of them alone, and that one is a constant."""
    drawn = [element.proto for element in app.get("html")]
    assert {proto.body for proto in drawn if proto.unsafe_allow_javascript} <= {script()}
    return "\n".join(proto.body for proto in drawn if not proto.unsafe_allow_javascript)


def with_settings(app: AppTest) -> AppTest:
    """The app with the drawer of all settings open, and every group in it."""
    app.session_state["drawer"] = SETTINGS
    for stage in GROUPS:
        app.session_state[f"settings_{stage}"] = True
    return fine(app.run())


def fine(app: AppTest) -> AppTest:
    """The app, which raised nothing."""
    assert [error.value for error in app.exception] == []
    return app


def reader(app: AppTest) -> dict[str, Any]:
    """What the reader of an answer was given."""
    (data,) = (given for element in app.get("bidi_component") if "attempts" in (given := json.loads(element.proto.json or "{}")))
    return data


def datasets(app: AppTest) -> list[str]:
    """The datasets that can be picked, or the one that is named where there is no choice."""
    pickers = [box for box in app.selectbox if box.key == "dataset_name"]
    return list(pickers[0].options) if pickers else re.findall(r'id="ctx-data".*?<b>(.*?)</b>', html(app))


def problems(app: AppTest) -> list[str]:
    """The sentences about what is wrong, as HTML."""
    return [
        body
        for element in app.get("html")
        for body in re.findall(r'<div class="cx cx-problem" role="alert">(.*?)</div>', element.proto.body)
    ]


def kept(app: AppTest, name: str) -> Any:
    """What the session of the app keeps under a name."""
    try:
        return app.session_state[name]
    except KeyError:
        return getattr(Session, name)
