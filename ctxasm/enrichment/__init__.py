"""What is said of a document and its chunks so that an index finds them: summaries, situating contexts, canonical questions.

Pure: prompts and the reading of replies for a language model, and a variant that needs none. None of it changes a stored text.
"""
