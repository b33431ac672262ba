"""Ask: an answer beside the context that it cites."""
