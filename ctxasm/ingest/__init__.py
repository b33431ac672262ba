"""From documents to chunks: the project's own chunker and the reader for sources written in Markdown."""
