"""The workbench in the browser. The only room with streamlit, pandas and plotly; draws from the trace, computes nothing twice."""
