"""People's verdicts, and how a scorer agrees with them."""
