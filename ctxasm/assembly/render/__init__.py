"""Chosen blocks become text, measured while they are written."""
