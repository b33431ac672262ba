"""The script that Streamlit runs. Its folder has no `pages/`: beside one, `st.navigation` loses the frame on deep links."""

from ctxasm.ui.shell import run

run()
