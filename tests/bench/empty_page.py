"""The yardstick of the latency bench: the same widget, one line of HTML and as many charts, and nothing else."""

import plotly.graph_objects as go
import streamlit as st

st.set_page_config(layout="wide")
charts = int(st.query_params.get("charts", "0"))
value = st.sidebar.number_input("Max tokens", 500, 16000, 8000, step=100, key="mt", bind="query-params")
st.html(f'<div id="ctx-budget" data-limit="{value}">{value}</div>')
for number in range(charts):
    figure = go.Figure(go.Scatter(x=list(range(29)), y=[(value * i) % 97 for i in range(29)], mode="markers"))
    st.plotly_chart(figure, key=f"chart{number}", config={"displayModeBar": False})
st.html(f'<div id="done" data-limit="{value}"></div>')
