"""The entry: `streamlit run app.py`, or `uvicorn app:app`.

Streamlit takes a `pages/` folder beside the script it is given for its own old kind of multipage app: a deep link to a
fresh server would then run the bare page without the frame. So this file hands over to a script that has no such folder.
"""

import runpy
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ctxasm.app.ui.guard import door
from ctxasm.app.ui.unforeseen import show_unforeseen
from ctxasm.app.ui.warm import warming

MAIN = Path(__file__).resolve().parent / "ctxasm" / "app" / "ui" / "main.py"
if not MAIN.exists():
    import ctxasm.app.ui

    MAIN = Path(ctxasm.app.ui.__file__).parent / "main.py"

if get_script_run_ctx(suppress_warning=True) is None:
    app = st.App(MAIN, lifespan=warming, middleware=[door()], on_script_error=show_unforeseen)
else:
    runpy.run_path(str(MAIN), run_name="__main__")
