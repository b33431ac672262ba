"""What is said of a document and its chunks so that an index finds them: summaries, situating contexts, canonical questions.

Start at `enrich`. None of it changes a stored text.
"""
