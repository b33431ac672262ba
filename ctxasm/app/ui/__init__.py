"""The workbench in the browser. The only room with streamlit and plotly; draws from the trace, computes nothing twice."""
