"""The records, settings, events and ports that every other room speaks in. Imports nothing of ctxasm.

Start at `records` (what comes in), `settings` (what is asked for), `results` (what comes out) and `ports` (what the caller must bring).
"""
