"""Ask: an answer claim by claim, beside the passages that it cites."""
