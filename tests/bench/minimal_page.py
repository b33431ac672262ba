"""The yardstick of the latency bench: the same visible widgets as Inspect, one line of HTML, and nothing else."""

import streamlit as st

st.set_page_config(layout="wide")
with st.sidebar:
    st.selectbox("Dataset", ["sample"])
    st.selectbox("Query", ["one", "two"])
    st.button("←")
    st.button("→")
    st.text_input("Ask your own question")


@st.fragment
def page() -> None:
    """What a changed setting runs."""
    with st.container(horizontal=True):
        st.segmented_control("Neighbours", [0, 1, 2, 3], default=1)
        value = st.number_input("Max tokens", 500, 16000, 8000, step=100, key="mt", width=130)
        st.slider("Range", 500, 16000, value, key="range", width=150)
        st.toggle("Assembly", True)
        for name in ("All settings", "↶", "↷", "Reset", "Copy link"):
            st.button(name)
    st.segmented_control(
        "Steps", ["found", "with neighbours", "repeats", "grouped", "fits", "summaries", "sources"], default="with neighbours"
    )
    st.html(f'<div id="ctx-budget" data-limit="{value}">{value}</div>')
    st.button("Apply")
    st.button("Details")
    st.html(f'<div id="done" data-limit="{value}"></div>')


page()
