"""The words of the pages: every sentence and name that a person reads. Pure."""
