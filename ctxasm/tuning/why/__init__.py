"""Why an answer failed: what production sent beside what these settings would send, and where the fact went."""
