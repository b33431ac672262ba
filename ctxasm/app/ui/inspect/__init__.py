"""Inspect: what every stage did to every chunk."""
