"""The script that Streamlit runs. Its folder has no `pages/`: beside one, `st.navigation` loses the frame on deep links."""

from ctxasm.app.ui.unforeseen import refuse_unguarded

refuse_unguarded()

from ctxasm.app.ui.frame.shell import run  # noqa: E402

run()
