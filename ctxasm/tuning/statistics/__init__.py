"""Statistics that hold for few questions: paired tests and intervals, many settings against one, and how many questions it takes."""
