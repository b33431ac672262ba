"""What is too large is shortened to what the question is about."""
