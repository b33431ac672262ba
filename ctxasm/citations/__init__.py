"""From an answer to verdicts: markers, claims, and what carries each claim or stands against it."""
