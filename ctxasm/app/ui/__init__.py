"""The workbench in the browser. The only room with streamlit and pandas; draws from the trace, computes nothing twice."""
