"""What can be said of a text without a store or a model."""
