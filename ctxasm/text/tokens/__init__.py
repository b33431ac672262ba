"""The only room with tiktoken: exact counts, cheap counts of growing texts, and an honest estimate where no vocabulary is."""

from ctxasm.text.tokens.counter import open_counter

__all__ = ["open_counter"]
