"""What can be said of a text without a store or a model.

Each module answers one question of a text: its language, sentences, numbers, dates, what its head repeats (`chunk_facts`).
`markers` and `tokens` are packages of their own.
"""
