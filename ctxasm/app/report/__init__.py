"""Reports: one HTML file of a run, a sweep or a comparison, complete with scripts off, which asks nothing of any server."""
