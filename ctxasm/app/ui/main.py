"""The script that Streamlit runs. Its folder has no `pages/`: beside one, `st.navigation` loses the frame on deep links."""

import sys
from contextlib import suppress
from pathlib import Path

# Streamlit puts the folder of its script on the import path, where a room called `inspect` would stand for Python's own module: in this
# process, and in those that it starts.
with suppress(ValueError):
    sys.path.remove(str(Path(__file__).absolute().parent))

from ctxasm.app.ui.unforeseen import refuse_unguarded

refuse_unguarded()

from ctxasm.app.ui.frame.shell import run  # noqa: E402

run()
