"""What fits: a file a policy."""
