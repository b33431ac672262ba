"""The records, settings, events and ports that every other room speaks in. Imports nothing of ctxasm."""
