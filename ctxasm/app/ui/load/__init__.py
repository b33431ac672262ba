"""The Load page: one module for each way in, and the datasets that are there."""
