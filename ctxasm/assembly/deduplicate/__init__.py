"""What says the same is shown once."""
