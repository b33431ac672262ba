"""What Streamlit's secrets hold. Imports nothing that may itself be what is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st


def secrets() -> Mapping[str, object]:
    """Streamlit's secrets, empty where there is no file."""
    try:
        return {str(name): value for name, value in st.secrets.items()}
    except (FileNotFoundError, st.errors.StreamlitSecretNotFoundError):
        return {}
