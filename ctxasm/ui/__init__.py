"""Floor 4: the workbench. The only room with streamlit, pandas and plotly; draws from the trace, computes nothing twice."""
