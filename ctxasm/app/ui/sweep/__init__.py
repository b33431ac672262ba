"""Sweep: many settings on all questions, and what follows from it."""
